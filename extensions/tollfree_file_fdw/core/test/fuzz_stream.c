/*
 * fuzz_stream.c
 *	  A fuzz target: any bytes as a compressed file, of a kind chosen by the
 *	  first one.
 *
 * A quarter of the files begin with a whole gzip member, so that what is behind
 * one is met, and a quarter are whole files of which some bytes are replaced.
 * Reading by other pieces has to come to the same.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/stream.h"
#include "core/test/compressed.h"
#include "core/test/file.h"
#include "core/test/memory.h"
#include "core/test/stored.h"

#define TEXT_MAX ((size_t) 4 << 20)
#define MEMORY ((size_t) 1 << 20)

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Reading
{
	bool		is_whole;
	size_t		length;
	unsigned char text[TEXT_MAX];
} Reading;

static void
read_all(Reading *reading, const Codec *codec, int fd, size_t piece)
{
	TestMemory	memory;
	Allocator	allocator = test_memory_allocator(&memory);
	Source		source;
	Stream		stream;
	SourceStatus status;
	size_t		got = 0;

	if (source_open(&source, fd) != SOURCE_OK ||
		!stream_open(&stream, codec, &source, MEMORY, &allocator))
		abort();
	reading->length = 0;
	do
	{
		status = stream_read(&stream, reading->text +reading->length, piece,
							 (int64_t) reading->length, &got);
		reading->length += got;
	} while (status == SOURCE_OK && got > 0 && reading->length + piece <= TEXT_MAX);
	reading->is_whole = status == SOURCE_OK;
	if (status == SOURCE_UNDECODABLE &&
		(stream.fault == STREAM_SOUND || stream.fault_at > source.size))
		abort();
	stream_close(&stream);
	if (memory.held != 0)
		abort();
}

/* A whole file of that kind, with bytes replaced: pairs of a place and a byte. */
static size_t
replaced(unsigned char *file, FileCompression kind, const uint8_t *pairs, size_t size)
{
	const CompressedFile *whole = compressed_files;

	while (whole->compression != kind)
		whole++;
	memcpy(file, whole->bytes, whole->length);
	for (size_t i = 0; i + 1 < size; i += 2)
		file[pairs[i] % whole->length] = pairs[i + 1];
	return whole->length;
}

/* Makes a file of the bytes, as the first one says; returns its length. */
static size_t
make_file(unsigned char *file, const Codec **codec, const uint8_t *data, size_t size)
{
	FileCompression kind = (FileCompression) (1 + data[0] % (COMPRESSION_KINDS - 1));
	size_t		length = 0;

	*codec = codec_of(kind);
	if (data[0] >= 0xc0)
		return replaced(file, kind, data + 2, size - 2);
	if (data[0] >= 0x80)
	{
		*codec = &gzip_codec;
		length = (size_t) (stored_write(file, data, data[2] % size) - file);
	}
	memcpy(file + length, data + 2, size - 2);
	return length + size - 2;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static Reading one;
	static Reading other;
	unsigned char file[8192];
	const Codec *codec;
	size_t		length;
	size_t		shorter;
	int			fd;

	if (size < 3 || size > sizeof(file) / 2)
		return 0;
	length = make_file(file, &codec, data, size);
	if (!codec_is_built(codec))
		return 0;
	fd = test_file(file, length);
	read_all(&one, codec, fd, 65536);
	read_all(&other, codec, fd, (size_t) data[1] + 1);
	close(fd);
	shorter = one.length < other.length ? one.length : other.length;
	if (memcmp(one.text, other.text, shorter) != 0)
		abort();
	if (shorter < TEXT_MAX - 65536 &&
		(one.is_whole != other.is_whole ||
		 (one.is_whole && one.length != other.length)))
		abort();
	return 0;
}
