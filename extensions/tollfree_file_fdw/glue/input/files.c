/*
 * files.c
 *	  Many files, as a source of ranges: each is one.
 *
 * A file is opened when its first row is wanted, and closed before the next one is
 * opened, so a scan has one descriptor whatever the number of files.  Each is read
 * as the only file of a table would be: with a header, a last line and a parser of
 * its own.
 */
#include "postgres.h"

#include "input/files.h"

/* The slots of RangeMethods, whose comments say what each does. */

static bool
files_next(RangeSource *source)
{
	ManyFiles  *files = (ManyFiles *) source;
	ScanInput  *input = files->input;
	const FilePaths *paths = input_find_paths(input);

	if (files->next == paths->count)
	{
		input_close(input);
		return false;
	}
	input_open_next(input, paths->names[files->next++]);
	files->nread++;
	source->file = input->file;
	source->reader = input->reader;
	source->batches = source->reader == NULL ? NULL : &source->reader->base;
	return true;
}

static const RangeMethods files_methods = {.next = files_next};

/* Begins with the first file. */
RangeSource *
files_begin(ManyFiles *files, ScanInput *input)
{
	range_prepare(&files->base, &files_methods, NULL, NULL);
	files->input = input;
	files->next = 0;
	return &files->base;
}
