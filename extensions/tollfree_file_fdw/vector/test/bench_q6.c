/*
 * bench_q6.c
 *	  TPC-H's queries 6 and 1 over lineitem in text format, without PostgreSQL
 *	  around them.
 *
 *		bench_q6 /path/to/lineitem.tbl
 *
 * Each kernel in turn scans the file by pread, converts and checks the columns
 * that the query refers to in every row, filters and aggregates.  Shown are the
 * results, which do not depend on the kernel, and the best of a few rounds in
 * processor time, the system's included.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/filescan.h"
#include "core/test/memory.h"
#include "vector/aggregate.h"

#define ROUNDS			5
#define LINEITEM_FIELDS	17		/* dbgen ends its lines in a delimiter */
#define DAY_1994		(-2191) /* days from 2000-01-01 */
#define DAY_1995		(-1826)
#define DAY_1998_09_02	(-486)

typedef struct BenchQuery
{
	const char *name;
	const ColumnSpec *columns;
	int			ncolumns;
	FilterNode *filter;
	const int  *keys;
	int			nkeys;
	const AggregateSpec *specs;
	int			nspecs;
} BenchQuery;

static const Dialect dialect = {
	.format = FILE_FORMAT_TEXT,
	.delimiter = '|',
	.null = "\\N",
	.null_length = 2
};

/*------------------------------------------------------------------------
 * The queries
 *------------------------------------------------------------------------
 */

/* Columns: quantity, extendedprice, discount, tax, returnflag, linestatus, shipdate */
static const ColumnSpec q1_columns[] = {
	{.field = 4,.type = COLUMN_NUMERIC,.precision = 15,.scale = 2},
	{.field = 5,.type = COLUMN_NUMERIC,.precision = 15,.scale = 2},
	{.field = 6,.type = COLUMN_NUMERIC,.precision = 15,.scale = 2},
	{.field = 7,.type = COLUMN_NUMERIC,.precision = 15,.scale = 2},
	{.field = 8,.type = COLUMN_BPCHAR,.max_chars = 1},
	{.field = 9,.type = COLUMN_BPCHAR,.max_chars = 1},
	{.field = 10,.type = COLUMN_DATE}
};
static const ColumnSpec q6_columns[] = {
	{.field = 4,.type = COLUMN_NUMERIC,.precision = 15,.scale = 2},
	{.field = 5,.type = COLUMN_NUMERIC,.precision = 15,.scale = 2},
	{.field = 6,.type = COLUMN_NUMERIC,.precision = 15,.scale = 2},
	{.field = 10,.type = COLUMN_DATE}
};

static FilterValue q1_day = {.integer = DAY_1998_09_02};
static FilterNode q1_filter = {
	.kind = FILTER_COMPARE,.op = FILTER_LE,.column = 6,
	.values = &q1_day,.nvalues = 1
};
static const int q1_keys[] = {4, 5};
static Arithmetic quantity = {
	.nsteps = 1,.steps = {{.op = ARITHMETIC_COLUMN,.column = 0}}
};
static Arithmetic price = {
	.nsteps = 1,.steps = {{.op = ARITHMETIC_COLUMN,.column = 1}}
};
static Arithmetic discount = {
	.nsteps = 1,.steps = {{.op = ARITHMETIC_COLUMN,.column = 2}}
};
static Arithmetic discounted = {
	.nsteps = 5,
	.steps = {
		{.op = ARITHMETIC_COLUMN,.column = 1},
		{.op = ARITHMETIC_CONSTANT,.constant = 1},
		{.op = ARITHMETIC_COLUMN,.column = 2},
		{.op = ARITHMETIC_SUBTRACT,.type = COLUMN_NUMERIC},
		{.op = ARITHMETIC_MULTIPLY,.type = COLUMN_NUMERIC}
	}
};
static Arithmetic charged = {
	.nsteps = 9,
	.steps = {
		{.op = ARITHMETIC_COLUMN,.column = 1},
		{.op = ARITHMETIC_CONSTANT,.constant = 1},
		{.op = ARITHMETIC_COLUMN,.column = 2},
		{.op = ARITHMETIC_SUBTRACT,.type = COLUMN_NUMERIC},
		{.op = ARITHMETIC_MULTIPLY,.type = COLUMN_NUMERIC},
		{.op = ARITHMETIC_CONSTANT,.constant = 1},
		{.op = ARITHMETIC_COLUMN,.column = 3},
		{.op = ARITHMETIC_ADD,.type = COLUMN_NUMERIC},
		{.op = ARITHMETIC_MULTIPLY,.type = COLUMN_NUMERIC}
	}
};
static const AggregateSpec q1_specs[] = {
	{.kind = AGGREGATE_SUM,.argument = &quantity},
	{.kind = AGGREGATE_SUM,.argument = &price},
	{.kind = AGGREGATE_SUM,.argument = &discounted},
	{.kind = AGGREGATE_SUM,.argument = &charged},
	{.kind = AGGREGATE_SUM,.argument = &discount},
	{.kind = AGGREGATE_COUNT_ROWS}
};

