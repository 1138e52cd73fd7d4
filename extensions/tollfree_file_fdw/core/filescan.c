/*
 * filescan.c
 *	  A file, or a part of it, as batches of typed rows.
 *
 * One call of filescan_next passes over the rows of the last batch, reads a
 * block if there is no whole record left, has the kernel find the structure of
 * what is in the window and the columns converted.
 *
 * For a record that is longer than a block, as much is read at once as there is
 * of it: so each of its bytes is copied and looked at a bounded number of times.
 */
#include <stdint.h>
#include <string.h>

#include "core/convert.h"
#include "core/filescan.h"
#include "core/inspect.h"
#include "core/simd/scalar.h"
#include "core/window.h"

/*
 * Positions that are looked for at once; a table with many columns gets fewer
 * rows in a batch.
 */
#define POSITIONS_MAX		((uint32_t) 128 << 10)

/* positions[-1] stands for the line end before the first record. */
#define POSITIONS_BEFORE	1

struct FileScan
{
	Allocator	allocator;
	Dialect		dialect;
	const Kernel *kernel;
	Source		source;
	Window		window;
	size_t		max_record;
	int			nfields;
	bool		header;			/* does the file have one? */

	ScanRange	range;
	LineEnd		line_end;		/* LINE_END_UNKNOWN before the first record */
	StructureRules rules;		/* once it is known */
	bool		header_due;		/* is the next record the header? */
	ScanStatus	final;			/* what all calls return, or SCAN_AGAIN */
	Handover	handover;

	Structure	structure;
	uint32_t   *positions_memory;
	size_t		positions_size; /* bytes, as the next */
	size_t		ends_size;

	int64_t		line;			/* lines before the batch */
	RecordFields records;		/* of the batch */
	FieldRules	field_rules;
	Arena		arena;

	int			ncolumns;
	ColumnSpec *specs;
	RowBatch	batch;
};

/*------------------------------------------------------------------------
 * Opening and closing
 *------------------------------------------------------------------------
 */

/* Returns whether all memory could be had. */
static bool
filescan_allocate_columns(FileScan *scan, const ColumnSpec *columns,
						  int ncolumns)
{
	ColumnVector *vectors;

	if (ncolumns == 0)
		return true;
	scan->ncolumns = ncolumns;
	scan->specs = allocator_new(&scan->allocator,
								(size_t) ncolumns * sizeof(ColumnSpec));
	vectors = allocator_new(&scan->allocator,
							(size_t) ncolumns * sizeof(ColumnVector));
	if (vectors == NULL)
		return false;
	memset(vectors, 0, (size_t) ncolumns * sizeof(ColumnVector));
	scan->batch.columns = vectors;
	if (scan->specs == NULL)
		return false;
	memcpy(scan->specs, columns, (size_t) ncolumns * sizeof(ColumnSpec));
	for (int i = 0; i < ncolumns; i++)
	{
		size_t		size = BATCH_ROWS * column_value_size(columns[i].type);

		vectors[i].spec = &scan->specs[i];
		if (size == 0)
			continue;
		vectors[i].values.any = allocator_new(&scan->allocator, size);
		if (vectors[i].values.any == NULL)
			return false;
		memset(vectors[i].values.any, 0, size);
	}
	return true;
}

static bool
filescan_allocate_structure(FileScan *scan)
{
	Structure  *structure = &scan->structure;
	uint32_t	nfields = (uint32_t) scan->nfields;
	size_t		npositions;

	structure->max_records = BATCH_ROWS;
	structure->max_positions = nfields < POSITIONS_MAX / BATCH_ROWS ?
		nfields * BATCH_ROWS : POSITIONS_MAX;
	if (structure->max_positions <= nfields)
		structure->max_positions = nfields + 1;

	npositions = POSITIONS_BEFORE + (size_t) structure->max_positions +
		KERNEL_BLOCK;
	scan->positions_size = npositions * sizeof(uint32_t);
	scan->ends_size = (BATCH_ROWS + KERNEL_BLOCK) * sizeof(uint32_t);
	scan->positions_memory = allocator_new(&scan->allocator,
										   scan->positions_size);
	structure->ends = allocator_new(&scan->allocator, scan->ends_size);
	if (scan->positions_memory == NULL || structure->ends == NULL)
		return false;
	structure->positions = scan->positions_memory + POSITIONS_BEFORE;
	return true;
}

FileScan *
filescan_open(const ScanOptions *options, int fd, SourceStatus *status)
{
	Source		source;
	FileScan   *scan;

	*status = source_open(&source, fd);
	if (*status != SOURCE_OK)
		return NULL;
	scan = allocator_new(&options->allocator, sizeof(FileScan));
	if (scan == NULL)
		return NULL;

	memset(scan, 0, sizeof(*scan));
	scan->allocator = options->allocator;
	scan->dialect = *options->dialect;
	scan->kernel = options->kernel;
	scan->source = source;
	scan->max_record = options->max_record > 0 ?
		options->max_record : SCAN_RECORD_MAX;
	scan->nfields = options->nfields;
	scan->header = options->header;
	window_open(&scan->window, &scan->allocator, options->block_size > 0 ?
				options->block_size : SCAN_BLOCK_DEFAULT);
	arena_open(&scan->arena, &scan->allocator);
	scan->field_rules = field_rules(&scan->dialect);
	if (!filescan_allocate_structure(scan) ||
		!filescan_allocate_columns(scan, options->columns, options->ncolumns))
	{
		filescan_close(scan);
		return NULL;
	}
	filescan_restart(scan);
	return scan;
}

