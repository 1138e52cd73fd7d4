/*
 * formats.c
 *	  to_char of a time, in a form that is sent.
 *
 *	to_char(t, 'YYYY-MM')	CASE WHEN isfinite(t) THEN year || '-' || month END
 *
 * postgres_fdw sends no stable function, and to_char is one: with TM it has the names
 * of lc_time, and of a timestamptz it shows the session's zone.  Without these it is
 * made of functions that are immutable:
 *
 *	MM			lpad(date_part('month', t)::int::text, 2, '0')
 *	FMMM		date_part('month', t)::int::text
 *	Mon			split_part('Jan,Feb,...', ',', date_part('month', t)::int)
 *	MS			the thousands of date_part('microseconds', t), without minutes
 *
 * Read in the sources of 15 to 19, these are the same texts: years before Christ are
 * counted from 1 and have no sign, a longer number is not cut, names are padded to 9
 * with FM left out, an infinite time has no text.
 *
 * A format is taken apart as PostgreSQL does, but only if it has nothing else than
 * the patterns below in one case, FM before one, quoted texts, and characters that are
 * no letters and no backslash.  So no pattern is another one's beginning.
 */
#include "postgres.h"

#include "catalog/pg_collation_d.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"

#include "rewrite/formats.h"

/* Operators, which have no names in PostgreSQL's headers */
#define TEXT_CONCATENATION 654
#define INT4_LESS 97
#define INT4_PLUS 551

/* Patterns of a format, and nodes of the time, which each of them has a copy of */
#define FORMATS_MAX_PATTERNS 12
#define FORMATS_MAX_NODES 40

/* Letters to which PostgreSQL pads a name */
#define FORMATS_NAME_WIDTH 9

#define MONTHS "January,February,March,April,May,June,July,August,September,October,November,December"
#define MONS "Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec"
#define DAYS "Sunday,Monday,Tuesday,Wednesday,Thursday,Friday,Saturday"
#define DYS "Sun,Mon,Tue,Wed,Thu,Fri,Sat"

/* What a pattern shows of a part of a time */
typedef enum PatternKind
{
	PATTERN_NUMBER,				/* the part plus an offset, with zeros */
	PATTERN_YEAR,				/* the part without its sign */
	PATTERN_TWELVE,				/* hours of a clock with twelve */
	PATTERN_WEEK,				/* the week of a day of the year */
	PATTERN_FRACTION,			/* of a second, from its microseconds */
	PATTERN_NAME,				/* one of several */
	PATTERN_NOON,				/* before or after it */
	PATTERN_OTHER				/* not known here, or longer than one that is */
} PatternKind;

/* A pattern of a format */
typedef struct Pattern
{
	const char *letters;
	PatternKind kind;
	const char *part;			/* of date_part */
	int			width;			/* digits, with zeros; letters, with blanks */
	int			offset;			/* added to the part; of a fraction,
								 * microseconds in a unit */
	const char *names;			/* divided by commas */
} Pattern;

