/*
 * address.h
 *		HOST:PORT texts to socket addresses and back.
 */
#ifndef ADDRESS_H
#define ADDRESS_H

#include <netdb.h>
#include <sys/socket.h>

/* Holds any numeric host with zone, brackets, colon and port. */
#define ADDRESS_LENGTH	96

typedef struct addrinfo AddressList;

extern AddressList *address_resolve(const char *text, const char **reason);
extern void address_format(const struct sockaddr *address, socklen_t length,
						   char text[ADDRESS_LENGTH]);

#endif							/* ADDRESS_H */
