/*
 * test_chunk.c
 *	  Random files, cut into chunks and into blocks of every size: whatever the
 *	  cut, the rows, their line numbers and the end are those of one scan by
 *	  the scalar kernel that has the whole file in its window.  Chunks are
 *	  read ahead or not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/chunk.h"
#include "core/simd/kernels.h"
#include "core/test/file.h"
#include "core/test/memory.h"
#include "core/test/random_file.h"
#include "core/test/show.h"
#include "core/test/tap.h"

#define FILES			600
#define CHUNKS_MAX		12
#define LARGE_BLOCK		((size_t) 64 << 10) /* more than any file */
#define BUFFER_SIZE		(2 * KERNEL_PADDING + 37)

/* Opens a scan of the file. */
static FileScan *
open_scan(const RandomFile *file, int fd, const Kernel *kernel,
		  size_t block_size, TestMemory *memory)
{
	FileScanOptions options = {
		.dialect = &file->dialect,
		.kernel = kernel,
		.columns = file->columns,
		.ncolumns = RANDOM_COLUMNS,
		.nfields = RANDOM_COLUMNS,
		.header = file->header,
		.block_size = block_size,
		.allocator = test_memory_allocator(memory)
	};
	SourceStatus status;

	return filescan_open(&options, fd, &status);
}

/* Shows the file as one scan has it; returns whether that ends well. */
static bool
show_whole(Shown *shown, const RandomFile *file, int fd, const Kernel *kernel,
		   size_t block_size)
{
	TestMemory	memory;
	FileScan   *scan = open_scan(file, fd, kernel, block_size, &memory);
	bool		ends_well;

	show_reset(shown);
	ends_well = show_scan(shown, scan);
	filescan_close(scan);
	return ends_well;
}

/* Cuts the file in one place, or in random ones if that is -1; returns the number of chunks. */
static int
cut(const ChunkLayout *layout, TestRandom *random, int64_t at,
	FileChunk *chunks)
{
	int64_t		length = layout->end - layout->begin;
	int			nchunks = (int) test_random_below(random, CHUNKS_MAX) + 1;
	int64_t		from = layout->begin;

	if (at >= 0)
	{
		chunks[0] = (FileChunk)
		{
			.from = from,.to = at
		};
		chunks[1] = (FileChunk)
		{
			.from = at,.to = layout->end
		};
		return 2;
	}
	for (int i = 0; i < nchunks; i++)
	{
		int64_t		to = i == nchunks - 1 ? layout->end :
			from + (int64_t) test_random_below(random, (unsigned) (length / nchunks * 2) + 1);

		chunks[i].from = from;
		chunks[i].to = to < layout->end ? to : layout->end;
		from = chunks[i].to;
	}
	return nchunks;
}

/* Takes the "end" off what one chunk's scan shows. */
static void
drop_end(Shown *shown)
{
	if (shown->length >= 3 && strcmp(shown->line + shown->length - 3, "end") == 0)
		shown->length -= 3;
}

/*
 * Reads a chunk, a little before and behind it, before it is scanned: is all
 * there, and does it count as when it was read bit by bit?
 */
static void
load_chunk(const RandomFile *file, FileScan *scan, const Kernel *kernel,
		   const ChunkLayout *layout, const FileChunk *chunk,
		   TestRandom *random)
{
	int64_t		before = chunk->from > 0 ? 1 : 0;
	int64_t		behind = (int64_t) test_random_below(random, 100);
	int64_t		to = chunk->to + behind < (int64_t) file->length ?
		chunk->to + behind : (int64_t) file->length;
	FileChunk	counted = *chunk;
	const unsigned char *bytes;

	if (filescan_load(scan, chunk->from - before, to, &bytes) != SCAN_AGAIN)
		TEST_OK(false, "a chunk is read");
	bytes += before;
	if (memcmp(bytes, file->bytes + chunk->from, (size_t) (to - chunk->from)) != 0)
		TEST_OK(false, "a chunk's bytes are those of the file");
	if (!chunk_needs_count(&file->dialect))
		return;
	chunk_count_bytes(kernel, layout, bytes, &counted);
	if (counted.count.quotes != chunk->count.quotes ||
		counted.count.line_ends != chunk->count.line_ends ||
		memcmp(counted.count.behind, chunk->count.behind,
			   sizeof(chunk->count.behind)) != 0)
		TEST_OK(false, "a chunk in memory counts as one that is read");
}

