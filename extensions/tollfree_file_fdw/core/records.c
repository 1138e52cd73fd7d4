/*
 * records.c
 *	  Reads a file, or a range of it, batch by batch.
 *
 * filescan_next skips the rows of the last batch, reads a block if the window
 * has no whole record, has the kernel find the structure of the bytes in the
 * window, and converts the columns.
 *
 * For a record that is longer than a block, each read doubles its bytes: so
 * each byte is copied and scanned a bounded number of times.
 */
#include <stdint.h>
#include <string.h>

#include "core/convert.h"
#include "core/filescan_state.h"
#include "core/inspect.h"
#include "core/json_records.h"
#include "core/simd/scalar.h"

/* Hands the first unread record, and all later ones, over to COPY's parser. */
static ScanStatus
filescan_hand_over(FileScan *scan, HandoverReason reason)
{
	memset(&scan->handover, 0, sizeof(scan->handover));
	scan->handover.reason = reason;
	scan->handover.offset = scan->window.offset + (int64_t) scan->window.begin;
	scan->handover.line = scan->line;
	scan->handover.line_end = filescan_is_first(scan) ?
		LINE_END_UNKNOWN : scan->line_end;
	scan->handover.in_header = scan->header_due > 0;
	return SCAN_HANDOVER;
}

static ScanStatus
filescan_source_status(SourceStatus status)
{
	switch (status)
	{
		case SOURCE_TRUNCATED:
			return SCAN_TRUNCATED;
		case SOURCE_CHANGED:
			return SCAN_CHANGED;
		case SOURCE_UNDECODABLE:
			return SCAN_UNDECODABLE;
		case SOURCE_OK:
		case SOURCE_GROWN:
			return SCAN_END;
		default:
			return SCAN_FAILED;
	}
}

static ScanStatus
filescan_window_status(WindowStatus status, SourceStatus source_status)
{
	switch (status)
	{
		case WINDOW_OK:
			return SCAN_AGAIN;
		case WINDOW_NO_MEMORY:
			return SCAN_NO_MEMORY;
		case WINDOW_SOURCE:
			break;
	}
	return filescan_source_status(source_status);
}

ScanStatus
filescan_load(FileScan *scan, int64_t from, int64_t to,
			  const unsigned char **bytes)
{
	Window	   *window = &scan->window;
	SourceStatus source_status = SOURCE_OK;
	WindowStatus status = WINDOW_OK;
	int64_t		filled_to;

	window_seek(window, from);
	do
	{
		filled_to = window->offset + (int64_t) window->filled;
		if (filled_to < to)
			status = window_read(window, &scan->source, (size_t) (to - filled_to),
								 &source_status);
	} while (status == WINDOW_OK && filled_to < to &&
			 filled_to < window->offset + (int64_t) window->filled);
	if (status == WINDOW_OK && filled_to < to)
		return SCAN_TRUNCATED;
	*bytes = window->bytes + window->begin;
	return filescan_window_status(status, source_status);
}

/* At the end: is the file unchanged? */
static ScanStatus
filescan_end(FileScan *scan)
{
	return filescan_source_status(source_verify(&scan->source));
}

/* Counts the records of the last batch, if they lack fields or have more. */
static void
filescan_count_run(FileScan *scan, int nrecords)
{
	uint64_t	n = scan->header_due > 0 ? 0 : (uint64_t) nrecords;

	if (scan->records.nfields < scan->nfields)
		scan->counts.short_records += n;
	else if (scan->records.nfields > scan->nfields)
		scan->counts.long_records += n;
}

/* Skips the rows of the last batch; false without memory for the next one. */
static bool
filescan_consume(FileScan *scan)
{
	int			nrecords = scan->records.nrecords;

	if (nrecords == 0)
		return true;
	scan->line = filescan_lines(scan, nrecords);
	scan->window.begin += filescan_record_begin(scan, nrecords);
	scan->records.nrecords = 0;
	filescan_count_run(scan, nrecords);
	scan->rows_passed += scan->header_due > 0 ? 0 : (uint32_t) nrecords;
	if (scan->rows_passed > BATCH_ROWS)
		scan->rows_passed = BATCH_ROWS;
	if (scan->header_due > 0)
		scan->header_due--;
	arena_reset(&scan->arena);
	return filescan_grow(scan);
}

