/*
 * file.c
 *	  A file that is open.
 *
 * COPY checks the options and opens the file, so errors about these are its own.
 * PostgreSQL closes the file when the transaction ends, whatever happens.
 *
 * It also closes the file when the subtransaction is rolled back that it was
 * opened in.  The scan of a cursor may have begun before and go on behind it,
 * and opens its file anew for each outer row:
 *
 *		DECLARE cursor		the scan begins
 *		SAVEPOINT
 *		FETCH				the file is opened anew
 *		ROLLBACK TO			and closed
 *		FETCH				so this one must not read
 *
 * So the files that are open are in a list, as long as the memory of their query
 * lasts.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "copy.h"
#include "file.h"

static dlist_head files = DLIST_STATIC_INIT(files);

/*
 * A subtransaction ends: files that it has opened are closed with it, or belong
 * to its parent from now on.
 */
static void
end_subtransaction(SubXactEvent event, SubTransactionId subid,
				   SubTransactionId parent, void *arg)
{
	dlist_iter	iter;

	if (event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB)
		return;
	dlist_foreach(iter, &files)
	{
		OpenFile   *file = dlist_container(OpenFile, node, iter.cur);

		if (file->owner != subid)
			continue;
		file->owner = parent;
		file->is_lost |= event == SUBXACT_EVENT_ABORT_SUB;
	}
}

/* Takes a file out of the list. */
static void
forget_file(void *arg)
{
	dlist_delete(&((OpenFile *) arg)->node);
}

/* Puts it into the list. */
static void
remember_file(OpenFile *file)
{
	static bool is_told = false;

	if (!is_told)
		RegisterSubXactCallback(end_subtransaction, NULL);
	is_told = true;
	file->owner = GetCurrentSubTransactionId();
	dlist_push_head(&files, &file->node);
	file->forget.func = forget_file;
	file->forget.arg = file;
	MemoryContextRegisterResetCallback(file->context, &file->forget);
}

/*
 * Opens the file, or starts the program.  The result is a child of the current
 * memory context.
 */
OpenFile *
file_open(Relation rel, const FileOptions *options)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "tollfree_file_fdw file",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	OpenFile   *file = palloc0(sizeof(OpenFile));

	file->context = context;
	file->copy = BeginCopyFrom(NULL, rel, NULL, options->filename,
							   options->is_program, NULL, NIL, options->copy);
	file->is_regular = !options->is_program &&
		source_open(&file->source, fileno(file->copy->copy_file)) == SOURCE_OK;
	if (file->is_regular)
		copy_read_by_offset(file);
	remember_file(file);
	MemoryContextSwitchTo(old);
	return file;
}

/* Closes it; NULL is none. */
void
file_close(OpenFile *file)
{
	if (file == NULL)
		return;
	if (file->is_lost)
	{
		/* COPY would close it once more. */
		file->copy->filename = NULL;
		file->copy->is_program = false;
	}
	EndCopyFrom(file->copy);
	MemoryContextDelete(file->context);
}
