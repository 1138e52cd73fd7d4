/*
 * names.h
 *	  Names of statements that a session prepares on its remote server.
 *
 * Each has a random number of its connection in it.  A pooler in transaction mode
 * may hand a session the server connection of another one: then a name is unknown
 * there, which the session can repair, and never that of another statement.
 */
#ifndef TOLLFREE_FDW_NAMES_H
#define TOLLFREE_FDW_NAMES_H

#include "session/state.h"

/* What stands in front of what tells a connection's statements apart */
#define NAMES_PREFIX_LENGTH (sizeof("tollfree_12345678_") - 1)

/* The name of one of the session's own commands, of up to 12 letters */
static inline const char *
names_of_own(const Session *session, const char *what, char *name)
{
	snprintf(name, STATEMENT_NAME_SIZE, "tollfree_%08x_%s",
			 session->prepared.tag, what);
	return name;
}

/* The name of a statement that an execution prepares for itself */
static inline const char *
names_of_next(Session *session, char *name)
{
	snprintf(name, STATEMENT_NAME_SIZE, "tollfree_%08x_%u",
			 session->prepared.tag, ++session->prepared.names);
	return name;
}

#endif							/* TOLLFREE_FDW_NAMES_H */