/* Returns the bytes to read: few at the end of the range. */
static size_t
filescan_next_length(const FileScan *scan)
{
	const Window *window = &scan->window;
	size_t		unread = window->filled - window->begin;
	size_t		length = window->block_size;
	int64_t		left = scan->range.end - window->offset -
		(int64_t) window->filled;

	if (left < (int64_t) window->block_size)
		length = (left > 0 ? (size_t) left : 0) + SCAN_REACH;
	return unread > length ? unread : length;
}

/*
 * Reads more of the file into the window, or completes its last line.  Returns
 * SCAN_AGAIN if there are new bytes.
 */
static ScanStatus
filescan_fill(FileScan *scan)
{
	Window	   *window = &scan->window;
	SourceStatus source_status = SOURCE_OK;
	WindowStatus status;

	if (window_has_end(window, &scan->source))
	{
		if (window->begin == window->filled)
			return filescan_end(scan);
		if (window->closed)
			return filescan_hand_over(scan, HANDOVER_UNTERMINATED);
		window_close_line(window, scan->line_end);
		return SCAN_AGAIN;
	}
	if (window->filled - window->begin > scan->max_record)
		return filescan_hand_over(scan, HANDOVER_TOO_LONG);
	status = window_read(window, &scan->source, filescan_next_length(scan),
						 &source_status);
	window->block_size = 2 * window->block_size < scan->block_size ?
		2 * window->block_size : scan->block_size;
	return filescan_window_status(status, source_status);
}

/*
 * Returns the line end of the first record, as scalar_first_line_end does; the
 * record may be long, so the kernel looks for it, as if it were NL.
 */
static LineEnd
filescan_first_line_end(FileScan *scan)
{
	const Window *window = &scan->window;
	const unsigned char *bytes = window->bytes + window->begin;
	size_t		length = window->filled - window->begin;
	bool		at_end = window_has_end(window, &scan->source);
	const StructureRules rules = structure_rules(&scan->dialect, LINE_END_NL);
	Structure  *structure = &scan->structure;

	scan->kernel->find_structure(&rules, bytes, length, structure);
	if (structure->nrecords > 0)
		return LINE_END_NL;
	if (structure_is_full(structure))
		return scalar_first_line_end(&scan->dialect, bytes, length, at_end);
	if (!structure->odd_line_end)
		return at_end ? LINE_END_NL : LINE_END_UNKNOWN;
	if (structure->scanned + 1 < length)
		return bytes[structure->scanned + 1] == '\n' ?
			LINE_END_CRNL : LINE_END_CR;
	return at_end ? LINE_END_CR : LINE_END_UNKNOWN;
}

/*
 * Finds the line end of the first record.  Returns SCAN_AGAIN if it is not
 * known yet, SCAN_BATCH if it is supported.
 *
 * A file whose lines end in CR is left to COPY: it checks the next line's
 * first byte for NL, and requires that byte to be valid, before it returns
 * the line.
 */
static ScanStatus
filescan_know_line_end(FileScan *scan)
{
	if (scan->line_end != LINE_END_UNKNOWN)
		return SCAN_BATCH;
	scan->line_end = filescan_first_line_end(scan);
	if (scan->line_end == LINE_END_UNKNOWN)
		return SCAN_AGAIN;
	if (scan->line_end == LINE_END_CR)
		return filescan_hand_over(scan, HANDOVER_LINE_END);
	scan->rules = structure_rules(&scan->dialect, scan->line_end);
	return SCAN_BATCH;
}

/* Returns the number of whole records that the kernel found. */
static int
filescan_whole_records(const FileScan *scan, size_t length)
{
	const Structure *structure = &scan->structure;
	uint32_t	n = structure->nrecords < structure->max_records ?
		structure->nrecords : structure->max_records;
	uint32_t	last;

	if (n == 0 || !scan->rules.paired)
		return (int) n;

	/* Is the second byte of the last line end in the window? */
	last = structure->positions[structure->ends[n - 1]];
	if ((size_t) last + 1 >= length ||
		scan->records.bytes[last + 1] != scan->rules.other_end)
		n--;
	return (int) n;
}

/*
 * Finds the records in the window.  Returns their number; 0 means that none is
 * whole.
 */
