/*
 * segments.c
 *	  Column segments, as a source of batches.
 *
 *		record index	block 0 | block 1 | block 2 | ...
 *						|<----- a span of the file ---->|
 *		column a		|  chunk 0  |  chunk 1  | chunk 2 |
 *		column b		|  chunk 0  |  chunk 1  | chunk 2 |
 *						   |<- range ->|
 *		batches			   |     0     |
 *						   |<->|<----->|
 *
 * Rows are counted from the beginning of the span.  A range of blocks is read in
 * batches of the rows that it has in each chunk.  Nothing is open in a segment,
 * so no batch has a row to ask for.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/allocate.h"
#include "cache/segments.h"
#include "read/copy.h"

/* Decodes a column of the batch, in these rows or in all. */
static void
decode_column(SegmentSource *source, int column, const RowBitmap *rows)
{
	if (!segment_decode(&source->segments[column].segment, source->batch_row,
						source->batch.nrows, rows,
						&source->batch.columns[column]))
		elog(ERROR, "a column segment of file \"%s\" is damaged",
			 source->base.file->filename);
}

/* The slots of BatchMethods, whose comments say what each does. */

static BatchStatus
segments_next(BatchSource *base)
{
	SegmentSource *source = (SegmentSource *) base;
	uint32		left = source->end - source->row;

	CHECK_FOR_INTERRUPTS();
	if (left == 0)
		return BATCH_END;
	source->batch_row = source->row;
	source->batch.nrows = Min(left, BATCH_ROWS - source->row % BATCH_ROWS);
	source->row += source->batch.nrows;
	for (int i = 0; i < base->columns.ncolumns; i++)
	{
		if (!base->columns.specs[i].deferred)
			decode_column(source, i, NULL);
		else
			bitmap_clear(&source->batch.columns[i].nulls);
	}
	base->batch = &source->batch;
	return BATCH_READY;
}

static void
segments_convert_column(BatchSource *base, int column, const RowBitmap *rows)
{
	decode_column((SegmentSource *) base, column, rows);
}

/* Tests each text of the chunk's dictionary, then which rows have one that passes. */
static bool
test_texts(SegmentSource *source, const FilterNode *condition, RowBitmap *rows)
{
	const Segment *segment = &source->segments[condition->column].segment;
	TextRef		entries[SEGMENT_ENTRIES_MAX];
	ColumnVector *columns = source->entry_columns;
	RowBatch	batch = {.columns = columns,.ncolumns = source->batch.ncolumns};
	RowBitmap	passing;

	batch.nrows = segment_entries(segment, source->batch_row, entries);
	if (batch.nrows == 0)
		return false;
	columns[condition->column].spec = source->batch.columns[condition->column].spec;
	columns[condition->column].values.texts = entries;
	bitmap_clear(&passing);
	filter_run(condition, &batch, 0, bitmap_words(batch.nrows), &passing);
	return segment_test_entries(segment, source->batch_row, source->batch.nrows,
								&passing, rows);
}

static bool
segments_test(BatchSource *base, const FilterNode *condition, RowBitmap *rows)
{
	SegmentSource *source = (SegmentSource *) base;
	const ColumnType type = base->columns.specs[condition->column].type;

	if (column_type_is_text(type))
		return test_texts(source, condition, rows);
	return condition->kind == FILTER_COMPARE && column_type_is_integer(type) &&
		segment_test_range(&source->segments[condition->column].segment,
						   source->batch_row, source->batch.nrows,
						   condition->low, condition->high, condition->negated,
						   rows);
}

/* No value is open. */
static FieldRef
segments_raw_field(BatchSource *base, int row, int column, bool *no_memory)
{
	elog(ERROR, "a column segment has no fields");
}

static int64
segments_row_line(BatchSource *base, int row)
{
	return COPY_LINE_UNKNOWN;
}

/* The range is some blocks of the span that is loaded. */
static void
segments_set_range(BatchSource *base, const ScanRange *range)
{
	SegmentSource *source = (SegmentSource *) base;
	uint32		n = source->first_block;

	source->row = 0;
	for (; index_block(source->index, n)->offset < range->offset; n++)
		source->row += index_block(source->index, n)->nrows;
	source->end = source->row;
	for (; n < source->index->header->nblocks &&
		 index_block(source->index, n)->offset < range->end; n++)
		source->end += index_block(source->index, n)->nrows;
}

static const BatchMethods segments_methods = {
	.next = segments_next,
	.convert_column = segments_convert_column,
	.test = segments_test,
	.raw_field = segments_raw_field,
	.line = segments_row_line,
	.set_range = segments_set_range
};

/*
 * Opens a source of these columns of a file, of which that index is true and
 * remains as long.  It lives in a memory context of its own, a child of the current
 * one, until segments_close.
 */
SegmentSource *
segments_open(OpenFile *file, const FileColumns *columns,
			  const RecordIndex *index)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "tollfree_file_fdw segments",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	SegmentSource *source = palloc0(sizeof(SegmentSource));
	int			n = columns->ncolumns;

	batch_prepare(&source->base, &segments_methods, file, columns);
	source->context = context;
	source->index = index;
	source->batch.ncolumns = n;
	source->batch.columns = palloc0(sizeof(ColumnVector) * Max(1, n));
	source->entry_columns = palloc0(sizeof(ColumnVector) * Max(1, n));
	source->segments = palloc0(sizeof(LoadedSegment) * Max(1, n));
	for (int i = 0; i < n; i++)
	{
		const ColumnSpec *spec = &columns->specs[i];

		source->batch.columns[i].spec = spec;
		source->batch.columns[i].values.any =
			palloc0(Max(1, BATCH_ROWS * column_value_size(spec->type)));
		source->segments[i].buffer.context = context;
	}
	MemoryContextSwitchTo(old);
	return source;
}

/* How many rows these blocks have. */
uint32
segments_count_rows(const RecordIndex *index, uint32 first_block,
					uint32 nblocks)
{
	uint64		nrows = 0;

	for (uint32 i = 0; i < nblocks; i++)
		nrows += index_block(index, first_block + i)->nrows;
	return Min(nrows, PG_UINT32_MAX);
}

/*
 * Loads the span of that number, which is these blocks; false if a column has no
 * segment.
 */
bool
segments_load(SegmentSource *source, uint32 number, uint32 first_block,
			  uint32 nblocks)
{
	const FileColumns *columns = &source->base.columns;
	SegmentKey	key = {
		.relid = RelationGetRelid(source->base.file->copy->rel),
		.number = number,
		.index_id = source->index->header->id,
		.offset = index_block(source->index, first_block)->offset,
		.nrows = segments_count_rows(source->index, first_block, nblocks)
	};

	source->first_block = first_block;
	/* All or none: a loaded one is of no use without the others. */
	for (int i = 0; i < columns->ncolumns; i++)
	{
		key.spec = &columns->specs[i];
		if (source->base.asks_null[i] || !segment_file_exists(&key))
			return false;
	}
	for (int i = 0; i < columns->ncolumns; i++)
	{
		key.spec = &columns->specs[i];
		if (!segment_file_load(&key, &source->segments[i].buffer,
							   &source->segments[i].segment))
			return false;
	}
	return true;
}

void
segments_close(SegmentSource *source)
{
	MemoryContextDelete(source->context);
}
