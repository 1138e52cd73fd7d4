/*
 * questions.h
 *	  What a session asks the remote server for purposes of its own.
 */
#ifndef TOLLFREE_FDW_QUESTIONS_H
#define TOLLFREE_FDW_QUESTIONS_H

#include "session/state.h"

/* For the rest of the transaction or savepoint, ms: for a lock; for all of it */
#define LOCK_LIMIT_SQL "SET LOCAL lock_timeout = 1"
#define TIME_LIMIT_SQL "SET LOCAL statement_timeout = 1000"

/* From this version on the remote server can be asked what it has done. */
#define SESSION_CHECK_VERSION 130000

/* When they are asked */
extern void questions_add_at_setup(Session *session);
extern void questions_add_behind_commit(Session *session);
extern void questions_add_write_check(Session *session, bool only_reads);

/* What is to be asked, and what was answered */
extern void questions_note_relations(Session *session, List *relids);
extern void questions_forget(Session *session);
extern void questions_take(Session *session, const BatchPart *part,
						   const PGresult *res);

#endif							/* TOLLFREE_FDW_QUESTIONS_H */