/* A pattern comes before those that it begins with. */
static const Pattern patterns[] = {
	{"IDDD", PATTERN_OTHER, NULL, 0, 0, NULL},
	{"SSSS", PATTERN_OTHER, NULL, 0, 0, NULL},
	{"YYYY", PATTERN_YEAR, "year", 4, 0, NULL},
	{"IYYY", PATTERN_YEAR, "isoyear", 4, 0, NULL},
	{"MM", PATTERN_NUMBER, "month", 2, 0, NULL},
	{"DDD", PATTERN_NUMBER, "doy", 3, 0, NULL},
	{"DD", PATTERN_NUMBER, "day", 2, 0, NULL},
	{"HH24", PATTERN_NUMBER, "hour", 2, 0, NULL},
	{"HH12", PATTERN_TWELVE, "hour", 2, 0, NULL},
	{"HH", PATTERN_TWELVE, "hour", 2, 0, NULL},
	{"MI", PATTERN_NUMBER, "minute", 2, 0, NULL},
	{"SS", PATTERN_NUMBER, "second", 2, 0, NULL},
	{"MS", PATTERN_FRACTION, "microseconds", 3, 1000, NULL},
	{"US", PATTERN_FRACTION, "microseconds", 6, 1, NULL},
	{"IW", PATTERN_NUMBER, "week", 2, 0, NULL},
	{"WW", PATTERN_WEEK, "doy", 2, 0, NULL},
	{"ID", PATTERN_NUMBER, "isodow", 1, 0, NULL},
	{"Q", PATTERN_NUMBER, "quarter", 1, 0, NULL},
	{"MONTH", PATTERN_NAME, "month", FORMATS_NAME_WIDTH, 0, MONTHS},
	{"Month", PATTERN_NAME, "month", FORMATS_NAME_WIDTH, 0, MONTHS},
	{"MON", PATTERN_NAME, "month", 0, 0, MONS},
	{"Mon", PATTERN_NAME, "month", 0, 0, MONS},
	{"DAY", PATTERN_NAME, "dow", FORMATS_NAME_WIDTH, 1, DAYS},
	{"Day", PATTERN_NAME, "dow", FORMATS_NAME_WIDTH, 1, DAYS},
	{"DY", PATTERN_NAME, "dow", 0, 1, DYS},
	{"Dy", PATTERN_NAME, "dow", 0, 1, DYS},
	{"D", PATTERN_NUMBER, "dow", 1, 1, NULL},
	{"AM", PATTERN_NOON, "hour", 0, 0, NULL},
	{"PM", PATTERN_NOON, "hour", 0, 0, NULL}
};

/* A pattern of a format, as it stands there */
typedef struct Found
{
	const Pattern *pattern;
	bool		is_lower;
	bool		fills;			/* without FM? */
} Found;

/* A call without a collation to look at. */
static Node *
call(Oid function, Oid type, List *args)
{
	return (Node *) makeFuncExpr(function, type, args,
								 type == TEXTOID ? DEFAULT_COLLATION_OID : InvalidOid,
								 InvalidOid, COERCE_EXPLICIT_CALL);
}

/* A cast. */
static Node *
cast(Oid function, Oid type, Node *arg)
{
	return (Node *) makeFuncExpr(function, type, list_make1(arg),
								 type == TEXTOID ? DEFAULT_COLLATION_OID : InvalidOid,
								 InvalidOid, type == CSTRINGOID ?
								 COERCE_IMPLICIT_CAST : COERCE_EXPLICIT_CAST);
}

/* An operator. */
static Node *
operate(Oid operator, Oid type, Node *left, Node *right)
{
	OpExpr	   *op = (OpExpr *)
		make_opclause(operator, type, false, (Expr *) left, (Expr *) right,
					  type == TEXTOID ? DEFAULT_COLLATION_OID : InvalidOid,
					  InvalidOid);

	set_opfuncid(op);
	return (Node *) op;
}

/* Constants */
static Node *
number(int value)
{
	return (Node *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
							  Int32GetDatum(value), false, true);
}

static Node *
literal(const char *value)
{
	return (Node *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
							  CStringGetTextDatum(value), false, false);
}

/* A part of a copy of a time, as an integer. */
static Node *
part_of(Node *time, const char *part)
{
	Node	   *value = call(F_DATE_PART_TEXT_TIMESTAMP, FLOAT8OID,
							 list_make2(literal(part), copyObjectImpl(time)));

	if (strcmp(part, "second") == 0)
		value = call(F_TRUNC_FLOAT8, FLOAT8OID, list_make1(value));
	return cast(F_INT4_FLOAT8, INT4OID, value);
}

/* The digits of an integer. */
static Node *
digits_of(Node *value)
{
	return cast(F_TEXTIN, TEXTOID, cast(F_INT4OUT, CSTRINGOID, value));
}

/* CASE WHEN condition THEN result ELSE otherwise END, of integers or texts */
static Node *
choose(Node *condition, Node *result, Node *otherwise)
{
	CaseWhen   *when = makeNode(CaseWhen);
	CaseExpr   *choice = makeNode(CaseExpr);

	when->expr = (Expr *) condition;
	when->result = (Expr *) result;
	when->location = -1;
	choice->casetype = exprType(result);
	choice->casecollid = exprCollation(result);
	choice->args = list_make1(when);
	choice->defresult = (Expr *) otherwise;
	choice->location = -1;
	return (Node *) choice;
}

