/*
 * connection.h
 *	  How the connection of a session begins and ends.
 */
#ifndef TOLLFREE_FDW_CONNECTION_H
#define TOLLFREE_FDW_CONNECTION_H

#include "session/state.h"

/* connect.c */
extern PGconn *connect_open(ForeignServer *server, UserMapping *user);

/* connection.c */
extern void connection_set_user(Session *session, Oid user);
extern void connection_outdate(Session *session);
extern void connection_begin(Session *session, UserMapping *user);
extern void connection_close(Session *session, TimestampTz since);
extern void connection_end(Session *session);

#endif							/* TOLLFREE_FDW_CONNECTION_H */
