/*
 * connect.h
 *	  Opening a connection as postgres_fdw would.
 */
#ifndef TOLLFREE_FDW_CONNECT_H
#define TOLLFREE_FDW_CONNECT_H

#include "foreign/foreign.h"
#include "libpq-fe.h"

extern PGconn *connect_open(ForeignServer *server, UserMapping *user);

#endif							/* TOLLFREE_FDW_CONNECT_H */
