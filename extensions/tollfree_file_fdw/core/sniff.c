/*
 * sniff.c
 *	  The dialect of a text file, and what its columns hold, found from its bytes.
 */
#include <string.h>

#include "core/sniff.h"

/* How much of the beginning decides on the dialect: bytes, and records */
#define SNIFF_HEAD		(256 * 1024)
#define SNIFF_RECORDS	1000

/* The least part of the records that must agree on the number of fields */
#define SNIFF_AGREEMENT	0.5

/* Lines before the first record, at most */
#define SNIFF_TITLE_MAX	50

/* The comment's beginning that is looked for */
#define SNIFF_COMMENT	'#'

static const char *const sniff_nulls[SNIFF_NULLS] = {
	"\\N", "NULL", "null", "NA", "N/A", "n/a", "None"
};

/* How fields are told apart */
typedef struct SniffRules
{
	unsigned char delimiter;
	unsigned char quote;		/* 0 in text format */
	unsigned char escape;
} SniffRules;

typedef struct SniffField
{
	const unsigned char *bytes;
	size_t		length;
	bool		is_quoted;
} SniffField;

typedef struct SniffRecord
{
	size_t		nfields;
	bool		is_whole;		/* has it a line end? */
	bool		is_bad;			/* is there anything behind a closing quote? */
	LineEnd		line_end;
	const unsigned char *next;	/* behind it */
	SniffField	fields[SNIFF_COLUMNS_MAX];
} SniffRecord;

static bool
sniff_ends_field(const SniffRules *rules, unsigned char c)
{
	return c == rules->delimiter || c == '\n' || c == '\r';
}

/* Returns where a quoted field ends, behind its opening quote: at the closing one. */
static const unsigned char *
sniff_skip_quoted(const SniffRules *rules, const unsigned char *at,
				  const unsigned char *end)
{
	for (; at < end; at++)
	{
		if (*at == rules->escape && at + 1 < end &&
			(at[1] == rules->quote || at[1] == rules->escape))
			at++;
		else if (*at == rules->quote)
			break;
	}
	return at;
}

/* Reads a field; returns what is behind it. */
static const unsigned char *
sniff_read_field(const SniffRules *rules, const unsigned char *at,
				 const unsigned char *end, SniffField *field, bool *is_bad)
{
	*field = (SniffField)
	{
		.bytes = at
	};
	if (rules->quote != 0 && at < end && *at == rules->quote)
	{
		field->bytes = at + 1;
		at = sniff_skip_quoted(rules, at + 1, end);
		field->length = (size_t) (at - field->bytes);
		field->is_quoted = true;
		at += at < end;
		*is_bad |= at < end && !sniff_ends_field(rules, *at);
		while (at < end && !sniff_ends_field(rules, *at))
			at++;
		return at;
	}
	for (; at < end && !sniff_ends_field(rules, *at); at++)
	{
		if (rules->quote == 0 && *at == '\\' && at + 1 < end)
			at++;
	}
	field->length = (size_t) (at - field->bytes);
	return at;
}

/* Reads the record that begins at a place. */
static void
sniff_read_record(const SniffRules *rules, const unsigned char *at,
				  const unsigned char *end, SniffRecord *record)
{
	record->nfields = 0;
	record->is_bad = record->is_whole = false;
	record->line_end = LINE_END_UNKNOWN;
	for (;;)
	{
		SniffField	field;

		at = sniff_read_field(rules, at, end, &field, &record->is_bad);
		if (record->nfields < SNIFF_COLUMNS_MAX)
			record->fields[record->nfields] = field;
		record->nfields++;
		if (at == end || *at != rules->delimiter)
			break;
		at++;
	}
	record->is_whole = at < end;
	if (at < end && *at == '\n')
		record->line_end = LINE_END_NL;
	else if (at < end)
		record->line_end = at + 1 < end && at[1] == '\n' ? LINE_END_CRNL :
			LINE_END_CR;
	record->next = at + record->is_whole +
		(record->line_end == LINE_END_CRNL);
}

static bool
sniff_is_blank(const SniffRecord *record)
{
	return record->nfields == 1 && record->fields[0].length == 0 &&
		!record->fields[0].is_quoted;
}

/* Does a record's line begin as a comment does? */
static bool
sniff_is_comment(const SniffRecord *record)
{
	return record->fields[0].length > 0 && !record->fields[0].is_quoted &&
		record->fields[0].bytes[0] == SNIFF_COMMENT;
}

/* How well rules do for the beginning of a file */
typedef struct SniffTrial
{
	double		agreement;
	size_t		nfields;		/* that most records have */
	bool		has_quotes;
	bool		has_escapes;	/* of text format */
} SniffTrial;

