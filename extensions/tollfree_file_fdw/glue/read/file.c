/*
 * file.c
 *	  A file that is open.
 *
 * A regular file of a known size has a descriptor of its own, which is closed with
 * the memory of the query, whatever happens.  COPY's parser is given its bytes, up
 * to the end that the file had when it was opened, as the fast path reads it: so a
 * file that grows has the same rows, however it is read.  That the descriptor is
 * not COPY's matters where a cursor is read in another subtransaction than the one
 * that began it, since COPY's files are closed with theirs:
 *
 *		DECLARE cursor		the scan begins
 *		SAVEPOINT
 *		FETCH				the file may be opened here
 *		ROLLBACK TO
 *		FETCH				and must still be
 *
 * Everything else, programs, pipes, what does not say how long it is and what
 * cannot be opened, is COPY's, and so are the errors about it.  Such files are in a
 * list: a scan that has begun again in a subtransaction is told when one is lost.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xact.h"
#include "catalog/namespace.h"
#include "commands/defrem.h"
#include "commands/progress.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/compression.h"
#include "read/clean.h"
#include "read/file.h"
#include "read/json_feed.h"

/*
 * Files that are kept open from the beginning of a scan until it is read: how many,
 * and for how many of a session's descriptors one of them.  Files that are being
 * read and connections need those, too; together they may have a third.
 */
#define EARLY_FILES_MAX	16
#define DESCRIPTORS_PER_EARLY_FILE	12

static int	nearly_files = 0;

static dlist_head files = DLIST_STATIC_INIT(files);

/* The file that COPY's parser reads; COPY's callbacks have no argument. */
static OpenFile *fed_file;

/*
 * Returns a descriptor of a regular file, or -1: COPY is to open it then, or to
 * raise the ERROR.  A pipe must not be opened without need: its writer would
 * notice.
 */
static int
open_regular(const char *filename)
{
	struct stat status;
	int			fd;

	if (stat(filename, &status) != 0 || !S_ISREG(status.st_mode))
		return -1;
	if (!AcquireExternalFD())
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\" for reading: %m",
						filename)));
	fd = BasicOpenFile(filename, O_RDONLY | O_CLOEXEC | PG_BINARY);
	if (fd < 0)
		ReleaseExternalFD();
	return fd;
}

/* Closes what open_regular has opened. */
static void
close_regular(int fd)
{
	close(fd);
	ReleaseExternalFD();
}

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
	packed_close(file->packed);
	if (file->is_regular)
		close_regular(file->source.fd);
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

/* Takes the descriptor of a file that was opened early; -1 if there is none. */
static int
take_early(EarlyFile *early)
{
	int			fd = early == NULL ? -1 : early->fd;

	if (fd < 0)
		return -1;
	early->fd = -1;
	nearly_files--;
	return fd;
}

/*
 * Closes what file_open_early has opened, an EarlyFile, unless it is being read.
 * The file can still be opened when it is read.  A MemoryContextCallbackFunction.
 */
void
file_close_early(void *early)
{
	int			fd = take_early(early);

	if (fd >= 0)
		close_regular(fd);
}

/* Can nothing but reading it raise an ERROR about a file? */
static bool
can_wait(const FileOptions *options, int encoding)
{
	return !options->is_program && !is_binary(options) &&
		!lacks_conversion(encoding);
}

/* May a further file be kept open until it is read? */
static bool
has_early_room(void)
{
	if (nearly_files >= Min(EARLY_FILES_MAX,
							max_safe_fds / DESCRIPTORS_PER_EARLY_FILE) ||
		!AcquireExternalFD())
		return false;
	/* open_regular takes it. */
	ReleaseExternalFD();
	return true;
}

/*
 * Prepares a file for being read later, which begins with file_open; NULL if it
 * has to be opened when the query begins.  file_fdw opens each file then: one that
 * it cannot open is an error, even if it is never read, and so it is here.  The
 * same goes for what COPY refuses when it opens a file: a binary one by its head,
 * an encoding, or an option, see file_check_options.  A pipe or a program may be
 * waiting to be opened.
 *
 * The first files get their descriptor here.  Of others only the rights are
 * checked: PostgreSQL has a limit of open files, which the partitions of one table
 * may exceed.  The result is of the current memory context.
 */
EarlyFile *
file_open_early(const FileOptions *options, int encoding)
{
	EarlyFile  *early;
	struct stat status;

	if (!can_wait(options, encoding))
		return NULL;
	early = palloc0(sizeof(EarlyFile));
	early->fd = -1;
	if (!has_early_room())
		return stat(options->filename, &status) == 0 &&
			S_ISREG(status.st_mode) && access(options->filename, R_OK) == 0 ?
			early : NULL;
	early->close.func = file_close_early;
	early->close.arg = early;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &early->close);
	early->fd = open_regular(options->filename);
	if (early->fd < 0)
		return NULL;
	nearly_files++;
	return early;
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

