/*
 * test_stream.c
 *	  Compressed files: members, what may be behind them, and every way to be
 *	  cut or wrong.
 *
 * Codecs whose library the build lacks are left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/filescan.h"
#include "core/stream.h"
#include "core/test/compressed.h"
#include "core/test/file.h"
#include "core/test/memory.h"
#include "core/test/show.h"
#include "core/test/stored.h"
#include "core/test/tap.h"

#define NFILES (sizeof(compressed_files) / sizeof(compressed_files[0]))
#define MEMORY ((size_t) 64 << 20)
#define TEXT_MAX ((size_t) 1 << 20)

/* What reading a file to its end or a fault comes to. */
typedef struct Outcome
{
	SourceStatus status;
	StreamFault fault;
	int64_t		fault_at;
	size_t		length;			/* of the text */
	unsigned char text[TEXT_MAX];
} Outcome;

static Outcome outcome;

/* Reads all of a file by pieces of that size. */
static void
read_all(const Codec *codec, const void *bytes, size_t length, size_t piece)
{
	TestMemory	memory;
	Allocator	allocator = test_memory_allocator(&memory);
	int			fd = test_file(bytes, length);
	Source		source;
	Stream		stream;
	size_t		got;

	if (source_open(&source, fd) != SOURCE_OK ||
		!stream_open(&stream, codec, &source, MEMORY, &allocator))
		abort();
	outcome.length = 0;
	do
	{
		if (piece > TEXT_MAX - outcome.length)
			piece = TEXT_MAX - outcome.length;
		outcome.status = stream_read(&stream, outcome.text +outcome.length,
									 piece, (int64_t) outcome.length, &got);
		outcome.length += got;
	} while (outcome.status == SOURCE_OK && got > 0);
	outcome.fault = stream.fault;
	outcome.fault_at = stream.fault_at;
	stream_close(&stream);
	stream_close(&stream);
	close(fd);
	TEST_EQUAL(memory.held, 0, "%s: all memory is given back", codec->name);
}

static bool
has_text(const void *text, size_t length)
{
	return outcome.length == length && memcmp(outcome.text, text, length) == 0;
}

/* Is the text what is expected, or its beginning? */
static bool
begins_text(const char *text)
{
	return outcome.length <= strlen(text) &&
		memcmp(outcome.text, text, outcome.length) == 0;
}

static void
test_members(const CompressedFile *file, const Codec *codec)
{
	for (size_t piece = 1; piece < 40; piece++)
	{
		read_all(codec, file->bytes, file->length, piece);
		TEST_OK(outcome.status == SOURCE_OK &&
				has_text(COMPRESSED_TEXT, strlen(COMPRESSED_TEXT)),
				"%s: two members by pieces of %zu", codec->name, piece);
	}
}

/* Of a file that is cut anywhere, only what ends with a member is whole. */
static void
test_cut(const CompressedFile *file, const Codec *codec)
{
	for (size_t length = 0; length < file->length; length++)
	{
		bool		is_whole = length == file->first ||
			length == file->first + file->skipped;

		read_all(codec, file->bytes, length, 7);
		TEST_OK(begins_text(COMPRESSED_TEXT), "%s: text of %zu bytes",
				codec->name, length);
		if (is_whole)
			TEST_OK(outcome.status == SOURCE_OK &&
					has_text(COMPRESSED_FIRST, strlen(COMPRESSED_FIRST)),
					"%s: one member", codec->name);
		else
			TEST_OK(outcome.status == SOURCE_UNDECODABLE &&
					outcome.fault == STREAM_CUT &&
					outcome.fault_at == (int64_t) length,
					"%s: cut at %zu: %d, %d at %lld", codec->name, length,
					(int) outcome.status, (int) outcome.fault,
					(long long) outcome.fault_at);
	}
}

/* A wrong bit is found, or of no account. */
static void
test_wrong_bits(const CompressedFile *file, const Codec *codec)
{
	char		bytes[512];

	for (size_t bit = 0; bit < file->length * 8; bit++)
	{
		memcpy(bytes, file->bytes, file->length);
		bytes[bit / 8] ^= (char) (1 << bit % 8);
		read_all(codec, bytes, file->length, 11);
		TEST_OK(outcome.status == SOURCE_UNDECODABLE ?
				outcome.fault_at <= (int64_t) file->length :
				has_text(COMPRESSED_TEXT, strlen(COMPRESSED_TEXT)),
				"%s: bit %zu", codec->name, bit);
	}
}

