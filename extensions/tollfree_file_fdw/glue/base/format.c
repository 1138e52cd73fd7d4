/*
 * format.c
 *	  Which files core/ can read, by their options.
 *
 * PostgreSQL itself parses the options, since their defaults depend on the
 * version and the session.  Lists of columns are left out: what is wrong with
 * them is told when the file is opened, and a plan that is only shown has none.
 */
#include "postgres.h"

#include "commands/defrem.h"
#include "mb/pg_wchar.h"

#include "base/compat.h"
#include "base/format.h"
#include "base/guc.h"

/*
 * Most records of a header, which core/ looks for one by one, each time among
 * those of a batch.
 */
#define HEADER_MAX 100

/*
 * What core/ has to know about bytes above 0x7F.  COPY checks them against the
 * file's encoding, and converts them if the server's is another one; functions
 * such as LIKE then take them for characters of the server's.  Where the two
 * are not the same, they are left to COPY.  All encodings that a server can
 * have agree about the bytes up to 0x7F.
 */
static FileEncoding
checked_encoding(int encoding)
{
	int			server = GetDatabaseEncoding();

	if (encoding == PG_UTF8 && server == PG_UTF8)
		return FILE_ENCODING_UTF8;
	if ((encoding == server || encoding == PG_SQL_ASCII ||
		 server == PG_SQL_ASCII) &&
		pg_encoding_max_length(encoding) == 1 &&
		pg_encoding_max_length(server) == 1)
		return FILE_ENCODING_SINGLE_BYTE;
	return FILE_ENCODING_ASCII;
}

/* The encoding of a file that is opened now: the table's, or the client's. */
int
format_encoding(const FileOptions *options)
{
	ListCell   *cell;

	foreach(cell, options->format)
	{
		DefElem    *element = lfirst_node(DefElem, cell);

		if (strcmp(element->defname, "encoding") == 0)
			return pg_char_to_encoding(defGetString(element));
	}
	return pg_get_client_encoding();
}

/*
 * Returns NULL if core/ can read such a file, and describes it, or why it
 * cannot: a few words, for EXPLAIN.
 */
const char *
format_unsupported(const FileOptions *options, FileLayout *layout)
{
	CopyFormatOptions format = {0};
	int			encoding = format_encoding(options);

	if (!setting_fast_scan)
		return "fast_scan is off";
	if (options->is_program)
		return "a program's output";
	ProcessCopyOptions(NULL, &format, true, options->format);
	if (compat_is_binary(&format))
		return "binary format";
	if (!PG_VALID_BE_ENCODING(encoding))
		return "a client-only encoding";
	if (compat_nulls_errors(&format))
		return "on_error";
	if (compat_has_default(&format))
		return "a default string";
	if (compat_header_records(&format) > HEADER_MAX)
		return "a header of too many lines";

	layout->header = compat_header_records(&format);
	layout->header_matches = format.header_line == COPY_HEADER_MATCH;
	layout->encoding = encoding;
	layout->dialect = (Dialect)
	{
		.format = compat_is_csv(&format) ? FILE_FORMAT_CSV : FILE_FORMAT_TEXT,
			.encoding = checked_encoding(encoding),
			.delimiter = format.delim[0],
			.quote = compat_is_csv(&format) ? format.quote[0] : 0,
			.escape = compat_is_csv(&format) ? format.escape[0] : 0,
			.marker_in_csv = COMPAT_MARKER_IN_CSV,
			.null = format.null_print,
			.null_length = format.null_print_len,
			.policy = options->policy
	};
	layout->json = options->json;
	if (options->json != NULL)
	{
		layout->dialect.format = FILE_FORMAT_JSON_LINES;
		layout->dialect.null = JSON_NULL_STRING;
		layout->dialect.null_length = JSON_NULL_STRING_LENGTH;
	}
	return dialect_unsupported(&layout->dialect);
}

/*
 * Can such files be cut into parts for several processes?  A process must know what COPY's parser has read, in
 * the file, so nothing may be converted.  What leaves out lines is told how often.
 */
bool
format_is_divisible(const FileLayout *layout)
{
	return layout->dialect.encoding != FILE_ENCODING_ASCII &&
		!layout->header_matches && !policy_is_active(&layout->dialect.policy);
}
