/*
 * bench_core.c
 *	  The rates of every kernel over TPC-H's lineitem in text format.
 *
 *		bench_core /path/to/lineitem.tbl
 *
 * Everything runs in one thread, each step of each kernel a few times in turn;
 * the best of them is shown, in GB of the file for each second of processor
 * time, the system's included.  The first steps work on the
 * first megabytes in memory; the last ones read the whole file by pread, which
 * should be in the page cache.  They are the loops that a query runs, without
 * PostgreSQL around them.
 *
 * Times are no assertions: nothing fails because it is slow.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/filescan.h"
#include "core/test/memory.h"

#define ROUNDS			5
#define IN_MEMORY		((size_t) 1 << 20)
#define REPEATS			40
#define RECORDS_MAX		4096

typedef struct BenchState
{
	const Kernel *kernel;
	int			fd;
	int64_t		size;			/* bytes of the file */
	unsigned char *bytes;		/* the first of them, padded */
	Structure	structure;
	int64_t		result;			/* so that nothing is optimised away */
} BenchState;

/* Returns how many bytes were worked on. */
typedef int64_t (*BenchStep) (BenchState *state);

static const Dialect dialect = {
	.format = FILE_FORMAT_TEXT,
	.delimiter = '|',
	.null = "\\N",
	.null_length = 2
};

static const ColumnSpec lineitem[] = {
	{.field = 0,.type = COLUMN_INT8},
	{.field = 1,.type = COLUMN_INT4},
	{.field = 2,.type = COLUMN_INT4},
	{.field = 3,.type = COLUMN_INT4},
	{.field = 4,.type = COLUMN_NUMERIC,.precision = 15,.scale = 2},
	{.field = 5,.type = COLUMN_NUMERIC,.precision = 15,.scale = 2},
	{.field = 6,.type = COLUMN_NUMERIC,.precision = 15,.scale = 2},
	{.field = 7,.type = COLUMN_NUMERIC,.precision = 15,.scale = 2},
	{.field = 8,.type = COLUMN_BPCHAR,.max_chars = 1},
	{.field = 9,.type = COLUMN_BPCHAR,.max_chars = 1},
	{.field = 10,.type = COLUMN_DATE},
	{.field = 11,.type = COLUMN_DATE},
	{.field = 12,.type = COLUMN_DATE},
	{.field = 13,.type = COLUMN_BPCHAR,.max_chars = 25},
	{.field = 14,.type = COLUMN_BPCHAR,.max_chars = 10},
	{.field = 15,.type = COLUMN_TEXT,.max_chars = 44}
};

/* dbgen ends its lines in a delimiter, which makes one field more. */
#define LINEITEM_FIELDS		17

static double
now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static void
fail(const char *what)
{
	perror(what);
	exit(1);
}

/*------------------------------------------------------------------------
 * Steps in memory
 *------------------------------------------------------------------------
 */

static int64_t
bench_count(BenchState *state)
{
	StructureRules rules = structure_rules(&dialect, LINE_END_NL);
	StructureCount count;

	structure_count_begin(&count, false);
	for (int i = 0; i < REPEATS; i++)
		state->kernel->count_structure(&rules, state->bytes, IN_MEMORY, &count);
	state->result += (int64_t) count.line_ends;
	return (int64_t) IN_MEMORY * REPEATS;
}

static int64_t
bench_structure(BenchState *state)
{
	StructureRules rules = structure_rules(&dialect, LINE_END_NL);
	int64_t		done = 0;

	for (int i = 0; i < REPEATS; i++)
		for (size_t from = 0; from < IN_MEMORY; from += state->structure.scanned)
		{
			state->kernel->find_structure(&rules, state->bytes + from,
										  IN_MEMORY - from, &state->structure);
			done += (int64_t) state->structure.scanned;
			state->result += state->structure.positions[0];
		}
	return done;
}

static int64_t
bench_utf8(BenchState *state)
{
	for (int i = 0; i < REPEATS; i++)
		state->result += (int64_t) state->kernel->check_utf8(state->bytes,
															 IN_MEMORY);
	return (int64_t) IN_MEMORY * REPEATS;
}

/*------------------------------------------------------------------------
 * Steps over the file
 *------------------------------------------------------------------------
 */

static int64_t
bench_read(BenchState *state)
{
	int64_t		done = 0;
	ssize_t		n;

	while ((n = pread(state->fd, state->bytes, SCAN_BLOCK_DEFAULT, done)) > 0)
		done += n;
	return done;
}