static void
test_behind(const CompressedFile *file, const Codec *codec)
{
	char		bytes[2048] = {0};

	memcpy(bytes, file->bytes, file->length);
	read_all(codec, bytes, sizeof(bytes), 9);
	TEST_OK(outcome.status == SOURCE_OK &&
			has_text(COMPRESSED_TEXT, strlen(COMPRESSED_TEXT)),
			"%s: zeros behind the last member", codec->name);

	memcpy(bytes + 1024, file->bytes, file->length);
	read_all(codec, bytes, sizeof(bytes), 9);
	TEST_OK(codec->may_be_padded ?
			outcome.status == SOURCE_OK &&
			has_text(COMPRESSED_TEXT COMPRESSED_TEXT,
					 2 * strlen(COMPRESSED_TEXT)) :
			outcome.fault == STREAM_TRAILING && outcome.fault_at == 1024,
			"%s: zeros between members", codec->name);

	bytes[file->length] = 'x';
	read_all(codec, bytes, file->length + 1, 9);
	TEST_OK(outcome.fault == STREAM_TRAILING &&
			outcome.fault_at == (int64_t) file->length &&
			has_text(COMPRESSED_TEXT, strlen(COMPRESSED_TEXT)),
			"%s: something else behind it", codec->name);

	read_all(codec, "plain|1\n", 8, 9);
	TEST_OK(outcome.fault == STREAM_FOREIGN && outcome.fault_at == 0,
			"%s: plain text", codec->name);
}

/* Reading at any place, also before the last. */
static void
test_places(const CompressedFile *file, const Codec *codec)
{
	TestMemory	memory;
	Allocator	allocator = test_memory_allocator(&memory);
	TestRandom	random = {1};
	int			fd = test_file(file->bytes, file->length);
	Source		source;
	Stream		stream;

	source_open(&source, fd);
	if (!stream_open(&stream, codec, &source, MEMORY, &allocator))
		abort();
	for (int i = 0; i < 200; i++)
	{
		const char *text = COMPRESSED_TEXT;
		char		buffer[8];
		size_t		from = test_random_below(&random, (unsigned) strlen(text) + 3);
		size_t		left = from < strlen(text) ? strlen(text) - from : 0;
		size_t		got;

		if (!TEST_EQUAL(stream_read(&stream, buffer, sizeof(buffer),
									(int64_t) from, &got),
						SOURCE_OK, "%s: read at %zu", codec->name, from))
			break;
		TEST_OK(got == (left < sizeof(buffer) ? left : sizeof(buffer)) &&
				memcmp(buffer, text +from, got) == 0,
				"%s: text at %zu", codec->name, from);
	}
	stream_close(&stream);
	close(fd);
}

/* A frame of zstd that says it has 256 bytes of text, and has none. */
static void
test_wrong_length(void)
{
	const char	frame[] = "\x28\xb5\x2f\xfd\x40\x26\0\0\x01\0";

	for (size_t piece = 1; piece < 1000; piece = piece * 3 + 1)
	{
		read_all(&zstd_codec, frame, sizeof(frame), piece);
		TEST_OK(outcome.fault == STREAM_CORRUPT && outcome.length == 0,
				"zstd: a wrong length by pieces of %zu", piece);
	}
}

/*
 * Five bytes of text, and then a copy from before the text: only of the five
 * anything is returned.
 */
static void
test_copy_from_nowhere(void)
{
	const char	member[] = "\x1f\x8b\x08\0\0\0\0\0\0\x03"
		"\xe3\x4a\x4c\x9f\x1a\0\x1f\x1f\x8b\x08\0\0\0\0\0\0"
		"\x03\xe3\x4c\x4a\x1a\x9f\0\x40\x60\0\x02\0\0\0\x2a\x20\x95\x1a\x58";

	for (size_t piece = 1; piece < 1000; piece = piece * 3 + 1)
	{
		read_all(&gzip_codec, member, sizeof(member), piece);
		TEST_OK(outcome.fault == STREAM_CORRUPT && outcome.length <= 5 &&
				memcmp(outcome.text, "\nag\x95P", outcome.length) == 0,
				"gzip: a copy from nowhere by pieces of %zu: %zu bytes",
				piece, outcome.length);
	}
}

/* Many members, longer and shorter than what is read at once. */
static void
test_long_file(void)
{
	TestRandom	random = {2};
	unsigned char *text = malloc(TEXT_MAX);
	unsigned char *file = malloc(4 * TEXT_MAX);
	unsigned char *to = file;
	size_t		length = 0;

	if (text == NULL || file == NULL)
		abort();
	for (size_t i = 0; i < TEXT_MAX; i++)
		text[		i] = (unsigned char) test_random(&random);

	while (length < TEXT_MAX - 200000)
	{
		unsigned	part = test_random_below(&random, 20) == 0 ?
			test_random_below(&random, 200000) : test_random_below(&random, 50);

		to = stored_write(to, text +length, part);
		length += part;
	}
	for (size_t piece = 1000; piece < 400000; piece = piece * 3 + 1)
	{
		read_all(&gzip_codec, file, (size_t) (to - file), piece);
		TEST_OK(outcome.status == SOURCE_OK && has_text(text, length),
				"many members by pieces of %zu", piece);
	}
	free(text);
	free(file);
}

