/*
 * sample.c
 *	  Parts of a file, to find out what is in it: all of a short one, else the
 *	  beginning, the middle and the end; of a compressed one the beginning.
 *
 * Each begins with a line, and ends with one unless the file ends there.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/fd.h"

#include "read/packed.h"
#include "sample.h"

/* A file up to that length is read whole; of a longer one as much in all, bytes */
#define SAMPLE_WHOLE (48 * 1024 * 1024)

static const char mark[] = "\xEF\xBB\xBF";

/* Raises the ERROR of a system call about a file. */
static void
report_file(const char *path, const char *what)
{
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not %s file \"%s\": %m", what, path)));
}

/* Opens a regular file, and sets its size; any other is an ERROR. */
static int
open_file(const char *path, off_t *size)
{
	int			fd = OpenTransientFile(path, O_RDONLY | O_NONBLOCK | PG_BINARY);
	struct stat state;

	if (fd < 0)
		report_file(path, "open");
	if (fstat(fd, &state) != 0)
		report_file(path, "stat");
	if (!S_ISREG(state.st_mode))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a regular file", path)));
	*size = state.st_size;
	return fd;
}

/* Reads bytes of a plain file; returns how many, which are fewer at its end. */
static size_t
read_plain(int fd, const char *path, unsigned char *bytes, size_t length, off_t offset)
{
	size_t		done = 0;

	while (done < length)
	{
		ssize_t		nread = pg_pread(fd, bytes + done, length - done, offset + done);

		CHECK_FOR_INTERRUPTS();
		if (nread < 0)
			report_file(path, "read");
		if (nread == 0)
			break;
		done += nread;
	}
	return done;
}

/* Reads the beginning of a compressed file's text; returns how many bytes. */
static size_t
read_packed(int fd, const char *path, FileCompression compression,
			unsigned char *bytes, size_t length)
{
	Source		source = {0};
	PackedFile *packed;
	size_t		done = 0;
	size_t		got = 1;

	if (source_open(&source, fd) != SOURCE_OK)
		report_file(path, "read");
	packed = packed_open(path, compression, &source);
	PG_TRY();
	{
		while (done < length && got > 0)
		{
			SourceStatus status = packed_read(packed, bytes + done, length - done,
											  done, &got);

			if (status == SOURCE_UNDECODABLE)
				packed_report(&packed->stream, path);
			if (status != SOURCE_OK)
				ereport(ERROR,
						(errcode(ERRCODE_OBJECT_IN_USE),
						 errmsg("file \"%s\" could not be read, or was changed meanwhile",
								path)));
			done += got;
		}
	}
	PG_FINALLY();
	{
		packed_close(packed);
	}
	PG_END_TRY();
	return done;
}

/* Adds a piece, without what is before its first line or behind its last one. */
static void
add_piece(FileSample *sample, const unsigned char *bytes, size_t length,
		  bool at_begin, bool at_end)
{
	if (!at_begin)
	{
		const unsigned char *newline = memchr(bytes, '\n', length);
		size_t		before = newline == NULL ? length : newline + 1 - bytes;

		bytes += before;
		length -= before;
	}
	while (!at_end && length > 0 && bytes[length - 1] != '\n')
		length--;
	sample->pieces[sample->npieces++] = (SniffPiece)
	{
		bytes, length, at_end
	};
}

/* Reads the pieces of a plain file. */
static void
read_pieces(FileSample *sample, int fd, const char *path, off_t size)
{
	size_t		length = SAMPLE_WHOLE / SAMPLE_PIECES;

	sample->is_whole = size <= SAMPLE_WHOLE;
	if (sample->is_whole)
		length = size;
	for (int i = 0; i < (sample->is_whole ? 1 : SAMPLE_PIECES); i++)
	{
		off_t		offset = i == 0 ? 0 : i == 1 ? size / 2 : size - length;
		unsigned char *bytes = palloc(length + 1);
		size_t		nread = read_plain(fd, path, bytes, length, offset);

		add_piece(sample, bytes, nread, i == 0, offset + length == size);
	}
}

/* Reads parts of a file, in the current memory context. */
FileSample
sample_read(const char *path)
{
	FileSample	sample = {.compression = codec_by_suffix(path)};
	off_t		size;
	int			fd = open_file(path, &size);

	if (sample.compression == COMPRESSION_NONE)
		read_pieces(&sample, fd, path, size);
	else
	{
		unsigned char *bytes = palloc(SAMPLE_WHOLE);
		size_t		nread = read_packed(fd, path, sample.compression, bytes,
										SAMPLE_WHOLE);

		sample.is_whole = nread < SAMPLE_WHOLE;
		add_piece(&sample, bytes, nread, true, sample.is_whole);
	}
	CloseTransientFile(fd);
	if (sample.pieces[0].length >= strlen(mark) &&
		memcmp(sample.pieces[0].bytes, mark, strlen(mark)) == 0)
	{
		sample.has_mark = true;
		sample.pieces[0].bytes += strlen(mark);
		sample.pieces[0].length -= strlen(mark);
	}
	return sample;
}
