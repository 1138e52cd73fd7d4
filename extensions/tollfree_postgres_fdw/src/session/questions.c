/*
 * questions.c
 *	  The questions that a session sends to the remote server on its own.
 *
 * The rule: a question never makes a command of the user fail or wait.  The
 * remote user may lack a right, the server may be a standby or of another
 * version, somebody may have locked a catalog.  A question without an answer
 * counts as answered by no, which costs nothing but speed.  So no question but
 * the last is sent where its error would end the user's transaction:
 *
 *	When the session is set up, in the same batch, each behind a Sync of its
 *	own: what is statement_timeout, what is the default isolation level?  If the
 *	server's option says that its collations are those of this database: what are
 *	they?  The first command is sent behind them, unless how it is sent depends on
 *	them.
 *
 *	After the COMMIT of a session's first transaction, which is always waited
 *	for: is the write check answered, may arrays be sent (join/, modify/)?
 *	Their first execution reads catalogs, and so takes as long as many a query.
 *	The second transaction waits for the answers, which the remote server has to
 *	give before.  If the first depends on one, they are sent before it, or in a
 *	savepoint if it has begun.
 *
 *	After the COMMIT of a later transaction, in a transaction of its own.  Nobody
 *	waits; the answers are read with the next batch: are relations plain, and
 *	which of their columns have an index?  It would take a good part of the work of
 *	a session that has but one query.
 *
 *	Before a statement that sends times of the session's zone, once a connection and
 *	zone: are its rules the same (timezones.c)?  With the setup, if this statement
 *	has the session connected, or else before the transaction begins, or in a
 *	savepoint.  The statement waits for the answer, and is planned again without
 *	these times if it is no.
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
 * replaced by one without the check.
 *
 * facts.c keeps the answers.
 */
#include "postgres.h"

#include "utils/plancache.h"

#include "base/options.h"
#include "session/batch.h"
#include "session/control.h"
#include "session/facts.h"
#include "session/locale.h"
#include "session/questions.h"
#include "session/remote_xact.h"
#include "session/results.h"
#include "session/timezones.h"

/* The write check: "t" if the transaction has written nothing so far */
#define WRITE_CHECK_NAME "check"
#define WRITE_CHECK_SQL \
	"SELECT pg_catalog.pg_current_xact_id_if_assigned() IS NULL"

/* SHOW needs no right to any function */
#define TIMEOUT_SQL "SHOW statement_timeout"
#define ISOLATION_SQL "SHOW default_transaction_isolation"

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

/* The setting that the session of a pooler has not */
#define SEARCH_PATH_SQL "SET LOCAL search_path = pg_catalog"

/* Limits for the transaction, in ms: for a lock; for each question */
#define LOCK_LIMIT_SQL "SET LOCAL lock_timeout = 1"
#define TIME_LIMIT_SQL "SET LOCAL statement_timeout = 1000"

/* The zone that the next setup asks about, or NULL */
static const pg_tz *wanted_zone = NULL;

/* Adds a question about the server, behind a Sync of its own. */
static void
add_question(Session *session, PartKind kind, const char *sql)
{
	batch_add_sync(session);
	batch_add(session, kind, 0, sql);
	facts_expect_answer(session);
}

/* Adds the question whether the write check is answered. */
static void
add_write_question(Session *session)
{
	if (PQserverVersion(session->conn) < FACTS_VERSION)
		return;
	batch_add_sync(session);
	control_prepare(session, PART_QUESTION_CONTROL, WRITE_CHECK_NAME,
					WRITE_CHECK_SQL);
	control_add(session, PART_WRITE_QUESTION, 0, WRITE_CHECK_NAME,
				WRITE_CHECK_SQL);
	facts_expect_answer(session);
}

/* Adds the questions that are not sent at setup, once. */
static void
add_later_questions(Session *session)
{
	facts_note_all_asked(session);
	add_write_question(session);
	add_question(session, PART_ARRAYS_QUESTION, QUESTIONS_ARRAYS_SQL);
}

/* Adds the question about a time zone. */
static void
add_zone_question(Session *session, const pg_tz *zone)
{
	char	   *sql = timezones_question(zone);

	facts_expect_zone(session, zone);
	add_question(session, PART_ZONE_QUESTION, sql);
	pfree(sql);
}

/* Has sessions that are set up from here on asked about a zone; none if it is NULL. */
void
questions_want_zone(const pg_tz *zone)
{
	wanted_zone = zone;
}

/* Adds, at the setup of the session, the questions that are answered at once. */
void
questions_add_at_setup(Session *session)
{
	facts_assume(session);
	add_question(session, PART_TIMEOUT_QUESTION, TIMEOUT_SQL);
	add_question(session, PART_ISOLATION_QUESTION, ISOLATION_SQL);
	if (wanted_zone != NULL)
		add_zone_question(session, wanted_zone);
	if (session->options.claims_collations)
		add_question(session, PART_COLLATIONS_QUESTION,
					 locale_sql(PQserverVersion(session->conn)));
}

/* May a question be sent, and waited for, before the transaction begins? */
static bool
may_ask_before(const Session *session)
{
	return session->xact.remote_depth == 0 && !batch_is_in_flight(session) &&
		session->pending.flush.act == NULL;
}