/* A scan of the text, which is of unknown length. */
static void
scan_text(Shown *shown, const char *text, int nfields, size_t block_size)
{
	const ColumnSpec columns[] = {{.type = COLUMN_TEXT}, {.field = 1,.type = COLUMN_TEXT}};
	const Dialect dialect = {.delimiter = '|',.null = "\\N",.null_length = 2};
	TestMemory	memory;
	FileScanOptions options = {
		.dialect = &dialect,
		.kernel = kernel_find("auto"),
		.columns = columns,
		.ncolumns = nfields,
		.nfields = nfields,
		.block_size = block_size,
		.allocator = test_memory_allocator(&memory)
	};
	unsigned char file[4096];
	size_t		length = (size_t) (stored_write(file, text, strlen(text)) - file);
	int			fd = test_file(file, length);
	SourceStatus status;
	Source		source;
	Stream		stream;
	FileScan   *scan;

	source_open(&source, fd);
	if (!stream_open(&stream, &gzip_codec, &source, MEMORY, &options.allocator))
		abort();
	source.stream = &stream;
	options.source = &source;
	scan = filescan_open(&options, fd, &status);
	show_reset(shown);
	show_scan(shown, scan);
	TEST_EQUAL(filescan_source(scan)->bytes_decoded, strlen(text), "bytes of text");
	TEST_EQUAL(filescan_source(scan)->bytes_read, source.bytes_read + (int64_t) length,
			   "bytes of the file");
	filescan_close(scan);
	stream_close(&stream);
	close(fd);
}

static void
test_scan(const char *text, int nfields, const char *expected)
{
	static Shown shown;

	for (size_t block_size = SCAN_BLOCK_MIN; block_size < 5000; block_size *= 2)
	{
		scan_text(&shown, text, nfields, block_size);
		TEST_OK(strcmp(shown.line, expected) == 0, "%s: %s", expected, shown.line);
	}
}

static void
test_scans(void)
{
	test_scan("", 2, "end");
	test_scan("a|b\nc|d\n", 2, "1:a|b 2:c|d end");
	test_scan("a|b\nc|d", 2, "1:a|b 2:c|d end");
	test_scan("a|b", 2, "1:a|b end");
	test_scan("a|b\r\nc|d", 2, "1:a|b 2:c|d end");
	test_scan("a|b\nc\n", 2, "1:a|b handover 3 at 4 line 1");
	test_scan("a|b\n\\.\nc\n", 2, "1:a|b end");
	test_scan("a\nb", 1, "1:a 2:b end");
	test_scan("a|b\rc|d\r", 2, "handover 2 at 0 line 0");
}

static void
test_suffixes(void)
{
	TEST_EQUAL(codec_by_suffix("/data/a.csv.gz"), COMPRESSION_GZIP, "gz");
	TEST_EQUAL(codec_by_suffix("/data/A.CSV.GZ"), COMPRESSION_GZIP, "GZ");
	TEST_EQUAL(codec_by_suffix("a.zst"), COMPRESSION_ZSTD, "zst");
	TEST_EQUAL(codec_by_suffix("a.lz4"), COMPRESSION_LZ4, "lz4");
	TEST_EQUAL(codec_by_suffix("a.bz2"), COMPRESSION_BZ2, "bz2");
	TEST_EQUAL(codec_by_suffix("a.xz"), COMPRESSION_XZ, "xz");
	TEST_EQUAL(codec_by_suffix("a.gz.csv"), COMPRESSION_NONE, "in the middle");
	TEST_EQUAL(codec_by_suffix(".gz"), COMPRESSION_NONE, "nothing before it");
	TEST_EQUAL(codec_by_suffix("gz"), COMPRESSION_NONE, "no point");
}

int
main(void)
{
	test_suffixes();
	for (size_t i = 0; i < NFILES; i++)
	{
		const CompressedFile *file = &compressed_files[i];
		const Codec *codec = codec_of(file->compression);

		if (!codec_is_built(codec))
		{
			test_skip(codec->package);
			continue;
		}
		test_members(file, codec);
		test_cut(file, codec);
		test_wrong_bits(file, codec);
		test_behind(file, codec);
		test_places(file, codec);
	}
	if (codec_is_built(&zstd_codec))
		test_wrong_length();
	if (codec_is_built(&gzip_codec))
	{
		test_copy_from_nowhere();
		test_long_file();
		test_scans();
	}
	return test_done();
}
