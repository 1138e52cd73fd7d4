/*
 * guess.c
 *	  The foreign table that a file may be: its options, and the types of its columns.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "base/allocate.h"
#include "base/compat.h"
#include "base/json_columns.h"
#include "base/options.h"
#include "core/json_sniff.h"
#include "core/json_string.h"
#include "guess.h"

/* Suffixes of text files, that a table's name does not have */
static const char *const suffixes[] = {
	".csv", ".tsv", ".tab", ".psv", ".tbl", ".txt", ".dat", ".jsonl", ".ndjson"
};

static const char *const types[] = {
	[KIND_NONE] = "text",[KIND_BOOL] = "boolean",[KIND_INT4] = "integer",
	[KIND_INT8] = "bigint",[KIND_NUMERIC] = "numeric",[KIND_DATE] = "date",
	[KIND_TIMESTAMP] = "timestamp",[KIND_TIMESTAMPTZ] = "timestamptz",
	[KIND_UUID] = "uuid",[KIND_TEXT] = "text"
};

/* Has a piece bytes in a range, from and up to these? */
static bool
has_bytes(const SniffPiece *piece, unsigned char from, unsigned char to)
{
	for (size_t i = 0; i < piece->length; i++)
	{
		if (piece->bytes[i] >= from && piece->bytes[i] <= to)
			return true;
	}
	return false;
}

/* Finds the encoding of the pieces; ERROR if they are no text. */
static void
find_encoding(Guess *guess)
{
	bool		is_utf8 = true;
	bool		has_high = false;
	bool		has_controls = false;

	for (int i = 0; i < guess->sample.npieces; i++)
	{
		const SniffPiece *piece = &guess->sample.pieces[i];

		if (memchr(piece->bytes, '\0', piece->length) != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("file \"%s\" has zero bytes", guess->path),
					 errhint("It is no text file, or one in UTF-16, which has to be converted.")));
		has_high |= has_bytes(piece, 0x80, 0xff);
		has_controls |= has_bytes(piece, 0x80, 0x9f);
		is_utf8 &= pg_verify_mbstr(PG_UTF8, (const char *) piece->bytes,
								   piece->length, true);
	}
	guess->is_ascii = !has_high;
	guess->encoding = is_utf8 ? PG_UTF8 : has_controls ? PG_WIN1252 : PG_LATIN1;
}

/* The name in a header's field, in the server's encoding: as long as names can be. */
static char *
read_name(const Guess *guess, const SniffColumn *column)
{
	char	   *raw = palloc(column->name_length + 1);
	size_t		length = 0;
	char	   *name;

	for (size_t i = 0; i < column->name_length; i++)
	{
		unsigned char c = column->name[i];

		if (c == guess->sniff.escape && i + 1 < column->name_length &&
			column->name[i + 1] == guess->sniff.quote)
			c = column->name[++i];
		if (length > 0 || c != ' ')
			raw[length++] = c;
	}
	while (length > 0 && raw[length - 1] == ' ')
		length--;
	raw[length] = '\0';
	name = pg_any_to_server(raw, length, guess->encoding);
	if (strlen(name) >= NAMEDATALEN)
		name[pg_mbcliplen(name, strlen(name), NAMEDATALEN - 1)] = '\0';
	return name;
}

/* A member's key, in the server's encoding. */
static char *
read_key(const SniffColumn *column)
{
	char	   *key = palloc(column->name_length + 1);
	JsonFault	fault;
	size_t		length = json_string_decode(column->name, column->name_length,
											(unsigned char *) key, &fault);

	key[length] = '\0';
	return pg_any_to_server(key, length, PG_UTF8);
}

/* Is a name one of the first columns' already? */
static bool
is_taken(const Guess *guess, const char *name, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (strcmp(guess->names[i], name) == 0)
			return true;
	}
	return false;
}

/* The name that a column has in the file; an empty one if it has none. */
static char *
found_name(const Guess *guess, int column)
{
	const SniffColumn *found = &guess->sniff.columns[column];
	char	   *name;

	if (guess->sniff.format != FILE_FORMAT_JSON_LINES)
		return guess->sniff.has_header ? read_name(guess, found) : "";
	name = read_key(found);
	if (strlen(name) >= NAMEDATALEN)
		name[pg_mbcliplen(name, strlen(name), NAMEDATALEN - 1)] = '\0';
	return name;
}