/* Shows the file as scans of its chunks have it; false: it cannot be cut. */
static bool
show_chunks(Shown *shown, const RandomFile *file, int fd,
			const Kernel *kernel, TestRandom *random, int64_t at)
{
	static unsigned char buffer[BUFFER_SIZE];
	TestMemory	memory;
	FileScan   *scan = open_scan(file, fd, kernel, 64, &memory);
	Source	   *source = filescan_source(scan);
	Allocator	allocator = {test_memory_resize, &memory};
	ChunkLayout layout;
	FileChunk	chunks[CHUNKS_MAX];
	ChunkState	state = {0};
	bool		cuts = chunk_layout(source, &file->dialect, file->header,
									&allocator, &layout);
	int			nchunks = cuts ? cut(&layout, random, at, chunks) : 0;

	show_reset(shown);
	for (int i = 0; i < nchunks; i++)
	{
		chunk_count(source, kernel, &layout, buffer, BUFFER_SIZE, &chunks[i]);
		if (i == 0)
			state.line = layout.line;
		chunk_resolve(&layout, &state, &chunks[i]);
	}
	for (int i = 0; i < nchunks; i++)
	{
		ScanRange	range;
		bool		empty;

		chunk_start(source, &layout, buffer, BUFFER_SIZE, &chunks[i], &range,
					&empty);
		if (test_random_below(random, 2) == 0)
			load_chunk(file, scan, kernel, &layout, &chunks[i], random);
		if (empty)
			continue;
		filescan_set_range(scan, &range);
		show_scan(shown, scan);
		drop_end(shown);
	}
	filescan_close(scan);
	return cuts;
}

/* The header is no part of any chunk. */
static const char *
behind_header(const Shown *shown)
{
	const char *text = shown->line;
	const char *record;

	while (strncmp(text, "header ", 7) == 0 &&
		   (record = strchr(text +7, ' ')) != NULL)
		text = record + 1;
	return text;
}

static void
test_chunks(void)
{
	TestRandom	random = {5};
	RandomFile	file = {0};
	Shown		whole = {0};
	Shown		chunks = {0};
	int			compared = 0;

	for (int i = 0; i < FILES; i++)
	{
		int			fd;

		random_file_make(&file, &random, test_random_below(&random, 3000) + 1, false);
		fd = test_file(file.bytes, file.length);
		if (show_whole(&whole, &file, fd, &scalar_kernel, 0) &&
			show_chunks(&chunks, &file, fd, kernel_find("auto"), &random,
						-1))
		{
			drop_end(&whole);
			whole.line[whole.length] = '\0';
			chunks.line[chunks.length] = '\0';
			compared++;
			if (strcmp(behind_header(&whole), chunks.line) != 0)
			{
				TEST_OK(false, "file %d in chunks", i);
				printf("#   whole  %.2000s\n#   chunks %.2000s\n",
					   behind_header(&whole), chunks.line);
			}
		}
		close(fd);
	}
	TEST_OK(compared > FILES / 2, "%d files in chunks", compared);
	random_file_free(&file);
	show_free(&whole);
	show_free(&chunks);
}

/*
 * Records with an escape that is not the quote, cut in two at each byte: behind
 * any number of escapes, in quotes and not.
 */
static void
test_every_cut(const Kernel *kernel, LineEnd line_end)
{
	static const char *const records[] = {
		"\"a\\\"b\",1,,", "\"\\\\\",2,,", "\\\\,3,,", "\"\\\\\\\",\\\n\",4,,",
		"x\"\n\"\\,5,,", "\"\\\\\\\\\",6,,", "\"\"\"\\\"\\\"\",7,,"
	};
	const char *end = line_end == LINE_END_NL ? "\n" : "\r\n";
	TestRandom	random = {7};
	RandomFile	file = {
		.dialect = {
			.format = FILE_FORMAT_CSV,.delimiter = ',',.quote = '"',
			.escape = '\\',.null = ""
		},
		.columns = {
			{.field = 0,.type = COLUMN_TEXT},
			{.field = 1,.type = COLUMN_INT4},
			{.field = 2,.type = COLUMN_NUMERIC,.precision = 6,.scale = 2},
			{.field = 3,.type = COLUMN_DATE}
		}
	};
	static char bytes[512];
	Shown		expected = {0};
	Shown		got = {0};
	int			agreed = 0;
	int			fd;

	for (int i = 0; i < 14; i++)
		file.length += (size_t) sprintf(bytes + file.length, "%s%s",
										records[(i * 3 + i / 7) % 7], end);
	file.bytes = (unsigned char *) bytes;
	fd = test_file(bytes, file.length);
	TEST_OK(show_whole(&expected, &file, fd, &scalar_kernel, 0),
			"%s: the escapes are plain, line end %d", kernel->name,
			(int) line_end);
	drop_end(&expected);
	expected.line[expected.length] = '\0';
	for (int64_t at = 0; at <= (int64_t) file.length; at++)
	{
		show_chunks(&got, &file, fd, kernel, &random, at);
		got.line[got.length] = '\0';
		agreed += strcmp(expected.line, got.line) == 0;
	}
	TEST_EQUAL(agreed, (int) file.length + 1, "%s: every cut, line end %d",
			   kernel->name, (int) line_end);
	close(fd);
	show_free(&expected);
	show_free(&got);
}