/*
 * The columns that are in the file (String), as COPY wants to be told; NIL if all are.
 * ERROR if none is.
 */
static List *
file_columns(Relation rel, const FileOptions *options)
{
	TupleDesc	desc = RelationGetDescr(rel);
	List	   *names = NIL;

	if (options->names != NIL || options->computed == NIL)
		return options->names;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (!attribute->attisdropped && !attribute->attgenerated &&
			!bms_is_member(attribute->attnum, options->computed_attnums))
			names = lappend(names, makeString(pstrdup(NameStr(attribute->attname))));
	}
	if (names == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TABLE_DEFINITION),
				 errmsg("foreign table \"%s\" has no column that is in its files",
						RelationGetRelationName(rel)),
				 errhint("Add a column without the option \"source\".")));
	return names;
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
	List	   *names = file_columns(rel, options);
	ListCell   *cell;

	foreach(cell, options->copy)
	{
		const char *name = lfirst_node(DefElem, cell)->defname;

		if (strcmp(name, "force_not_null") == 0 ||
			strcmp(name, "force_null") == 0 || strcmp(name, "default") == 0)
		{
			EndCopyFrom(BeginCopyFrom(NULL, rel, NULL, NULL, false, read_nothing,
									  names, copy_options(options, encoding)));
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

/*
 * Reads bytes of a compressed file's text, as pread does.  held are those of the same
 * record that are kept already.
 */
static ssize_t
read_packed(OpenFile *file, void *buffer, size_t length, int64 offset, size_t held)
{
	size_t		got;
	SourceStatus status;

	packed_check_record(file->packed, held);
	status = packed_read(file->packed, buffer, length, offset, &got);
	if (status == SOURCE_UNDECODABLE)
		packed_report(&file->packed->stream, file->filename);
	if (status == SOURCE_TRUNCATED)
		file_report_change(file->filename, true);
	errno = file->packed->stream.source.error;
	return status == SOURCE_OK ? (ssize_t) got : -1;
}

/* Reads bytes of a regular file as it was when it was opened, as pread does. */
static ssize_t
read_plain(const OpenFile *file, void *buffer, size_t length, int64 offset)
{
	int64		left = Max(0, file->source.size - offset);

	return pread(file->source.fd, buffer, Min(left, (int64) length), offset);
}

/* Reads bytes of the file's text: a TextReader. */
static size_t
read_text(void *arg, void *buffer, size_t length, int64 offset, size_t held)
{
	OpenFile   *file = arg;
	ssize_t		n;

	do
		n = file->packed != NULL ?
			read_packed(file, buffer, length, offset, held) :
			read_plain(file, buffer, length, offset);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from COPY file: %m")));
	if (n == 0)
		check_end(file);
	return n;
}

/*
 * Gives COPY's parser the next bytes of a regular file; 0 at its end.  The record that
 * it reads is in line_buf, as far as it has come.
 */
static int
read_bytes(void *buffer, int minread, int maxread)
{
	OpenFile   *file = fed_file;
	size_t		n;

	if (file->feed != NULL)
		return json_feed_read(file->feed, read_text, file, buffer, maxread);
	if (file->cleaner != NULL)
		return cleaner_read(file->cleaner, read_text, file, buffer, maxread);
	n = read_text(file, buffer, maxread, file->next,
				  file->copy == NULL ? 0 : file->copy->line_buf.len);
	file->next += n;
	return n;
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

/*
 * Makes it a regular file of a known size; false if it is not.  The descriptor is
 * one that was opened early, or -1.
 */
static bool
open_source(OpenFile *file, int fd)
{
	if (fd < 0)
		fd = open_regular(file->filename);
	if (fd < 0)
		return false;
	file->is_regular = source_open(&file->source, fd) == SOURCE_OK;
	if (!file->is_regular)
		close_regular(fd);
	return file->is_regular;
}

/*
 * Has COPY read a regular file by its offset.  It shows that it reads a file.  Of a
 * binary one the head is read here: if that raises an ERROR which is caught, a
 * parser that has read a row in part has to come back to its own file.
 */
static CopyFromState
begin_copy_regular(OpenFile *file, Relation rel, List *names, List *options)
{
	const int	indexes[] = {PROGRESS_COPY_TYPE, PROGRESS_COPY_BYTES_TOTAL};
	const int64 values[] = {PROGRESS_COPY_TYPE_FILE,
	file->packed == NULL ? file->source.size : 0};
	OpenFile   *before = file_feed(file);
	CopyFromState copy;

	PG_TRY();
	{
		copy = BeginCopyFrom(NULL, rel, NULL, NULL, false, read_bytes, names,
							 options);
	}
	PG_FINALLY();
	{
		(void) file_feed(before);
	}
	PG_END_TRY();
	pgstat_progress_update_multi_param(lengthof(values), indexes, values);
	return copy;
}

/* The error context of one of many files that is being opened. */
static void
report_file(void *arg)
{
	errcontext("file \"%s\"", ((const OpenFile *) arg)->filename);
}

/* Has the errors that are raised when one of many files is opened name it. */
static void
begin_naming(ErrorContextCallback *naming, OpenFile *file)
{
	naming->callback = report_file;
	naming->arg = file;
	naming->previous = error_context_stack;
	error_context_stack = naming;
}

/* Then has those that are raised when it is read do so. */
static void
end_naming(const ErrorContextCallback *naming, OpenFile *file)
{
	error_context_stack = naming->previous;
	file->copy->cur_relname = psprintf("%s, file \"%s\"",
									   file->copy->cur_relname, file->filename);
}

/*
 * Has COPY's parser see what our options make of the file.  ERROR if that cannot be
 * done: the bytes of some encodings are no ASCII characters where they seem to be.
 */
static void
open_cleaner(OpenFile *file, const FileOptions *options)
{
	const char *words = NULL;

	if (!file->is_regular)
		words = "It is no regular file of a known size.";
	else if (compat_is_binary(&file->copy->opts))
		words = "Its format is binary.";
	else if (!PG_VALID_BE_ENCODING(file->copy->file_encoding))
		words = "Its encoding is one of clients only.";
	if (words != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("no lines or fields of file \"%s\" can be left out",
						options->filename),
				 errdetail_internal("%s", words),
				 errhint("Drop the options of the foreign table that leave out lines or fields.")));
	file->cleaner = cleaner_open(file->copy, &options->policy);
}

/*
 * Has COPY's parser see the lines of JSON as records.  ERROR if that cannot be done.
 */
static void
open_feed(OpenFile *file, const FileOptions *options)
{
	if (!file->is_regular)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot read \"%s\" as JSON Lines", file->filename),
				 errdetail("It is no regular file of a known size."),
				 errhint("Copy it to a file, and set \"filename\" to that.")));
	file->feed = json_feed_open(file, options->json);
}