void
filescan_close(FileScan *scan)
{
	Allocator	allocator = scan->allocator;

	window_free(&scan->window);
	arena_close(&scan->arena);
	for (int i = 0; scan->batch.columns != NULL && i < scan->ncolumns; i++)
	{
		ColumnVector *vector = &scan->batch.columns[i];

		if (vector->values.any != NULL)
			allocator_free(&allocator, vector->values.any, BATCH_ROWS *
						   column_value_size(vector->spec->type));
	}
	allocator_free(&allocator, scan->batch.columns,
				   (size_t) scan->ncolumns * sizeof(ColumnVector));
	allocator_free(&allocator, scan->specs,
				   (size_t) scan->ncolumns * sizeof(ColumnSpec));
	allocator_free(&allocator, scan->structure.ends, scan->ends_size);
	allocator_free(&allocator, scan->positions_memory, scan->positions_size);
	allocator_free(&allocator, scan, sizeof(FileScan));
}

/* Begins with the record at the range's offset. */
static void
filescan_begin(FileScan *scan, const ScanRange *range)
{
	scan->range = *range;
	scan->line = range->line;
	scan->line_end = range->line_end;
	if (range->line_end != LINE_END_UNKNOWN)
		scan->rules = structure_rules(&scan->dialect, range->line_end);
	scan->header_due = false;
	scan->final = SCAN_AGAIN;
	memset(&scan->handover, 0, sizeof(scan->handover));
	scan->records.nrecords = 0;
	window_seek(&scan->window, range->offset);
}

void
filescan_restart(FileScan *scan)
{
	const ScanRange whole = {.end = INT64_MAX,.line_end = LINE_END_UNKNOWN};

	filescan_begin(scan, &whole);
	scan->header_due = scan->header;
}

void
filescan_set_range(FileScan *scan, const ScanRange *range)
{
	filescan_begin(scan, range);
}

/*------------------------------------------------------------------------
 * Where things are
 *------------------------------------------------------------------------
 */

/* Returns where a record of the batch begins, counted from the first. */
static uint32_t
filescan_record_begin(const FileScan *scan, int row)
{
	const RecordFields *records = &scan->records;

	return records->positions[(ptrdiff_t) row * records->nfields - 1] +
		records->line_end_length;
}

static uint32_t
filescan_record_end(const FileScan *scan, int row)
{
	const RecordFields *records = &scan->records;

	return records->positions[(ptrdiff_t) (row + 1) * records->nfields - 1];
}

/* Is the first record in the window the first of the file? */
static bool
filescan_is_first(const FileScan *scan)
{
	return scan->window.offset == 0 && scan->window.begin == 0;
}

/*
 * Returns how many lines a record adds, beside its own: COPY counts line ends
 * between quotes.  While the style is not known, in the first record, it takes
 * CR for one.
 */
static int64_t
filescan_enclosed_lines(const FileScan *scan, int row)
{
	unsigned char line_end = row == 0 && filescan_is_first(scan) ?
		'\r' : scan->rules.line_end;
	const unsigned char *bytes = scan->records.bytes;
	uint32_t	end = filescan_record_end(scan, row);
	int64_t		lines = 0;

	for (uint32_t i = filescan_record_begin(scan, row); i < end; i++)
		lines += bytes[i] == line_end;
	return lines;
}

/* May there be line ends between quotes in this batch? */
static bool
filescan_has_enclosed(const FileScan *scan)
{
	return scan->dialect.format == FILE_FORMAT_CSV &&
		((scan->structure.seen & SEEN_ENCLOSED) != 0 ||
		 filescan_is_first(scan));
}

/* Returns the lines up to and including a number of rows of the batch. */
static int64_t
filescan_lines(const FileScan *scan, int nrows)
{
	int64_t		lines = scan->line + nrows;

	if (filescan_has_enclosed(scan))
		for (int row = 0; row < nrows; row++)
			lines += filescan_enclosed_lines(scan, row);
	return lines;
}

int64_t
filescan_line(const FileScan *scan, int row)
{
	return filescan_lines(scan, row + 1);
}

int64_t
filescan_offset(const FileScan *scan, int row)
{
	return scan->window.offset + (int64_t) scan->window.begin +
		filescan_record_begin(scan, row);
}

TextRef
filescan_record(const FileScan *scan, int row)
{
	uint32_t	begin = filescan_record_begin(scan, row);
	TextRef		record = {
		scan->records.bytes + begin,
		filescan_record_end(scan, row) - begin
	};

	return record;
}

int
filescan_nfields(const FileScan *scan)
{
	return scan->records.nfields;
}