/* Notes what is in the fields of a record. */
static void
sniff_note_fields(SniffTrial *trial, const SniffRecord *record)
{
	for (size_t i = 0; i < record->nfields && i < SNIFF_COLUMNS_MAX; i++)
	{
		const SniffField *field = &record->fields[i];
		const unsigned char *slash = memchr(field->bytes, '\\', field->length);

		trial->has_quotes |= field->is_quoted;
		trial->has_escapes |= slash != NULL && !field->is_quoted &&
			slash + 1 < field->bytes + field->length &&
			memchr("Ntn\\", slash[1], 4) != NULL;
	}
}

static SniffTrial
sniff_try(const SniffRules *rules, const SniffPiece *head, SniffRecord *record)
{
	uint32_t	counts[SNIFF_COLUMNS_MAX + 1] = {0};
	const unsigned char *at = head->bytes;
	const unsigned char *end = at + head->length;
	SniffTrial	trial = {0};
	uint32_t	nrecords = 0;
	uint32_t	ntitles = 0;	/* lines of one field before all others */
	uint32_t	nbad = 0;

	while (at < end && nrecords < SNIFF_RECORDS)
	{
		sniff_read_record(rules, at, end, record);
		at = record->next;
		if (!record->is_whole && !head->at_end && nrecords > 0)
			break;
		if (sniff_is_blank(record) ||
			(record->nfields == 1 && sniff_is_comment(record)))
			continue;
		if (record->nfields > 1 && nrecords == counts[1] && ntitles == 0)
		{
			ntitles = nrecords;
			nrecords = counts[1] = 0;
		}
		nrecords++;
		nbad += record->is_bad;
		counts[record->nfields < SNIFF_COLUMNS_MAX ? record->nfields :
			   SNIFF_COLUMNS_MAX]++;
		sniff_note_fields(&trial, record);
	}
	/* More titles than records are a column of texts. */
	if (ntitles > SNIFF_TITLE_MAX || nrecords < 2 || nrecords < ntitles)
		counts[1] += ntitles;
	nrecords += ntitles;
	for (size_t n = 1; n <= SNIFF_COLUMNS_MAX; n++)
	{
		if (counts[n] > counts[trial.nfields])
			trial.nfields = n;
	}
	if (nrecords > 0)
		trial.agreement = (counts[trial.nfields] - (nbad < counts[trial.nfields] ?
													nbad : counts[trial.nfields])) /
			(double) nrecords;
	return trial;
}

/* Chooses the rules by which most records agree; returns how they do. */
static SniffTrial
sniff_choose(SniffRules *best, const SniffPiece *head, SniffRecord *record)
{
	static const char delimiters[] = ",\t;|";
	static const char quotes[] = "\"'";
	SniffTrial	found = {0};

	for (const char *delimiter = delimiters; *delimiter != '\0'; delimiter++)
	{
		for (int i = 0; i < 4; i++)
		{
			unsigned char quote = (unsigned char) quotes[i / 2];
			const SniffRules rules = {
				(unsigned char) *delimiter, quote, i % 2 == 0 ? quote : '\\'
			};
			SniffTrial	trial = sniff_try(&rules, head, record);

			if (trial.nfields < 2 || trial.agreement < SNIFF_AGREEMENT ||
				trial.agreement <= found.agreement)
				continue;
			found = trial;
			*best = rules;
		}
	}
	return found;
}

/* Rules of a file with one column: a delimiter that its beginning does not have. */
static SniffTrial
sniff_choose_single(SniffRules *rules, const SniffPiece *head, SniffRecord *record)
{
	static const char delimiters[] = ",;\t|~^\x1f";
	const char *delimiter = delimiters;

	while (delimiter[1] != '\0' &&
		   memchr(head->bytes, *delimiter, head->length) != NULL)
		delimiter++;
	*rules = (SniffRules)
	{
		(unsigned char) *delimiter, '"', '"'
	};
	return sniff_try(rules, head, record);
}

/*
 * Text that COPY has written has no quotes, and backslashes: that is text format, if
 * records agree by that, too.
 */
static void
sniff_consider_text(SniffRules *rules, SniffTrial *trial, const SniffPiece *head,
					SniffRecord *record)
{
	const SniffRules as_text = {rules->delimiter, 0, 0};
	SniffTrial	other;

	if (rules->delimiter != '\t' || trial->has_quotes || !trial->has_escapes)
		return;
	other = sniff_try(&as_text, head, record);
	if (other.agreement >= trial->agreement)
	{
		*rules = as_text;
		*trial = other;
	}
}