/*
 * Waits for the answers to the questions about the server.  What has not been
 * sent is sent first, if there is no transaction yet: one round trip for all.
 * A lost connection answers nothing, and shows when it is used.
 */
void
questions_await(Session *session)
{
	if (!session->remote.asked_all && may_ask_before(session))
	{
		batch_begin(session, false);
		add_later_questions(session);
		session->counters.round_trips++;
		if (!batch_send(session))
			return;
	}
	results_read_questions(session);
}

/*
 * Asks about a time zone, unless that was done with the setup, and waits for the
 * answer.  Does nothing in a transaction.
 */
void
questions_ask_zone(Session *session, const pg_tz *zone)
{
	bool		is_same;

	if (session->remote.unanswered > 0)
	{
		session->counters.round_trips++;
		results_read_questions(session);
	}
	if (facts_know_zone(session, zone, &is_same) || !may_ask_before(session))
		return;
	batch_begin(session, false);
	add_zone_question(session, zone);
	session->counters.round_trips++;
	if (batch_send(session))
		results_read_questions(session);
}

/*
 * Has the remote database the collations of this one, as the server's option says?
 * If not, the option is not believed, and a WARNING names both, once a connection.
 */
bool
questions_have_same_collations(Session *session)
{
	const char *here;
	const char *there;

	if (!session->options.claims_collations)
		return false;
	if (session->remote.unanswered > 0)
		questions_await(session);
	if (session->remote.knows_collations || session->remote.unanswered > 0)
		return session->remote.same_collations;
	here = locale_here();
	if (here == NULL)
		return false;
	there = session->remote.collations;
	facts_note_collations(session, there != NULL && strcmp(here, there) == 0);
	if (!session->remote.same_collations)
		ereport(WARNING,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("the collations of server \"%s\" are not those of this database",
						session->options.server_name),
				 errdetail("Here: %s. There: %s.", here,
						   there != NULL ? there : "not known"),
				 errhint("Drop the option \"%s\" of the server. What depends on the default collation is evaluated here.",
						 COLLATIONS)));
	return session->remote.same_collations;
}

/*
 * A connection has been made anew.  Raises an ERROR if plans may rely on collations
 * that the remote database had before, and has no longer; all are made again.
 */
void
questions_check_belief(Session *session)
{
	if (!session->options.claims_collations)
		facts_forget_belief(session);
	if (session->remote.believed == NULL)
		return;
	questions_await(session);
	/* A lost connection shows when it is used. */
	if (session->remote.unanswered > 0 ||
		(session->remote.collations != NULL &&
		 strcmp(session->remote.collations, session->remote.believed) == 0))
		return;
	facts_forget_belief(session);
	ResetPlanCache();
	ereport(ERROR,
			(errcode(ERRCODE_FDW_ERROR),
			 errmsg("the collations of server \"%s\" have changed",
					session->options.server_name),
			 errhint("Execute the statement again; its plan is made anew.")));
}

/* Has the remote server a statement_timeout?  True if it does not say. */
bool
questions_has_timeout(Session *session)
{
	if (session->remote.unanswered > 0)
		questions_await(session);
	return session->remote.has_statement_timeout;
}

/*
 * Waits for the answers to what was sent behind the first COMMIT: what is sent
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
 * that writes has written, however many rows it reports: its triggers may do so on
 * a third server.
 */
void
questions_add_write_check(Session *session, bool only_reads)
{
	remote_xact_expect_writes(session, only_reads);
	if (!session->xact.has_written && session->remote.can_check_writes)
		control_add(session, PART_WRITE_CHECK, 0, WRITE_CHECK_NAME,
					WRITE_CHECK_SQL);
}

/*
 * Adds the question about a relation, and about its indexes if these are wanted;
 * its names are the parameters.
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

	batch_ask_relation(session, &command, question->relid, question->number);
}

/*
 * Adds questions behind the COMMIT, if the connection is kept: behind the first
 * about the server, behind later ones about relations that are not known.
 */
void
questions_add_behind_commit(Session *session)
{
	bool		has_begun = false;
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
	foreach(cell, session->facts.pending_questions)
	{
		const RelationQuestion *question = lfirst(cell);
		bool		is_wanted;

		if (!facts_are_missing(session, question, &is_wanted))
			continue;
		if (!has_begun)
		{
			batch_add_sync(session);
			batch_add(session, PART_QUESTION_CONTROL, 0, START_SQL);
			if (session->options.is_pooled)
				batch_add(session, PART_QUESTION_CONTROL, 0, SEARCH_PATH_SQL);
			batch_add(session, PART_QUESTION_CONTROL, 0, LOCK_LIMIT_SQL);
			batch_add(session, PART_QUESTION_CONTROL, 0, TIME_LIMIT_SQL);
			has_begun = true;
		}
		add_relation_question(session, question, is_wanted);
	}
	if (!has_begun)
		return;
	batch_add_sync(session);
	batch_add(session, PART_QUESTION_CONTROL, 0, "ROLLBACK TRANSACTION");
}
