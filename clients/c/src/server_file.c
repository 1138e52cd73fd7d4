/*
 * server_file.c
 *		The client's part of server-side COPY: reading the file.
 *
 * The server has written the rows to the path that the command line names, as
 * COPY's text.  For clients on the server's own machine, with the rights to
 * both; nothing is removed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "server_file.h"

/* Returns the path that the server is to write to, or ends the program. */
const char *
server_file_path(const Request *request)
{
	if (request->server_file == NULL)
		fail(EXIT_CODE_USAGE,
			 "-f is missing: the method server-file needs a path to write to");
	return request->server_file;
}

/* Reads the rows that the server has written. */
void
server_file_read(Execution *execution)
{
	const char *path = execution->request->server_file;
	FILE	   *file = fopen(path, "r");
	char	   *line = NULL;
	size_t		room = 0;
	ssize_t		length;

	if (file == NULL)
		fail(EXIT_CODE_FAILURE, "cannot read what the server wrote to \"%s\": %s",
			 path, strerror(errno));
	while ((length = getline(&line, &room, file)) > 0)
	{
		execution_first_row(execution);
		sink_put_line(execution->sink, line, (size_t) length);
	}
	execution_all_rows(execution);
	free(line);
	fclose(file);
}
