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
 */
#include "postgres.h"

#include "base/record_options.h"

/* Most lines that can be left out at the beginning, and bytes of a comment's beginning */
#define SKIP_LINES_MAX 1000000000
#define COMMENT_MAX 32

static const char *const record_options[] = {
	OPTION_BYTE_ORDER_MARK, OPTION_SKIP_LINES, OPTION_COMMENT,
	OPTION_BLANK_LINES, OPTION_MISSING_FIELDS, OPTION_EXTRA_FIELDS
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
read_lines(const char *value)
{
	char	   *end;
	long		lines;

	errno = 0;
	lines = strtol(value, &end, 10);
	if (errno != 0 || end == value || *end != '\0' || lines < 0 ||
		lines > SKIP_LINES_MAX)
		report_value(OPTION_SKIP_LINES, value,
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

/* Adds what an option about records says.  ERROR if it cannot say that. */
void
record_option_read(RecordPolicy *policy, const char *name, const char *value)
{
	if (strcmp(name, OPTION_BYTE_ORDER_MARK) == 0)
		policy->skip_mark = is_on(name, value, "skip", "keep");
	else if (strcmp(name, OPTION_SKIP_LINES) == 0)
		policy->skip_lines = read_lines(value);
	else if (strcmp(name, OPTION_COMMENT) == 0)
		read_comment(policy, value);
	else if (strcmp(name, OPTION_BLANK_LINES) == 0)
		policy->skip_blank = is_on(name, value, "skip", "keep");
	else if (strcmp(name, OPTION_MISSING_FIELDS) == 0)
		policy->pad_missing = is_on(name, value, "null", "error");
	else if (strcmp(name, OPTION_EXTRA_FIELDS) == 0)
		policy->cut_extra = is_on(name, value, "ignore", "error");
}