/* An integer that is not negative, with zeros in front. */
static Node *
padded(Node *value, int width)
{
	return call(F_LPAD_TEXT_INT4_TEXT, TEXTOID,
				list_make3(digits_of(value), number(width), literal("0")));
}

/* The text of a year. */
static Node *
text_of_year(const Found *found, Node *year)
{
	year = call(F_ABS_INT4, INT4OID, list_make1(year));
	return !found->fills ? digits_of(year) :
		choose(operate(INT4_LESS, BOOLOID, year, number(1000)),
			   padded(copyObjectImpl(year), found->pattern->width),
			   digits_of(copyObjectImpl(year)));
}

/* The hour of a clock with twelve: 12 from 0 and from 12 on. */
static Node *
hour_of_twelve(Node *hour)
{
	hour = call(F_MOD_INT4_INT4, INT4OID,
				list_make2(operate(INT4_PLUS, INT4OID, hour, number(11)),
						   number(12)));
	return operate(INT4_PLUS, INT4OID, hour, number(1));
}

/* Before or after noon. */
static Node *
text_of_noon(const Found *found, Node *hour)
{
	return choose(operate(INT4_LESS, BOOLOID, hour, number(12)),
				  literal(found->is_lower ? "am" : "AM"),
				  literal(found->is_lower ? "pm" : "PM"));
}

/* Names in the case of a pattern, padded as with FM left out. */
static char *
names_of(const Found *found)
{
	const char *letters = found->pattern->letters;
	char	   *names = pstrdup(found->pattern->names);

	for (char *c = names; *c != '\0'; c++)
	{
		if (found->is_lower)
			*c = pg_ascii_tolower(*c);
		else if (letters[1] >= 'A' && letters[1] <= 'Z')
			*c = pg_ascii_toupper(*c);
	}
	return names;
}

/* The name of a month or a day. */
static Node *
text_of_name(const Found *found, Node *n)
{
	Node	   *name;

	if (found->pattern->offset != 0)
		n = operate(INT4_PLUS, INT4OID, n, number(found->pattern->offset));
	name = call(F_SPLIT_PART, TEXTOID,
				list_make3(literal(names_of(found)), literal(","), n));
	return found->fills && found->pattern->width > 0 ?
		call(F_RPAD_TEXT_INT4, TEXTOID,
			 list_make2(name, number(found->pattern->width))) : name;
}

/* What a pattern shows of a time. */
static Node *
text_of(const Found *found, Node *time)
{
	const Pattern *pattern = found->pattern;
	Node	   *value = part_of(time, pattern->part);

	switch (pattern->kind)
	{
		case PATTERN_YEAR:
			return text_of_year(found, value);
		case PATTERN_NAME:
			return text_of_name(found, value);
		case PATTERN_NOON:
			return text_of_noon(found, value);
		case PATTERN_TWELVE:
			value = hour_of_twelve(value);
			break;
		case PATTERN_WEEK:
			value = call(F_INT4DIV, INT4OID,
						 list_make2(operate(INT4_PLUS, INT4OID, value, number(6)),
									number(7)));
			break;
		case PATTERN_FRACTION:
			value = call(F_INT4DIV, INT4OID,
						 list_make2(call(F_MOD_INT4_INT4, INT4OID,
										 list_make2(value, number(1000000))),
									number(pattern->offset)));
			break;
		default:
			if (pattern->offset != 0)
				value = operate(INT4_PLUS, INT4OID, value, number(pattern->offset));
			break;
	}
	/* FM leaves the zeros of a fraction. */
	return (found->fills && pattern->width > 1) || pattern->kind == PATTERN_FRACTION ?
		padded(value, pattern->width) : digits_of(value);
}

/* Does a format go on with these letters, or the small ones of them? */
static bool
begins_with(const char *format, const char *letters, bool *is_lower)
{
	size_t		length = strlen(letters);

	*is_lower = format[0] >= 'a' && format[0] <= 'z';
	for (size_t i = 0; i < length; i++)
	{
		char		letter = *is_lower ? pg_ascii_tolower(letters[i]) : letters[i];

		if (format[i] != letter)
			return false;
	}
	return true;
}

