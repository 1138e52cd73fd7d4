/*
 * clean.c
 *	  A file's bytes as COPY's parser takes them, where our options say so.
 *
 *		the text -> raw bytes -> lines left out (core/skip.c)
 *							   -> a record made plain (core/clean.c) -> COPY's buffer
 *
 * One record is handed over at a time, since COPY asks for more only when it looks for
 * the next one.  So COPY's count of lines can be corrected here by those left out: its
 * errors name lines of the file.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "core/clean.h"
#include "core/skip.h"
#include "read/clean.h"

#define RAW_BYTES_FIRST (64 * 1024)

struct Cleaner
{
	CopyFromState copy;
	Dialect		dialect;		/* COPY's, and the policy */
	MemoryContext context;
	LineSkip	skip;
	LineEnd		line_end;		/* of the first record, when it has been made
								 * plain */
	PolicyCounts counts;
	int			header_due;		/* records of the header that are next, which
								 * are COPY's as they are */

	int64		offset;			/* in the file, of what is read next */
	unsigned char *raw;			/* of the file */
	size_t		raw_size;
	size_t		raw_begin;		/* the first that has not been looked at */
	size_t		raw_end;

	unsigned char *plain;		/* of the present record */
	size_t		plain_size;
	size_t		plain_begin;	/* the first that COPY has not been given */
	size_t		plain_end;

	ColumnSpec *specs;			/* how columns take fields, in the file's
								 * order */
	unsigned char *cut;			/* the record before its fields are made plain */
	size_t		cut_size;
	int64		added;			/* to COPY's count of lines, for the present
								 * one */
};

/* What there is to say of fields, from COPY's options. */
static Dialect
copy_dialect(const CopyFromStateData *copy, bool is_csv)
{
	const CopyFormatOptions *options = &copy->opts;
	Dialect		dialect = {
		.format = is_csv ? FILE_FORMAT_CSV : FILE_FORMAT_TEXT,
		.delimiter = options->delim[0],
		.quote = is_csv ? options->quote[0] : 0,
		.escape = is_csv ? options->escape[0] : 0,
		.marker_in_csv = PG_VERSION_NUM < 180000,
		.null = options->null_print,
		.null_length = options->null_print_len
	};

	return dialect;
}

/* How the columns that are in the file take null strings; in the current memory context. */
static ColumnSpec *
find_specs(const CopyFromStateData *copy)
{
	ColumnSpec *specs = palloc0(sizeof(ColumnSpec) * Max(1, list_length(copy->attnumlist)));
	ListCell   *cell;

	if (!compat_is_csv(&copy->opts))
		return specs;
	foreach(cell, copy->attnumlist)
	{
		ColumnSpec *spec = &specs[foreach_current_index(cell)];

		spec->force_null = copy->opts.force_null_flags[lfirst_int(cell) - 1];
		spec->force_not_null = copy->opts.force_notnull_flags[lfirst_int(cell) - 1];
	}
	return specs;
}

/* Makes the bytes of a file that COPY has opened plain; in the current memory context. */
Cleaner *
cleaner_open(CopyFromState copy, const RecordPolicy *policy)
{
	Cleaner    *cleaner = palloc0(sizeof(Cleaner));

	cleaner->copy = copy;
	cleaner->context = CurrentMemoryContext;
	cleaner->dialect = copy_dialect(copy, compat_is_csv(&copy->opts));
	cleaner->dialect.policy = *policy;
	cleaner->specs = find_specs(copy);
	cleaner_seek(cleaner, 0);
	return cleaner;
}

/* Reads on with the record at an offset; at 0, with what is before the first. */
void
cleaner_seek(Cleaner *cleaner, int64 offset)
{
	cleaner->offset = offset;
	cleaner->line_end = LINE_END_UNKNOWN;
	cleaner->raw_begin = cleaner->raw_end = 0;
	cleaner->plain_begin = cleaner->plain_end = 0;
	cleaner->header_due = offset == 0 ?
		compat_header_records(&cleaner->copy->opts) : 0;
	cleaner->skip = offset == 0 ? skip_begin(&cleaner->dialect.policy) :
		(LineSkip)
	{
		0
	};
}

/* Makes room for that many bytes of an array, of which the first ones are kept. */
static void
make_room(Cleaner *cleaner, unsigned char **bytes, size_t *size, size_t needed)
{
	size_t		room = Max(*size, RAW_BYTES_FIRST);

	if (needed <= *size)
		return;
	while (room < needed)
		room *= 2;
	*bytes = *bytes == NULL ?
		MemoryContextAllocHuge(cleaner->context, room) :
		repalloc_huge(*bytes, room);
	*size = room;
}