/* Names the columns. */
static void
name_columns(Guess *guess)
{
	guess->names = palloc(sizeof(char *) * guess->sniff.ncolumns);
	for (int i = 0; i < guess->sniff.ncolumns; i++)
	{
		char	   *name = found_name(guess, i);

		if (*name == '\0' || is_taken(guess, name, i))
			name = psprintf("column_%d", i + 1);
		guess->names[i] = name;
	}
}

/* Finds the members of lines of JSON; false if the pieces are of another file. */
static bool
find_members(Guess *guess, const SniffPiece *pieces, int npieces)
{
	Allocator	allocator = memory_allocator(CurrentMemoryContext);

	if (!json_sniff_pieces(&guess->sniff, pieces, npieces, &allocator))
		return false;
	if (guess->sniff.has_more_columns)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("objects of file \"%s\" have more members than a table can have columns",
						guess->path),
				 errhint("Create a table with a column of type jsonb and the option path ''.")));
	name_columns(guess);
	return true;
}

/* Adds what another file has, both of JSON Lines. */
void
guess_join_members(Guess *guess, const Guess *other)
{
	SniffPiece	pieces[2 * SAMPLE_PIECES];
	int			n = guess->sample.npieces;

	memcpy(pieces, guess->sample.pieces, n * sizeof(SniffPiece));
	memcpy(pieces + n, other->sample.pieces,
		   other->sample.npieces * sizeof(SniffPiece));
	(void) find_members(guess, pieces, n + other->sample.npieces);
}

/* Guesses what a file has; ERROR if it has no records, or cannot be read. */
Guess *
guess_file(const char *path)
{
	Guess	   *guess = palloc0(sizeof(Guess));

	guess->path = path;
	guess->sample = sample_read(path);
	find_encoding(guess);
	if (find_members(guess, guess->sample.pieces, guess->sample.npieces))
		return guess;
	if (!sniff_pieces(&guess->sniff, guess->sample.pieces, guess->sample.npieces))
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("no records are found in file \"%s\"", path),
				 errdetail("It is empty, or has more fields than a table can have columns.")));
	if (guess->sniff.has_mixed_ends)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("lines of file \"%s\" end in different ways", path),
				 errhint("Give all its lines the same end.")));
	name_columns(guess);
	return guess;
}

/* The type of a column, counted from 0. */
const char *
guess_type(const Guess *guess, int column)
{
	const SniffColumn *found = &guess->sniff.columns[column];

	return found->is_json ? "jsonb" : types[found->kind];
}

/* Appends an option. */
static void
add_option(StringInfo text, const char *name, const char *value)
{
	appendStringInfo(text, ", %s %s", name, quote_literal_cstr(value));
}

/* Appends an option of one character. */
static void
add_character(StringInfo text, const char *name, char value)
{
	const char	string[] = {value, '\0'};

	add_option(text, name, string);
}

/* Appends a column; of lines of JSON, with its path if that is not its name. */
static void
add_column(StringInfo text, const Guess *guess, int column)
{
	const char *name = guess->names[column];

	appendStringInfo(text, "%s%s %s", column == 0 ? "" : ", ",
					 quote_identifier(name), guess_type(guess, column));
	if (guess->sniff.format == FILE_FORMAT_JSON_LINES)
	{
		const char *key = read_key(&guess->sniff.columns[column]);

		if (strcmp(name, key) != 0)
			appendStringInfo(text, " OPTIONS (path %s)",
							 quote_literal_cstr(json_default_path(key)));
	}
}

/* Appends the options about the format. */
static void
add_format(StringInfo text, const Guess *guess)
{
	const Sniff *sniff = &guess->sniff;
	bool		is_csv = sniff->format == FILE_FORMAT_CSV;

	if (sniff->format == FILE_FORMAT_JSON_LINES)
	{
		add_option(text, "format", FORMAT_JSON_LINES);
		return;
	}
	add_option(text, "format", is_csv ? "csv" : "text");
	if (sniff->delimiter != (is_csv ? ',' : '\t'))
		add_character(text, "delimiter", sniff->delimiter);
	if (is_csv && sniff->quote != '"')
		add_character(text, "quote", sniff->quote);
	if (is_csv && sniff->escape != sniff->quote)
		add_character(text, "escape", sniff->escape);
	if (sniff->has_header)
		add_option(text, "header", "true");
	if (strcmp(sniff->null, is_csv ? "" : "\\N") != 0)
		add_option(text, "null", sniff->null);
	add_option(text, "encoding", pg_encoding_to_char(guess->encoding));
}

