/*
 * questions.c
 *	  The questions that a session asks the remote server on its own.
 *
 * The rule: a question never makes a command of the user fail or wait.  The
 * remote user may lack a right, the server may be a standby or of another
 * version, somebody may have locked a catalog.  A question without an answer
 * counts as answered by no, which costs nothing but speed.  So no question but
 * the last is asked where its error would end the user's transaction:
 *
 *	When the session is set up, in the same batch, each behind a Sync of its
 *	own: what is statement_timeout, what is the default isolation level?  The
 *	first command is sent behind them, unless how it is sent depends on them.
 *
 *	After the COMMIT of a session's first transaction, which is always waited
 *	for: is the write check answered, may the user send keys as arrays (join/)?
 *	Their first execution reads catalogs, and so takes as long as many a query.
 *	The second transaction waits for the answers, which the remote server has to
 *	give before.  If the first depends on one, they are asked before it, or in a
 *	savepoint if it has begun.
 *
 *	After the COMMIT of a later transaction, in a transaction of its own.  Nobody
 *	waits; the answers are read with the next batch: are relations plain, and
 *	which of their columns have an index?  It would take a good part of the work of
 *	a session that has but one query.
 *
 *	In the user's transaction, in a savepoint (session_ask): how large is a
 *	table, what are its statistics (analyze/)?  ANALYZE waits for these as it
 *	does for locks of the table.
 *
 *	In the user's transaction, with every command that only reads: has the
 *	transaction written (the write check)?
 *
 * A savepoint around the write check would cost more than the check saves.  It
 * is sent only if it worked in a transaction of its own.  If the right to call
 * its function is revoked later, one transaction fails, and the session is
 * replaced by one that does not ask.
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

#include "session/batch.h"
#include "session/results.h"
#include "session/questions.h"
#include "session/session.h"
#include "sql/deparse.h"

/* The first version that can be asked whether a transaction has written */
#define QUESTIONS_VERSION 130000

/* The write check: "t" if the transaction has written nothing so far */
#define WRITE_CHECK_NAME "check"
#define WRITE_CHECK_SQL \
	"SELECT pg_catalog.pg_current_xact_id_if_assigned() IS NULL"

/* SHOW needs no right to any function */
#define TIMEOUT_SQL "SHOW statement_timeout"
#define ISOLATION_SQL "SHOW default_transaction_isolation"

/*
 * What a query for many keys needs: unnest, WITH ORDINALITY for several
 * functions, and to look into pg_catalog
 */
#define ARRAYS_SQL \
	"SELECT FROM ROWS FROM (pg_catalog.unnest('{}'::pg_catalog.int4[]))" \
	" WITH ORDINALITY"

/* "t" if the relation is plain */
#define RELATION_SQL \
	"SELECT EXISTS (SELECT FROM pg_catalog.pg_class c" \
	" JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace" \
	" WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'm')" \
	" AND NOT c.relrowsecurity AND NOT c.relhassubclass)"

/*
 * The same, or "f"; then the columns that have an index, each between commas.  Empty
 * if there is no such relation.  403 and 405 are btree and hash.
 */
#define INDEXES_SQL \
	"SELECT pg_catalog.max(CASE WHEN c.relkind IN ('r', 'm')" \
	" AND NOT c.relrowsecurity AND NOT c.relhassubclass THEN 't' ELSE 'f' END" \
	" || ',' || coalesce((SELECT pg_catalog.string_agg(a.attname || ',', '')" \
	" FROM pg_catalog.pg_index i" \
	" JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid" \
	" JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid" \
	" AND a.attnum = i.indkey[0] WHERE i.indrelid = c.oid AND i.indisvalid" \
	" AND i.indpred IS NULL AND x.relam IN (403, 405)), ''))" \
	" FROM pg_catalog.pg_class c" \
	" JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace" \
	" WHERE n.nspname = $1 AND c.relname = $2"

