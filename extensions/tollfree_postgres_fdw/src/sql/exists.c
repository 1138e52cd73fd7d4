/*
 * exists.c
 *	  Semi joins in the commands of postgres_fdw before 17.
 *
 * postgres_fdw before 17 sends no semi join.  join/semi.c has it send a left join, and a
 * condition that nobody else writes, the mark of a semi join:
 *
 *		SELECT r1.id FROM (s.a r1 LEFT JOIN s.b r2 ON (((r2.k = r1.id)))) WHERE
 *			((((r2.k IS NOT NULL) IS NOT NULL) IS NOT NULL))
 *
 * Here such a command becomes
 *
 *		SELECT r1.id FROM s.a r1 WHERE
 *			(EXISTS (SELECT NULL FROM s.b r2 WHERE (((r2.k = r1.id)))))
 *
 * The inner side is a table.  The mark names it by its alias, which no other table of the
 * command has, and comes after the join.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"

#include "base/compat.h"
#include "sql/exists.h"
#include "sql/plan.h"

#define MARK_BEGIN "((("
#define MARK_END " IS NOT NULL) IS NOT NULL) IS NOT NULL)"
#define LEFT_JOIN " LEFT JOIN "
#define ON_CONDITION " ON ("

/* Parentheses within each other in a command, at most */
#define MAX_DEPTH 1000

/* Where a semi join is in a command */
typedef struct SemiJoin
{
	const char *begin;			/* the parenthesis before its outer side */
	const char *left;			/* LEFT JOIN, behind the outer side */
	const char *on;				/* ON, behind the inner table */
	const char *end;			/* behind the parenthesis of its conditions */
	const char *mark;
	const char *mark_end;
	char	   *alias;			/* of its inner table, as rN */
} SemiJoin;

/* The test whether a value is null, or is not. */
NullTest *
exists_test(Node *value, NullTestType type)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = (Expr *) value;
	test->nulltesttype = type;
	test->argisrow = false;
	test->location = -1;
	return test;
}

/* The mark of a semi join whose inner table has this column. */
NullTest *
exists_mark(Node *column)
{
	NullTest   *test = exists_test(column, IS_NOT_NULL);

	test = exists_test((Node *) test, IS_NOT_NULL);
	return exists_test((Node *) test, IS_NOT_NULL);
}

/* Does a text begin with another one? */
static bool
begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/*
 * The next character outside of strings and quoted names, as a command is read.  A
 * doubled quote ends one and begins the next.
 */
static const char *
next_outside(const char *p)
{
	for (p++; *p == '\'' || *p == '"'; p++)
	{
		p = strchr(p + 1, *p);
		if (p == NULL)
			elog(ERROR, "a remote command has an open quote");
	}
	return p;
}

/* Finds the first mark of a command; false if it has none. */
static bool
find_mark(const char *sql, SemiJoin *join)
{
	const char *begin = NULL;

	for (const char *p = sql; *p != '\0'; p = next_outside(p))
	{
		if (begins_with(p, MARK_BEGIN))
			begin = p;
		if (begin == NULL || !begins_with(p, MARK_END))
			continue;
		join->mark = begin;
		join->mark_end = p + strlen(MARK_END);
		begin += strlen(MARK_BEGIN);
		join->alias = pnstrdup(begin, strcspn(begin, "."));
		return true;
	}
	return false;
}

/* The text behind the parenthesis that closes this one. */
static const char *
behind_parenthesis(const char *open)
{
	int			depth = 0;

	for (const char *p = open; *p != '\0'; p = next_outside(p))
	{
		if (*p == '(')
			depth++;
		else if (*p == ')' && --depth == 0)
			return p + 1;
	}
	elog(ERROR, "a remote command has an open parenthesis");
	return NULL;
}

/* Finds the join of a mark. */
static void
find_join(const char *sql, SemiJoin *join)
{
	char	   *on = psprintf(" %s" ON_CONDITION, join->alias);
	const char *open[MAX_DEPTH];
	int			depth = 0;

	for (const char *p = sql; p < join->mark; p = next_outside(p))
	{
		if (*p == '(' && depth < MAX_DEPTH)
			open[depth++] = p;
		else if (*p == ')' && depth > 0)
			depth--;
		else if (begins_with(p, LEFT_JOIN))
			join->left = p;
		if (depth == 0 || join->left == NULL || !begins_with(p, on))
			continue;
		join->begin = open[depth - 1];
		join->on = p + 1 + strlen(join->alias);
		join->end = behind_parenthesis(join->on + strlen(ON_CONDITION) - 1);
		return;
	}
	elog(ERROR, "a remote command lacks the join of a condition");
}

/* Appends the text between two places. */
static void
append_part(StringInfo text, const char *from, const char *to)
{
	appendBinaryStringInfo(text, from, to - from);
}

/* A command with a semi join as EXISTS. */
static char *
write_exists(const char *sql, const SemiJoin *join)
{
	StringInfoData text;

	initStringInfo(&text);
	append_part(&text, sql, join->begin);
	append_part(&text, join->begin + 1, join->left);
	append_part(&text, join->end + 1, join->mark);
	appendStringInfoString(&text, "EXISTS (SELECT NULL FROM ");
	append_part(&text, join->left + strlen(LEFT_JOIN), join->on);
	appendStringInfoString(&text, " WHERE ");
	append_part(&text, join->on + strlen(ON_CONDITION) - 1, join->end);
	appendStringInfoChar(&text, ')');
	appendStringInfoString(&text, join->mark_end);
	return text.data;
}

/* The tables of a join, for EXPLAIN, with one of its left joins as a semi join. */
static char *
name_semi_join(const char *relations, const SemiJoin *join)
{
	char	   *name = pstrdup(relations);
	char	   *found = strstr(name, psprintf("LEFT JOIN (%s)", join->alias + 1));

	if (found != NULL)
		memcpy(found, "SEMI", 4);
	return name;
}

/* Writes the semi joins in the command of a scan that postgres_fdw has just planned. */
void
exists_finish_plan(ForeignScan *plan)
{
	char	   *sql = strVal(linitial(plan->fdw_private));
	char	   *relations = list_length(plan->fdw_private) > 3 ?
		strVal(lfourth(plan->fdw_private)) : NULL;
	SemiJoin	join = {0};

	if (relations == NULL || strstr(sql, MARK_END) == NULL)
		return;
	while (find_mark(sql, &join))
	{
		find_join(sql, &join);
		sql = write_exists(sql, &join);
		relations = name_semi_join(relations, &join);
		join = (SemiJoin)
		{
			0
		};
	}
	linitial(plan->fdw_private) = makeString(sql);
	lfourth(plan->fdw_private) = makeString(relations);
}