/* Reads more of the file, as much as there is already; false at its end. */
static bool
read_more(Cleaner *cleaner, TextReader read, void *file)
{
	size_t		left = cleaner->raw_end - cleaner->raw_begin;
	size_t		n = Max(left, RAW_BYTES_FIRST);

	CHECK_FOR_INTERRUPTS();
	if (left > 0)
		memmove(cleaner->raw, cleaner->raw + cleaner->raw_begin, left);
	cleaner->raw_begin = 0;
	cleaner->raw_end = left;
	make_room(cleaner, &cleaner->raw, &cleaner->raw_size, left + n);
	n = read(file, cleaner->raw + left, n, cleaner->offset, left);
	cleaner->raw_end += n;
	cleaner->offset += n;
	return n > 0;
}

/*
 * The line end that COPY has met; or that it will meet, for it may look at the next
 * record before it says so.
 */
static LineEnd
known_line_end(const Cleaner *cleaner)
{
	switch (cleaner->copy->eol_type)
	{
		case EOL_NL:
			return LINE_END_NL;
		case EOL_CR:
			return LINE_END_CR;
		case EOL_CRNL:
			return LINE_END_CRNL;
		case EOL_UNKNOWN:
			break;
	}
	return cleaner->line_end;
}

/* Notes the line end of the first record, which ends with these bytes. */
static void
note_line_end(Cleaner *cleaner, const CleanRecord *record, const unsigned char *end)
{
	if (cleaner->line_end != LINE_END_UNKNOWN || record->line_end == 0)
		return;
	cleaner->line_end = record->line_end == strlen("\r\n") ? LINE_END_CRNL :
		end[-1] == '\n' ? LINE_END_NL : LINE_END_CR;

	/*
	 * COPY would look behind the CR for an NL, where it sees the next record
	 * instead of what is left out before that.
	 */
	if (cleaner->line_end == LINE_END_CR)
		cleaner->copy->eol_type = EOL_CR;
}

/* Has COPY count lines that it does not see. */
static void
add_lines(Cleaner *cleaner, int64 lines)
{
	cleaner->copy->cur_lineno += lines;
	cleaner->added += lines;
}

/* Leaves out lines; false if more of the file has to be read. */
static bool
leave_out_lines(Cleaner *cleaner, bool at_end)
{
	uint64		lines = cleaner->skip.nlines;
	bool		more;

	cleaner->raw_begin += skip_lines(&cleaner->skip, &cleaner->dialect.policy,
									 known_line_end(cleaner),
									 cleaner->raw + cleaner->raw_begin,
									 cleaner->raw_end - cleaner->raw_begin,
									 at_end, &more);
	lines = cleaner->skip.nlines - lines;
	add_lines(cleaner, lines);
	cleaner->counts.lines += lines;
	return !more;
}

/* How many line ends COPY would count within quotes. */
static int64
count_line_ends(const CopyFromStateData *copy, const unsigned char *bytes,
				size_t length)
{
	unsigned char line_end = copy->eol_type == EOL_NL ? '\n' : '\r';
	int64		lines = 0;

	for (size_t i = 0; i < length; i++)
		lines += bytes[i] == line_end;
	return copy->opts.quote != NULL ? lines : 0;
}

/* A line end as COPY has met it, in place of a last record of which nothing is left. */
static void
end_line(Cleaner *cleaner)
{
	EolType		eol_type = cleaner->copy->eol_type;

	make_room(cleaner, &cleaner->plain, &cleaner->plain_size, strlen("\r\n"));
	if (eol_type == EOL_CR || eol_type == EOL_CRNL)
		cleaner->plain[cleaner->plain_end++] = '\r';
	if (eol_type != EOL_CR)
		cleaner->plain[cleaner->plain_end++] = '\n';
}

/*
 * Quotes what is left of a record if COPY would take that for the end of the data, as
 * the record was not: up to 17 in CSV format, too.
 */
static void
quote_marker(Cleaner *cleaner, const CleanRecord *record)
{
	const Dialect *dialect = &cleaner->dialect;
	size_t		length = cleaner->plain_end - record->line_end;

	if (dialect->format != FILE_FORMAT_CSV || !dialect->marker_in_csv ||
		record->is_marker || length != strlen("\\.") ||
		memcmp(cleaner->plain, "\\.", length) != 0)
		return;
	make_room(cleaner, &cleaner->plain, &cleaner->plain_size,
			  cleaner->plain_end + 2);
	memmove(cleaner->plain + length + 2, cleaner->plain + length,
			record->line_end);
	memmove(cleaner->plain + 1, cleaner->plain, length);
	cleaner->plain[0] = cleaner->plain[length + 1] = dialect->quote;
	cleaner->plain_end += 2;
}

