/*
 * control.c
 *		The Unix socket on which the link reports its counts.
 *
 * A client sends a line, "stats" or "connections", and is answered with one
 * line of JSON; it may then send another.  A client that does not read its
 * answer is not read either, so that one client holds at most one line and one
 * answer; none of them is ever waited for.  A line that is too long ends the
 * conversation.
 *
 * Answering "stats" takes microseconds; "connections" prints HISTORY_LENGTH
 * entries and more, and should not be used while times are taken.
 *
 * The socket is made with mode 0600.  A stale one of a killed link is
 * replaced; any other file at its path is an error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control.h"
#include "fail.h"
#include "report.h"

typedef struct ControlCommand
{
	const char *name;
	void		(*print) (FILE *stream, const Relay *relay);
} ControlCommand;

static const ControlCommand control_commands[] = {
	{"stats", report_stats},
	{"connections", report_connections}
};

#define CONTROL_COMMANDS	\
	(sizeof(control_commands) / sizeof(control_commands[0]))

/* Returns a new non-blocking Unix socket, or exits. */
static int
control_socket(void)
{
	int			fd = socket(AF_UNIX,
							SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		fail(EXIT_CODE_FAILURE, "could not create a socket: %s",
			 strerror(errno));
	return fd;
}

/* Removes a socket that nobody listens on; exits when somebody does. */
static void
control_remove_stale(const struct sockaddr_un *address)
{
	struct stat status;
	int			fd;
	bool		stale;

	if (lstat(address->sun_path, &status) != 0)
		return;
	if (!S_ISSOCK(status.st_mode))
		fail(EXIT_CODE_USAGE,
			 "--control \"%s\" exists and is not a socket: give another path",
			 address->sun_path);
	fd = control_socket();
	stale = connect(fd, (const struct sockaddr *) address,
					sizeof(*address)) != 0 && errno == ECONNREFUSED;
	close(fd);
	if (!stale)
		fail(EXIT_CODE_IN_USE,
			 "--control \"%s\" is in use: give another path",
			 address->sun_path);
	unlink(address->sun_path);
}

/* Opens the control socket, or exits. */
void
control_open(Control *control, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat status;
	mode_t		mask;

	memset(control, 0, sizeof(*control));
	control->path = path;
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		control->clients[i].fd = -1;

	strcpy(address.sun_path, path);
	control_remove_stale(&address);
	control->listener = control_socket();
	mask = umask(S_IXUSR | S_IRWXG | S_IRWXO);
	if (bind(control->listener, (struct sockaddr *) &address,
			 sizeof(address)) != 0 ||
		listen(control->listener, CONTROL_CLIENTS) != 0 ||
		lstat(path, &status) != 0)
		fail(EXIT_CODE_USAGE,
			 "--control \"%s\" cannot be used (%s): give a path in a folder you may write to",
			 path, strerror(errno));
	umask(mask);
	control->device = status.st_dev;
	control->inode = status.st_ino;
}

/* Frees a client's place. */
static void
control_drop(ControlClient *client)
{
	close(client->fd);
	free(client->reply);
	memset(client, 0, sizeof(*client));
	client->fd = -1;
}

/* Returns a free place, or NULL. */
static ControlClient *
control_place(Control *control)
{
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		if (control->clients[i].fd < 0)
			return &control->clients[i];
	return NULL;
}

/* Adds the control clients, and the listener when there is a place. */
void
control_poll(Control *control, PollSet *set)
{
	for (int i = 0; i < CONTROL_CLIENTS; i++)
	{
		ControlClient *client = &control->clients[i];

		if (client->fd >= 0)
			client->slot = pollset_add(set, client->fd,
									   client->reply ? POLLOUT : POLLIN);
	}
	control->slot = POLLSET_NONE;
	if (control_place(control) != NULL)
		control->slot = pollset_add(set, control->listener, POLLIN);
}

/*
 * Prepares the answer to a command.  Returns false, with no answer, when
 * memory is out.
 */
static bool
control_answer(ControlClient *client, const char *command, const Relay *relay)
{
	FILE	   *stream = open_memstream(&client->reply, &client->reply_length);
	size_t		i = 0;

	if (stream == NULL)
		return false;
	while (i < CONTROL_COMMANDS &&
		   strcmp(command, control_commands[i].name) != 0)
		i++;
	if (i < CONTROL_COMMANDS)
		control_commands[i].print(stream, relay);
	else
		fputs("{\"error\": \"unknown command: send stats or connections\"}",
			  stream);
	fputc('\n', stream);
	client->reply_sent = 0;
	return fclose(stream) == 0;
}

/* Handles the first line of the input.  Returns whether there was one. */
static bool
control_next_line(ControlClient *client, char command[CONTROL_LINE])
{
	char	   *end = memchr(client->line, '\n', client->length);
	size_t		length;

	if (end == NULL)
		return false;
	length = (size_t) (end - client->line);
	memcpy(command, client->line, length);
	command[length] = '\0';
	client->length -= length + 1;
	memmove(client->line, end + 1, client->length);
	return true;
}

/*
 * Sends the answer as far as the socket accepts it.  Returns false if the
 * client has closed.
 */
static bool
control_send(ControlClient *client)
{
	ssize_t		sent = send(client->fd, client->reply + client->reply_sent,
							client->reply_length - client->reply_sent,
							MSG_NOSIGNAL);

	if (sent < 0)
		return errno == EAGAIN;
	client->reply_sent += (size_t) sent;
	if (client->reply_sent == client->reply_length)
	{
		free(client->reply);
		client->reply = NULL;
	}
	return true;
}

/* Reads what fits into the line.  Returns false when the client has ended. */
static bool
control_read(ControlClient *client)
{
	ssize_t		length = recv(client->fd, client->line + client->length,
							  sizeof(client->line) - client->length, 0);

	if (length < 0)
		return errno == EAGAIN;
	client->length += (size_t) length;
	return length > 0;
}

/*
 * Serves a client without waiting.  Returns false if it is to be dropped: it
 * has ended, or its line is too long.
 */
static bool
control_advance(ControlClient *client, const Relay *relay)
{
	char		command[CONTROL_LINE];

	if (client->reply == NULL && !control_read(client))
		return false;
	for (;;)
	{
		if (client->reply != NULL && !control_send(client))
			return false;
		if (client->reply != NULL)
			return true;
		if (!control_next_line(client, command))
			return client->length < sizeof(client->line);
		if (!control_answer(client, command, relay))
			return false;
	}
}

/* Serves the control clients that are ready, and accepts a new one. */
void
control_serve(Control *control, const PollSet *set, const Relay *relay)
{
	for (int i = 0; i < CONTROL_CLIENTS; i++)
	{
		ControlClient *client = &control->clients[i];

		if (client->fd >= 0 && pollset_events(set, client->slot) != 0 &&
			!control_advance(client, relay))
			control_drop(client);
	}
	if (pollset_events(set, control->slot) != 0)
	{
		ControlClient *client = control_place(control);

		client->fd = accept4(control->listener, NULL, NULL,
							 SOCK_NONBLOCK | SOCK_CLOEXEC);
	}
}

/*
 * Drops the clients and removes the socket, unless something else has taken
 * its path since.
 */
void
control_close(Control *control)
{
	struct stat status;

	for (int i = 0; i < CONTROL_CLIENTS; i++)
		if (control->clients[i].fd >= 0)
			control_drop(&control->clients[i]);
	close(control->listener);
	if (lstat(control->path, &status) == 0 &&
		status.st_dev == control->device && status.st_ino == control->inode)
		unlink(control->path);
}
