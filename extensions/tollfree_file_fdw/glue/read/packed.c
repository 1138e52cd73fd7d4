/*
 * packed.c
 *	  A compressed file, as PostgreSQL's memory, settings and errors have it.
 *
 * The reader and COPY's parser read the same stream of text, by its offsets.  Where
 * COPY's parser takes over, the reader has decoded more than it has read: that is
 * held for the parser, so that nothing has to be decoded again.
 *
 * Several processes read the file by a map of its members, see members.h.  Each reads
 * its chunks from the first to the last byte; where a chunk's first record begins, and
 * the like, it looks up in a second stream, so that nothing is decoded again.
 *
 * A few bytes can stand for a text of any length.  It is never held as a whole; a
 * setting bounds a record, and what the compression itself needs.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "base/allocate.h"
#include "base/guc.h"
#include "read/packed.h"

/* Text that is held at most, bytes; else it is decoded again */
#define HELD_MAX (1024 * 1024)

/* Called by core/ before each read. */
static void
check_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

/*
 * Raises an ERROR if there is something by that name that is not a file which can
 * be read: its bytes must not be taken for text.
 */
void
packed_refuse_special(const char *filename, FileCompression compression)
{
	struct stat status;

	if (compression == COMPRESSION_NONE || stat(filename, &status) != 0 ||
		S_ISDIR(status.st_mode) || access(filename, R_OK) != 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot decompress \"%s\"", filename),
			 errdetail("It is not a regular file of known size."),
			 errhint("Set the option \"program\" to a command that decompresses it, in place of \"filename\".")));
}

/* Raises the ERROR of a compression that this build has no library for. */
static void
report_absent(const char *filename, const Codec *codec)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot read file \"%s\": tollfree_file_fdw was built without %s",
					filename, codec->name),
			 errhint("Install %s (the Debian package's name) and pkg-config, then build and install tollfree_file_fdw again.",
					 codec->package)));
}

/* Opens a stream of the file's text, and tells the source of it. */
static void
open_stream(PackedFile *packed, Stream *stream, const Codec *codec, Source *source)
{
	Allocator	allocator = memory_allocator(GetMemoryChunkContext(packed));

	if (!stream_open(stream, codec, source, packed_record_max(), &allocator))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("File \"%s\" cannot be decompressed.",
						   packed->filename)));
	stream->source.check_interrupts = check_interrupts;
	source->stream = stream;
}

/*
 * Opens the text of a file that has been opened, in the current memory context, and
 * tells the source of it.  packed_close must be called whatever happens.
 */
PackedFile *
packed_open(const char *filename, FileCompression compression, Source *source)
{
	PackedFile *packed = palloc0(sizeof(PackedFile));
	const Codec *codec = codec_of(compression);

	if (!codec_is_built(codec))
		report_absent(filename, codec);
	packed->filename = filename;
	open_stream(packed, &packed->stream, codec, source);
	return packed;
}

/* Gives back what is not PostgreSQL's memory; NULL is none. */
void
packed_close(PackedFile *packed)
{
	if (packed == NULL)
		return;
	stream_close(&packed->stream);
	stream_close(&packed->look);
}

/*
 * May a file have several members that say how long they are, so that several
 * processes can read it?  For the planner; that it cannot be opened is no ERROR here.
 */
bool
packed_may_have_members(const char *filename, FileCompression compression)
{
	const Codec *codec = codec_of(compression);
	int			fd = codec == NULL ? -1 : OpenTransientFile(filename, O_RDONLY | PG_BINARY);
	Source		source;
	bool		result;

	if (fd < 0)
		return false;
	result = source_open(&source, fd) == SOURCE_OK &&
		members_may_be_found(codec, &source);
	CloseTransientFile(fd);
	return result;
}

/*
 * Finds where the file's members begin, at least so many bytes of text apart; false
 * if that is not known of all, or if a process that has the text of one in memory
 * would take too much.
 */
bool
packed_find_members(PackedFile *packed, int64 apart)
{
	Allocator	allocator = memory_allocator(GetMemoryChunkContext(packed));
	MemberMap	map;
	bool		fits;

	if (members_find(&map, packed->stream.codec, &packed->stream.source, apart,
					 &allocator) != MEMBERS_FOUND)
		return false;
	fits = members_longest(&map) <= apart + (int64) packed_record_max();
	if (fits)
		packed_use_members(packed, map.places, map.nplaces);
	members_free(&map, &allocator);
	return fits;
}

/* Says where the file's members begin; copies the places, and the end behind them. */
void
packed_use_members(PackedFile *packed, const MemberPlace *places, size_t nplaces)
{
	MemoryContext old;
	MemberMap  *map;

	if (packed->map != NULL)
		return;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(packed));
	map = palloc0(sizeof(MemberMap));
	map->nplaces = nplaces;
	map->room = nplaces + 1;
	map->places = MemoryContextAllocHuge(CurrentMemoryContext,
										 sizeof(MemberPlace) * map->room);
	memcpy(map->places, places, sizeof(MemberPlace) * map->room);
	stream_use_map(&packed->stream, map);
	packed->map = map;
	MemoryContextSwitchTo(old);
}