/* A transaction that works on a standby, too, whatever the defaults are */
#define START_SQL \
	"START TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY"

/* Limits for the transaction, in ms: for a lock; for each question */
#define LOCK_LIMIT_SQL "SET LOCAL lock_timeout = 1"
#define TIME_LIMIT_SQL "SET LOCAL statement_timeout = 1000"

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

/* A remote relation to ask about */
typedef struct RelationQuestion
{
	Oid			relid;			/* the foreign table */
	uint32		number;			/* of its KnownRelation */
	const char *names[2];		/* remote schema and relation */
} RelationQuestion;

/* Adds a question about the server, behind a Sync of its own. */
static void
add_question(Session *session, PartKind kind, const char *sql)
{
	batch_add_sync(session);
	batch_add(session, kind, 0, sql);
	session->remote.unanswered++;
}

/* Asks whether the write check is answered. */
static void
add_write_question(Session *session)
{
	if (PQserverVersion(session->conn) < QUESTIONS_VERSION)
		return;
	batch_add_sync(session);
	control_prepare(session, PART_QUESTION_CONTROL, WRITE_CHECK_NAME,
					WRITE_CHECK_SQL);
	control_add(session, PART_WRITE_QUESTION, 0, WRITE_CHECK_NAME,
				WRITE_CHECK_SQL);
	session->remote.unanswered++;
}

/* Asks what is not asked at setup, once. */
static void
add_later_questions(Session *session)
{
	session->remote.asked_all = true;
	add_write_question(session);
	add_question(session, PART_ARRAYS_QUESTION, ARRAYS_SQL);
}

/* Asks at the setup of the session what costs next to nothing to answer. */
void
questions_add_at_setup(Session *session)
{
	session->remote.unanswered = 0;
	session->remote.asked_all = session->remote.knows_arrays = false;
	session->remote.can_check_writes = false;
	session->remote.has_statement_timeout = true;
	session->remote.is_serializable = true;
	session->remote.hides_relations = false;
	session->remote.takes_arrays = true;

	add_question(session, PART_TIMEOUT_QUESTION, TIMEOUT_SQL);
	add_question(session, PART_ISOLATION_QUESTION, ISOLATION_SQL);
}

/*
 * Waits for the answers to the questions about the server.  What has not been
 * asked is asked first, if there is no transaction yet: one round trip for all.
 * A lost connection answers nothing, and shows when it is used.
 */
static void
await_answers(Session *session)
{
	if (!session->remote.asked_all && session->xact.remote_depth == 0 &&
		!batch_is_in_flight(session) && session->pending.flush.act == NULL)
	{
		batch_begin(session, false);
		add_later_questions(session);
		session->counters.round_trips++;
		if (!batch_send(session))
			return;
	}
	results_read_questions(session);
}

/* Has the remote server a statement_timeout?  True if it does not say. */
bool
questions_has_timeout(Session *session)
{
	if (session->remote.unanswered > 0)
		await_answers(session);
	return session->remote.has_statement_timeout;
}

/* May the remote user send keys as arrays? */
bool
questions_takes_arrays(Session *session)
{
	if (!session->remote.knows_arrays)
		await_answers(session);
	if (!session->remote.knows_arrays)
	{
		PGresult   *res = session_ask(session, ARRAYS_SQL);

		session->remote.knows_arrays = true;
		session->remote.takes_arrays = res != NULL;
		PQclear(res);
	}
	return session->remote.takes_arrays;
}

/*
 * Waits for the answers to what was asked behind the first COMMIT: what is sent
 * next depends on them.
 */
void
questions_settle(Session *session)
{
	if (session->remote.asked_all)
		results_read_questions(session);
}

/*
 * Adds the write check behind the caller's commands, if it is useful.  A command
 * that writes has written, however many rows it says: its triggers may do so on a
 * third server.
 */
