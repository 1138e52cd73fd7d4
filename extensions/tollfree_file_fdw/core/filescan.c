/*
 * filescan.c
 *	  Opens and closes a scan of a file, or of a range of it.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "core/filescan_state.h"
#include "core/json_records.h"
#include "core/stream.h"

/*
 * Positions that are searched at once; a table with many columns gets fewer
 * rows in a batch.
 */
#define POSITIONS_MAX		((uint32_t) 128 << 10)

/* positions[-1] is the line end before the first record. */
#define POSITIONS_BEFORE	1

/* Initial memory, in rows, and its growth */
#define ROOM_FIRST		64
#define ROOM_FACTOR		4

/* Frees the values of all columns; some may not have been allocated. */
static void
filescan_free_values(FileScan *scan)
{
	for (int i = 0; scan->batch.columns != NULL && i < scan->ncolumns; i++)
	{
		ColumnVector *vector = &scan->batch.columns[i];

		if (vector->values.any != NULL)
			allocator_free(&scan->allocator, vector->values.any,
						   scan->rows_room *
						   column_value_size(vector->spec->type));
		vector->values.any = NULL;
	}
}

/* Makes room for the values of rows_room rows; false without memory. */
static bool
filescan_allocate_values(FileScan *scan)
{
	for (int i = 0; i < scan->ncolumns; i++)
	{
		ColumnVector *vector = &scan->batch.columns[i];
		size_t		size = scan->rows_room *
			column_value_size(vector->spec->type);

		if (size == 0)
			continue;
		vector->values.any = allocator_new(&scan->allocator, size);
		if (vector->values.any == NULL)
			return false;
		memset(vector->values.any, 0, size);
	}
	return true;
}

/* Returns false without memory. */
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
		vectors[i].spec = &scan->specs[i];
	return filescan_allocate_values(scan);
}

static void
filescan_free_structure(FileScan *scan)
{
	allocator_free(&scan->allocator, scan->structure.ends, scan->ends_size);
	allocator_free(&scan->allocator, scan->positions_memory,
				   scan->positions_size);
	scan->structure.ends = NULL;
	scan->positions_memory = NULL;
}

static bool
filescan_allocate_structure(FileScan *scan)
{
	Structure  *structure = &scan->structure;
	uint32_t	nfields = (uint32_t) scan->nfields;
	size_t		npositions;

	structure->max_positions = nfields < POSITIONS_MAX / scan->rows_room ?
		nfields * scan->rows_room : POSITIONS_MAX;
	if (structure->max_positions <= nfields)
		structure->max_positions = nfields + 1;

	npositions = POSITIONS_BEFORE + (size_t) structure->max_positions +
		KERNEL_BLOCK;
	scan->positions_size = npositions * sizeof(uint32_t);
	scan->ends_size = (scan->rows_room + KERNEL_BLOCK) * sizeof(uint32_t);
	scan->positions_memory = allocator_new(&scan->allocator,
										   scan->positions_size);
	structure->ends = allocator_new(&scan->allocator, scan->ends_size);
	if (scan->positions_memory == NULL || structure->ends == NULL)
		return false;
	structure->positions = scan->positions_memory + POSITIONS_BEFORE;
	return true;
}

bool
filescan_grow(FileScan *scan)
{
	uint32_t	rows = scan->rows_passed < scan->rows_first ?
		scan->rows_first : scan->rows_passed;

	if (scan->rows_promised > BATCH_ROWS)
		scan->rows_promised = BATCH_ROWS;
	if (rows > scan->rows_promised)
		rows = scan->rows_promised;
	scan->structure.max_records = rows;
	if (rows <= scan->rows_room)
		return true;
	filescan_free_values(scan);
	filescan_free_structure(scan);
	while (scan->rows_room < rows)
		scan->rows_room *= ROOM_FACTOR;
	if (scan->rows_room > BATCH_ROWS)
		scan->rows_room = BATCH_ROWS;
	return filescan_allocate_structure(scan) && filescan_allocate_values(scan);
}

/*
 * Chooses how much is read and converted at once: no more than the file can
 * have, since a record has at least a byte for each field.
 */
static void
filescan_choose_sizes(FileScan *scan, const FileScanOptions *options)
{
	int64_t		size = source_text_end(&scan->source);
	int64_t		rows_most = size / scan->nfields;	/* and one */
	size_t		block_size = options->block_size > 0 ?
		options->block_size : SCAN_BLOCK_DEFAULT;

	scan->rows_room = options->begins_small ? ROOM_FIRST : BATCH_ROWS;
	while (rows_most < scan->rows_room / 2 && scan->rows_room > ROOM_FIRST)
		scan->rows_room /= 2;
	scan->rows_first = options->begins_small ?
		SCAN_ROWS_FIRST : scan->rows_room;
	scan->structure.max_records = scan->rows_first;
	while (size <= (int64_t) block_size / 2 &&
		   block_size > SCAN_BLOCK_FIRST)
		block_size /= 2;
	scan->block_size = block_size;
	if (options->begins_small && block_size > SCAN_BLOCK_FIRST)
		block_size = SCAN_BLOCK_FIRST;
	window_open(&scan->window, &scan->allocator, block_size);
}

FileScan *
filescan_open(const FileScanOptions *options, int fd, SourceStatus *status)
{
	Source		source;
	FileScan   *scan;

	assert(options->nfields >= 1);
	*status = SOURCE_OK;
	if (options->source != NULL)
		source = *options->source;
	else
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
	scan->source.check_interrupts = options->check_interrupts;
	scan->max_record = options->max_record > 0 ?
		options->max_record : SCAN_RECORD_MAX;
	scan->nfields = options->nfields;
	scan->header = options->header;
	filescan_choose_sizes(scan, options);
	arena_open(&scan->arena, &scan->allocator);
	scan->field_rules = field_rules(&scan->dialect);
	if ((scan->dialect.format == FILE_FORMAT_JSON_LINES &&
		 !json_records_open(scan, options)) ||
		!filescan_allocate_structure(scan) ||
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
	json_records_close(scan);
	arena_close(&scan->arena);
	filescan_free_values(scan);
	filescan_free_structure(scan);
	allocator_free(&allocator, scan->batch.columns,
				   (size_t) scan->ncolumns * sizeof(ColumnVector));
	allocator_free(&allocator, scan->specs,
				   (size_t) scan->ncolumns * sizeof(ColumnSpec));
	allocator_free(&allocator, scan, sizeof(FileScan));
}

/* Begins at the record at the range's offset. */
static void
filescan_begin(FileScan *scan, const ScanRange *range)
{
	scan->range = *range;
	scan->line = range->line;
	scan->first_offset = 0;
	memset(&scan->skip, 0, sizeof(scan->skip));
	scan->rows_promised = BATCH_ROWS;
	scan->line_end = range->line_end;
	if (range->line_end != LINE_END_UNKNOWN)
		scan->rules = structure_rules(&scan->dialect, range->line_end);
	scan->header_due = 0;
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
	scan->skip = skip_begin(&scan->dialect.policy);
}

void
filescan_set_range(FileScan *scan, const ScanRange *range)
{
	filescan_begin(scan, range);
}

void
filescan_cut_range(FileScan *scan, int64_t end)
{
	assert(end < scan->range.end);
	scan->range.end = end;
}
