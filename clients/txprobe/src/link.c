/*
 * link.c
 *		The totals of a tollfree-link, read from its control socket.
 *
 * They are the totals of all connections, so the link may be between the
 * probe's server and the remote server of a foreign data wrapper; nothing
 * else may use it meanwhile.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "fail.h"
#include "link.h"

#define LINK_REPLY		1024
#define LINK_WAIT_S		5

/* Returns a socket connected to the link's control path, or exits. */
int
link_open(const char *path)
{
	const struct timeval limit = {.tv_sec = LINK_WAIT_S};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int			fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		fail(EXIT_CODE_USAGE, "--control \"%s\" is longer than %zu bytes",
			 path, sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	if (fd < 0 ||
		connect(fd, (struct sockaddr *) &address, sizeof(address)) != 0)
		fail(EXIT_CODE_FAILURE,
			 "could not reach the link at --control \"%s\" (%s): is tollfree-link running?",
			 path, strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return fd;
}

/* Returns a member of the reply, which must be a number, or exits. */
static uint64_t
link_member(const char *reply, const char *name)
{
	const char *member = strstr(reply, name);

	if (member == NULL)
		fail(EXIT_CODE_FAILURE, "the link's answer has no %s: %s", name, reply);
	return strtoull(member + strlen(name), NULL, 10);
}

/* Returns the link's present totals, or exits. */
LinkTotals
link_read(int fd)
{
	static const char command[] = "stats\n";
	char		reply[LINK_REPLY] = "";
	size_t		length = 0;
	LinkTotals	totals;

	if (send(fd, command, sizeof(command) - 1, MSG_NOSIGNAL) < 0)
		fail(EXIT_CODE_FAILURE, "could not ask the link: %s", strerror(errno));
	while (strchr(reply, '\n') == NULL)
	{
		ssize_t		got = recv(fd, reply + length, sizeof(reply) - 1 - length, 0);

		if (got <= 0)
			fail(EXIT_CODE_FAILURE, "the link gave no answer: %s",
				 got == 0 ? "it closed the connection" : strerror(errno));
		length += (size_t) got;
		reply[length] = '\0';
	}
	totals.flights = link_member(reply, "\"flights\":");
	totals.bytes_to_server = link_member(reply, "\"bytes_to_server\":");
	totals.bytes_to_client = link_member(reply, "\"bytes_to_client\":");
	return totals;
}
