/*
 * ask.c
 *		Queries the counts of a running link.
 *
 * The client of control.c, for scripts and for commands run by a server: one
 * command, one line of answer.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ask.h"
#include "fail.h"

/* Returns a stream to the link that answers at the path, or exits. */
static FILE *
ask_connect(const char *control_path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int			fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FILE	   *stream;

	strcpy(address.sun_path, control_path);
	if (fd < 0 ||
		connect(fd, (const struct sockaddr *) &address, sizeof(address)) != 0 ||
		(stream = fdopen(fd, "r+")) == NULL)
		fail(EXIT_CODE_FAILURE,
			 "no link answers at --control \"%s\" (%s): give the path of a running one",
			 control_path, strerror(errno));
	return stream;
}

/* Prints the answer to a command, or exits.  The path fits a socket address. */
void
ask(const char *control_path, const char *command)
{
	FILE	   *stream = ask_connect(control_path);
	bool		answered = false;
	int			byte;

	fprintf(stream, "%s\n", command);
	fflush(stream);
	while (!answered && (byte = fgetc(stream)) != EOF)
	{
		putchar(byte);
		answered = byte == '\n';
	}
	fclose(stream);
	if (!answered || fflush(stdout) != 0)
		fail(EXIT_CODE_FAILURE, "the link at --control \"%s\" broke off its answer",
			 control_path);
}
