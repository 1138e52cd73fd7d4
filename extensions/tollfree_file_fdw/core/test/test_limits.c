/*
 * test_limits.c
 *	  Files that change while they are read, that are larger than 4 GB or have
 *	  very long fields; and memory that runs out at every single request.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/filescan.h"
#include "core/source.h"
#include "core/test/file.h"
#include "core/test/memory.h"
#include "core/test/show.h"
#include "core/test/tap.h"

#define ROWS			20000
#define VERIFICATIONS	20000
#define LONG_FIELD		((size_t) 40 << 20)
#define FAR_AWAY		((int64_t) 5 << 30)

static const Dialect dialect = {
	.format = FILE_FORMAT_CSV,
	.delimiter = ',',
	.quote = '"',
	.escape = '"',
	.null = ""
};

static const ColumnSpec columns[] = {
	{.field = 0,.type = COLUMN_INT4}, {.field = 1,.type = COLUMN_TEXT}
};

static FileScan *
open_scan(int fd, TestMemory *memory, SourceStatus *status)
{
	FileScanOptions options = {
		.dialect = &dialect,
		.kernel = kernel_find("auto"),
		.columns = columns,
		.ncolumns = 2,
		.nfields = 2,
		.block_size = 1000,
		.allocator = {test_memory_resize, memory}
	};

	return filescan_open(&options, fd, status);
}

/* Reads on to the end; returns how it is, and adds the rows that came. */
static ScanStatus
read_on(FileScan *scan, int64_t *rows)
{
	RowBatch   *batch;
	ScanStatus	status;

	do
	{
		status = filescan_next(scan, &batch);
		if (status == SCAN_BATCH)
			*rows += batch->nrows;
	} while (status == SCAN_BATCH || status == SCAN_AGAIN);
	return status;
}

/* Returns a file of ROWS rows. */
static int
rows_file(void)
{
	char	   *bytes = malloc((size_t) ROWS * 16);
	size_t		length = 0;
	int			fd;

	for (int i = 0; i < ROWS; i++)
		length += (size_t) sprintf(bytes + length, "%d,\"r\"\"%d\"\n", i, i % 7);
	fd = test_file(bytes, length);
	free(bytes);
	return fd;
}

/*------------------------------------------------------------------------
 * Files that change
 *------------------------------------------------------------------------
 */

static void
truncate_file(int fd)
{
	if (ftruncate(fd, 5000) != 0)
		perror("# ftruncate");
}

static void
append_to_file(int fd)
{
	if (pwrite(fd, "1,x\n", 4, lseek(fd, 0, SEEK_END)) != 4)
		perror("# pwrite");
}

/* What was its last line is another one. */
static void
write_over_file(int fd)
{
	if (pwrite(fd, "x\"\n1,x\n", 7, lseek(fd, -3, SEEK_END)) != 7)
		perror("# pwrite");
}

static void
write_into_file(int fd)
{
	if (pwrite(fd, "9", 1, 100) != 1)
		perror("# pwrite");
}

/* As above, but with the old modification time. */
static void
write_secretly(int fd)
{
	struct stat before;
	struct timespec times[2];

	fstat(fd, &before);
	write_into_file(fd);
	times[0] = before.st_atim;
	times[1] = before.st_mtim;
	if (futimens(fd, times) != 0)
		perror("# futimens");
}

static void
change_mode(int fd)
{
	if (fchmod(fd, S_IRUSR) != 0)
		perror("# fchmod");
}

static void
test_change(void (*change) (int fd), ScanStatus expected, const char *name)
{
	TestMemory	memory = {.fail_after = -1};
	int			fd = rows_file();
	SourceStatus opened;
	FileScan   *scan = open_scan(fd, &memory, &opened);
	int64_t		rows = 0;
	RowBatch   *batch;

	while (filescan_next(scan, &batch) != SCAN_BATCH);

	/* Clocks of files may be coarse. */
	usleep(20000);
	change(fd);
	TEST_EQUAL(read_on(scan, &rows), expected, "%s", name);
	TEST_EQUAL(filescan_next(scan, &batch), expected, "%s: it stays so", name);
	filescan_restart(scan);
	TEST_EQUAL(read_on(scan, &rows), expected, "%s: and after a restart", name);
	filescan_close(scan);
	close(fd);
}

