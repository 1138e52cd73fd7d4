/*
 * move_server.h
 *	  Moving a server from one wrapper to another.
 */
#ifndef TOLLFREE_MOVE_SERVER_H
#define TOLLFREE_MOVE_SERVER_H

#include "foreign/foreign.h"

/*
 * What is to be moved, and what may forbid it: each check raises an ERROR, and
 * can be NULL.  The server's is called before its tables are locked; a table's
 * are called before the table is locked, when it may be a dropped one, and
 * after.
 */
typedef struct ServerMove
{
	const char *server;
	const char *from;			/* wrappers, by name */
	const char *to;
	void		(*check_server) (const ForeignServer *server);
	void		(*check_unlocked) (Oid relid);
	void		(*check_table) (Oid relid);
} ServerMove;

extern void server_move(const ServerMove *move);

#endif							/* TOLLFREE_MOVE_SERVER_H */