/* Has the file be read from its beginning again. */
void
packed_forget_members(PackedFile *packed)
{
	packed->map = NULL;
	stream_use_map(&packed->stream, NULL);
	if (packed->look.state != NULL)
		stream_use_map(&packed->look, NULL);
}

/* The file's text, for looks at other places than that which is read. */
Source *
packed_look(PackedFile *packed)
{
	if (packed->look.state == NULL)
	{
		packed->look_source = packed->stream.source;
		packed->look_source.bytes_read = 0;
		open_stream(packed, &packed->look, packed->stream.codec,
					&packed->look_source);
		if (packed->map != NULL)
			stream_use_map(&packed->look, packed->map);
	}
	return &packed->look_source;
}

/* Holds text that has been decoded, from that offset, if it is not too long. */
void
packed_hold(PackedFile *packed, int64 from, const void *bytes, size_t length)
{
	if (packed->held != NULL)
		pfree(packed->held);
	packed->held = NULL;
	packed->held_length = 0;
	if (length == 0 || length > HELD_MAX)
		return;
	packed->held = MemoryContextAlloc(GetMemoryChunkContext(packed), length);
	memcpy(packed->held, bytes, length);
	packed->held_from = from;
	packed->held_length = length;
}

/* Reads up to length bytes of the text, from offset; none at its end. */
SourceStatus
packed_read(PackedFile *packed, void *buffer, size_t length, int64 offset,
			size_t *got)
{
	int64		at = offset - packed->held_from;

	if (packed->held == NULL || at < 0 || at >= packed->held_length)
		return stream_read(&packed->stream, buffer, length, offset, got);
	*got = Min(length, (size_t) (packed->held_length - at));
	memcpy(buffer, packed->held + at, *got);
	return SOURCE_OK;
}

/* How long a record of a compressed file may be, bytes. */
size_t
packed_record_max(void)
{
	return (size_t) setting_compressed_memory * 1024;
}

/* Raises an ERROR if that is too long for a record. */
void
packed_check_record(const PackedFile *packed, int64 length)
{
	if (length > (int64) packed_record_max())
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a record of file \"%s\" is longer than %d kB",
						packed->filename, setting_compressed_memory),
				 errhint("If that is no mistake, raise tollfree_file_fdw.compressed_memory.")));
}

/* What is wrong, and where. */
static char *
describe_fault(const Stream *stream)
{
	const char *name = stream->codec->name;
	long long	at = stream->fault_at;

	switch (stream->fault)
	{
		case STREAM_FOREIGN:
			return psprintf("It does not begin as %s data do.", name);
		case STREAM_CORRUPT:
			return psprintf("Its %s data are not valid at byte %lld, or shortly before.",
							name, at);
		case STREAM_CUT:
			return psprintf("It ends at byte %lld, before its %s data do.", at, name);
		case STREAM_TRAILING:
			return psprintf("Something else than %s data begins at byte %lld.", name,
							at);
		case STREAM_TOO_LARGE:
			return psprintf("Its %s data at byte %lld need more than %d kB of memory.",
							name, at, setting_compressed_memory);
		case STREAM_NO_MEMORY:
		case STREAM_SOUND:
			break;
	}
	return psprintf("There is no memory for its %s data at byte %lld.", name, at);
}

/* What can be done about it. */
static const char *
find_remedy(StreamFault fault)
{
	switch (fault)
	{
		case STREAM_FOREIGN:
			return "Set the table's option \"compression\" to how the file is compressed, or to 'none'.";
		case STREAM_CUT:
			return "Wait until the file has been written to its end, or copy it again.";
		case STREAM_TRAILING:
			return "Remove what is behind the compressed data, or copy the file again.";
		case STREAM_TOO_LARGE:
			return "Raise tollfree_file_fdw.compressed_memory.";
		case STREAM_NO_MEMORY:
			return "Lower tollfree_file_fdw.compressed_memory, or have fewer sessions read such files.";
		case STREAM_CORRUPT:
		case STREAM_SOUND:
			break;
	}
	return "Copy the file again from where it was made.";
}

/* The SQLSTATE of a fault. */
static int
find_sqlstate(StreamFault fault)
{
	switch (fault)
	{
		case STREAM_TOO_LARGE:
			return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
		case STREAM_NO_MEMORY:
			return ERRCODE_OUT_OF_MEMORY;
		default:
			return ERRCODE_BAD_COPY_FILE_FORMAT;
	}
}

/* Raises the ERROR of what cannot be decompressed. */
void
packed_report(const Stream *stream, const char *filename)
{
	ereport(ERROR,
			(errcode(find_sqlstate(stream->fault)),
			 errmsg("could not decompress file \"%s\"", filename),
			 errdetail_internal("%s", describe_fault(stream)),
			 errhint("%s", find_remedy(stream->fault))));
}