/*
 * A file that another process appends to, byte by byte, has grown or is as it
 * was, at whatever moment that is asked.
 */
static void
test_growing(void)
{
	int			fd = test_file("begun\n", 6);
	int			wrong = 0;
	int			grown = 0;
	pid_t		writer = fork();

	while (writer == 0)
	{
		if (pwrite(fd, "x", 1, lseek(fd, 0, SEEK_END)) != 1)
			_exit(EXIT_FAILURE);
	}
	for (int i = 0; i < VERIFICATIONS; i++)
	{
		Source		source;
		SourceStatus status = source_open(&source, fd);

		for (int j = 0; j < 5 && status == SOURCE_OK; j++)
			status = source_verify(&source);
		grown += status == SOURCE_GROWN;
		wrong += status != SOURCE_GROWN && status != SOURCE_OK;
	}
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	TEST_EQUAL(wrong, 0, "a file that grows is never taken for a changed one");
	TEST_OK(grown > 0, "it was seen to grow");
	close(fd);
}

static void
test_not_regular(void)
{
	TestMemory	memory = {.fail_after = -1};
	int			fd = open("/dev/null", O_RDONLY);
	SourceStatus status;

	TEST_OK(open_scan(fd, &memory, &status) == NULL, "a device is refused");
	TEST_EQUAL(status, SOURCE_NOT_REGULAR, "and the reason given");
	close(fd);
	fd = open("/proc/self/status", O_RDONLY);
	TEST_OK(open_scan(fd, &memory, &status) == NULL,
			"a file that claims to be empty is refused");
	TEST_EQUAL(status, SOURCE_NOT_REGULAR, "and the reason given");
	close(fd);
	TEST_OK(open_scan(fd, &memory, &status) == NULL, "a closed file is refused");
	TEST_EQUAL(status, SOURCE_FAILED, "and the reason given");
	TEST_EQUAL(memory.held, 0, "no memory is held");
}

/*------------------------------------------------------------------------
 * Sizes
 *------------------------------------------------------------------------
 */

/* Memory is bounded by the longest record, not by the file. */
static void
test_long_field(void)
{
	TestMemory	memory = {.fail_after = -1};
	char	   *bytes = malloc(LONG_FIELD + 100);
	size_t		length = (size_t) sprintf(bytes, "1,x\n2,\"");
	SourceStatus opened;
	FileScan   *scan;
	RowBatch   *batch;
	int64_t		rows = 0;
	int			fd;

	memset(bytes + length, '\n', LONG_FIELD);
	length += LONG_FIELD;
	length += (size_t) sprintf(bytes + length, "\"\n3,y\n");
	fd = test_file(bytes, length);
	free(bytes);
	scan = open_scan(fd, &memory, &opened);
	while (filescan_next(scan, &batch) != SCAN_BATCH);
	do
		rows += filescan_next(scan, &batch) == SCAN_BATCH;
	while (rows == 0);
	TEST_EQUAL(batch->columns[1].values.texts[0].length, LONG_FIELD,
			   "a field of %zu bytes", LONG_FIELD);
	TEST_EQUAL(filescan_line(scan, 0), LONG_FIELD + 2, "and as many lines");
	TEST_OK(memory.peak < 4 * LONG_FIELD, "memory: %zu", memory.peak);
	filescan_close(scan);
	close(fd);
}