/* Makes the fields of the present record plain, too. */
static void
rewrite_fields(Cleaner *cleaner, size_t line_end, size_t nfields, size_t nspecs)
{
	size_t		length = cleaner->plain_end - line_end;
	size_t		room = clean_fields_room(&cleaner->dialect, length, nfields);

	make_room(cleaner, &cleaner->cut, &cleaner->cut_size, cleaner->plain_end);
	memcpy(cleaner->cut, cleaner->plain, cleaner->plain_end);
	make_room(cleaner, &cleaner->plain, &cleaner->plain_size, room + line_end);
	cleaner->plain_end = clean_fields(&cleaner->dialect, cleaner->specs,
									  nspecs, cleaner->cut,
									  length, cleaner->plain);
	memcpy(cleaner->plain + cleaner->plain_end, cleaner->cut + length, line_end);
	cleaner->plain_end += line_end;
}

/* Makes the next record plain; false if more of the file has to be read. */
static bool
take_record(Cleaner *cleaner, bool at_end)
{
	const Dialect *dialect = &cleaner->dialect;
	size_t		nfields = list_length(cleaner->copy->attnumlist);
	const unsigned char *bytes = cleaner->raw + cleaner->raw_begin;
	CleanRecord record = clean_find_record(dialect,
										   known_line_end(cleaner),
										   nfields, bytes,
										   cleaner->raw_end - cleaner->raw_begin,
										   at_end);

	bool		is_header = cleaner->header_due > 0;

	if (record.length == 0)
		return false;
	if (is_header)
	{
		cleaner->header_due--;
		nfields = record.nfields;
	}
	cleaner->plain_begin = 0;
	cleaner->plain_end = clean_length(dialect, &record, nfields);
	make_room(cleaner, &cleaner->plain, &cleaner->plain_size,
			  cleaner->plain_end);
	clean_write(dialect, &record, nfields, bytes, cleaner->plain);
	if (policy_changes_fields(&dialect->policy) && !record.is_marker &&
		!record.is_open)
		rewrite_fields(cleaner, record.line_end, Max(nfields, record.nfields),
					   is_header ? 0 : nfields);
	quote_marker(cleaner, &record);
	/* COPY would see the file's end in no bytes. */
	if (cleaner->plain_end == 0)
		end_line(cleaner);
	if (clean_is_long(dialect, &record, nfields))
		add_lines(cleaner,
				  count_line_ends(cleaner->copy, bytes + record.cut,
								  record.length - record.line_end - record.cut));
	note_line_end(cleaner, &record, bytes + record.length);
	cleaner->raw_begin += record.length;
	cleaner->counts.short_records += clean_is_short(dialect, &record, nfields);
	cleaner->counts.long_records += clean_is_long(dialect, &record, nfields);
	return true;
}

/* Counts the last line of the file if it is left out and has no end. */
static void
count_open_line(Cleaner *cleaner)
{
	if (!cleaner->skip.in_line)
		return;
	cleaner->skip.in_line = false;
	cleaner->counts.lines++;
}

/* Goes on to the next record; false at the file's end. */
static bool
next_record(Cleaner *cleaner, TextReader read, void *file)
{
	bool		at_end = false;

	for (;;)
	{
		bool		found = cleaner->raw_begin < cleaner->raw_end &&
			leave_out_lines(cleaner, at_end) &&
			cleaner->raw_begin < cleaner->raw_end &&
			take_record(cleaner, at_end);

		if (found)
			return true;
		if (at_end)
		{
			count_open_line(cleaner);
			return false;
		}
		at_end = !read_more(cleaner, read, file);
	}
}

/* Gives COPY's parser the next bytes, of one record at most; 0 at the file's end. */
int
cleaner_read(Cleaner *cleaner, TextReader read, void *file, char *buffer,
			 int maxread)
{
	size_t		n;

	if (cleaner->plain_begin == cleaner->plain_end)
	{
		cleaner->added = 0;
		if (!next_record(cleaner, read, file))
			return 0;
	}
	n = Min(cleaner->plain_end - cleaner->plain_begin, (size_t) maxread);
	memcpy(buffer, cleaner->plain + cleaner->plain_begin, n);
	cleaner->plain_begin += n;
	return n;
}

/*
 * How many lines COPY has counted that are behind the record that it has read last: it
 * has looked at the next one, or for one.
 */
int64
cleaner_lines_ahead(const Cleaner *cleaner)
{
	const CopyFromStateData *copy = cleaner->copy;
	bool		is_ahead = copy->input_buf_index < copy->input_buf_len ||
		(copy->need_transcoding && copy->raw_buf_index < copy->raw_buf_len);

	return is_ahead || copy->raw_reached_eof ? cleaner->added : 0;
}

/* What has been left out, or made plain, so far. */
PolicyCounts
cleaner_counts(const Cleaner *cleaner)
{
	return cleaner->counts;
}

/* Forgets that, where all is read again. */
void
cleaner_forget_counts(Cleaner *cleaner)
{
	memset(&cleaner->counts, 0, sizeof(PolicyCounts));
}