/* Scans the file for some columns; what becomes of a batch is the caller's. */
static int64_t
bench_scan(BenchState *state, const ColumnSpec *columns, int ncolumns,
		   void (*take) (BenchState *state, const RowBatch *batch))
{
	TestMemory	memory;
	FileScanOptions options = {
		.dialect = &dialect,
		.kernel = state->kernel,
		.columns = columns,
		.ncolumns = ncolumns,
		.nfields = LINEITEM_FIELDS,
		.allocator = test_memory_allocator(&memory)
	};
	SourceStatus status;
	FileScan   *scan = filescan_open(&options, state->fd, &status);
	ScanStatus	scanned = SCAN_AGAIN;
	RowBatch   *batch;

	while (scanned == SCAN_AGAIN || scanned == SCAN_BATCH)
	{
		scanned = filescan_next(scan, &batch);
		if (scanned == SCAN_BATCH)
			take(state, batch);
	}
	if (scanned != SCAN_END)
	{
		fprintf(stderr, "the scan ended with status %d at offset %lld\n",
				(int) scanned, (long long) filescan_handover(scan)->offset);
		exit(1);
	}
	filescan_close(scan);
	return state->size;
}

static void
take_nothing(BenchState *state, const RowBatch *batch)
{
	state->result += batch->nrows;
}

static int64_t
bench_no_columns(BenchState *state)
{
	return bench_scan(state, NULL, 0, take_nothing);
}

static int64_t
bench_all_columns(BenchState *state)
{
	return bench_scan(state, lineitem, 16, take_nothing);
}

static int64_t
bench_q6_columns(BenchState *state)
{
	const ColumnSpec columns[] = {
		lineitem[4], lineitem[5], lineitem[6], lineitem[10]
	};

	return bench_scan(state, columns, 4, take_nothing);
}

/*------------------------------------------------------------------------
 * Running
 *------------------------------------------------------------------------
 */

static const struct
{
	const char *name;
	BenchStep	step;
}			steps[] =

{
	{"count line ends", bench_count},
	{"structure", bench_structure},
	{"UTF-8", bench_utf8},
	{"pread alone", bench_read},
	{"scan, no columns", bench_no_columns},
	{"scan, Q6's 4 columns", bench_q6_columns},
	{"scan, all 16 columns", bench_all_columns}
};

#define NSTEPS	((int) (sizeof(steps) / sizeof(steps[0])))

static void
bench_open(BenchState *state, const char *path)
{
	state->fd = open(path, O_RDONLY);
	if (state->fd < 0)
		fail(path);
	state->size = lseek(state->fd, 0, SEEK_END);
	state->bytes = malloc(IN_MEMORY + 2 * KERNEL_PADDING);
	state->structure.max_positions = RECORDS_MAX * LINEITEM_FIELDS;
	state->structure.max_records = 1024;
	state->structure.positions = malloc((RECORDS_MAX * LINEITEM_FIELDS + KERNEL_BLOCK) * 4);
	state->structure.ends = malloc((RECORDS_MAX + KERNEL_BLOCK) * 4);
	if (state->bytes == NULL || state->structure.positions == NULL ||
		state->structure.ends == NULL)
		fail("memory");
	state->bytes += KERNEL_PADDING;
}

int
main(int argc, char **argv)
{
	static double best[NSTEPS][8];
	BenchState	state = {0};
	int			nkernels;

	if (argc != 2)
	{
		fprintf(stderr, "usage: %s /path/to/lineitem.tbl\n", argv[0]);
		return 2;
	}
	bench_open(&state, argv[1]);
	for (nkernels = 0; kernel_at(nkernels) != NULL; nkernels++);

	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < NSTEPS; i++)
			for (int n = 0; n < nkernels; n++)
			{
				double		seconds;
				double		rate;

				if (pread(state.fd, state.bytes, IN_MEMORY, 0) < (ssize_t) IN_MEMORY)
					fail("a file of at least a megabyte is needed");
				state.kernel = kernel_at(n);
				seconds = now_seconds();
				rate = (double) steps[i].step(&state);
				rate /= (now_seconds() - seconds) * 1e9;
				if (rate > best[i][n])
					best[i][n] = rate;
			}

	printf("GB/s, best of %d%22s", ROUNDS, "");
	for (int n = 0; n < nkernels; n++)
		printf("%10s", kernel_at(n)->name);
	for (int i = 0; i < NSTEPS; i++)
	{
		printf("\n%-36s", steps[i].name);
		for (int n = 0; n < nkernels; n++)
			printf("%10.2f", best[i][n]);
	}
	printf("\n");
	return state.result == 0;
}