static void
test_bounded_memory(void)
{
	TestMemory	memory = {.fail_after = -1};
	int			fd = rows_file();
	SourceStatus opened;
	FileScan   *scan = open_scan(fd, &memory, &opened);
	int64_t		rows = 0;
	size_t		before = memory.held;

	TEST_EQUAL(read_on(scan, &rows), SCAN_END, "a file of many blocks");
	TEST_EQUAL(rows, ROWS, "has all its rows");
	TEST_OK(memory.peak < before + ((size_t) 300 << 10), "memory: %zu", memory.peak);
	filescan_close(scan);
	close(fd);
}

/* A record that is longer than it may be is handed over. */
static void
test_too_long(void)
{
	TestMemory	memory;
	const char *file = "1,x\n2,yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\n";
	FileScanOptions options = {
		.dialect = &dialect,
		.kernel = kernel_find("auto"),
		.nfields = 2,
		.block_size = 8,
		.max_record = 16,
		.allocator = test_memory_allocator(&memory)
	};
	int			fd = test_file(file, strlen(file));
	SourceStatus status;
	FileScan   *scan = filescan_open(&options, fd, &status);
	Shown		shown = {0};

	show_scan(&shown, scan);
	TEST_OK(strcmp(shown.line, "1: handover 7 at 4 line 1") == 0, "%s",
			shown.line);
	show_free(&shown);
	filescan_close(scan);
	close(fd);
}

/* Rows behind 4 GB, in a file that is a hole up to there. */
static void
test_far_away(void)
{
	TestMemory	memory = {.fail_after = -1};
	const ScanRange range = {
		.offset = FAR_AWAY,.end = INT64_MAX,.line = FAR_AWAY,
		.line_end = LINE_END_NL
	};
	int			fd = test_file("", 0);
	SourceStatus opened;
	FileScan   *scan;
	Shown		shown = {0};

	if (pwrite(fd, "1,x\n2,y\n\377", 9, FAR_AWAY) != 9)
	{
		test_skip("files larger than 4 GB: cannot be made here");
		close(fd);
		return;
	}
	scan = open_scan(fd, &memory, &opened);
	filescan_set_range(scan, &range);
	show_scan(&shown, scan);
	TEST_OK(strcmp(shown.line, "5368709121:1|x 5368709122:2|y "
				   "handover 1 at 5368709128 line 5368709122") == 0,
			"%s", shown.line);
	show_free(&shown);
	filescan_close(scan);
	close(fd);
}

/* Each request for memory fails once; all that was taken comes back. */
static void
test_every_failure(void)
{
	int			fd = rows_file();
	int64_t		requests = 0;
	bool		done = false;

	for (; !done && requests < 1000; requests++)
	{
		TestMemory	memory = {.fail_after = requests};
		SourceStatus opened;
		FileScan   *scan = open_scan(fd, &memory, &opened);
		int64_t		rows = 0;
		ScanStatus	status = scan == NULL ? SCAN_NO_MEMORY : read_on(scan, &rows);

		done = status == SCAN_END;
		if (!done)
			TEST_EQUAL(status, SCAN_NO_MEMORY, "request %d fails", (int) requests);
		if (scan != NULL)
			filescan_close(scan);
		TEST_EQUAL(memory.held, 0, "all memory is back");
	}
	TEST_OK(done && requests > 5, "until none does");
	close(fd);
}

int
main(void)
{
	test_change(truncate_file, SCAN_TRUNCATED, "a file is truncated");
	test_change(append_to_file, SCAN_END, "a file grows");
	test_change(write_over_file, SCAN_CHANGED, "a longer file is written over it");
	test_change(write_into_file, SCAN_CHANGED, "a file is written to");
	test_change(write_secretly, SCAN_CHANGED, "a file is written to in secret");
	test_change(change_mode, SCAN_END, "a file gets other rights");
	test_growing();
	test_not_regular();
	test_bounded_memory();
	test_long_field();
	test_too_long();
	test_far_away();
	test_every_failure();
	return test_done();
}
