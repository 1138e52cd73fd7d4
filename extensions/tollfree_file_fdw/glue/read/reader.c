/*
 * reader.c
 *	  The fast path: a file read by core/ instead of COPY's parser.
 *
 * COPY has opened the file and looked up its columns and input functions, and
 * core/ reads through the same descriptor, by pread, behind COPY's back:
 *
 *		COPY's state	file, attnumlist, in_functions, error context
 *			|				|
 *			|			core/: batches of typed values
 *			|				|	values that it leaves open: input functions
 *			|				|	with COPY's own error context
 *			v				v
 *		COPY's parser <- handover: offset, line, line end
 *
 * So where core/ cannot tell what COPY makes of a record, COPY's parser takes over
 * right there, and either raises the error that file_fdw raises or reads the record
 * that only it understands.
 *
 * A file that grows while it is read is read as it was at the beginning.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/rel.h"

#include "base/allocate.h"
#include "base/columns.h"
#include "base/compat.h"
#include "base/guc.h"
#include "read/copy.h"
#include "read/json_feed.h"
#include "read/reader.h"

/* For looking into the file beside the scan, bytes */
#define START_BUFFER_SIZE 1024
#define COUNT_BUFFER_SIZE (64 * 1024)

/* What is counted between two looks for a cancelled query, bytes */
#define COUNT_STEP (1024 * 1024)

/* Raises the ERROR that a status stands for. */
static void
report_status(ScanStatus status, const Source *source, const char *filename)
{
	if (status == SCAN_NO_MEMORY)
		file_report_no_memory(filename);
	if (status == SCAN_FAILED)
	{
		errno = source->error;
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from COPY file: %m")));
	}
	if (status == SCAN_UNDECODABLE)
		packed_report(source->stream, filename);
	file_report_change(filename, status == SCAN_TRUNCATED);
}

/* How many bytes it has read, and decoded of these. */
ByteCounts
reader_count_bytes(const FileReader *reader)
{
	const Source *source = filescan_source(reader->scan);

	return (ByteCounts)
	{
		.read = source->bytes_read,
			.decoded = source->bytes_decoded
	};
}

/* The text, for looks into it beside the scan, before that goes on. */
static Source *
look_source(const FileReader *reader)
{
	PackedFile *packed = reader->base.file->packed;
	Source	   *source;

	if (packed == NULL)
		return filescan_source(reader->scan);
	source = packed_look(packed);
	packed->look.known = filescan_window(reader->scan, &packed->look.known_from,
										 &packed->look.known_length);
	return source;
}

/*
 * Has the reader, and COPY's parser behind it, read the file as it was for another
 * process, which has opened the same one.
 */
void
reader_set_source(FileReader *reader, const Source *source)
{
	Source	   *ours = filescan_source(reader->scan);
	Source		taken = *source;

	taken.fd = ours->fd;
	taken.check_interrupts = ours->check_interrupts;
	taken.bytes_read = ours->bytes_read;
	taken.stream = ours->stream;
	taken.bytes_decoded = ours->bytes_decoded;
	*ours = taken;
	reader->base.file->source = taken;
}

/* Has the reader read a range whose line is that in the file. */
void
reader_read_range(FileReader *reader, const ScanRange *range)
{
	batch_set_range(&reader->base, range);
	reader->lines_before = 0;
}

/* Frees everything; COPY's state is the caller's. */
void
reader_close(FileReader *reader)
{
	MemoryContextDelete(reader->context);
}

/* Raises the ERROR that the status of a source stands for, if it does. */
static void
check_status(SourceStatus status, const Source *source, const char *filename)
{
	if (status == SOURCE_UNDECODABLE)
		report_status(SCAN_UNDECODABLE, source, filename);
	if (status == SOURCE_FAILED)
		report_status(SCAN_FAILED, source, filename);
	if (status == SOURCE_TRUNCATED)
		report_status(SCAN_TRUNCATED, source, filename);
	if (status == SOURCE_CHANGED)
		report_status(SCAN_CHANGED, source, filename);
}

/* Raises an ERROR if the file could not be read, or is not what it was. */
void
reader_check_source(const FileReader *reader, SourceStatus status)
{
	check_status(status, filescan_source(reader->scan),
				 reader->base.file->filename);
}

/* The same for a look into it. */
static void
check_look(const FileReader *reader, SourceStatus status)
{
	check_status(status, look_source(reader), reader->base.file->filename);
}

/*
 * Finds out how the file can be read in parts; false if it cannot.  A header
 * that has to match is only looked at when all is read.  Of compressed text parts are
 * cut where members begin, at least so many bytes apart.
 */
