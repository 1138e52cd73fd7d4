/*
 * file.c
 *	  A file that is open.
 *
 * COPY checks the options and opens the file, so errors about these are its own.
 * But what COPY has open is closed with the subtransaction that it was opened in.
 * A file is opened when it is first read, and a cursor may go on behind that:
 *
 *		DECLARE cursor		the scan begins
 *		SAVEPOINT
 *		FETCH				the file is opened
 *		ROLLBACK TO
 *		FETCH				and must still be
 *
 * So a regular file gets a descriptor of its own, which is closed with the memory
 * of the query, whatever happens.  Programs and pipes, which are opened when the
 * scan begins, remain COPY's.  They are in a list: a scan that has begun again in
 * a subtransaction is told when one is lost.
 *
 * COPY reads these itself.  A regular file it is given up to the end that the
 * file had when it was opened, as the fast path reads it: so a file that grows
 * has the same rows, however it is read.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xact.h"
#include "catalog/namespace.h"
#include "commands/defrem.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "read/file.h"

static dlist_head files = DLIST_STATIC_INIT(files);

/* The file that COPY's parser reads; COPY's callbacks have no argument. */
static OpenFile *fed_file;

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
		file->is_lost |= event == SUBXACT_EVENT_ABORT_SUB &&
			!file->is_regular;
	}
}

/* Takes a file out of the list, and closes what is not COPY's. */
static void
forget_file(void *arg)
{
	OpenFile   *file = arg;

	dlist_delete(&file->node);
	if (!file->is_regular)
		return;
	close(file->source.fd);
	ReleaseExternalFD();
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

/* Is it a file in binary format? */
static bool
is_binary(const FileOptions *options)
{
	ListCell   *cell;

	foreach(cell, options->copy)
	{
		DefElem    *element = lfirst_node(DefElem, cell);

		if (strcmp(element->defname, "format") == 0)
			return strcmp(defGetString(element), "binary") == 0;
	}
	return false;
}

/* Is there no way from the file's encoding to the server's? */
static bool
lacks_conversion(int encoding)
{
	int			own = GetDatabaseEncoding();

	return encoding != own && encoding != PG_SQL_ASCII && own != PG_SQL_ASCII &&
		!OidIsValid(FindDefaultConversionProc(encoding, own));
}

/*
 * Can it be left to be opened when it is read?  PostgreSQL has a limit of open
 * files, which the partitions of one table may exceed.  But file_fdw opens a file
 * when the query begins: one that it cannot open is an error then, even if it is
 * never read, and so it is here.  The same goes for what COPY refuses when it
 * opens a file: a binary one by its head, an encoding, or an option, see
 * file_check_options.  A pipe or a program may be waiting to be opened.
 */
bool
file_can_wait(const FileOptions *options, int encoding)
{
	struct stat status;

	return !options->is_program && !is_binary(options) &&
		!lacks_conversion(encoding) && stat(options->filename, &status) == 0 &&
		S_ISREG(status.st_mode) && access(options->filename, R_OK) == 0;
}

/* COPY's options with the encoding, if the table's have none. */
static List *
copy_options(const FileOptions *options, int encoding)
{
	DefElem    *element;
	ListCell   *cell;

	foreach(cell, options->copy)
	{
		if (strcmp(lfirst_node(DefElem, cell)->defname, "encoding") == 0)
			return options->copy;
	}
	element = makeDefElem("encoding",
						  (Node *) makeString(pstrdup(pg_encoding_to_char(encoding))),
						  -1);
	return lappend(list_copy(options->copy), element);
}

/* COPY's source of data of a file that is not read. */
static int
read_nothing(void *buffer, int minread, int maxread)
{
	return 0;
}

/*
 * Raises the ERROR, if there is one, by which COPY refuses to open a file of these
 * options for what no validator sees: columns that cannot be forced to null or
 * not, or whose default cannot be planned.
 */
void
file_check_options(Relation rel, const FileOptions *options, int encoding)
{
	ListCell   *cell;

	foreach(cell, options->copy)
	{
		const char *name = lfirst_node(DefElem, cell)->defname;

		if (strcmp(name, "force_not_null") == 0 ||
			strcmp(name, "force_null") == 0 || strcmp(name, "default") == 0)
		{
			EndCopyFrom(BeginCopyFrom(NULL, rel, NULL, NULL, false, read_nothing,
									  NIL, copy_options(options, encoding)));
			return;
		}
	}
}

/* Raises the ERROR of a record that there is no memory for. */
void
file_report_no_memory(const char *filename)
{
	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("out of memory"),
			 errdetail("A record of file \"%s\" is too long.", filename)));
}

