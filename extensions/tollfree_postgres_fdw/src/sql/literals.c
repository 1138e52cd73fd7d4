/*
 * literals.c
 *	  Constants in a remote command, sent as parameters.
 *
 * postgres_fdw writes constants into its SQL.  An application that writes its
 * own into each statement would have the remote server parse and plan every one
 * of them; with parameters in their place the text is the same each time, and
 * is kept prepared (statement.c).
 *
 * What is taken out must mean the same as a parameter, and must not be what the
 * remote plan depends on.  So it is only
 *
 *	- what a column is compared with for equality, or what is assigned to one
 *	  or computed with in SET;
 *	- a string that is cast to a type of pg_catalog, which reads a parameter
 *	  by the same input function; an integer that is cast to a type of
 *	  integers; or one that is not cast, which is then declared to be the int4
 *	  that it is.
 *
 * And only in commands that neither group nor sort, where expressions must be
 * alike, or a number be a position, and that have no subquery.  Others keep
 * their constants.  This reads what postgres_fdw writes, not any SQL: its
 * keywords are in upper case, and whatever it never writes ends the attempt.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"

#include "sql/command.h"
#include "sql/literals.h"

/* Longer texts are not looked at: they are no short commands. */
#define LIFT_BYTES 4096

#define OPERATOR_BYTES "+-*/<>=~!@#%^&|`?"
#define LIFT_LITERALS 32		/* at most; further ones stay where they are */
#define INT4_DIGITS 9			/* that fit in any case */

/* Where in the command we are */
typedef enum Clause
{
	CLAUSE_OTHER,
	CLAUSE_SET,
	CLAUSE_WHERE
} Clause;

/* What came last */
typedef enum Token
{
	TOKEN_OTHER,
	TOKEN_EQUALS,
	TOKEN_OPERATOR				/* any but = */
} Token;

typedef struct Lifter
{
	const char *next;			/* in the command's text */
	const char *copied;			/* up to where it is in sql */
	StringInfoData sql;			/* what becomes of it */
	Clause		clause;
	Token		last;
	int			nwords;			/* keywords and unquoted names so far */
	int			nparams;		/* the command's own included */
	int			nlifted;
	const char **params;
	Oid		   *types;
} Lifter;

/* Leaves the text up to end as it is. */
static void
keep(Lifter *lifter, const char *end, Token token)
{
	lifter->next = end;
	lifter->last = token;
}

/* Without a locale, and without a call for each byte. */
static inline bool
is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

/* Can a word have it behind its first byte? */
static inline bool
is_word_byte(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || c == '_' || is_digit(c) ||
		(c >= 'A' && c <= 'Z') || c == '$' || IS_HIGHBIT_SET(c);
}

/* The end of what is quoted, or NULL; a backslash may hide the next byte. */
static const char *
skip_quoted(const char *start, bool has_escapes)
{
	char		quote = *start;

	for (const char *p = start + 1; *p != '\0'; p++)
	{
		if (has_escapes && *p == '\\' && p[1] != '\0')
			p++;
		else if (*p == quote && p[1] == quote)
			p++;
		else if (*p == quote)
			return p + 1;
	}
	return NULL;
}

/* May a literal here be a parameter? */
static bool
is_liftable(const Lifter *lifter)
{
	if (lifter->nlifted == LIFT_LITERALS)
		return false;
	return lifter->last == TOKEN_EQUALS ? lifter->clause != CLAUSE_OTHER
		: lifter->last == TOKEN_OPERATOR && lifter->clause == CLAUSE_SET;
}

/* Copies what was left as it is since the last time. */
static void
copy_kept(Lifter *lifter)
{
	appendBinaryStringInfo(&lifter->sql, lifter->copied,
						   lifter->next - lifter->copied);
}

/* Puts a parameter where the text up to end was. */
static void
lift(Lifter *lifter, const char *end, char *value, Oid type)
{
	lifter->params[lifter->nparams] = value;
	lifter->types[lifter->nparams] = type;
	lifter->nparams++;
	lifter->nlifted++;
	copy_kept(lifter);
	appendStringInfo(&lifter->sql, "$%d", lifter->nparams);
	lifter->next = lifter->copied = end;
	lifter->last = TOKEN_OTHER;
}