bool
reader_find_chunks(FileReader *reader, int64 apart)
{
	Allocator	allocator = memory_allocator(reader->context);
	PackedFile *packed = reader->base.file->packed;

	return !reader->layout.header_matches &&
		(packed == NULL || packed_find_members(packed, apart)) &&
		chunk_layout(look_source(reader), &reader->layout.dialect,
					 reader->layout.header, &allocator, &reader->chunks);
}

/* Finds the records that begin in a chunk; false if there are none. */
bool
reader_find_records(FileReader *reader, const FileChunk *chunk)
{
	char		buffer[START_BUFFER_SIZE];
	bool		empty;

	check_look(reader,
			   chunk_start(look_source(reader), &reader->chunks, buffer,
						   sizeof(buffer), chunk, &reader->range, &empty));
	reader->from = chunk->from;
	return !empty;
}

/* Looks at what is in front of a chunk: see chunk_look_before. */
void
reader_look_before(FileReader *reader, FileChunk *chunk)
{
	char		buffer[START_BUFFER_SIZE];

	check_look(reader,
			   chunk_look_before(look_source(reader), &reader->chunks, buffer,
								 sizeof(buffer), chunk));
}

/* Looks for an end-of-data marker behind a chunk: see chunk_search_behind. */
void
reader_search_behind(FileReader *reader, FileChunk *behind)
{
	char		buffer[START_BUFFER_SIZE];

	check_look(reader,
			   chunk_search_behind(look_source(reader), &reader->layout.dialect,
								   &reader->chunks, buffer, sizeof(buffer),
								   behind));
}

/*
 * Reads bytes [from, to) of the file for somebody to look through them, before
 * records in them are read.
 */
const unsigned char *
reader_load(FileReader *reader, int64_t from, int64_t to)
{
	const unsigned char *bytes;
	ScanStatus	status = filescan_load(reader->scan, from, to, &bytes);

	if (status != SCAN_AGAIN)
		report_status(status, filescan_source(reader->scan),
					  reader->base.file->filename);
	return bytes;
}

/*
 * The same for compressed text; false if it cannot be decoded.  Then it is read
 * from the file's beginning on, as by one process.
 */
bool
reader_load_packed(FileReader *reader, int64_t from, int64_t to)
{
	const unsigned char *bytes;
	ScanStatus	status = filescan_load(reader->scan, from, to, &bytes);

	if (status == SCAN_UNDECODABLE)
		packed_forget_members(reader->base.file->packed);
	else if (status != SCAN_AGAIN)
		report_status(status, filescan_source(reader->scan),
					  reader->base.file->filename);
	return status == SCAN_AGAIN;
}

/*
 * How many lines are before the chunk that is read, behind the header; core/
 * counts from there on.  COPY_LINE_UNKNOWN if the file cannot be read, or when the
 * query has been cancelled.  Never an ERROR: one is being reported.
 */
static int64_t
count_lines_before(const FileReader *reader)
{
	char		buffer[COUNT_BUFFER_SIZE];
	Source	   *source = look_source(reader);
	FileChunk	part = {.to = reader->chunks.begin};
	int64_t		lines = 0;

	while (part.to < reader->from)
	{
		part.from = part.to;
		part.to = Min(part.from + COUNT_STEP, reader->from);
		if (QueryCancelPending || ProcDiePending ||
			chunk_count(source, setting_kernel(),
						&reader->chunks, buffer, sizeof(buffer),
						&part) != SOURCE_OK)
			return COPY_LINE_UNKNOWN;
		lines += part.count.line_ends;
	}
	return lines;
}

/*
 * The number of a line of the file that is that one of the chunk.  In text format
 * the lines before are counted only now: that may mean looking at all of them.
 */
static int64
line_in_file(FileReader *reader, int64 line)
{
	if (reader->lines_before == COPY_LINE_UNKNOWN)
	{
		HOLD_INTERRUPTS();
		reader->lines_before = count_lines_before(reader);
		RESUME_INTERRUPTS();
	}
	return reader->lines_before == COPY_LINE_UNKNOWN ? COPY_LINE_UNKNOWN :
		line + reader->lines_before;
}

/* The error context of a row that COPY's parser reads. */
static void
report_copied_row(void *arg)
{
	FileReader *reader = arg;
	OpenFile   *file = reader->base.file;

	copy_report_line(file, line_in_file(reader, copy_line(file)));
}

