/*
 * server_file.h
 *		What the server has written to a file, read by the client.
 */
#ifndef SERVER_FILE_H
#define SERVER_FILE_H

#include "client.h"

extern const char *server_file_path(const Request *request);
extern void server_file_read(Execution *execution);

#endif							/* SERVER_FILE_H */
