/*
 * record_options.c
 *	  Options of foreign tables about records that COPY refuses, or takes for rows.
 *
 *	byte_order_mark		'skip': one of UTF-8 at the beginning of a file
 *	skip_lines			a number: of lines at its beginning
 *	comment				lines that begin with it are left out
 *	blank_lines			'skip': empty ones
 *	missing_fields		'null': a record may end early
 *	extra_fields		'ignore': a record may go on
 *	skip_last_lines		a number: of lines at its end
 *	quote_blanks		'skip': those around quotes
 *	null_strings		a list: further ones
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "base/record_options.h"

/* Most lines that can be left out at the beginning, and bytes of a comment's beginning */
#define SKIP_LINES_MAX 1000000000
#define COMMENT_MAX 32

static const char *const record_options[] = {
	OPTION_BYTE_ORDER_MARK, OPTION_SKIP_LINES, OPTION_COMMENT,
	OPTION_BLANK_LINES, OPTION_MISSING_FIELDS, OPTION_EXTRA_FIELDS,
	OPTION_SKIP_LAST_LINES, OPTION_QUOTE_BLANKS, OPTION_NULL_STRINGS
};

/* Is it an option about records? */
bool
record_option_is(const char *name)
{
	for (int i = 0; i < lengthof(record_options); i++)
	{
		if (strcmp(name, record_options[i]) == 0)
			return true;
	}
	return false;
}

/* Raises the ERROR of a value that an option cannot have. */
static void
report_value(const char *name, const char *value, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for option \"%s\": \"%s\"", name, value),
			 errhint("%s", hint)));
}

/* Is it the value that switches an option on?  ERROR if it is no value of it. */
static bool
is_on(const char *name, const char *value, const char *on, const char *off)
{
	if (strcmp(value, on) != 0 && strcmp(value, off) != 0)
		report_value(name, value,
					 psprintf("Valid values are \"%s\" and \"%s\".", on, off));
	return strcmp(value, on) == 0;
}

/* How many lines a value says; ERROR if it is no such number. */
static int64
read_lines(const char *name, const char *value)
{
	char	   *end;
	long		lines;

	errno = 0;
	lines = strtol(value, &end, 10);
	if (errno != 0 || end == value || *end != '\0' || lines < 0 ||
		lines > SKIP_LINES_MAX)
		report_value(name, value,
					 psprintf("Valid values are between 0 and %d.", SKIP_LINES_MAX));
	return lines;
}

/* What lines begin with that are left out; ERROR if none can, or any. */
static void
read_comment(RecordPolicy *policy, const char *value)
{
	if (value[0] == '\0' || strlen(value) > COMMENT_MAX ||
		strpbrk(value, "\r\n") != NULL)
		report_value(OPTION_COMMENT, value,
					 psprintf("Set it to what comments begin with, such as \"#\": 1 to %d bytes of a line.",
							  COMMENT_MAX));
	policy->comment = value;
	policy->comment_length = strlen(value);
}

/* Raises the ERROR of a list of null strings that cannot be read. */
static void
report_nulls(const char *value)
{
	report_value(OPTION_NULL_STRINGS, value,
				 psprintf("Write up to %d strings of one line, with commas between them, as in 'NA, -, \"\"'; an empty one and one with commas, quotes or blanks at its ends in double quotes.",
						  NULL_STRINGS_MAX));
}

/*
 * Reads a string in double quotes, of which a double one is one of the string, to to.
 * Returns what is behind it; ERROR if it does not end.
 */
static const char *
read_quoted(const char *from, const char *value, StringInfo to)
{
	for (from++; *from != '"' || from[1] == '"'; from++)
	{
		if (*from == '\0')
			report_nulls(value);
		if (*from == '"')
			from++;
		appendStringInfoChar(to, *from);
	}
	return from + 1;
}

/* Reads a string up to a comma, without blanks at its ends; ERROR if it is empty. */
static const char *
read_plain(const char *from, const char *value, StringInfo to)
{
	while (*from != ',' && *from != '\0')
		appendStringInfoChar(to, *from++);
	while (to->len > 0 && to->data[to->len - 1] == ' ')
		to->data[--to->len] = '\0';
	if (to->len == 0 || strchr(to->data, '"') != NULL)
		report_nulls(value);
	return from;
}

/* The null strings of a list; NULL if there are none. */
static const NullStrings *
read_nulls(const char *value)
{
	NullStrings *nulls = palloc0(sizeof(NullStrings));
	const char *at = value + strspn(value, " ");

	if (strpbrk(value, "\r\n") != NULL)
		report_nulls(value);
	while (*at != '\0')
	{
		StringInfoData string;

		initStringInfo(&string);
		if (nulls->count == NULL_STRINGS_MAX)
			report_nulls(value);
		at = *at == '"' ? read_quoted(at, value, &string) :
			read_plain(at, value, &string);
		nulls->strings[nulls->count] = string.data;
		nulls->lengths[nulls->count++] = string.len;
		at += strspn(at, " ");
		if (*at == '\0')
			break;
		if (*at != ',')
			report_nulls(value);
		at += 1 + strspn(at + 1, " ");
		if (*at == '\0')
			report_nulls(value);
	}
	return nulls->count == 0 ? NULL : nulls;
}

/* Adds what an option about records says.  ERROR if it cannot say that. */
void
record_option_read(RecordPolicy *policy, const char *name, const char *value)
{
	if (strcmp(name, OPTION_BYTE_ORDER_MARK) == 0)
		policy->skip_mark = is_on(name, value, "skip", "keep");
	else if (strcmp(name, OPTION_SKIP_LINES) == 0)
		policy->skip_lines = read_lines(name, value);
	else if (strcmp(name, OPTION_SKIP_LAST_LINES) == 0)
		policy->skip_last_lines = read_lines(name, value);
	else if (strcmp(name, OPTION_QUOTE_BLANKS) == 0)
		policy->skip_quote_blanks = is_on(name, value, "skip", "keep");
	else if (strcmp(name, OPTION_NULL_STRINGS) == 0)
		policy->nulls = read_nulls(value);
	else if (strcmp(name, OPTION_COMMENT) == 0)
		read_comment(policy, value);
	else if (strcmp(name, OPTION_BLANK_LINES) == 0)
		policy->skip_blank = is_on(name, value, "skip", "keep");
	else if (strcmp(name, OPTION_MISSING_FIELDS) == 0)
		policy->pad_missing = is_on(name, value, "null", "error");
	else if (strcmp(name, OPTION_EXTRA_FIELDS) == 0)
		policy->cut_extra = is_on(name, value, "ignore", "error");
}
