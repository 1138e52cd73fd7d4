/*
 * foresight.c
 *	  Answers that are asked for before the local query asks for them.
 *
 * Who has modified a row often reads it again: UPDATE ... WHERE id = 1, then
 * SELECT ... WHERE id = 1.  If the remote transaction begins with the one, the
 * kept statement of the other is looked at in the same flight in any case, to
 * see whether it is stale (statement.c).  Once its only parameter has twice been
 * one of the first command's it is executed there, with that parameter, and the
 * answer is kept: when the SELECT comes nothing has to be sent.
 *
 * The answer is what the remote server would say then:
 *
 *	- The remote transaction is REPEATABLE READ, so what others do changes
 *	  nothing, and whatever is sent in it makes the answer be forgotten.
 *	- What is executed only reads, and of one table that was plain when that was
 *	  asked (relations.c), and that the command before has locked: it runs nobody's
 *	  code, and waits for nobody who changes the table.
 *	- If it fails, the flight is repeated without it, as with a stale statement.
 *	- It is taken only by the same statement with the same parameter.
 *
 * A SELECT that does not come, or with another parameter, has been executed in
 * vain.  That is paid for in advance: to execute it spends what has been learned,
 * and taking the answer gives it back.  An answer of more than a row, or of
 * FORESIGHT_BYTES, is read to its end but not kept, nor is its statement tried
 * again.
 */
#include "postgres.h"

#include "access/xact.h"

#include "foresight.h"
#include "guc.h"
#include "literals.h"

/* How often in succession a parameter has to have come again */
#define FORESIGHT_ECHOES 2

/* The memory of an answer that is kept */
#define FORESIGHT_BYTES 8192

/* Would an answer that is asked for now be right later in the transaction? */
static bool
answers_last(const Session *session)
{
	return setting_answers_ahead && !session->read_committed &&
		!IsolationIsSerializable();
}

/* Forgets the answer. */
void
foresight_forget(Session *session)
{
	Foresight  *foresight = &session->foresight;

	PQclear(foresight->result);
	foresight->result = NULL;
	foresight->statement = NULL;
	foresight->is_whole = false;
}

/*
 * Notes the parameters of the modification that a remote transaction begins
 * with, and which is about to be sent, as far as they can come again.
 */
void
foresight_open(Session *session, const RemoteCommand *command)
{
	Foresight  *foresight = &session->foresight;

	Assert(command->formats == NULL);
	foresight->flight = answers_last(session) ? session->flights + 1 : 0;
	for (int i = 0; i < FORESIGHT_PARAMS; i++)
	{
		const char *param = i < command->nparams ?
			command->params[command->nparams - 1 - i] : NULL;

		foresight->is_known[i] = param != NULL &&
			strlcpy(foresight->params[i], param, FORESIGHT_PARAM_SIZE) <
			FORESIGHT_PARAM_SIZE;
	}
}

/*
 * Could a command that only reads be one to be executed unasked?  It is if it is
 * the next one to be sent behind that modification, and about the same table.
 */
bool
foresight_may_learn(const Session *session, const RemoteCommand *command)
{
	return session->remote_depth > 0 && answers_last(session) &&
		session->foresight.flight == session->flights &&
		command->in_pieces && OidIsValid(command->relid) &&
		command->relid == session->opening_relid;
}

/* Was this the nth of the modification's parameters, the last being the first? */
static bool
is_echo(const Foresight *foresight, int n, const char *param)
{
	return n > 0 && foresight->is_known[n - 1] &&
		strcmp(foresight->params[n - 1], param) == 0;
}

/*
 * Notes which parameter of the modification its follower has, which is about to
 * be executed.
 */
