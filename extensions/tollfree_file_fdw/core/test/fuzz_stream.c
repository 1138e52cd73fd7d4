/*
 * fuzz_stream.c
 *	  A fuzz target: any bytes as a compressed file, of a kind chosen by the
 *	  first one.
 *
 * A quarter of the files begin with a whole gzip member, so that what is behind
 * one is met, and a quarter are whole files of which some bytes are replaced.
 * Reading by other pieces has to come to the same, and so has reading by a map of
 * the members, if the file has one and it holds.
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

/* Reads all of a file; by a map of its members unless that is NULL. */
static void
read_all(Reading *reading, const Codec *codec, int fd, size_t piece,
		 const MemberMap *map)
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
	if (map != NULL)
		stream_use_map(&stream, map);
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
		length = (size_t) ((data[0] & 1 ? stored_write : stored_write_sized)
						   (file, data, data[2] % size) - file);
	}
	memcpy(file + length, data + 2, size - 2);
	return length + size - 2;
}

/* What is read by the map without a fault is what is read without it. */
static void
check_map(const Reading *one, const Codec *codec, int fd, int64_t apart)
{
	static Reading mapped;
	TestMemory	memory;
	Allocator	allocator = test_memory_allocator(&memory);
	Source		source;
	MemberMap	map;

	if (source_open(&source, fd) != SOURCE_OK)
		abort();
	if (members_find(&map, codec, &source, apart, &allocator) != MEMBERS_FOUND)
		return;
	if (members_text_length(&map) < (int64_t) TEXT_MAX / 2)
	{
		read_all(&mapped, codec, fd, 1000, &map);
		if (mapped.is_whole &&
			(!one->is_whole || one->length != mapped.length ||
			 memcmp(one->text, mapped.text, mapped.length) != 0))
			abort();
	}
	members_free(&map, &allocator);
	if (memory.held != 0)
		abort();
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
	read_all(&one, codec, fd, 65536, NULL);
	read_all(&other, codec, fd, (size_t) data[1] + 1, NULL);
	check_map(&one, codec, fd, data[1] % 50);
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