void
questions_add_write_check(Session *session, bool only_reads)
{
	session->xact.has_written |= !only_reads;
	if (!session->xact.has_written && session->remote.can_check_writes)
		control_add(session, PART_WRITE_CHECK, 0, WRITE_CHECK_NAME,
					WRITE_CHECK_SQL);
	session->xact.may_have_written = true;
}

/* What is known of a foreign table's relation; NULL if it is not kept. */
static KnownRelation *
find_relation(const Session *session, Oid relid)
{
	return session->facts.relations == NULL ? NULL :
		hash_search(session->facts.relations, &relid, HASH_FIND, NULL);
}

/*
 * What is known of the relation that a question was about; NULL if it is not kept,
 * or if the foreign table's definition has changed since.
 */
static KnownRelation *
find_asked(const Session *session, Oid relid, uint32 number)
{
	KnownRelation *relation = find_relation(session, relid);

	return relation != NULL && relation->number == number ? relation : NULL;
}

/* Are all these relations known to be plain? */
bool
questions_know_plain(const Session *session, List *relids)
{
	ListCell   *cell;

	foreach(cell, relids)
	{
		const KnownRelation *relation = find_relation(session, lfirst_oid(cell));

		if (relation == NULL || relation->kind != RELATION_PLAIN)
			return false;
	}
	return true;
}

/* Makes the table of known relations, which connection_end destroys. */
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
add_relation(Session *session, Oid relid)
{
	KnownRelation *relation;
	bool		found;

	if (session->facts.relations == NULL)
		session->facts.relations = make_table();
	relation = hash_search(session->facts.relations, &relid, HASH_ENTER, &found);
	if (!found)
	{
		relation->number = ++session->facts.numbers;
		relation->kind = RELATION_UNKNOWN;
		relation->is_wanted = relation->knows_indexes = false;
		relation->indexed = NULL;
	}
	return relation;
}

/*
 * Has a column of a remote relation an index?  If that is not known yet a scan of
 * the relation is to ask (questions_note_wanted).
 */
IndexFact
questions_know_index(Session *session, Oid relid, const char *column)
{
	KnownRelation *relation;

	if (session->remote.hides_relations)
		return INDEX_UNKNOWN;
	relation = add_relation(session, relid);
	relation->is_wanted = true;
	if (!relation->knows_indexes)
		return INDEX_UNKNOWN;
	return relation->indexed != NULL &&
		strstr(relation->indexed, psprintf(",%s,", column)) != NULL ?
		INDEX_PRESENT : INDEX_ABSENT;
}

/* Is there something to be asked about a relation? */
static bool
is_unknown(const KnownRelation *relation)
{
	return relation->kind == RELATION_UNKNOWN ||
		(relation->is_wanted && !relation->knows_indexes);
}

