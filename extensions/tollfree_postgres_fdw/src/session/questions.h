/*
 * questions.h
 *	  The questions that a session asks the remote server on its own.
 */
#ifndef TOLLFREE_FDW_QUESTIONS_H
#define TOLLFREE_FDW_QUESTIONS_H

#include "session/state.h"

/* Asking */
extern void questions_add_at_setup(Session *session);
extern void questions_add_behind_commit(Session *session);
extern void questions_add_write_check(Session *session, bool only_reads);

/* What is to be asked, and the answers */
extern void questions_note_relations(Session *session, List *relids);
extern void questions_forget(Session *session);
extern void questions_take(Session *session, const BatchPart *part,
						   const PGresult *res);

#endif							/* TOLLFREE_FDW_QUESTIONS_H */
