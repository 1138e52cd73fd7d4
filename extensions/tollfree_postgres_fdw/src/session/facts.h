/*
 * facts.h
 *	  What is known of a remote server and its relations.
 */
#ifndef TOLLFREE_FDW_FACTS_H
#define TOLLFREE_FDW_FACTS_H

#include "session/state.h"

/* The first version that says whether a transaction has written */
#define FACTS_VERSION 130000

/* A question about a remote relation */
typedef struct RelationQuestion
{
	Oid			relid;			/* the foreign table */
	uint32		number;			/* of its KnownRelation */
	const char *names[2];		/* remote schema and relation */
} RelationQuestion;

/* The server */
extern void facts_begin(Session *session, long round_trip, bool same_encoding);
extern void facts_assume(Session *session);
extern void facts_expect_answer(Session *session);
extern void facts_note_all_asked(Session *session);
extern void facts_take_collations(Session *session, const char *collations);
extern void facts_note_collations(Session *session, bool same);
extern void facts_forget_belief(Session *session);
extern void facts_take_arrays(Session *session, bool takes_arrays);
extern bool facts_know_zone(const Session *session, const pg_tz *zone,
							bool *is_same);
extern void facts_expect_zone(Session *session, const pg_tz *zone);
extern void facts_rely_on_zone(Session *session, const pg_tz *zone);
extern void facts_rely_on_version(Session *session);
extern void facts_rely_on_encoding(Session *session);
extern void facts_take_zone(Session *session, const PGresult *res);
extern void facts_note_round_trip(Session *session, long round_trip);
extern void facts_note_lost_statements(Session *session, bool lost);
extern void facts_take(Session *session, const BatchPart *part,
					   const PGresult *res);

/* Relations */
extern bool facts_know_plain(const Session *session, List *relids);
extern IndexFact facts_know_index(Session *session, Oid relid,
								  const char *column);
extern void facts_note_wanted(Session *session, Oid relid);
extern void facts_note_relations(Session *session, List *relids);
extern bool facts_are_missing(const Session *session,
							  const RelationQuestion *question,
							  bool *is_wanted);
extern void facts_forget_relation(Session *session, Oid relid);
extern void facts_leave(Session *session);
extern void facts_forget(Session *session);

#endif							/* TOLLFREE_FDW_FACTS_H */