/* Every kernel with blocks of a random size, on files with mistakes too. */
static void
test_blocks(const Kernel *kernel)
{
	TestRandom	random = {6};
	RandomFile	file = {0};
	Shown		expected = {0};
	Shown		got = {0};
	int			well = 0;

	for (int i = 0; i < FILES; i++)
	{
		int			fd;

		random_file_make(&file, &random, test_random_below(&random, 5000), i % 2 == 0);
		fd = test_file(file.bytes, file.length);
		well += show_whole(&expected, &file, fd, &scalar_kernel, LARGE_BLOCK);
		show_whole(&got, &file, fd, kernel, test_random_below(&random, 300) + 1);
		if (expected.length != got.length ||
			memcmp(expected.line, got.line, got.length) != 0)
		{
			TEST_OK(false, "%s: file %d in blocks", kernel->name, i);
			printf("#   expected %.2000s\n#   got      %.2000s\n", expected.line,
				   got.line);
		}
		close(fd);
	}
	TEST_OK(well > FILES / 3 && well < FILES * 9 / 10,
			"%s: files in blocks, %d end well, %d do not", kernel->name, well,
			FILES - well);
	random_file_free(&file);
	show_free(&expected);
	show_free(&got);
}

/*
 * Records with all that can be cut in two, moved byte by byte over the end of
 * the first and second block.
 */
static void
test_every_boundary(const Kernel *kernel, LineEnd line_end)
{
	enum
	{
		BLOCK = 1024, AROUND = 64
	};
	static const char *const records[] = {
		"\"a,\"\"b\",-12,1.50,\"1996-03-13\"", "\303\251\342\202\254,,,",
		"\"x\ny\r\nz\",7,\"2.25\",2024-02-29"
	};
	const char *end = line_end == LINE_END_NL ? "\n" : "\r\n";
	RandomFile	file = {
		.dialect = {
			.format = FILE_FORMAT_CSV,.delimiter = ',',.quote = '"',.escape = '"',
			.null = ""
		},
		.columns = {
			{.field = 0,.type = COLUMN_TEXT},
			{.field = 1,.type = COLUMN_INT4},
			{.field = 2,.type = COLUMN_NUMERIC,.precision = 6,.scale = 2},
			{.field = 3,.type = COLUMN_DATE}
		}
	};
	static char bytes[4 * BLOCK];
	Shown		expected = {0};
	Shown		got = {0};
	int			agreed = 0;
	int			cases = 0;

	for (int blocks = 1; blocks <= 2; blocks++)
		for (int at = blocks * BLOCK - AROUND; at <= blocks * BLOCK + AROUND; at++)
		{
			int			length = 0;
			int			fd;

			memset(bytes, 'p', sizeof(bytes));
			length = at - 5 - (int) strlen(end);
			length += sprintf(bytes + length, ",1,,%s", end);
			for (int i = 0; i < 12; i++)
				length += sprintf(bytes + length, "%s%s", records[i % 3], end);
			fd = test_file(bytes, (size_t) length);
			show_whole(&expected, &file, fd, &scalar_kernel, LARGE_BLOCK);
			show_whole(&got, &file, fd, kernel, BLOCK);
			cases++;
			agreed += strcmp(expected.line, got.line) == 0 &&
				strstr(got.line, "end") != NULL;
			close(fd);
		}
	TEST_EQUAL(agreed, cases, "%s: every boundary, line end %d", kernel->name,
			   (int) line_end);
	show_free(&expected);
	show_free(&got);
}

/* What may be an end-of-data marker, and where it may be cut in two. */
static void
test_markers(void)
{
	static const struct
	{
		const char *bytes;
		char		before;
		bool		in_text;
		bool		in_csv;
	}			cases[] = {
		{"", '\n', false, false},
		{"\\", '\n', false, false},
		{".", '\\', false, false},
		{"\\.", '\n', true, true},
		{"\\.", '\r', true, true},
		{"\\.", 'a', true, false},
		{"\\\\.", '\n', false, false},
		{"\\\\\\.", '\n', true, false},
		{"a\\.b", '\n', true, false},
		{"a\n\\.b", '\n', true, true},
		{"\\\n\\.", 'a', true, true},
		{"\\\n\\\\.", 'a', false, false},
		{"a\\n\n.\\", '\n', false, false},
	};
	const Dialect text = {.format = FILE_FORMAT_TEXT};
	const Dialect csv = {.format = FILE_FORMAT_CSV,.marker_in_csv = true};
	const Dialect newer_csv = {.format = FILE_FORMAT_CSV};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		const unsigned char *bytes = (const unsigned char *) cases[i].bytes;
		size_t		length = strlen(cases[i].bytes);
		unsigned char before = (unsigned char) cases[i].before;

		TEST_OK(chunk_may_end(&text, before, bytes, length) == cases[i].in_text &&
				chunk_may_end(&csv, before, bytes, length) == cases[i].in_csv &&
				!chunk_may_end(&newer_csv, before, bytes, length),
				"marker %d", (int) i);
	}
}