FieldRef
filescan_field(FileScan *scan, int row, int field, const ColumnSpec *spec,
			   bool *no_memory)
{
	FieldValue	value = field_value(&scan->field_rules,
									field_at(&scan->records, row, field),
									spec, &scan->arena);
	FieldRef	field_ref = {value.bytes, value.length, value.is_null};

	if (value.no_memory)
		*no_memory = true;
	return field_ref;
}

LineEnd
filescan_line_end(const FileScan *scan)
{
	return scan->line_end;
}

const Handover *
filescan_handover(const FileScan *scan)
{
	return &scan->handover;
}

Source *
filescan_source(FileScan *scan)
{
	return &scan->source;
}

/*------------------------------------------------------------------------
 * Reading
 *------------------------------------------------------------------------
 */

/* Leaves the first unread record, and all others, to COPY's parser. */
static ScanStatus
filescan_hand_over(FileScan *scan, HandoverReason reason)
{
	memset(&scan->handover, 0, sizeof(scan->handover));
	scan->handover.reason = reason;
	scan->handover.offset = scan->window.offset + (int64_t) scan->window.begin;
	scan->handover.line = scan->line;
	scan->handover.line_end = filescan_is_first(scan) ?
		LINE_END_UNKNOWN : scan->line_end;
	scan->handover.in_header = scan->header_due;
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
	filled_to = window->offset + (int64_t) window->filled;
	if (filled_to < to)
		status = window_read(window, &scan->source, (size_t) (to - filled_to),
							 &source_status);
	*bytes = window->bytes + window->begin;
	return filescan_window_status(status, source_status);
}

/* All rows were returned: is the file still the one that they came from? */
static ScanStatus
filescan_end(FileScan *scan)
{
	return filescan_source_status(source_verify(&scan->source));
}

/* Passes over the rows of the last batch. */
static void
filescan_consume(FileScan *scan)
{
	int			nrecords = scan->records.nrecords;

	if (nrecords == 0)
		return;
	scan->line = filescan_lines(scan, nrecords);
	scan->window.begin += filescan_record_begin(scan, nrecords);
	scan->records.nrecords = 0;
	scan->header_due = false;
	arena_reset(&scan->arena);
}

/* Returns how much to read: little where the range ends. */
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
 * Brings more of the file, or the end of its last line, into the window.
 * Returns SCAN_AGAIN when there is something new.
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
	return filescan_window_status(status, source_status);
}

/*
 * Finds out which line end the first record has.  Returns SCAN_AGAIN if that is
 * not known yet, SCAN_BATCH if it is one to go on with.
 *
 * A file of CRs alone is left to COPY: to see that there is no NL behind a CR
 * it wants the next line's first byte to be valid before it has the line.
 */
static ScanStatus
filescan_know_line_end(FileScan *scan)
{
	Window	   *window = &scan->window;

	if (scan->line_end != LINE_END_UNKNOWN)
		return SCAN_BATCH;
	scan->line_end = scalar_first_line_end(&scan->dialect,
										   window->bytes + window->begin,
										   window->filled - window->begin,
										   window_has_end(window,
														  &scan->source));
	if (scan->line_end == LINE_END_UNKNOWN)
		return SCAN_AGAIN;
	if (scan->line_end == LINE_END_CR)
		return filescan_hand_over(scan, HANDOVER_LINE_END);
	scan->rules = structure_rules(&scan->dialect, scan->line_end);
	return SCAN_BATCH;
}

/* Returns how many whole records the kernel found. */
static int
filescan_whole_records(const FileScan *scan, size_t length)
{
	const Structure *structure = &scan->structure;
	uint32_t	n = structure->nrecords < BATCH_ROWS ?
		structure->nrecords : BATCH_ROWS;
	uint32_t	last;

	if (n == 0 || !scan->rules.paired)
		return (int) n;

	/* Is the second byte of the last line end there? */
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

/* There is no whole record: say whether more bytes can change that. */
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

/* Returns how many of the records begin before the end of the range. */
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
		batch->asks.words[word] |= vector->asks.words[word];
	return true;
}

/* Makes rows of records that are good. */
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
	bitmap_clear(&batch->asks);
	batch->ncolumns = scan->header_due ? 0 : scan->ncolumns;
	if (scan->header_due)
		return SCAN_HEADER;
	for (int i = 0; i < batch->ncolumns; i++)
	{
		bitmap_clear(&batch->columns[i].nulls);
		bitmap_clear(&batch->columns[i].asks);
		if (!scan->specs[i].deferred && !filescan_convert_column(scan, i, NULL))
			return SCAN_NO_MEMORY;
	}
	return SCAN_BATCH;
}

/* Says which of the records that the kernel found are good. */
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
		.nfields = scan->header_due ? 0 : scan->nfields,
		.line_end_length = scan->records.line_end_length,
		.seen = structure->seen,
		.last_is_closed = scan->window.closed &&
		scan->window.begin + end == scan->window.filled
	};

	return inspect_records(&scan->dialect, scan->kernel, &records);
}

/* Makes a batch of what is in the window, or returns SCAN_AGAIN. */
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
	filescan_consume(scan);
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