/* Raises the ERROR of a file that is not what it was when it was opened. */
void
file_report_change(const char *filename, bool is_truncated)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg(is_truncated ?
					"file \"%s\" was truncated while it was read" :
					"file \"%s\" was changed while it was read", filename),
			 errhint("Run the query again when nobody writes to the file.")));
}

/*
 * Raises an ERROR if the file is not what it was, and if that matters.  At its
 * end COPY's parser would tell of what is left of the last record.
 */
static void
check_end(OpenFile *file)
{
	SourceStatus status = file->is_watched ?
		source_verify(&file->source) : SOURCE_OK;

	if (status == SOURCE_TRUNCATED || status == SOURCE_CHANGED)
		file_report_change(file->filename, status == SOURCE_TRUNCATED);
}

/* Gives COPY's parser the next bytes of a regular file; 0 at its end. */
static int
read_bytes(void *buffer, int minread, int maxread)
{
	OpenFile   *file = fed_file;
	int64		left = Max(0, file->source.size - file->next);
	ssize_t		n;

	do
		n = pread(file->source.fd, buffer,
				  Min(left, (int64) maxread), file->next);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from COPY file: %m")));
	if (n == 0)
		check_end(file);
	file->next += n;
	return n;
}

/* Has COPY's parser read a regular file so, from where COPY has read up to. */
static void
read_by_offset(OpenFile *file)
{
	/* It has read the head of a binary file. */
	file->next = compat_is_binary(&file->copy->opts) ? ftello(file->copy->copy_file) : 0;
	file->copy->copy_src = COPY_CALLBACK;
	file->copy->data_source_cb = read_bytes;
}

/*
 * Says whose bytes COPY's parser is to be given from now on, or NULL.  Returns
 * whose it was given.
 */
OpenFile *
file_feed(OpenFile *file)
{
	OpenFile   *before = fed_file;

	fed_file = file;
	return before;
}

/* Takes a regular file of a known size over from COPY. */
static void
take_over(OpenFile *file)
{
	CopyFromState copy = file->copy;
	int			fd = -1;

	if (source_open(&file->source, fileno(copy->copy_file)) != SOURCE_OK)
		return;
	if (AcquireExternalFD())
	{
		fd = fcntl(fileno(copy->copy_file), F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			ReleaseExternalFD();
	}
	if (fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\" for reading: %m",
						file->filename)));
	file->source.fd = fd;
	file->is_regular = true;
	read_by_offset(file);
	FreeFile(copy->copy_file);
	copy->copy_file = NULL;
	copy->filename = NULL;
}

/*
 * Opens the file, or starts the program.  The result is a child of the current
 * memory context.  The encoding is what the client's was when file_fdw would
 * have opened it; a table's own counts before.
 */
OpenFile *
file_open(Relation rel, const FileOptions *options, int encoding)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "tollfree_file_fdw file",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	OpenFile   *file = palloc0(sizeof(OpenFile));

	file->context = context;
	file->filename = pstrdup(options->filename);
	file->copy = BeginCopyFrom(NULL, rel, NULL, options->filename,
							   options->is_program, NULL, NIL,
							   copy_options(options, encoding));
	remember_file(file);
	if (!options->is_program)
		take_over(file);
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
