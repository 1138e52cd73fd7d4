/*
 * wire.h
 *		The messages of the protocol that an execution needs.
 */
#ifndef WIRE_H
#define WIRE_H

#include "client.h"

/* Room for the bytes read at once; it grows with the longest message. */
#define WIRE_INPUT		(256 * 1024)

typedef struct Wire
{
	int			socket;			/* blocking; not ours to close */
	char	   *output;			/* messages that wait to be sent */
	size_t		output_length;
	size_t		output_room;
	char	   *input;			/* room for input_room bytes */
	size_t		input_room;
	size_t		input_begin;	/* unread bytes begin here */
	size_t		input_end;
} Wire;

extern void wire_begin(Wire *wire, int socket);
extern void wire_end(Wire *wire);

extern void wire_add_parse(Wire *wire, const char *sql);
extern void wire_add_execute(Wire *wire);
extern void wire_send(Wire *wire);
extern void wire_drain(Wire *wire, Execution *execution);

#endif							/* WIRE_H */
