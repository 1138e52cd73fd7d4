/*
 * script.c
 *		The transactions that the probe knows, as tables.
 *
 * "ro" and "rw" are pgbench's built-in select-only and tpcb-like: the same
 * statements and the same ranges, so that figures can be compared.  "ping" is
 * an empty query, the smallest round trip.
 *
 * session.c sends the statements and checks their answers.
 */
#include <stdio.h>
#include <string.h>

#include "script.h"

/* Rows per unit of scale, as pgbench -i creates them. */
#define ACCOUNTS_PER_SCALE	100000
#define BRANCHES_PER_SCALE	1
#define TELLERS_PER_SCALE	10

#define DELTA_LIMIT		5000

#define SELECT_ACCOUNT \
	{"SELECT abalance FROM pgbench_accounts WHERE aid = $1;", \
	1, {VARIABLE_AID}, "SELECT 1", true}

#define COUNT_OF(array)		((int) (sizeof(array) / sizeof((array)[0])))

static const ScriptStatement ro_statements[] = {
	SELECT_ACCOUNT
};

static const ScriptStatement rw_statements[] = {
	{"BEGIN;", 0, {0}, "BEGIN", false},
	{"UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2;",
	2, {VARIABLE_DELTA, VARIABLE_AID}, "UPDATE 1", false},
	SELECT_ACCOUNT,
	{"UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2;",
	2, {VARIABLE_DELTA, VARIABLE_TID}, "UPDATE 1", false},
	{"UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2;",
	2, {VARIABLE_DELTA, VARIABLE_BID}, "UPDATE 1", false},
	{"INSERT INTO pgbench_history (tid, bid, aid, delta, mtime)"
		" VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP);",
		4, {VARIABLE_TID, VARIABLE_BID, VARIABLE_AID, VARIABLE_DELTA},
	"INSERT 0 1", false},
	{"END;", 0, {0}, "COMMIT", false}
};

static const ScriptStatement ping_statements[] = {
	{";", 0, {0}, NULL, false}
};

static const Script scripts[] = {
	{"ro", COUNT_OF(ro_statements), ro_statements},
	{"rw", COUNT_OF(rw_statements), rw_statements},
	{"ping", COUNT_OF(ping_statements), ping_statements}
};

/* Returns the script of that name, or NULL. */
const Script *
script_find(const char *name)
{
	for (int i = 0; i < COUNT_OF(scripts); i++)
		if (strcmp(scripts[i].name, name) == 0)
			return &scripts[i];
	return NULL;
}

/* Draws one transaction's values, uniformly. */
void
script_draw(ScriptValues *values, RandomState *random, int scale)
{
	const int64_t bounds[VARIABLE_COUNT][2] = {
		[VARIABLE_AID] = {1, (int64_t) ACCOUNTS_PER_SCALE * scale},
		[VARIABLE_BID] = {1, (int64_t) BRANCHES_PER_SCALE * scale},
		[VARIABLE_TID] = {1, (int64_t) TELLERS_PER_SCALE * scale},
		[VARIABLE_DELTA] = {-DELTA_LIMIT, DELTA_LIMIT}
	};

	for (int i = 0; i < VARIABLE_COUNT; i++)
		snprintf(values->text[i], sizeof(values->text[i]), "%d",
				 (int) random_between(random, bounds[i][0], bounds[i][1]));
}

/* Writes the statement with its values in place of its parameters. */
void
script_expand(const ScriptStatement *statement, const ScriptValues *values,
			  char text[SCRIPT_TEXT])
{
	size_t		length = 0;

	for (const char *from = statement->text; *from != '\0'; from++)
	{
		if (*from == '$')
		{
			ScriptVariable variable = statement->parameters[*++from - '1'];

			length += (size_t) sprintf(text + length, "%s",
									   values->text[variable]);
		}
		else
			text[length++] = *from;
	}
	text[length] = '\0';
}