/* How often somebody could have interrupted a read */
static int	checks = 0;

static void
count_check(void)
{
	checks++;
}

/*
 * Looks behind a chunk that ends in the second record of a file, for a marker at
 * an offset in that; at most so many bytes.
 */
static bool
may_end_behind(const Dialect *dialect, const char *marker, int at,
			   int64_t searched, int64_t *bytes_read)
{
	enum
	{
		BEGIN = 4
	};
	static unsigned char buffer[BUFFER_SIZE];
	static char bytes[1024];
	bool		is_csv = dialect->format == FILE_FORMAT_CSV;
	int			length = sprintf(bytes, "a\n%sx%*s%s%40s%s\n\\.\n",
								 is_csv ? "\"" : "x", at, "", marker, "",
								 is_csv ? "\"" : "");
	int			fd = test_file(bytes, (size_t) length);
	ChunkLayout layout = {
		.rules = structure_rules(dialect, LINE_END_NL),
		.line_end = LINE_END_NL,
		.end = length
	};
	FileChunk	behind = {
		.from = BEGIN,.to = BEGIN + searched < length ? BEGIN + searched : length,
		.in_quotes = is_csv
	};
	Source		source;

	source_open(&source, fd);
	source.check_interrupts = count_check;
	source.bytes_read = 0;
	if (chunk_search_behind(&source, dialect, &layout, buffer, BUFFER_SIZE,
							&behind) != SOURCE_OK)
		TEST_OK(false, "what is behind a chunk is read");
	*bytes_read = source.bytes_read;
	close(fd);
	return behind.may_end;
}

/* Markers behind a chunk, wherever the buffer cuts them in two. */
static void
test_behind(void)
{
	static const Dialect text = {.format = FILE_FORMAT_TEXT};
	static const Dialect csv = {
		.format = FILE_FORMAT_CSV,.quote = '"',.escape = '"',.marker_in_csv = true
	};
	static const Dialect newer_csv = {
		.format = FILE_FORMAT_CSV,.quote = '"',.escape = '"'
	};
	static const struct
	{
		const Dialect *dialect;
		const char *marker;
		bool		may_end;
	}			cases[] = {
		{&text, "", false},
		{&text, ".", false},
		{&text, "\\.", true},
		{&text, "\\\\.", false},
		{&text, "\\\\\\.", true},
		{&text, "\\\n\\.", true},
		{&text, "\\\n.", false},
		{&text, "\n\\.", false},
		{&csv, "\\.", false},
		{&csv, "\n\\.", true},
		{&csv, "\r\\.", true},
		{&csv, "\n\\\\.", false},
		{&csv, "\"\n\\.", false},
		{&newer_csv, "\n\\.", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		int			agreed = 0;
		int64_t		bytes_read;

		for (int at = 0; at < 200; at++)
			agreed += may_end_behind(cases[i].dialect, cases[i].marker, at,
									 INT64_MAX / 2, &bytes_read) == cases[i].may_end;
		TEST_EQUAL(agreed, 200, "marker %d behind a chunk", (int) i);
	}
}

/* No more is looked at than was said, and somebody may interrupt it. */
static void
test_behind_bounds(void)
{
	static const Dialect text = {.format = FILE_FORMAT_TEXT};
	int64_t		all;
	int64_t		bounded;

	checks = 0;
	TEST_OK(!may_end_behind(&text, "", 200, INT64_MAX / 2, &all),
			"a record without a marker");
	TEST_OK(checks >= 200 / (BUFFER_SIZE - 2 * KERNEL_PADDING),
			"each read can be interrupted");
	TEST_OK(may_end_behind(&text, "", 200, 50, &bounded),
			"what is not looked at may have a marker");
	TEST_OK(bounded < all && bounded < 50 + KERNEL_BLOCK,
			"%d bytes of %d are read", (int) bounded, (int) all);
	TEST_OK(!may_end_behind(&text, "\n", 10, 50, &bounded),
			"the record ends before that");
}

int
main(void)
{
	const Kernel *kernel;

	test_markers();
	test_behind();
	test_behind_bounds();
	test_chunks();
	for (int n = 0; (kernel = kernel_at(n)) != NULL; n++)
	{
		test_blocks(kernel);
		test_every_boundary(kernel, LINE_END_NL);
		test_every_boundary(kernel, LINE_END_CRNL);
		test_every_cut(kernel, LINE_END_NL);
		test_every_cut(kernel, LINE_END_CRNL);
	}
	return test_done();
}