static FilterValue q6_values[] = {
	{.integer = DAY_1994}, {.integer = DAY_1995},
	{.integer = 5,.scale = 2}, {.integer = 7,.scale = 2}, {.integer = 24}
};
static FilterNode q6_conditions[] = {
	{.op = FILTER_GE,.column = 3,.values = &q6_values[0],.nvalues = 1},
	{.op = FILTER_LT,.column = 3,.values = &q6_values[1],.nvalues = 1},
	{.op = FILTER_GE,.column = 2,.values = &q6_values[2],.nvalues = 1},
	{.op = FILTER_LE,.column = 2,.values = &q6_values[3],.nvalues = 1},
	{.op = FILTER_LT,.column = 0,.values = &q6_values[4],.nvalues = 1}
};
static FilterNode *q6_children[] = {
	&q6_conditions[0], &q6_conditions[1], &q6_conditions[2],
	&q6_conditions[3], &q6_conditions[4]
};
static FilterNode q6_filter = {
	.kind = FILTER_AND,.children = q6_children,.nchildren = 5
};
static Arithmetic q6_revenue = {
	.nsteps = 3,
	.steps = {
		{.op = ARITHMETIC_COLUMN,.column = 1},
		{.op = ARITHMETIC_COLUMN,.column = 2},
		{.op = ARITHMETIC_MULTIPLY,.type = COLUMN_NUMERIC}
	}
};
static const AggregateSpec q6_specs[] = {
	{.kind = AGGREGATE_SUM,.argument = &q6_revenue},
	{.kind = AGGREGATE_COUNT_ROWS}
};

static const BenchQuery queries[] = {
	{"Q6", q6_columns, 4, &q6_filter, NULL, 0, q6_specs, 2},
	{"Q1", q1_columns, 7, &q1_filter, q1_keys, 2, q1_specs, 6}
};

/*------------------------------------------------------------------------
 * Running them
 *------------------------------------------------------------------------
 */

static double
now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static void
stop_if(bool stops, const char *what)
{
	if (!stops)
		return;
	fprintf(stderr, "bench_q6: %s\n", what);
	exit(1);
}

static Aggregation *
run_query(const BenchQuery *query, const Kernel *kernel, int fd,
		  const Allocator *allocator)
{
	FileScanOptions options = {
		.dialect = &dialect,
		.kernel = kernel,
		.columns = query->columns,
		.ncolumns = query->ncolumns,
		.nfields = LINEITEM_FIELDS,
		.allocator = *allocator
	};
	AggregateOptions aggregates = {
		.columns = query->columns,
		.ncolumns = query->ncolumns,
		.keys = query->keys,
		.nkeys = query->nkeys,
		.specs = query->specs,
		.nspecs = query->nspecs,
		.max_memory = (size_t) 1 << 20,
		.allocator = *allocator
	};
	const char *unsupported;
	Aggregation *aggregation = aggregate_open(&aggregates, &unsupported);
	SourceStatus opened;
	FileScan   *scan = filescan_open(&options, fd, &opened);
	ScanStatus	status = SCAN_AGAIN;
	RowBatch   *batch;

	stop_if(aggregation == NULL || scan == NULL, "cannot begin");
	while (status == SCAN_AGAIN || status == SCAN_BATCH)
	{
		RowBitmap	selected = {0};

		status = filescan_next(scan, &batch);
		if (status != SCAN_BATCH)
			continue;
		filter_run(query->filter, batch, 0, bitmap_words(batch->nrows), &selected);
		stop_if(aggregate_add(aggregation, batch, &selected) != AGGREGATE_OK,
				"an aggregate cannot be computed");
	}
	stop_if(status != SCAN_END, "this is no lineitem.tbl");
	filescan_close(scan);
	return aggregation;
}

static void
show_results(const BenchQuery *query, const Aggregation *aggregation)
{
	for (int group = 0; group < aggregate_ngroups(aggregation); group++)
	{
		printf("%s ", query->name);
		for (int key = 0; key < query->nkeys; key++)
			printf(" %c", aggregate_key(aggregation, group, key).text.bytes[0]);
		for (int i = 0; i < query->nspecs; i++)
		{
			const AggregateState *state = aggregate_state(aggregation, group, i);

			if (query->specs[i].kind == AGGREGATE_SUM)
				printf(" %lld", (long long) state->u.sum);
			else
				printf(" %lld", (long long) state->count);
		}
		printf("\n");
	}
}

static void
bench_query(const BenchQuery *query, int fd)
{
	double		best[8] = {0};
	const Kernel *kernel;

	stop_if(query->filter != NULL &&
			filter_prepare(query->filter, query->columns, query->ncolumns,
						   FILE_ENCODING_UTF8) != NULL, "cannot filter");
	for (int round = 0; round < ROUNDS; round++)
		for (int n = 0; (kernel = kernel_at(n)) != NULL; n++)
		{
			TestMemory	memory;
			Allocator	allocator = test_memory_allocator(&memory);
			double		begin = now_seconds();
			Aggregation *aggregation = run_query(query, kernel, fd, &allocator);
			double		seconds = now_seconds() - begin;

			if (best[n] == 0 || seconds < best[n])
				best[n] = seconds;
			if (round == 0 && n == 0)
				show_results(query, aggregation);
			aggregate_close(aggregation);
		}
	for (int n = 0; (kernel = kernel_at(n)) != NULL; n++)
		printf("%s  %-8s %7.3f s  %5.2f GB/s\n", query->name, kernel->name, best[n],
			   (double) lseek(fd, 0, SEEK_END) / best[n] / 1e9);
}

int
main(int argc, char **argv)
{
	int			fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;

	stop_if(fd < 0, "usage: bench_q6 /path/to/lineitem.tbl");
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
		bench_query(&queries[i], fd);
	return 0;
}