/* The pattern at the beginning of a format, which goes on behind it; false if none. */
static bool
find_pattern(const char **format, Found *found)
{
	bool		is_lower;

	found->fills = !begins_with(*format, "FM", &is_lower);
	if (!found->fills)
		*format += 2;
	for (int i = 0; i < lengthof(patterns); i++)
	{
		if (!begins_with(*format, patterns[i].letters, &found->is_lower))
			continue;
		found->pattern = &patterns[i];
		*format += strlen(patterns[i].letters);
		return patterns[i].kind != PATTERN_OTHER;
	}
	return false;
}

/* A text that stands in a format, quoted or not, which goes on behind it. */
static char *
find_literal(const char **format)
{
	const char *begin = *format;
	const char *end;

	if (*begin == '"')
	{
		end = strchr(begin + 1, '"');
		if (end == NULL)
			return NULL;
		*format = end + 1;
		return pnstrdup(begin + 1, end - begin - 1);
	}
	for (end = begin; *end != '\0' && *end != '"' && !IS_HIGHBIT_SET(*end) &&
		 !isalpha((unsigned char) *end); end++)
		;
	*format = end;
	return pnstrdup(begin, end - begin);
}

/*
 * What a format has next, and goes on behind it: a text, or a pattern if that is NULL.
 * False if it is not known.
 */
static bool
find_next(const char **format, char **letters, Found *found)
{
	const char *begin = *format;

	*letters = find_literal(format);
	if (*letters == NULL)
		return false;
	if (*format > begin)
		return true;
	*letters = NULL;
	return find_pattern(format, found);
}

/* What a format shows of a time; NULL if it has anything that is not known here. */
static Node *
texts_of(const char *format, Node *time)
{
	Node	   *all = NULL;
	int			npatterns = 0;

	while (*format != '\0')
	{
		char	   *letters;
		Found		found;
		Node	   *next;

		if (!find_next(&format, &letters, &found) ||
			(letters == NULL && ++npatterns > FORMATS_MAX_PATTERNS))
			return NULL;
		next = letters != NULL ? literal(letters) : text_of(&found, time);
		all = all == NULL ? next :
			operate(TEXT_CONCATENATION, TEXTOID, all, next);
	}
	return npatterns > 0 ? all : NULL;
}

/* The letters of a constant format; NULL if it is none, or has a backslash. */
static const char *
letters_of(const Node *format)
{
	const Const *constant = (const Const *) format;
	const char *letters;

	if (!IsA(format, Const) || constant->constisnull)
		return NULL;
	letters = TextDatumGetCString(constant->constvalue);
	return strchr(letters, '\\') == NULL ? letters : NULL;
}

/* Is a name among these? */
static bool
has_name(const List *names, const char *name)
{
	const ListCell *cell;

	foreach(cell, names)
	{
		if (strcmp(lfirst(cell), name) == 0)
			return true;
	}
	return false;
}

/* The parts of a time, by the names of date_part, that a format shows; NIL if unknown. */
List *
formats_parts(const Node *format)
{
	const char *rest = letters_of(format);
	List	   *parts = NIL;

	while (rest != NULL && *rest != '\0')
	{
		char	   *letters;
		Found		found;

		if (!find_next(&rest, &letters, &found))
			return NIL;
		if (letters == NULL && !has_name(parts, found.pattern->part))
			parts = lappend(parts, unconstify(char *, found.pattern->part));
	}
	return parts;
}

/* Walker: counts nodes down; true if there are more. */
static bool
count_down(Node *node, void *arg)
{
	int		   *left = arg;

	if (node == NULL)
		return false;
	*left -= 1;
	return *left < 0 || expression_tree_walker(node, count_down, arg);
}

/*
 * to_char of a time without a zone; NULL if the format is no constant, or has anything
 * that depends on a setting or is not known here.
 */
Node *
formats_replace(Node *time, const Node *format)
{
	const char *letters = letters_of(format);
	int			left = FORMATS_MAX_NODES;
	Node	   *shown;

	if (letters == NULL || !contain_var_clause(time) || count_down(time, &left))
		return NULL;
	shown = texts_of(letters, time);
	return shown == NULL ? NULL :
		choose(call(F_ISFINITE_TIMESTAMP, BOOLOID, list_make1(copyObjectImpl(time))),
			   shown, (Node *) makeNullConst(TEXTOID, -1, DEFAULT_COLLATION_OID));
}
