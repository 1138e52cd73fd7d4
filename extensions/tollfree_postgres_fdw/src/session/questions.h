/*
 * questions.h
 *	  What a session asks the remote server for purposes of its own.
 */
#ifndef TOLLFREE_FDW_QUESTIONS_H
#define TOLLFREE_FDW_QUESTIONS_H

#include "session/state.h"

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
