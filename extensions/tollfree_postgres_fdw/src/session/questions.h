/*
 * questions.h
 *	  The questions that a session sends to the remote server on its own.
 */
#ifndef TOLLFREE_FDW_QUESTIONS_H
#define TOLLFREE_FDW_QUESTIONS_H

#include "session/state.h"

/*
 * What a query for many keys needs: unnest, WITH ORDINALITY for several
 * functions, and to look into pg_catalog
 */
#define QUESTIONS_ARRAYS_SQL \
	"SELECT FROM ROWS FROM (pg_catalog.unnest('{NULL}'::pg_catalog.int4[]))" \
	" WITH ORDINALITY LIMIT 0"

extern void questions_add_at_setup(Session *session);
extern void questions_add_behind_commit(Session *session);
extern void questions_add_write_check(Session *session, bool only_reads);
extern void questions_await(Session *session);
extern void questions_want_zone(const pg_tz *zone);
extern void questions_ask_zone(Session *session, const pg_tz *zone);
extern bool questions_have_same_collations(Session *session);
extern void questions_check_belief(Session *session);
extern bool questions_has_timeout(Session *session);
extern void questions_settle(Session *session);

#endif							/* TOLLFREE_FDW_QUESTIONS_H */
