/*
 * facts.c
 *	  What is known of a remote server and its relations.
 *
 * This file alone writes RemoteTraits and RelationFacts.  It takes the answers to
 * the questions of questions.c, and notes which of them are to be sent.
 *
 * A relation is plain if reading it runs no user's code: it is a table or a
 * materialized view, has no row security, and has no children, which could be
 * foreign tables.  Answers are kept by foreign table until its definition, which
 * may name another relation, changes.  Then an answer still to come is of no use,
 * either: it is about the former relation.  So a question has the number of the
 * entry that it was asked for.  scan/autocommit.c uses the answers.
 *
 * A column has an index if one for equality begins with it, and has all rows.  That
 * may change while the answer is kept: nothing but costs depends on it.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "session/error.h"
#include "session/facts.h"
#include "session/result.h"
#include "sql/deparse.h"

#define RELATIONS_EXPECTED 16

typedef enum RelationKind
{
	RELATION_UNKNOWN,			/* not answered */
	RELATION_PLAIN,
	RELATION_OTHER
} RelationKind;

typedef struct KnownRelation
{
	Oid			relid;			/* the foreign table; the key */
	uint32		number;			/* of the entry, never given twice */
	RelationKind kind;
	bool		is_wanted;		/* would a planner like to know its indexes? */
	bool		knows_indexes;	/* have these been answered? */
	char	   *indexed;		/* columns that have an index, each between
								 * commas; NULL if there is none */
} KnownRelation;

/* The parts that this file writes. */
static RemoteTraits *
facts_own_traits(Session *session)
{
	return session_own(RemoteTraits, session, remote);
}

static RelationFacts *
facts_own(Session *session)
{
	return session_own(RelationFacts, session, facts);
}

/*
 * A connection has been made, in round trips of this length.  Nothing is known of
 * the server but the encoding of its database.
 */
void
facts_begin(Session *session, long round_trip, bool same_encoding)
{
	RemoteTraits *traits = facts_own_traits(session);

	traits->round_trip = round_trip;
	traits->same_encoding = same_encoding;
}

/* Questions are being sent: until they are answered this is assumed. */
void
facts_assume(Session *session)
{
	RemoteTraits *traits = facts_own_traits(session);

	traits->unanswered = 0;
	traits->asked_all = traits->knows_arrays = false;
	traits->can_check_writes = false;
	traits->has_statement_timeout = true;
	traits->is_serializable = true;
	traits->hides_relations = false;
	traits->takes_arrays = true;
	traits->nzones = 0;
	traits->knows_collations = traits->same_collations = false;
}

/* A question about the server has been sent. */
void
facts_expect_answer(Session *session)
{
	facts_own_traits(session)->unanswered++;
}

/* All questions about the server are being sent. */
void
facts_note_all_asked(Session *session)
{
	facts_own_traits(session)->asked_all = true;
}

/* May keys and rows be sent as arrays? */
void
facts_take_arrays(Session *session, bool takes_arrays)
{
	RemoteTraits *traits = facts_own_traits(session);

	traits->knows_arrays = true;
	traits->takes_arrays = takes_arrays;
}

/* Is it known whether the remote server has the rules of a zone?  Then is_same is set. */
bool
facts_know_zone(const Session *session, const pg_tz *zone, bool *is_same)
{
	const RemoteTraits *traits = &session->remote;

	for (int i = 0; i < Min(traits->nzones, ZONES_KNOWN); i++)
	{
		if (traits->zones[i].zone == zone)
		{
			*is_same = traits->zones[i].is_same;
			return true;
		}
	}
	return false;
}

/* The question about a zone is being sent. */
void
facts_expect_zone(Session *session, const pg_tz *zone)
{
	facts_own_traits(session)->asked_zone = zone;
}

/* The local transaction relies on a zone's rules: so must a connection that replaces it. */
void
facts_rely_on_zone(Session *session, const pg_tz *zone)
{
	RemoteTraits *traits = facts_own_traits(session);
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);

	traits->relied_zones = list_append_unique_ptr(traits->relied_zones,
												  unconstify(pg_tz *, zone));
	MemoryContextSwitchTo(old);
}