/* Does the header name the columns, as header 'match' demands? */
static bool
reader_header_matches(FileReader *reader)
{
	CopyFromState copy = reader->base.file->copy;
	TupleDesc	desc = RelationGetDescr(copy->rel);
	const ColumnSpec plain = {.type = COLUMN_TEXT};
	bool		no_memory = false;

	if (filescan_nfields(reader->scan) != list_length(copy->attnumlist))
		return false;
	for (int i = 0; i < list_length(copy->attnumlist); i++)
	{
		AttrNumber	attnum = list_nth_int(copy->attnumlist, i);
		const char *name = NameStr(TupleDescAttr(desc, attnum - 1)->attname);
		FieldRef	field = filescan_field(reader->scan, 0, i, &plain,
										   &no_memory);

		if (no_memory || field.is_null || field.length != strlen(name) ||
			memcmp(field.bytes, name, field.length) != 0)
			return false;
	}
	return true;
}

/* COPY's name for a line end. */
static EolType
copy_line_end(LineEnd line_end)
{
	switch (line_end)
	{
		case LINE_END_NL:
			return EOL_NL;
		case LINE_END_CR:
			return EOL_CR;
		case LINE_END_CRNL:
			return EOL_CRNL;
		case LINE_END_UNKNOWN:
			break;
	}
	return EOL_UNKNOWN;
}

/*
 * What bytes core/ does not take for characters of the file's encoding, or has no
 * way to convert; in the current memory context.
 */
static const char *
encoding_words(const FileReader *reader)
{
	const char *name = pg_encoding_to_char(reader->layout.encoding);

	switch (reader->layout.dialect.encoding)
	{
		case FILE_ENCODING_UTF8:
			return "a zero byte or bytes that are not valid UTF8";
		case FILE_ENCODING_SINGLE_BYTE:
			return "a zero byte";
		case FILE_ENCODING_ASCII:
			break;
	}
	if (reader->layout.encoding == GetDatabaseEncoding())
		return psprintf("characters of encoding %s", name);
	return psprintf("characters to be converted from %s to %s", name,
					GetDatabaseEncodingName());
}

/* Holds the text that has been decoded and not read, for COPY's parser. */
static void
hold_unread(FileReader *reader)
{
	size_t		length;
	int64_t		offset;
	const unsigned char *bytes = filescan_unread(reader->scan, &offset, &length);

	packed_hold(reader->base.file->packed, offset, bytes, length);
}

/* The slots of BatchMethods, whose comments say what each does. */

static BatchStatus
reader_next(BatchSource *base)
{
	FileReader *reader = (FileReader *) base;

	for (;;)
	{
		RowBatch   *batch;
		ScanStatus	status = filescan_next(reader->scan, &batch);
		const Source *source = filescan_source(reader->scan);

		CHECK_FOR_INTERRUPTS();
		switch (status)
		{
			case SCAN_BATCH:
				base->batch = batch;
				return BATCH_READY;
			case SCAN_AGAIN:
				break;
			case SCAN_HEADER:
				if (reader->awaits_header && !reader_header_matches(reader))
					return BATCH_STOPPED;
				reader->awaits_header = false;
				break;
			case SCAN_HANDOVER:
				return BATCH_STOPPED;
			case SCAN_END:
				/* COPY compares even the header that an empty file lacks. */
				return reader->awaits_header ? BATCH_STOPPED : BATCH_END;
			case SCAN_NO_MEMORY:
			case SCAN_FAILED:
			case SCAN_TRUNCATED:
			case SCAN_CHANGED:
			case SCAN_UNDECODABLE:
				report_status(status, source, reader->base.file->filename);
		}
	}
}

static void
reader_convert_column(BatchSource *base, int column, const RowBitmap *rows)
{
	FileReader *reader = (FileReader *) base;

	if (!filescan_convert_column(reader->scan, column, rows))
		file_report_no_memory(base->file->filename);
}

static FieldRef
reader_raw_field(BatchSource *base, int row, int column, bool *no_memory)
{
	const ColumnSpec *spec = &base->columns.specs[column];

	return filescan_field(((FileReader *) base)->scan, row, spec->field, spec,
						  no_memory);
}

static int64
reader_row_line(BatchSource *base, int row)
{
	FileReader *reader = (FileReader *) base;

	return line_in_file(reader, filescan_line(reader->scan, row));
}

static void
reader_set_range(BatchSource *base, const ScanRange *range)
{
	FileReader *reader = (FileReader *) base;

	reader->range = *range;
	reader->lines_before = chunk_needs_count(&reader->layout.dialect) ?
		0 : COPY_LINE_UNKNOWN;
	filescan_set_range(reader->scan, range);
}

