/*
 * questions.h
 *	  The questions that a session asks the remote server on its own.
 */
#ifndef TOLLFREE_FDW_QUESTIONS_H
#define TOLLFREE_FDW_QUESTIONS_H

#include "session/state.h"

extern void questions_add_at_setup(Session *session);
extern void questions_add_behind_commit(Session *session);
extern void questions_add_write_check(Session *session, bool only_reads);
extern bool questions_has_timeout(Session *session);
extern bool questions_takes_arrays(Session *session);
extern void questions_settle(Session *session);
extern void questions_take(Session *session, const BatchPart *part,
						   const PGresult *res);

/* Relations */
extern bool questions_know_plain(const Session *session, List *relids);
extern IndexFact questions_know_index(Session *session, Oid relid,
									  const char *column);
extern void questions_note_wanted(Session *session, Oid relid);
extern void questions_note_relations(Session *session, List *relids);
extern void questions_forget_relation(Session *session, Oid relid);

#endif							/* TOLLFREE_FDW_QUESTIONS_H */
