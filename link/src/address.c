/*
 * address.c
 *		HOST:PORT texts to socket addresses and back.
 *
 * The last colon separates the port, so that an IPv6 address may be written
 * with or without brackets.  Ports are numbers: a service name would make the
 * meaning of a command line depend on the machine.
 *
 * It opens no socket; relay.c listens and connection.c connects.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"

#define PORT_MAX	65535

/*
 * Whether the text is a port number.  Checked here because getaddrinfo takes
 * 65536 for 0.
 */
static bool
address_port_valid(const char *port)
{
	size_t		digits = strspn(port, "0123456789");

	return digits > 0 && digits <= 5 && port[digits] == '\0' &&
		atoi(port) <= PORT_MAX;
}

/*
 * Returns every TCP address the text stands for, to be freed with
 * freeaddrinfo; or NULL, with the reason in a static string.
 */
AddressList *
address_resolve(const char *text, const char **reason)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV
	};
	const char *colon = strrchr(text, ':');
	char		host[NI_MAXHOST];
	size_t		length = colon ? (size_t) (colon - text) : 0;
	AddressList *list;
	int			status;

	if (length >= 2 && text[0] == '[' && text[length - 1] == ']')
	{
		text++;
		length -= 2;
	}
	if (length == 0 || length >= sizeof(host) || !address_port_valid(colon + 1))
	{
		*reason = "not HOST:PORT";
		return NULL;
	}
	memcpy(host, text, length);
	host[length] = '\0';

	status = getaddrinfo(host, colon + 1, &hints, &list);
	if (status == 0)
		return list;
	*reason = status == EAI_SYSTEM ? strerror(errno) : gai_strerror(status);
	return NULL;
}

/* Writes the address as HOST:PORT in digits, an IPv6 host in brackets. */
void
address_format(const struct sockaddr *address, socklen_t length,
			   char text[ADDRESS_LENGTH])
{
	char		host[ADDRESS_LENGTH - sizeof("[]:65535") + 1];
	char		port[sizeof("65535")];
	bool		bracketed = address->sa_family == AF_INET6;

	if (getnameinfo(address, length, host, sizeof(host), port, sizeof(port),
					NI_NUMERICHOST | NI_NUMERICSERV) != 0)
	{
		strcpy(text, "unknown");
		return;
	}
	snprintf(text, ADDRESS_LENGTH, bracketed ? "[%s]:%s" : "%s:%s",
			 host, port);
}