/* The same of its major version, and of the encoding of its database. */
void
facts_rely_on_version(Session *session)
{
	facts_own_traits(session)->relies_on_version = true;
}

void
facts_rely_on_encoding(Session *session)
{
	facts_own_traits(session)->relies_on_encoding = true;
}

/* Takes the answer to that question; none, or NULL, is no. */
void
facts_take_zone(Session *session, const PGresult *res)
{
	RemoteTraits *traits = facts_own_traits(session);
	ZoneFact   *fact = &traits->zones[traits->nzones % ZONES_KNOWN];
	const char *value = PQresultStatus(res) == PGRES_TUPLES_OK ?
		result_value(res) : NULL;

	fact->zone = traits->asked_zone;
	fact->is_same = value != NULL && value[0] == 't';
	traits->nzones++;
}

/* Takes the collations of the remote database; NULL if it does not say. */
void
facts_take_collations(Session *session, const char *collations)
{
	RemoteTraits *traits = facts_own_traits(session);

	if (traits->collations != NULL)
		pfree(traits->collations);
	traits->collations = NULL;
	if (collations != NULL)
		traits->collations = MemoryContextStrdup(TopMemoryContext, collations);
}

/* Are these the same as here? */
void
facts_note_collations(Session *session, bool same)
{
	RemoteTraits *traits = facts_own_traits(session);

	traits->knows_collations = true;
	traits->same_collations = same;
	if (same && traits->believed == NULL)
		traits->believed = MemoryContextStrdup(TopMemoryContext,
											   traits->collations);
}

/* No plan relies on the collations of the remote database any more. */
void
facts_forget_belief(Session *session)
{
	RemoteTraits *traits = facts_own_traits(session);

	if (traits->believed != NULL)
		pfree(traits->believed);
	traits->believed = NULL;
}

/* A round trip has taken this long, in ms. */
void
facts_note_round_trip(Session *session, long round_trip)
{
	facts_own_traits(session)->round_trip = round_trip;
}

/* Have the session's own prepared statements been gone, as behind a pooler? */
void
facts_note_lost_statements(Session *session, bool lost)
{
	facts_own_traits(session)->lost_statements = lost;
}

/* What is known of a foreign table's relation; NULL if it is not kept. */
static KnownRelation *
facts_find(const Session *session, Oid relid)
{
	return session->facts.relations == NULL ? NULL :
		hash_search(session->facts.relations, &relid, HASH_FIND, NULL);
}

/*
 * What is known of the relation that a question was about; NULL if it is not kept,
 * or if the foreign table's definition has changed since.
 */
static KnownRelation *
facts_find_asked(const Session *session, Oid relid, uint32 number)
{
	KnownRelation *relation = facts_find(session, relid);

	return relation != NULL && relation->number == number ? relation : NULL;
}

/* Are all these relations known to be plain? */
bool
facts_know_plain(const Session *session, List *relids)
{
	ListCell   *cell;

	foreach(cell, relids)
	{
		const KnownRelation *relation = facts_find(session, lfirst_oid(cell));

		if (relation == NULL || relation->kind != RELATION_PLAIN)
			return false;
	}
	return true;
}