static int
filescan_find_records(FileScan *scan)
{
	const Window *window = &scan->window;
	size_t		length = window->filled - window->begin;

	scan->records.bytes = window->bytes + window->begin;
	scan->records.positions = scan->structure.positions;
	scan->records.line_end_length = scan->rules.paired ? 2 : 1;
	scan->structure.positions[-1] = -scan->records.line_end_length;
	scan->kernel->find_structure(&scan->rules, scan->records.bytes, length,
								 &scan->structure);
	return filescan_whole_records(scan, length);
}

/* There is no whole record: returns whether more bytes can change that. */
static ScanStatus
filescan_miss(FileScan *scan)
{
	const Structure *structure = &scan->structure;

	if (structure->odd_line_end)
		return filescan_hand_over(scan, HANDOVER_LINE_END);
	if (structure_is_full(structure) && structure->nrecords == 0)
		return filescan_hand_over(scan, HANDOVER_FIELDS);
	return SCAN_AGAIN;
}

/* Returns the number of records that begin before the end of the range. */
static int
filescan_clip(const FileScan *scan, int nrecords)
{
	const Structure *structure = &scan->structure;
	int64_t		first = scan->window.offset + (int64_t) scan->window.begin;
	int			low = 0;

	if (scan->range.end - first > (int64_t) UINT32_MAX)
		return nrecords;
	while (low < nrecords)
	{
		int			middle = low + (nrecords - low) / 2;
		int64_t		begin = first;

		if (middle > 0)
			begin += structure->positions[structure->ends[middle - 1]] +
				scan->records.line_end_length;

		if (begin < scan->range.end)
			low = middle + 1;
		else
			nrecords = middle;
	}
	return low;
}

bool
filescan_convert_column(FileScan *scan, int column, const RowBitmap *rows)
{
	RowBatch   *batch = &scan->batch;
	ColumnVector *vector = &batch->columns[column];

	if (!convert_column(&scan->records, &scan->field_rules, &scan->arena, rows,
						vector))
		return false;
	for (int word = 0; word < BATCH_WORDS; word++)
		batch->unresolved.words[word] |= vector->unresolved.words[word];
	return true;
}

/* Makes a batch of records that passed all checks. */
static ScanStatus
filescan_convert(FileScan *scan, int nrecords)
{
	RowBatch   *batch = &scan->batch;

	scan->field_rules.has_quotes = (scan->structure.seen & SEEN_QUOTE) != 0;
	scan->field_rules.has_escapes =
		(scan->structure.seen & SEEN_BACKSLASH) != 0 &&
		scan->dialect.format == FILE_FORMAT_TEXT;
	scan->records.nrecords = nrecords;
	batch->nrows = nrecords;
	bitmap_clear(&batch->unresolved);
	batch->ncolumns = scan->header_due ? 0 : scan->ncolumns;
	if (scan->header_due)
		return SCAN_HEADER;
	for (int i = 0; i < batch->ncolumns; i++)
	{
		bitmap_clear(&batch->columns[i].nulls);
		bitmap_clear(&batch->columns[i].unresolved);
		if (!scan->specs[i].deferred && !filescan_convert_column(scan, i, NULL))
			return SCAN_NO_MEMORY;
	}
	return SCAN_BATCH;
}

/*
 * Leaves out lines that are no records.  Returns SCAN_BATCH if a record is next, or
 * the window's end.
 */
static ScanStatus
filescan_skip_lines(FileScan *scan)
{
	Window	   *window = &scan->window;
	bool		is_first = filescan_is_first(scan);
	uint64_t	lines = scan->skip.nlines;
	bool		more;

	window->begin += skip_lines(&scan->skip, &scan->dialect.policy,
								scan->line_end, window->bytes + window->begin,
								window->filled - window->begin,
								window_has_end(window, &scan->source), &more);
	scan->line += (int64_t) (scan->skip.nlines - lines);
	scan->counts.lines += scan->skip.nlines - lines;
	if (is_first)
		scan->first_offset = window->offset + (int64_t) window->begin;
	return more || window->begin == window->filled ? SCAN_AGAIN : SCAN_BATCH;
}

/*
 * Returns how many of the records have as many fields as the first, up to a line that
 * may be left out.  Where that number may be another one than it should be it becomes
 * the batch's.  The next search looks for no more records than that promises.
 */
