/*
 * explain.c
 *	  Executes EXPLAINs for remote estimates.
 *
 * They are executed in the remote transaction of the session that executes
 * the query, in one batch.  So they cost one round trip, and no connection.
 * With use_remote_estimate an error of one ends the planning, as with
 * postgres_fdw.
 *
 * A result is kept while the query is planned: the query may have the same
 * relation twice, and GEQO makes the same joins again.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "utils/memutils.h"

#include "estimates/estimate.h"
#include "join/lookup.h"
#include "session/results.h"
#include "session/session.h"
#include "xact/transaction.h"

/* An EXPLAIN, and its result; in the memory of the query */
typedef struct KnownAnswer
{
	Oid			user;
	Oid			server;
	const char *sql;
	uint32		hash;			/* of sql */
	EstimateAnswer answer;
} KnownAnswer;

/* The query planned last, until its memory is freed; and its results */
static const PlannerGlobal *known_query = NULL;
static List *known_answers = NIL;	/* of KnownAnswer */

/* Forgets a query; called when its memory is freed. */
static void
forget(void *query)
{
	if (known_query != query)
		return;
	known_query = NULL;
	known_answers = NIL;
}

/* Begins to keep the results for this query, in its memory. */
static void
begin_query(PlannerGlobal *query)
{
	MemoryContext context = GetMemoryChunkContext(query);
	MemoryContextCallback *callback;

	if (known_query == query)
		return;
	callback = MemoryContextAlloc(context, sizeof(MemoryContextCallback));
	callback->func = forget;
	callback->arg = query;
	MemoryContextRegisterResetCallback(context, callback);
	known_query = query;
	known_answers = NIL;
}

/* The hash value of an EXPLAIN. */
static uint32
hash_sql(const char *sql)
{
	return hash_bytes((const unsigned char *) sql, strlen(sql));
}

/* The result of an EXPLAIN, if it has been executed; or NULL. */
static KnownAnswer *
find_answer(const Estimate *question)
{
	uint32		hash = hash_sql(question->sql);
	ListCell   *cell;

	foreach(cell, known_answers)
	{
		KnownAnswer *known = lfirst(cell);

		if (known->hash == hash && known->server == question->rel->serverid &&
			known->user == lookup_user(question->rel) &&
			strcmp(known->sql, question->sql) == 0)
			return known;
	}
	return NULL;
}

/* Adds an EXPLAIN whose result is pending. */
static KnownAnswer *
add_question(const Estimate *question)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext((void *) known_query));
	KnownAnswer *added = palloc0(sizeof(KnownAnswer));

	added->user = lookup_user(question->rel);
	added->server = question->rel->serverid;
	added->sql = pstrdup(question->sql);
	added->hash = hash_sql(question->sql);
	known_answers = lappend(known_answers, added);
	MemoryContextSwitchTo(old);
	return added;
}

/* Reads the topmost node of EXPLAIN's output; false if it has another form. */
static bool
read_answer(PGresult *res, EstimateAnswer *answer)
{
	const char *line = PQntuples(res) > 0 && PQnfields(res) > 0 ?
		PQgetvalue(res, 0, 0) : "";
	const char *costs = strrchr(line, '(');

	return costs != NULL &&
		sscanf(costs, "(cost=%lf..%lf rows=%lf width=%d)", &answer->startup,
			   &answer->total, &answer->rows, &answer->width) == 4;
}

/* Waits for the result of an EXPLAIN.  Raises its error. */
static void
receive(Session *session, KnownAnswer *question)
{
	PGresult   *res = session_result(session);
	bool		is_read;

	if (PQresultStatus(res) != PGRES_TUPLES_OK)
		results_report(session, ERROR, res, question->sql);
	is_read = read_answer(res, &question->answer);
	PQclear(res);
	if (!is_read)
		elog(ERROR, "could not interpret the answer to \"%s\"", question->sql);
	session_end_command(session, question->sql);
}

/* Executes the EXPLAINs of one user on one server, in one batch. */
static void
execute_explains(List *questions)
{
	const KnownAnswer *first = linitial(questions);
	Session    *session = transaction_get_session(first->user, first->server);
	RemoteCommand *commands = palloc0(list_length(questions) *
									  sizeof(RemoteCommand));
	ListCell   *cell;

	foreach(cell, questions)
	{
		RemoteCommand *command = &commands[foreach_current_index(cell)];

		command->sql = command->shown = ((KnownAnswer *) lfirst(cell))->sql;
	}
	session_send(session, commands, list_length(questions), true);
	foreach(cell, questions)
		receive(session, lfirst(cell));
	results_finish(session);
	pfree(commands);
}

/* Executes the EXPLAINs, which may be of several sessions. */
static void
execute_all(List *questions)
{
	while (questions != NIL)
	{
		const KnownAnswer *first = linitial(questions);
		List	   *same = NIL;
		List	   *others = NIL;
		ListCell   *cell;

		foreach(cell, questions)
		{
			KnownAnswer *question = lfirst(cell);

			if (question->user == first->user &&
				question->server == first->server)
				same = lappend(same, question);
			else
				others = lappend(others, question);
		}
		execute_explains(same);
		questions = others;
	}
}

/*
 * Completes all these estimates.  After an error no result is kept, as some
 * are missing.
 */
void
explain_estimates(PlannerInfo *root, List *estimates)
{
	List	   *answers = NIL;	/* of all */
	List	   *questions = NIL;	/* those to be executed */
	ListCell   *cell;
	ListCell   *answer;

	begin_query(root->glob);
	foreach(cell, estimates)
	{
		KnownAnswer *known = find_answer(lfirst(cell));

		if (known == NULL)
		{
			known = add_question(lfirst(cell));
			questions = lappend(questions, known);
		}
		answers = lappend(answers, known);
	}
	PG_TRY();
	{
		execute_all(questions);
	}
	PG_CATCH();
	{
		forget(root->glob);
		PG_RE_THROW();
	}
	PG_END_TRY();
	forboth(cell, estimates, answer, answers)
		((Estimate *) lfirst(cell))->answer =
		((KnownAnswer *) lfirst(answer))->answer;
}