/* Is there a cast to a type of pg_catalog, whose name is not qualified? */
static bool
is_builtin_cast(const char *p)
{
	if (strncmp(p, "::", 2) != 0 || p[2] < 'a' || p[2] > 'z')
		return false;
	p += 2;
	while ((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_')
		p++;
	return *p != '.';
}

/* Is an operand over, with no cast or subscript following? */
static bool
ends_operand(const char *p)
{
	return *p == '\0' || strchr("), ", *p) != NULL;
}

/* Is there a cast to one of these types, and nothing else? */
static bool
is_integer_cast(const char *p)
{
	static const char *const types[] = {
		"::smallint", "::integer", "::bigint", "::oid"
	};

	for (int i = 0; i < lengthof(types); i++)
	{
		if (strncmp(p, types[i], strlen(types[i])) == 0)
			return ends_operand(p + strlen(types[i]));
	}
	return false;
}

/* The text between quotes, which are doubled in it. */
static char *
unquote(const char *start, const char *end)
{
	char	   *value = palloc(end - start);
	char	   *out = value;

	for (const char *p = start + 1; p < end - 1; p++)
	{
		*out++ = *p;
		if (*p == '\'')
			p++;
	}
	*out = '\0';
	return value;
}

/* A string; false if it has no end. */
static bool
read_string(Lifter *lifter)
{
	const char *end = skip_quoted(lifter->next, false);

	if (end == NULL)
		return false;
	if (is_liftable(lifter) && is_builtin_cast(end))
		lift(lifter, end, unquote(lifter->next, end), InvalidOid);
	else
		keep(lifter, end, TOKEN_OTHER);
	return true;
}

/* A number, of which only integers are taken out. */
static void
read_number(Lifter *lifter)
{
	const char *end = lifter->next;
	int			ndigits;

	while (is_digit(*end))
		end++;
	ndigits = end - lifter->next;
	if (is_liftable(lifter) && is_integer_cast(end))
		lift(lifter, end, pnstrdup(lifter->next, ndigits), InvalidOid);
	else if (is_liftable(lifter) && ndigits <= INT4_DIGITS &&
			 ends_operand(end))
		lift(lifter, end, pnstrdup(lifter->next, ndigits), INT4OID);
	else
	{
		/* The sign of an exponent is a part of it. */
		while (is_word_byte(*end) || *end == '.' ||
			   ((*end == '+' || *end == '-') && (end[-1] == 'e' || end[-1] == 'E')))
			end++;
		keep(lifter, end, TOKEN_OTHER);
	}
}

/* Is a word this keyword? */
static bool
is_word(const char *start, const char *end, const char *keyword)
{
	return end - start == strlen(keyword) &&
		strncmp(start, keyword, end - start) == 0;
}

/* What a keyword changes, if it is one; false for one of other commands. */
static bool
read_keyword(Lifter *lifter, const char *end)
{
	static const char *const refused[] = {
		"GROUP", "ORDER", "HAVING", "DISTINCT", "LIMIT", "UNION", "SELECT"
	};
	const char *start = lifter->next;

	if (is_word(start, end, "SET"))
		lifter->clause = CLAUSE_SET;
	else if (is_word(start, end, "WHERE"))
		lifter->clause = CLAUSE_WHERE;
	else if (is_word(start, end, "FROM") || is_word(start, end, "RETURNING"))
		lifter->clause = CLAUSE_OTHER;
	for (int i = 0; i < lengthof(refused) && lifter->nwords > 0; i++)
	{
		if (is_word(start, end, refused[i]))
			return false;
	}
	return true;
}

/*
 * A keyword, a name, or what tells how a string is quoted; false if it is none
 * that we understand.
 */
static bool
read_word(Lifter *lifter)
{
	const char *start = lifter->next;
	const char *end = start;

	while (is_word_byte(*end))
		end++;
	if (*end == '\'')
	{
		if (!is_word(start, end, "E") ||
			(end = skip_quoted(end, true)) == NULL)
			return false;
	}
	else if (*start >= 'A' && *start <= 'Z' && !read_keyword(lifter, end))
		return false;
	lifter->nwords++;
	keep(lifter, end, TOKEN_OTHER);
	return true;
}

/* An operator; false if it would begin a comment. */
static bool
read_operator(Lifter *lifter)
{
	const char *start = lifter->next;
	const char *end = start + strspn(start, OPERATOR_BYTES);

	for (const char *p = start; p < end; p++)
	{
		if (strncmp(p, "--", 2) == 0 || strncmp(p, "/*", 2) == 0)
			return false;
	}
	keep(lifter, end, end - start == 1 && *start == '=' ? TOKEN_EQUALS
		 : TOKEN_OPERATOR);
	return true;
}

/* A parameter of the command's own; false if it is none. */
static bool
read_param(Lifter *lifter)
{
	const char *end = lifter->next + 1;

	while (is_digit(*end))
		end++;
	if (end == lifter->next + 1)
		return false;
	keep(lifter, end, TOKEN_OTHER);
	return true;
}

/* Reads what comes next; false if it is nothing that we understand. */
static bool
read_token(Lifter *lifter)
{
	unsigned char c = *lifter->next;
	const char *end;

	switch (c)
	{
		case ' ':
			keep(lifter, lifter->next + 1, lifter->last);
			return true;
		case '(':
		case ')':
		case ',':
		case '.':
		case '[':
		case ']':
		case ':':
			keep(lifter, lifter->next + 1, TOKEN_OTHER);
			return true;
		case '\'':
			return read_string(lifter);
		case '"':
			end = skip_quoted(lifter->next, false);
			if (end != NULL)
				keep(lifter, end, TOKEN_OTHER);
			return end != NULL;
		case '$':
			return read_param(lifter);
		default:
			break;
	}
	if (is_word_byte(c) && !is_digit(c))
		return read_word(lifter);
	if (!is_digit(c))
		return strchr(OPERATOR_BYTES, c) != NULL && read_operator(lifter);
	read_number(lifter);
	return true;
}

/* The command's own parameters, with room for those to come. */
static void
begin(Lifter *lifter, const RemoteCommand *command)
{
	int			size = command->nparams + LIFT_LITERALS;

	initStringInfo(&lifter->sql);
	lifter->next = lifter->copied = command->sql;
	lifter->nparams = command->nparams;
	lifter->params = palloc0(size * sizeof(char *));
	lifter->types = palloc0(size * sizeof(Oid));
	if (command->nparams > 0)
		memcpy(lifter->params, command->params,
			   command->nparams * sizeof(char *));
}

/*
 * Makes a command that does the same and has parameters for constants, in this
 * context; false if there are none to be taken out.
 */
bool
literals_lift(const RemoteCommand *command, RemoteCommand *lifted)
{
	Lifter		lifter = {.clause = CLAUSE_OTHER};

	Assert(command->formats == NULL);
	if (strlen(command->sql) > LIFT_BYTES)
		return false;
	begin(&lifter, command);
	while (*lifter.next != '\0')
	{
		if (!read_token(&lifter))
			return false;
	}
	if (lifter.nlifted == 0)
		return false;

	copy_kept(&lifter);
	*lifted = *command;
	lifted->sql = lifter.sql.data;
	lifted->nparams = lifter.nparams;
	lifted->params = lifter.params;
	lifted->types = lifter.types;
	return true;
}

/* Is an operator, which may be empty, one that compares? */
static bool
is_comparison(const char *start, const char *end)
{
	static const char *const comparisons[] = {"=", "<>", "<", ">", "<=", ">="};

	for (int i = 0; i < lengthof(comparisons); i++)
	{
		if (is_word(start, end, comparisons[i]))
			return true;
	}
	return false;
}

/* Is an operand, from one place in a command to another, compared? */
static bool
is_compared(const char *sql, const char *operand, const char *behind)
{
	const char *left = operand;
	const char *start;

	while (left > sql && left[-1] == ' ')
		left--;
	start = left;
	while (start > sql && strchr(OPERATOR_BYTES, start[-1]) != NULL)
		start--;
	behind += strspn(behind, " ");
	return is_comparison(start, left) ||
		is_comparison(behind, behind + strspn(behind, OPERATOR_BYTES));
}

/*
 * Is a command read alike whenever that is done?  Not if it has a string of a
 * type that is nobody's but the remote server's own, such as a label of an enum,
 * which may be renamed; nor if it compares with one whose type it leaves to the
 * remote server: as 'today' that would make another value the next time.  Other
 * operators that text has here mean text there, too.
 */
bool
literals_last(const char *sql)
{
	const char *p = sql + strcspn(sql, "'\"");

	while (*p != '\0')
	{
		bool		has_escapes = *p == '\'' && p > sql && p[-1] == 'E';
		const char *end = skip_quoted(p, has_escapes);

		if (end == NULL)
			return false;
		if (*p == '\'' && !is_builtin_cast(end) &&
			(strncmp(end, "::", 2) == 0 ||
			 is_compared(sql, p - has_escapes, end)))
			return false;
		p = end + strcspn(end, "'\"");
	}
	return true;
}