/* Makes the table of known relations, which facts_forget destroys. */
static HTAB *
make_table(void)
{
	HASHCTL		control = {
		.keysize = sizeof(Oid),.entrysize = sizeof(KnownRelation),
		.hcxt = TopMemoryContext
	};

	return hash_create("tollfree_postgres_fdw relations", RELATIONS_EXPECTED,
					   &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* Finds a relation in the table, which is made if need be, or adds it. */
static KnownRelation *
facts_add(Session *session, Oid relid)
{
	RelationFacts *facts = facts_own(session);
	KnownRelation *relation;
	bool		found;

	if (facts->relations == NULL)
		facts->relations = make_table();
	relation = hash_search(facts->relations, &relid, HASH_ENTER, &found);
	if (!found)
	{
		relation->number = ++facts->numbers;
		relation->kind = RELATION_UNKNOWN;
		relation->is_wanted = relation->knows_indexes = false;
		relation->indexed = NULL;
	}
	return relation;
}

/*
 * Has a column of a remote relation an index?  If that is not known yet a scan of
 * the relation has the question sent (facts_note_wanted).
 */
IndexFact
facts_know_index(Session *session, Oid relid, const char *column)
{
	KnownRelation *relation;

	if (session->remote.hides_relations)
		return INDEX_UNKNOWN;
	relation = facts_add(session, relid);
	relation->is_wanted = true;
	if (!relation->knows_indexes)
		return INDEX_UNKNOWN;
	return relation->indexed != NULL &&
		strstr(relation->indexed, psprintf(",%s,", column)) != NULL ?
		INDEX_PRESENT : INDEX_ABSENT;
}

/* Is a question about a relation open? */
static bool
is_unknown(const KnownRelation *relation)
{
	return relation->kind == RELATION_UNKNOWN ||
		(relation->is_wanted && !relation->knows_indexes);
}

/* Does this server answer questions about relations? */
static bool
may_ask(const Session *session)
{
	return !session->remote.hides_relations &&
		PQserverVersion(session->conn) >= FACTS_VERSION;
}

/* A question about a relation, in this context. */
static RelationQuestion *
make_question(const KnownRelation *relation)
{
	RelationQuestion *question = palloc(sizeof(RelationQuestion));

	question->relid = relation->relid;
	question->number = relation->number;
	deparse_table_name(question->relid, &question->names[0], &question->names[1]);
	return question;
}

/* Is a question about a relation pending, until the COMMIT? */
static bool
is_noted(const Session *session, const KnownRelation *relation)
{
	ListCell   *cell;

	foreach(cell, session->facts.pending_questions)
	{
		if (((RelationQuestion *) lfirst(cell))->number == relation->number)
			return true;
	}
	return false;
}

/* Notes a question about the indexes of a relation, if a planner wants to know. */
void
facts_note_wanted(Session *session, Oid relid)
{
	RelationFacts *facts = facts_own(session);
	const KnownRelation *relation = facts_find(session, relid);
	MemoryContext old;

	if (relation == NULL || !relation->is_wanted || !is_unknown(relation) ||
		!may_ask(session) || is_noted(session, relation))
		return;
	old = MemoryContextSwitchTo(TopTransactionContext);
	facts->pending_questions = lappend(facts->pending_questions,
									   make_question(relation));
	MemoryContextSwitchTo(old);
}

/*
 * Notes that it would be useful to know that these relations are plain.  They
 * are queried after the transaction's COMMIT, unless one is known not to be.
 */
void
facts_note_relations(Session *session, List *relids)
{
	RelationFacts *facts = facts_own(session);
	List	   *questions = NIL;
	ListCell   *cell;
	MemoryContext old;

	if (relids == NIL || !may_ask(session))
		return;
	old = MemoryContextSwitchTo(TopTransactionContext);
	foreach(cell, relids)
	{
		Oid			relid = lfirst_oid(cell);
		const KnownRelation *relation = facts_add(session, relid);

		if (relation->kind == RELATION_OTHER)
			break;
		if (relation->kind == RELATION_PLAIN)
			continue;
		questions = lappend(questions, make_question(relation));
	}
	if (cell == NULL)
		facts->pending_questions = list_concat(facts->pending_questions,
											   questions);
	MemoryContextSwitchTo(old);
}

/* Removes a relation, which may be NULL, from the table. */
static void
remove_relation(HTAB *known, KnownRelation *relation)
{
	if (relation == NULL)
		return;
	if (relation->indexed != NULL)
		pfree(relation->indexed);
	(void) hash_search(known, &relation->relid, HASH_REMOVE, NULL);
}

/*
 * Forgets one foreign table's relation, or all relations if the OID is
 * invalid.  This may happen while questions are being collected: looking up
 * names accepts invalidation messages.
 */
void
facts_forget_relation(Session *session, Oid relid)
{
	HTAB	   *known = session->facts.relations;
	HASH_SEQ_STATUS status;
	KnownRelation *relation;

	if (known == NULL)
		return;
	if (OidIsValid(relid))
	{
		remove_relation(known, hash_search(known, &relid, HASH_FIND, NULL));
		return;
	}
	hash_seq_init(&status, known);
	while ((relation = hash_seq_search(&status)) != NULL)
		remove_relation(known, relation);
}

/* The local transaction has ended: its pending questions are dropped. */
void
facts_leave(Session *session)
{
	RemoteTraits *traits = facts_own_traits(session);

	facts_own(session)->pending_questions = NIL;
	traits->relied_zones = NIL;
	traits->relies_on_version = traits->relies_on_encoding = false;
}

/* The connection is gone, if there was one: nothing is known of relations. */
void
facts_forget(Session *session)
{
	RelationFacts *facts = facts_own(session);

	facts_own_traits(session)->unanswered = 0;
	facts_own_traits(session)->nzones = 0;
	facts_take_collations(session, NULL);
	facts_forget_relation(session, InvalidOid);
	hash_destroy(facts->relations);
	facts->relations = NULL;
}

/*
 * Is what a question is about still not known?  With is_wanted a planner would
 * like to know the indexes, too.
 */
bool
facts_are_missing(const Session *session, const RelationQuestion *question,
				  bool *is_wanted)
{
	const KnownRelation *relation = facts_find_asked(session, question->relid,
													 question->number);

	*is_wanted = relation != NULL && relation->is_wanted;
	return relation != NULL && is_unknown(relation);
}

/* Takes the answer about a relation, which may come twice. */
static void
take_relation(KnownRelation *relation, const char *answer)
{
	relation->kind = answer[0] == 't' ? RELATION_PLAIN : RELATION_OTHER;
	if (relation->knows_indexes ||
		(answer[0] != '\0' && strchr(answer, ',') == NULL))
		return;
	relation->knows_indexes = true;
	if (strlen(answer) > strlen("t,"))
		relation->indexed = MemoryContextStrdup(TopMemoryContext, answer + 1);
}

/*
 * Takes the answer to a question that is not part of the user's transaction.
 * A question about a relation that was given up at one of its limits, not
 * refused, is sent again behind a later transaction.
 */
void
facts_take(Session *session, const BatchPart *part, const PGresult *res)
{
	RemoteTraits *traits = facts_own_traits(session);
	const char *value = result_value(res);
	bool		is_answered = PQresultStatus(res) == PGRES_TUPLES_OK &&
		value != NULL;
	const char *answer = is_answered ? value : "";
	int			sqlstate = error_sqlstate(res);
	bool		is_refused = PQresultStatus(res) == PGRES_FATAL_ERROR &&
		sqlstate != ERRCODE_QUERY_CANCELED &&
		sqlstate != ERRCODE_LOCK_NOT_AVAILABLE;
	KnownRelation *relation;

	switch (part->kind)
	{
		case PART_QUESTION_CONTROL:
			traits->hides_relations |= is_refused;
			break;
		case PART_WRITE_QUESTION:
			traits->unanswered--;
			traits->can_check_writes = is_answered;
			break;
		case PART_TIMEOUT_QUESTION:
			traits->unanswered--;
			traits->has_statement_timeout = strcmp(answer, "0") != 0;
			break;
		case PART_ISOLATION_QUESTION:
			traits->unanswered--;
			traits->is_serializable = !is_answered ||
				strcmp(answer, "serializable") == 0;
			break;
		case PART_ARRAYS_QUESTION:
			traits->unanswered--;
			facts_take_arrays(session, PQresultStatus(res) == PGRES_TUPLES_OK);
			break;
		case PART_ZONE_QUESTION:
			traits->unanswered--;
			facts_take_zone(session, res);
			break;
		case PART_COLLATIONS_QUESTION:
			traits->unanswered--;
			facts_take_collations(session, is_answered ? value : NULL);
			break;
		case PART_RELATION_QUESTION:
			traits->hides_relations |= is_refused;
			relation = facts_find_asked(session, part->relid, part->relation_number);
			if (is_answered && relation != NULL)
				take_relation(relation, answer);
			break;
		default:
			break;
	}
}