/*
 * Leaves out lines at the file's end, as our option says.  ERROR if the end is not known
 * before all has been read.
 */
static void
leave_out_footer(OpenFile *file, const FileOptions *options)
{
	Footer		footer;
	SourceStatus status;

	if (options->policy.skip_last_lines == 0 || !file->is_regular)
		return;
	if (file->packed != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("no lines at the end of compressed file \"%s\" can be left out",
						options->filename),
				 errhint("Drop the option \"skip_last_lines\" of the foreign table, or decompress the file.")));
	status = footer_find(&file->source, options->policy.skip_last_lines, &footer);
	if (status == SOURCE_TRUNCATED)
		file_report_change(file->filename, true);
	errno = file->source.error;
	if (status != SOURCE_OK)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from COPY file: %m")));
	source_leave_out(&file->source, footer.offset);
	file->footer_lines = footer.nlines;
}

/*
 * Opens the file, or starts the program.  The result is a child of the current
 * memory context.  The encoding is what the client's was when file_fdw would
 * have opened it; a table's own counts before.  The last argument is what was
 * opened early of it, or NULL.
 */
OpenFile *
file_open(Relation rel, const FileOptions *options, int encoding,
		  EarlyFile *early)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "tollfree_file_fdw file",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	OpenFile   *file = palloc0(sizeof(OpenFile));
	List	   *copied = copy_options(options, encoding);
	List	   *names = file_columns(rel, options);
	FileCompression compression = compression_of(options, options->filename);
	ErrorContextCallback naming;

	file->context = context;
	file->filename = pstrdup(options->filename);
	file->errors = options->errors;
	file->forms = options->forms;
	remember_file(file);
	if (options->pattern != NULL)
		begin_naming(&naming, file);
	if (!options->is_program && open_source(file, take_early(early)))
	{
		if (compression != COMPRESSION_NONE)
			file->packed = packed_open(file->filename, compression, &file->source);
		leave_out_footer(file, options);
		file->copy = begin_copy_regular(file, rel, names, copied);
	}
	else
	{
		packed_refuse_special(options->filename, compression);
		file->copy = BeginCopyFrom(NULL, rel, NULL, options->filename,
								   options->is_program, NULL, names, copied);
	}
	if (policy_is_active(&options->policy))
		open_cleaner(file, options);
	if (options->json != NULL)
		open_feed(file, options);
	if (options->pattern != NULL)
		end_naming(&naming, file);
	/* COPY takes an empty list for one of all columns. */
	if (options->converts_none)
		memset(file->copy->convert_select_flags, 0,
			   sizeof(bool) * RelationGetNumberOfAttributes(rel));
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
