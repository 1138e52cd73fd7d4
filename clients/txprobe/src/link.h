/*
 * link.h
 *		The totals of a tollfree-link, read from its control socket.
 */
#ifndef LINK_H
#define LINK_H

#include <stdint.h>

typedef struct LinkTotals
{
	uint64_t	flights;
	uint64_t	bytes_to_server;
	uint64_t	bytes_to_client;
} LinkTotals;

extern int	link_open(const char *path);
extern LinkTotals link_read(int fd);

#endif							/* LINK_H */