static const char *
reader_stop_words(const BatchSource *base)
{
	const FileReader *reader = (const FileReader *) base;

	switch (filescan_handover(reader->scan)->reason)
	{
		case HANDOVER_ENCODING:
			return encoding_words(reader);
		case HANDOVER_LINE_END:
			return "another line end";
		case HANDOVER_FIELDS:
			return "missing or extra fields";
		case HANDOVER_UNTERMINATED:
			return "an unterminated field";
		case HANDOVER_MARKER:
			return "an end-of-data marker";
		case HANDOVER_ESCAPE:
			return "an escaped byte";
		case HANDOVER_TOO_LONG:
			return "a long record";
		case HANDOVER_JSON:
			return "a line that is no JSON object, or a value that its column cannot have";
		case HANDOVER_NONE:
			break;
	}
	return "the header";
}

static char *
reader_hand_over(BatchSource *base)
{
	FileReader *reader = (FileReader *) base;
	const Handover *handover = filescan_handover(reader->scan);
	bool		at_start = handover->reason == HANDOVER_NONE ||
		handover->in_header;
	const char *words = reader_stop_words(base);
	int64_t		offset = at_start ? 0 : handover->offset;
	int64_t		line = at_start ? 0 : handover->line;

	if (reader->base.file->packed != NULL)
		hold_unread(reader);
	if (at_start)
		filescan_forget_counts(reader->scan);
	copy_seek(reader->base.file, offset, line,
			  at_start ? EOL_UNKNOWN : copy_line_end(handover->line_end));
	/* A range that was set ends in front of others' lines. */
	if (reader->base.file->feed != NULL && reader->range.end > 0)
		json_feed_limit(reader->base.file->feed, reader->range.end);
	if (reader->lines_before == COPY_LINE_UNKNOWN)
		return psprintf("%s after byte %lld", words, (long long) offset);
	line += reader->lines_before;
	return line == 0 ? psprintf("%s in the first line", words) :
		psprintf("%s after line %lld", words, (long long) line);
}

/* The line is counted from the reader's chunk. */
static bool
reader_copy_row(BatchSource *base, ExprContext *econtext, TupleTableSlot *slot)
{
	ErrorContextCallback context = {
		.callback = report_copied_row,
		.arg = base
	};

	return copy_next_row_in(base->file, &context, econtext, slot);
}

static void
reader_verify(const BatchSource *base)
{
	const FileReader *reader = (const FileReader *) base;

	reader_check_source(reader, source_verify(filescan_source(reader->scan)));
}

static const BatchMethods reader_methods = {
	.is_text = true,
	.next = reader_next,
	.convert_column = reader_convert_column,
	.raw_field = reader_raw_field,
	.line = reader_row_line,
	.set_range = reader_set_range,
	.stop_words = reader_stop_words,
	.hand_over = reader_hand_over,
	.copy_row = reader_copy_row,
	.verify = reader_verify
};

/* Called by core/ before each read. */
static void
check_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

/*
 * Lets core/ read these columns of the file that COPY has opened; NULL if it
 * is no regular file of a known size.  It begins small where a few rows may be
 * all that is wanted.  The reader lives in a memory context of its own, a child of
 * the current one, until reader_close.
 */
FileReader *
reader_open(OpenFile *file, const FileColumns *columns,
			const FileLayout *layout, size_t block_size, bool begins_small)
{
	MemoryContext context;
	MemoryContext old;
	FileReader *reader;
	FileScanOptions options = {0};
	SourceStatus status;

	if (!file->is_regular)
		return NULL;
	context = AllocSetContextCreate(CurrentMemoryContext,
									"tollfree_file_fdw reader",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	reader = palloc0(sizeof(FileReader));
	batch_prepare(&reader->base, &reader_methods, file, columns);
	reader->layout = *layout;
	reader->context = context;
	reader->awaits_header = layout->header_matches;

	options.dialect = &reader->layout.dialect;
	options.json_fields = reader->layout.json;
	options.kernel = setting_kernel();
	options.columns = reader->base.columns.specs;
	options.ncolumns = reader->base.columns.ncolumns;
	options.nfields = reader->base.columns.nfields;
	options.header = layout->header;
	options.block_size = block_size;
	options.begins_small = begins_small;
	options.check_interrupts = check_interrupts;
	if (file->packed != NULL)
		options.max_record = Min(packed_record_max(), SCAN_RECORD_MAX);
	options.source = &file->source;
	options.allocator = memory_allocator(context);
	reader->scan = filescan_open(&options, file->source.fd, &status);
	MemoryContextSwitchTo(old);
	file->is_watched = true;
	return reader;
}
