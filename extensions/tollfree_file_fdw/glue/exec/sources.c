/*
 * sources.c
 *	  What a scan reads: the choice among all sources of ranges.
 *
 *		the table has many files			files.c
 *		several processes share the file	chunks.c
 *		only COPY's parser can read it		WholeFile
 *		else								kept.c: an index, or all of the text
 *
 * A new kind of input is one more line here.
 */
#include "postgres.h"

#include "exec/scan_state.h"

/* What is to be read of a file that has been opened. */
static RangeSource *
choose_ranges(FileScanState *scan, bool begins_small)
{
	ScanInput  *input = &scan->input;

	if (input_has_many(input))
		return scan->share.file == NULL ?
			files_begin(&scan->files, input, input_choose_paths(input), NULL) :
			files_begin(&scan->files, input, &scan->share.files,
						&scan->share.file->next);
	if (scan->share.file != NULL)
		return chunks_begin(&scan->share, &scan->kept, input->file,
							input->reader, &input->options);
	if (input->reader == NULL)
		return whole_file_begin(&scan->kept.whole, input->file, NULL);
	scan->share.maker.use = NULL;
	return kept_begin(&scan->kept, input->reader, input->encoding,
					  &input->options, begins_small);
}

/*
 * Opens the file and begins to read it.  May a few rows be all that is wanted?  Who
 * aggregates, or shares the file, reads all of it.
 */
void
sources_begin(FileScanState *scan, bool may_end_early)
{
	ScanInput  *input = &scan->input;
	bool		reads_all = input->owner != input || scan->share.file != NULL;
	MemoryContext old;

	input_open(input, !reads_all);
	old = MemoryContextSwitchTo(input->context);
	input_begin(input, choose_ranges(scan, may_end_early && !reads_all));
	MemoryContextSwitchTo(old);
}