/* Can this server be asked about relations? */
static bool
may_ask(const Session *session)
{
	return !session->remote.hides_relations &&
		PQserverVersion(session->conn) >= QUESTIONS_VERSION;
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

/* Is a relation to be asked about when the transaction has committed? */
static bool
is_noted(const Session *session, const KnownRelation *relation)
{
	ListCell   *cell;

	foreach(cell, session->facts.unasked)
	{
		if (((RelationQuestion *) lfirst(cell))->number == relation->number)
			return true;
	}
	return false;
}

/* Has the indexes of a foreign table's relation asked for, if a planner waits. */
void
questions_note_wanted(Session *session, Oid relid)
{
	const KnownRelation *relation = find_relation(session, relid);
	MemoryContext old;

	if (relation == NULL || !relation->is_wanted || !is_unknown(relation) ||
		!may_ask(session) || is_noted(session, relation))
		return;
	old = MemoryContextSwitchTo(TopTransactionContext);
	session->facts.unasked = lappend(session->facts.unasked,
									 make_question(relation));
	MemoryContextSwitchTo(old);
}

/*
 * Notes that it would be useful to know that these relations are plain.  They
 * are asked about after the transaction's COMMIT, unless one is known not to be.
 */
void
questions_note_relations(Session *session, List *relids)
{
	List	   *questions = NIL;
	ListCell   *cell;
	MemoryContext old;

	if (relids == NIL || !may_ask(session))
		return;
	old = MemoryContextSwitchTo(TopTransactionContext);
	foreach(cell, relids)
	{
		Oid			relid = lfirst_oid(cell);
		const KnownRelation *relation = add_relation(session, relid);

		if (relation->kind == RELATION_OTHER)
			break;
		if (relation->kind == RELATION_PLAIN)
			continue;
		questions = lappend(questions, make_question(relation));
	}
	if (cell == NULL)
		session->facts.unasked = list_concat(session->facts.unasked, questions);
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
questions_forget_relation(Session *session, Oid relid)
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

/*
 * Asks about a relation, and about its indexes if these are wanted; its names are
 * the parameters.
 */
static void
add_relation_question(Session *session, const RelationQuestion *question,
					  bool is_wanted)
{
	const char *sql = is_wanted ? INDEXES_SQL : RELATION_SQL;
	RemoteCommand command = {
		.sql = sql,.shown = sql,
		.nparams = lengthof(question->names),.params = question->names
	};
	BatchPart  *part = batch_queue(session, PART_RELATION_QUESTION, 0, &command);

	if (part != NULL)
	{
		part->relid = question->relid;
		part->relation_number = question->number;
	}
}

/*
 * Asks behind the COMMIT, if the session goes on: behind the first about the
 * server, behind later ones about relations that are not known.
 */
void
questions_add_behind_commit(Session *session)
{
	bool		is_asking = false;
	ListCell   *cell;

	if (session->options.is_outdated || !session->options.keep)
		return;
	if (!session->remote.asked_all)
	{
		add_later_questions(session);
		return;
	}
	if (session->remote.hides_relations)
		return;
	foreach(cell, session->facts.unasked)
	{
		const RelationQuestion *question = lfirst(cell);
		const KnownRelation *relation = find_asked(session, question->relid,
												   question->number);

		if (relation == NULL || !is_unknown(relation))
			continue;
		if (!is_asking)
		{
			batch_add_sync(session);
			batch_add(session, PART_QUESTION_CONTROL, 0, START_SQL);
			batch_add(session, PART_QUESTION_CONTROL, 0, LOCK_LIMIT_SQL);
			batch_add(session, PART_QUESTION_CONTROL, 0, TIME_LIMIT_SQL);
			is_asking = true;
		}
		add_relation_question(session, question, relation->is_wanted);
	}
	if (!is_asking)
		return;
	batch_add_sync(session);
	batch_add(session, PART_QUESTION_CONTROL, 0, "ROLLBACK TRANSACTION");
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
 * refused, is asked again behind a later transaction.
 */
void
questions_take(Session *session, const BatchPart *part, const PGresult *res)
{
	const char *value = results_value(res);
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
			session->remote.hides_relations |= is_refused;
			break;
		case PART_WRITE_QUESTION:
			session->remote.unanswered--;
			session->remote.can_check_writes = is_answered;
			break;
		case PART_TIMEOUT_QUESTION:
			session->remote.unanswered--;
			session->remote.has_statement_timeout = strcmp(answer, "0") != 0;
			break;
		case PART_ISOLATION_QUESTION:
			session->remote.unanswered--;
			session->remote.is_serializable = !is_answered ||
				strcmp(answer, "serializable") == 0;
			break;
		case PART_ARRAYS_QUESTION:
			session->remote.unanswered--;
			session->remote.knows_arrays = true;
			session->remote.takes_arrays =
				PQresultStatus(res) == PGRES_TUPLES_OK;
			break;
		case PART_RELATION_QUESTION:
			session->remote.hides_relations |= is_refused;
			relation = find_asked(session, part->relid, part->relation_number);
			if (is_answered && relation != NULL)
				take_relation(relation, answer);
			break;
		default:
			break;
	}
}
