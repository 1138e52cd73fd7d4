/*
 * control.h
 *		The Unix socket on which the link reports its counts.
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <stddef.h>
#include <sys/types.h>

#include "pollset.h"
#include "relay.h"

/* Clients served at a time; more of them wait to be accepted. */
#define CONTROL_CLIENTS		8

/* Longest line taken, newline included. */
#define CONTROL_LINE		64

typedef struct ControlClient
{
	int			fd;				/* -1 when the place is free */
	size_t		slot;			/* in the poll set */
	char		line[CONTROL_LINE];
	size_t		length;			/* bytes in line */
	char	   *reply;			/* NULL when nothing is being answered */
	size_t		reply_length;
	size_t		reply_sent;
} ControlClient;

typedef struct Control
{
	const char *path;
	dev_t		device;			/* with inode, the socket as we made it */
	ino_t		inode;
	int			listener;
	size_t		slot;			/* of the listener, in the poll set */
	ControlClient clients[CONTROL_CLIENTS];
} Control;

extern void control_open(Control *control, const char *path);
extern void control_poll(Control *control, PollSet *set);
extern void control_serve(Control *control, const PollSet *set,
						  const Relay *relay);
extern void control_close(Control *control);

#endif							/* CONTROL_H */