static int
filescan_find_run(FileScan *scan, int nrecords)
{
	const Structure *structure = &scan->structure;
	const RecordPolicy *policy = &scan->dialect.policy;
	uint32_t	nfields = structure->ends[0] + 1;
	int			run = 1;

	while (run < nrecords &&
		   (!policy_is_ragged(policy) ||
			structure->ends[run] - structure->ends[run - 1] == nfields))
	{
		size_t		begin = structure->positions[structure->ends[run - 1]] +
			scan->records.line_end_length;

		if (skip_may_match(policy, scan->records.bytes + begin,
						   scan->window.filled - scan->window.begin - begin))
			break;
		run++;
	}
	if (nfields < (uint32_t) scan->nfields ? policy->pad_missing : policy->cut_extra)
		scan->records.nfields = (int) nfields;
	scan->rows_promised = run < nrecords ? 2 * (uint32_t) run :
		2 * scan->rows_promised;
	return run;
}

/* Checks the records that the kernel found. */
static Inspection
filescan_inspect(const FileScan *scan, int nrecords)
{
	const Structure *structure = &scan->structure;
	uint32_t	end = structure->positions[structure->ends[nrecords - 1]] +
		scan->records.line_end_length;
	const Records records = {
		.bytes = scan->records.bytes,
		.positions = structure->positions,
		.ends = structure->ends,
		.nrecords = nrecords,
		.nfields = scan->header_due ? 0 : scan->records.nfields,
		.line_end_length = scan->records.line_end_length,
		.seen = structure->seen,
		.last_is_closed = scan->window.closed &&
		scan->window.begin + end == scan->window.filled
	};

	return inspect_records(&scan->dialect, scan->kernel, &records);
}

/* The same for lines of JSON. */
static ScanStatus
filescan_make_json_batch(FileScan *scan)
{
	HandoverReason reason;
	int			nrecords = json_records_find(scan, &reason);

	if (nrecords == JSON_RECORDS_NO_MEMORY)
		return SCAN_NO_MEMORY;
	if (nrecords > 0)
		return filescan_convert(scan, nrecords);
	return reason == HANDOVER_NONE ? SCAN_AGAIN : filescan_hand_over(scan, reason);
}

/* Makes a batch of the records in the window, or returns SCAN_AGAIN. */
static ScanStatus
filescan_make_batch(FileScan *scan)
{
	Inspection	inspection;
	ScanStatus	status;
	int			nrecords;

	if (scan->window.offset + (int64_t) scan->window.begin >= scan->range.end)
		return filescan_end(scan);
	if (scan->window.begin == scan->window.filled)
		return SCAN_AGAIN;
	if (scan->json != NULL)
		return filescan_make_json_batch(scan);
	if (policy_skips_lines(&scan->dialect.policy))
	{
		status = filescan_skip_lines(scan);
		if (status != SCAN_BATCH)
			return status;
	}
	status = filescan_know_line_end(scan);
	if (status != SCAN_BATCH)
		return status;
	nrecords = filescan_find_records(scan);
	if (nrecords == 0)
		return filescan_miss(scan);
	nrecords = filescan_clip(scan, nrecords);
	if (scan->header_due)
		nrecords = 1;
	scan->records.nfields = scan->header_due ?
		(int) scan->structure.ends[0] + 1 : scan->nfields;
	if (!scan->header_due && policy_divides(&scan->dialect.policy))
		nrecords = filescan_find_run(scan, nrecords);

	inspection = filescan_inspect(scan, nrecords);
	if (inspection.nrecords > 0)
		return filescan_convert(scan, inspection.nrecords);
	if (inspection.is_end && scan->range.end == INT64_MAX)
		return filescan_end(scan);
	return filescan_hand_over(scan, inspection.reason);
}

ScanStatus
filescan_next(FileScan *scan, RowBatch **batch)
{
	ScanStatus	status;

	*batch = &scan->batch;
	if (scan->final != SCAN_AGAIN)
		return scan->final;
	if (!filescan_consume(scan))
		return scan->final = SCAN_NO_MEMORY;
	status = filescan_make_batch(scan);
	if (status == SCAN_AGAIN)
	{
		status = filescan_fill(scan);
		if (status == SCAN_AGAIN)
			status = filescan_make_batch(scan);
	}
	if (status != SCAN_BATCH && status != SCAN_HEADER)
		scan->final = status;	/* SCAN_AGAIN is not final */
	return status;
}