/* Appends the options about what COPY would refuse, or take for rows. */
static void
add_records(StringInfo text, const Guess *guess)
{
	const Sniff *sniff = &guess->sniff;

	/* Lines of JSON need none. */
	if (sniff->format == FILE_FORMAT_JSON_LINES)
		return;
	if (guess->sample.has_mark)
		add_option(text, "byte_order_mark", "skip");
	if (sniff->skip_lines > 0)
		add_option(text, "skip_lines", psprintf(INT64_FORMAT, sniff->skip_lines));
	if (sniff->ncomments > 0)
		add_option(text, "comment", "#");
	if (sniff->nblank > 0)
		add_option(text, "blank_lines", "skip");
	if (sniff->nshort > 0)
		add_option(text, "missing_fields", "null");
	if (sniff->nlong > 0)
		add_option(text, "extra_fields", "ignore");
}

/*
 * The statement that makes the foreign table.  If a pattern is given, it reads all files
 * that this names.
 */
char *
guess_statement(const Guess *guess, const char *table, const char *server,
				const char *pattern)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE FOREIGN TABLE %s (", quote_identifier(table));
	for (int i = 0; i < guess->sniff.ncolumns; i++)
		add_column(&sql, guess, i);
	appendStringInfo(&sql, ")\nSERVER %s OPTIONS (%s %s", quote_identifier(server),
					 pattern == NULL ? "filename" : "filenames",
					 quote_literal_cstr(pattern == NULL ? guess->path : pattern));
	if (guess->sample.compression != COMPRESSION_NONE && pattern == NULL)
		add_option(&sql, "compression", codec_of(guess->sample.compression)->name);
	add_format(&sql, guess);
	add_records(&sql, guess);
	appendStringInfoString(&sql, ")");
	return sql.data;
}

/* The length of a name without its last characters, if it ends with these. */
static size_t
cut_suffix(const char *name, size_t length, const char *suffix)
{
	size_t		n = strlen(suffix);

	return length > n && pg_strncasecmp(name + length - n, suffix, n) == 0 ?
		length - n : length;
}

/* The length of a file's name without the suffixes of its compression and format. */
static size_t
cut_suffixes(const char *name)
{
	FileCompression compression = codec_by_suffix(name);
	size_t		length = strlen(name);

	if (compression != COMPRESSION_NONE)
		length = cut_suffix(name, length, codec_of(compression)->suffix);
	for (int i = 0; i < lengthof(suffixes); i++)
	{
		size_t		shorter = cut_suffix(name, length, suffixes[i]);

		if (shorter < length)
			return shorter;
	}
	return length;
}

/* Has a file the suffix of a text file, perhaps behind it that of a compressed one? */
bool
guess_has_suffix(const char *path)
{
	FileCompression compression = codec_by_suffix(path);
	size_t		length = strlen(path);

	if (compression != COMPRESSION_NONE)
		length = cut_suffix(path, length, codec_of(compression)->suffix);
	return cut_suffixes(path) < length;
}

/* The name of the table of a file, or of the files that a pattern names. */
char *
guess_table_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash == NULL ? path : slash + 1;
	size_t		length = cut_suffixes(name);
	StringInfoData table;

	initStringInfo(&table);
	for (size_t i = 0; i < length; i++)
	{
		if (strchr("*?[]{},\\", name[i]) == NULL)
			appendStringInfoChar(&table, name[i]);
	}
	while (table.len > 0 && strchr("-_.", table.data[table.len - 1]) != NULL)
		table.data[--table.len] = '\0';
	if (table.len == 0 && slash != NULL && slash > path)
		return guess_table_name(pnstrdup(path, slash - path));
	if (table.len >= NAMEDATALEN)
		table.data[pg_mbcliplen(table.data, table.len, NAMEDATALEN - 1)] = '\0';
	return table.len == 0 ? pstrdup("files") : table.data;
}
