/*
 * kept.c
 *	  What is kept of a file, in a scan of it by one process.
 *
 *		few rows may be wanted, and no filter	  yes	HeadRange: text, up to
 *		can have blocks skipped					----->	HEAD_ROWS rows
 *			| no										  | more are wanted
 *			v											  v
 *		what is kept is looked for				<-----------+
 *			|
 *			+---> there is an index				BlockRanges
 *			+---> there is none, or it is made	WholeFile
 *
 * When more rows are wanted than the head, all is read from the beginning again if
 * there is an index, or one is made; the rows that were returned are passed over.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "cache/kept.h"

/* Rows that are read before it matters what is kept of the file */
#define HEAD_ROWS 256

/* Looks for what is kept of the file, or begins to make it; returns what to read. */
static RangeSource *
kept_find(KeptFile *kept, FileReader *reader, bool begins_by_text)
{
	IndexUse   *use = &kept->index;
	RangeSource *source;

	index_use_begin(use, reader, kept->encoding, kept->options);
	column_cache_begin(&kept->cache, NULL);
	source = index_use_has_blocks(use) ?
		block_ranges_begin(&kept->blocks, use, &kept->cache, begins_by_text) :
		whole_file_begin(&kept->whole, reader->base.file, reader);
	/* Where none is looked for, nothing is made, either. */
	if (use->context != NULL)
	{
		range_add_sink(source, &use->sink);
		range_add_sink(source, &kept->cache.sink);
	}
	return source;
}

/* The head's kept file */
static KeptFile *
head_kept(HeadRange *head)
{
	return (KeptFile *) ((char *) head - offsetof(KeptFile, head));
}

/*
 * More rows are wanted than the head.  Returns what reads all from the beginning
 * again; NULL if nothing is kept or made, and the reader reads on where it is.
 */
static RangeSource *
head_leave(HeadRange *head)
{
	KeptFile   *kept = head_kept(head);
	MemoryContext old = MemoryContextSwitchTo(kept->context);
	RangeSource *all = kept_find(kept, head->base.reader, false);

	MemoryContextSwitchTo(old);
	head->is_left = true;
	if (kept->index.role == INDEX_UNUSED)
		return NULL;
	filescan_restart(head->base.reader->scan);
	all->passed = head->nrows;
	return all;
}

/* The slots of RangeMethods and SinkMethods, whose comments say what each does. */

static bool
head_next(RangeSource *source)
{
	HeadRange  *head = (HeadRange *) source;

	source->batches = &source->reader->base;
	if (!head->is_taken)
		return head->is_taken = true;
	if (!source->is_cut)
		return false;
	source->is_cut = false;
	source->then = head_leave(head);
	return source->then == NULL;
}

static void
head_end(RangeSource *source)
{
	KeptFile   *kept = head_kept((HeadRange *) source);

	column_cache_end(&kept->cache);
	index_use_end(&kept->index);
}

static const RangeMethods head_methods = {
	.next = head_next,
	.end = head_end
};

/* The head's sink */
static HeadRange *
sink_head(BatchSink *sink)
{
	return (HeadRange *) ((char *) sink - offsetof(HeadRange, sink));
}

static void
head_sink_add(BatchSink *sink, const BatchSource *source)
{
	HeadRange  *head = sink_head(sink);

	if (head->is_left)
		return;
	head->nrows += source->batch->nrows;
	head->base.is_cut = head->nrows >= HEAD_ROWS;
}

static void
head_sink_end_range(BatchSink *sink)
{
	HeadRange  *head = sink_head(sink);

	if (!head->is_left)
		head_kept(head)->index.unused_reason = INDEX_TOO_SMALL;
}

static const SinkMethods head_sink_methods = {
	.add = head_sink_add,
	.end_range = head_sink_end_range
};

/* Begins with the first rows; what is kept of the file can wait. */
static RangeSource *
head_begin(HeadRange *head, FileReader *reader)
{
	IndexUse   *use = &head_kept(head)->index;

	index_use_reset(use);
	use->unused_reason = "only the first rows were read";
	range_prepare(&head->base, &head_methods, reader->base.file, reader);
	head->sink.methods = &head_sink_methods;
	range_add_sink(&head->base, &head->sink);
	head->is_taken = head->is_left = false;
	head->nrows = 0;
	return &head->base;
}

/*
 * Begins to read alone, small where a few rows may be all that is wanted.  Returns
 * what to read; it lasts, as the options, until the reader is closed.
 */
RangeSource *
kept_begin(KeptFile *kept, FileReader *reader, int encoding,
		   const FileOptions *options, bool begins_small)
{
	kept->context = CurrentMemoryContext;
	kept->options = options;
	kept->encoding = encoding;
	if (begins_small && kept->index.is_wanted && kept->index.filter == NULL)
		return head_begin(&kept->head, reader);
	return kept_find(kept, reader, begins_small);
}