void
foresight_learn(const Session *session, CachedStatement *opening,
				const RemoteCommand *command, const CachedStatement *follower)
{
	const Foresight *foresight = &session->foresight;
	const char *param = command->nparams == 1 ? command->params[0] : NULL;

	if (!OidIsValid(follower->reads) ||
		!foresight_may_learn(session, command))
		return;
	if (param != NULL && is_echo(foresight, opening->echo, param))
	{
		opening->echoes = Min(opening->echoes + 1, FORESIGHT_ECHOES);
		return;
	}
	opening->echo = opening->echoes = 0;
	for (int n = 1; n <= FORESIGHT_PARAMS && param != NULL; n++)
	{
		if (is_echo(foresight, n, param))
		{
			opening->echo = n;
			opening->echoes = 1;
			return;
		}
	}
}

/* Is what a statement reads known to be plain? */
static bool
reads_plain(const Session *session, const CachedStatement *statement)
{
	List	   *relids = list_make1_oid(statement->reads);
	bool		is_plain = relations_are_plain(session->relations, relids);

	list_free(relids);
	return is_plain;
}

/*
 * Chooses whether a follower is to be executed along with the modification that
 * it follows: the parameter to be used, or NULL if it is not.
 */
const char *
foresight_choose(Session *session, const RemoteCommand *command,
				 CachedStatement *opening, CachedStatement *follower)
{
	Foresight  *foresight = &session->foresight;

	if (foresight->flight == 0 || opening->echoes < FORESIGHT_ECHOES ||
		!foresight->is_known[opening->echo - 1] ||
		follower->nparams != 1 || follower->is_long ||
		follower->reads != command->relid || !reads_plain(session, follower))
		return NULL;
	opening->echoes = 0;
	foresight->statement = follower;
	foresight->echo = opening->echo;
	return foresight->params[opening->echo - 1];
}

/*
 * Takes a part of the answer, a row or the end, as it arrives.  Returns what is
 * not kept, or NULL.
 */
PGresult *
foresight_accept(Session *session, PGresult *res)
{
	Foresight  *foresight = &session->foresight;
	bool		is_end = PQresultStatus(res) == PGRES_TUPLES_OK;
	int			nrows = PQntuples(res) + (foresight->result != NULL);

	Assert(foresight->statement != NULL);
	session->rows += PQntuples(res);
	if (nrows > 1 || PQresultMemorySize(res) > FORESIGHT_BYTES)
		foresight->statement->is_long = true;
	foresight->is_whole = is_end && !foresight->statement->is_long;
	/* The end is kept only if there is no row. */
	if (foresight->statement->is_long || foresight->result != NULL)
		return res;
	foresight->result = res;
	return NULL;
}

/* Is this what was executed, with the same parameter? */
static bool
is_foreseen(const Session *session, const RemoteCommand *command)
{
	const Foresight *foresight = &session->foresight;

	return command->nparams == 1 && command->params[0] != NULL &&
		is_echo(foresight, foresight->echo, command->params[0]) &&
		statement_find(session->cache, command->sql) == foresight->statement;
}

/*
 * The answer to a command that reads, if it is at hand, else NULL; the caller
 * must clear it.  What an attempt to send the command would raise is raised.
 */
PGresult *
foresight_take(Session *session, const RemoteCommand *command)
{
	Foresight  *foresight = &session->foresight;
	RemoteCommand kept = *command;
	MemoryContext old;
	CachedStatement *opening;
	PGresult   *res;

	/* Rows that are held back have to be sent before. */
	if (!foresight->is_whole || !setting_answers_ahead ||
		session->flush != NULL || PQstatus(session->conn) != CONNECTION_OK)
		return NULL;
	session_check_usable(session);
	old = MemoryContextSwitchTo(session->flight_context);
	if (command->is_short && setting_constants_as_parameters)
		(void) literals_lift(command, &kept);
	MemoryContextSwitchTo(old);
	if (!is_foreseen(session, &kept))
		return NULL;
	settings_require(REQUIRE_AUTOCOMMIT, false);

	opening = statement_of_key(session->cache, session->opening);
	if (opening != NULL && opening->echo == foresight->echo)
		opening->echoes = FORESIGHT_ECHOES;
	statement_touch(session->cache, foresight->statement);
	res = foresight->result;
	foresight->result = NULL;
	foresight_forget(session);
	session->cached.hits++;
	session->answers_ahead++;
	session->opening_relid = InvalidOid;
	return res;
}
