/*
 * questions.h
 *	  What a session asks the remote server for purposes of its own.
 */
#ifndef TOLLFREE_FDW_QUESTIONS_H
#define TOLLFREE_FDW_QUESTIONS_H

#include "session.h"

/* When they are asked */
extern void questions_add_at_setup(Session *session);
extern void questions_add_behind_commit(Session *session);
extern void questions_add_write_check(Session *session, bool only_reads);
extern PGresult *questions_ask(Session *session, const char *sql);
extern bool questions_ask_for_arrays(Session *session, const char *sql);

/* What is to be asked, and what was answered */
extern void questions_note_relations(Session *session, List *relids);
extern void questions_forget(Session *session);
extern void questions_take(Session *session, const Part *part,
						   const PGresult *res);

#endif							/* TOLLFREE_FDW_QUESTIONS_H */
