/*
 * prepared.h
 *	  The prepared statements of a session's connection.
 */
#ifndef TOLLFREE_FDW_PREPARED_H
#define TOLLFREE_FDW_PREPARED_H

#include "session/state.h"

extern void prepared_begin(Session *session);
extern void prepared_end(Session *session);

/* Names */
extern const char *prepared_own_name(const Session *session, const char *what,
									 char *name);
extern const char *prepared_next_name(Session *session, char *name);

/* Statements of callers */
extern int	prepared_make(Session *session, char *name, const char *sql,
						  RemoteCommand execution, RemoteCommand *commands);
extern void prepared_note(Session *session, const char *name);
extern void prepared_deallocate_later(Session *session, const char *name);
extern void prepared_deallocate_all_later(Session *session);
extern void prepared_forget_unused(Session *session);
extern void prepared_describe(Session *session, const char *statement,
							  const PGresult *res);
extern const Oid *prepared_types(const Session *session, const char *statement,
								 int ntypes);

/* The command that may be repeated */
extern void prepared_note_sent(Session *session,
							   const RemoteCommand *repeatable,
							   bool only_reads);
extern void prepared_forget_repeatable(Session *session);

#endif							/* TOLLFREE_FDW_PREPARED_H */