/* Which of the strings that may be null a field is: its number; -1 if none. */
static int
sniff_find_null(const SniffField *field)
{
	for (int i = 0; i < SNIFF_NULLS && !field->is_quoted; i++)
	{
		if (field->length == strlen(sniff_nulls[i]) &&
			memcmp(field->bytes, sniff_nulls[i], field->length) == 0)
			return i;
	}
	return -1;
}

/* Adds the fields of a record to what is known of the columns. */
static void
sniff_add_record(Sniff *sniff, const SniffRecord *record)
{
	for (size_t i = 0; i < record->nfields && i < sniff->ncolumns; i++)
	{
		const SniffField *field = &record->fields[i];
		SniffColumn *column = &sniff->columns[i];
		int			null = sniff_find_null(field);

		if (field->length == 0 && !field->is_quoted)
			column->has_empty = true;
		else if (null >= 0)
			column->nulls |= 1u << null;
		else
			column->kind = kind_join(column->kind,
									 kind_of(field->bytes, field->length));
	}
}

/* Counts a line that is no record, or a record; returns whether it is one. */
static bool
sniff_count(Sniff *sniff, const SniffRecord *record)
{
	if (sniff_is_blank(record) && sniff->ncolumns > 1)
		sniff->nblank++;
	else if (sniff_is_comment(record) && record->nfields != sniff->ncolumns)
		sniff->ncomments++;
	else
	{
		sniff->nrecords++;
		sniff->nshort += record->nfields < sniff->ncolumns;
		sniff->nlong += record->nfields > sniff->ncolumns;
		return true;
	}
	return false;
}

/* Returns what is behind the line that a place is in. */
static const unsigned char *
sniff_next_line(const unsigned char *at, const unsigned char *end)
{
	const unsigned char *newline = memchr(at, '\n', (size_t) (end - at));

	return newline == NULL ? end : newline + 1;
}

/*
 * Reads the beginning up to the first record, which is put aside, and counts the lines
 * before it; returns what is behind it.
 */
static const unsigned char *
sniff_find_first(Sniff *sniff, const SniffRules *rules, const SniffPiece *head,
				 SniffRecord *first)
{
	const unsigned char *at = head->bytes;
	const unsigned char *end = at + head->length;
	int64_t		ntitles = 0;
	bool		has_title = false;

	while (at < end && ntitles < SNIFF_TITLE_MAX)
	{
		sniff_read_record(rules, at, end, first);
		if (first->nfields == sniff->ncolumns && !sniff_is_blank(first))
		{
			sniff->skip_lines = has_title ? ntitles : 0;
			break;
		}
		/* Titles are lines, whatever quotes they have. */
		has_title |= !sniff_is_blank(first) && !sniff_is_comment(first);
		ntitles++;
		at = sniff_next_line(at, end);
	}
	if (sniff->skip_lines == 0)
		at = head->bytes;
	while (at < end)
	{
		sniff_read_record(rules, at, end, first);
		at = first->next;
		if (sniff_count(sniff, first))
			break;
	}
	sniff->line_end = first->line_end;
	return at;
}

/* Reads the records of a piece from a place on. */
static void
sniff_read_piece(Sniff *sniff, const SniffRules *rules, const unsigned char *at,
				 const SniffPiece *piece, SniffRecord *record)
{
	const unsigned char *end = piece->bytes + piece->length;

	while (at < end)
	{
		sniff_read_record(rules, at, end, record);
		at = record->next;
		if (!record->is_whole && !piece->at_end)
			break;
		if (record->is_whole && record->line_end != sniff->line_end)
			sniff->has_mixed_ends = true;
		if (sniff_count(sniff, record))
			sniff_add_record(sniff, record);
	}
}

static bool
sniff_is_same(const SniffField *a, const SniffField *b)
{
	return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

/* May a field be a column's name?  So may t and f be, which stand for booleans, too. */
static bool
sniff_may_be_name(const SniffField *field)
{
	ValueKind	kind = kind_of(field->bytes, field->length);

	return field->length > 0 && field->length < 64 &&
		(kind == KIND_TEXT || (kind == KIND_BOOL && field->length == 1)) &&
		sniff_find_null(field) < 0 &&
		memchr(field->bytes, '\n', field->length) == NULL;
}

/* May the first record name the columns: texts, each once, none of them empty? */
static bool
sniff_may_be_header(const Sniff *sniff, const SniffRecord *first)
{
	if (first->nfields != sniff->ncolumns)
		return false;
	for (size_t i = 0; i < first->nfields; i++)
	{
		const SniffField *field = &first->fields[i];

		if (!sniff_may_be_name(field))
			return false;
		for (size_t j = 0; j < i; j++)
		{
			if (sniff_is_same(field, &first->fields[j]))
				return false;
		}
	}
	return true;
}

/* Does a field look like a name, rather than like a text? */
static bool
sniff_is_name(const SniffField *field)
{
	for (size_t i = 0; i < field->length; i++)
	{
		unsigned char c = field->bytes[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
			  c >= 0x80 || (i > 0 && ((c >= '0' && c <= '9') || c == ' ' || c == '.' ||
									  c == '-'))))
			return false;
	}
	return true;
}

