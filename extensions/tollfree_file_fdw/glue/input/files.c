/*
 * files.c
 *	  Many files, as a source of ranges: each is one.
 *
 * A file is opened when its first row is wanted, and closed before the next one is
 * opened, so a scan has one descriptor whatever the number of files.  Each is read
 * as the only file of a table would be: with a header, a last line and a parser of
 * its own.
 *
 * Several processes each take the file that is next, the longest ones first, and read
 * all of it.
 */
#include "postgres.h"

#include "input/files.h"

/* Takes the next file for this process; -1 if none is left. */
static int
take_file(ManyFiles *files)
{
	uint32		taken;

	if (files->owed != NIL)
	{
		taken = linitial_int(files->owed);
		files->owed = list_delete_first(files->owed);
		return taken;
	}
	taken = files->dealt == NULL ? files->next++ :
		pg_atomic_fetch_add_u32(files->dealt, 1);
	if (taken >= files->paths->count)
		return -1;
	if (files->keeps_taken && files->dealt != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(files->input->context);

		files->taken = lappend_int(files->taken, taken);
		MemoryContextSwitchTo(old);
	}
	return taken;
}

/* The slots of RangeMethods, whose comments say what each does. */

static bool
files_next(RangeSource *source)
{
	ManyFiles  *files = (ManyFiles *) source;
	ScanInput  *input = files->input;
	int			taken = take_file(files);

	if (taken < 0)
	{
		input_close(input);
		return false;
	}
	input_open_next(input, files->paths->names[taken]);
	source->file = input->file;
	source->reader = input->reader;
	source->batches = source->reader == NULL ? NULL : &source->reader->base;
	return true;
}

static const RangeMethods files_methods = {.next = files_next};

/*
 * Begins with the first of these files; or, in one of several processes, which share
 * the number of the next, with that.
 */
RangeSource *
files_begin(ManyFiles *files, ScanInput *input, const FilePaths *paths,
			pg_atomic_uint32 *dealt)
{
	range_prepare(&files->base, &files_methods, NULL, NULL);
	files->input = input;
	files->paths = paths;
	files->next = 0;
	files->dealt = dealt;
	return &files->base;
}

/* Hands the files that a scan has taken over to the one below that starts over. */
void
files_pass_down(ManyFiles *files, ManyFiles *below)
{
	below->owed = files->taken;
	files->taken = NIL;
}

/* Forgets which files were taken, or are to be read again. */
void
files_forget(ManyFiles *files)
{
	list_free(files->taken);
	list_free(files->owed);
	files->taken = files->owed = NIL;
}