/*
 * Is the first record a header?  Where some column holds no texts, its name is what
 * does not fit; where all do, names have to look like names.
 */
static bool
sniff_is_header(const Sniff *sniff, const SniffRecord *first)
{
	bool		has_names = true;

	if (!sniff_may_be_header(sniff, first) || sniff->nrecords < 2)
		return false;
	for (size_t i = 0; i < sniff->ncolumns; i++)
	{
		ValueKind	kind = sniff->columns[i].kind;

		if (kind != KIND_TEXT && kind != KIND_NONE)
			return true;
		has_names &= sniff_is_name(&first->fields[i]);
	}
	return has_names;
}

/* Is a column one whose values need a null string, to be of their type? */
static bool
sniff_is_typed(const SniffColumn *column)
{
	return column->kind != KIND_TEXT && column->kind != KIND_NONE;
}

/*
 * Chooses the string that stands for null: that of text format, or an empty field, or
 * one that columns have which hold no texts otherwise.  Columns that have others hold
 * texts.
 */
static void
sniff_choose_null(Sniff *sniff)
{
	int			chosen = sniff->format == FILE_FORMAT_TEXT ? 0 : -1;
	bool		has_empty = false;

	for (size_t i = 0; i < sniff->ncolumns; i++)
		has_empty |= sniff->columns[i].has_empty && sniff_is_typed(&sniff->columns[i]);
	for (int null = 0; null < SNIFF_NULLS && chosen < 0 && !has_empty; null++)
	{
		for (size_t i = 0; i < sniff->ncolumns; i++)
		{
			if (sniff_is_typed(&sniff->columns[i]) &&
				(sniff->columns[i].nulls & (1u << null)) != 0)
				chosen = null;
		}
	}
	sniff->null = chosen < 0 ? "" : sniff_nulls[chosen];
	for (size_t i = 0; i < sniff->ncolumns; i++)
	{
		SniffColumn *column = &sniff->columns[i];
		unsigned int others = column->nulls & ~(chosen < 0 ? 0 : 1u << chosen);

		if (others != 0 || (chosen >= 0 && column->has_empty) ||
			column->kind == KIND_NONE)
			column->kind = KIND_TEXT;
	}
}

bool
sniff_pieces(Sniff *sniff, const SniffPiece *pieces, size_t npieces)
{
	SniffRecord first;
	SniffRecord record;
	SniffPiece	head = pieces[0];
	SniffRules	rules;
	SniffTrial	trial;
	const unsigned char *at;

	memset(sniff, 0, sizeof(*sniff));
	if (head.length > SNIFF_HEAD)
		head = (SniffPiece)
	{
		head.bytes, SNIFF_HEAD, false
	};
	trial = sniff_choose(&rules, &head, &record);
	if (trial.nfields < 2)
		trial = sniff_choose_single(&rules, &head, &record);
	sniff_consider_text(&rules, &trial, &head, &record);
	if (trial.nfields == 0 || trial.nfields >= SNIFF_COLUMNS_MAX)
		return false;
	sniff->format = rules.quote == 0 ? FILE_FORMAT_TEXT : FILE_FORMAT_CSV;
	sniff->delimiter = rules.delimiter;
	sniff->quote = rules.quote;
	sniff->escape = rules.escape;
	sniff->agreement = trial.agreement;
	sniff->ncolumns = trial.nfields;
	at = sniff_find_first(sniff, &rules, pieces, &first);
	sniff_read_piece(sniff, &rules, at, &pieces[0], &record);
	for (size_t i = 1; i < npieces; i++)
		sniff_read_piece(sniff, &rules, pieces[i].bytes, &pieces[i], &record);
	if (sniff->nrecords == 0)
		return false;
	sniff->has_header = sniff_is_header(sniff, &first);
	for (size_t i = 0; i < sniff->ncolumns && sniff->has_header; i++)
	{
		sniff->columns[i].name = first.fields[i].bytes;
		sniff->columns[i].name_length = first.fields[i].length;
	}
	if (!sniff->has_header)
		sniff_add_record(sniff, &first);
	sniff_choose_null(sniff);
	return true;
}
