/*
 * analyze.c
 *	  ANALYZE of foreign tables: chooses the sample.
 *
 * One batch queries the size of the remote table, a second one that of its
 * partitions and children if there are any, and one the sample (sample.c).
 * The option analyze_sampling says which rows are sent:
 *
 *	off			all of them
 *	random		each with the same probability
 *	bernoulli	the same
 *	system		all rows of some blocks, by TABLESAMPLE
 *	auto		some rows of some blocks, as ANALYZE of a local table
 *	import		none: the remote server's own statistics, import_stats.c
 *
 * auto reads as many blocks as the sample has rows, and about one row of
 * each: rows of one block tend to be alike, so whole blocks would have too
 * few distinct values.  If reading all blocks takes no longer, auto is
 * bernoulli.
 *
 * random and bernoulli use a condition on a hash of ctid if the remote server
 * can execute it in parallel, and rows have a ctid that the user may read. In
 * one process TABLESAMPLE is faster: it reads only the rows it chooses, and
 * sends them in order, without ctid.
 *
 * If the remote user may not read a table's size, all rows are fetched, as
 * postgres_fdw does.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "common/pg_prng.h"
#include "foreign/foreign.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "analyze/analyze.h"
#include "base/settings.h"
#include "session/results.h"
#include "session/session.h"
#include "xact/transaction.h"

/* Blocks that are read to estimate how many rows a block has */
#define PROBE_BLOCKS 1000

/* The first version that has TABLESAMPLE */
#define TABLESAMPLE_VERSION 90500

/*
 * Costs of reading remotely, in units of about 40 ns.  Some blocks cost
 * something for each block, and for each row in it, since all of them pass
 * through the executor.  All blocks cost something for each block only: less
 * by a hash in three processes than by TABLESAMPLE in one.
 *
 * Fitted to the times of the queries with 7, 58 and 226 rows a block;
 * lab/benchmarks/analyze.py measures the result.
 */
#define SOME_BLOCK_COST 100
#define SOME_ROW_COST 1
#define ALL_BLOCK_HASH_COST 70
#define ALL_BLOCK_COST 110

/*
 * How much the number of rows may differ from the remote statistics: by this
 * share, or by this many standard deviations, whichever is more.
 */
#define ROWS_DOUBT 0.1
#define CHANCE 3

/* Size of a remote table, with its partitions */
typedef struct RemoteTable
{
	Oid			relid;			/* of the foreign table */
	bool		is_stored;		/* not a view, nor a foreign table */
	bool		can_sample;		/* by TABLESAMPLE */
	bool		by_hash;		/* are rows of all blocks chosen by a hash of
								 * ctid, which workers compute? */
	bool		has_parts;		/* are there partitions or children? */
	bool		is_known;		/* do statistics tell how many rows it has? */
	bool		has_jit;		/* does the remote server compile queries? */
	bool		is_hidden;		/* may the user read only the number of its
								 * blocks? */
	double		pages;
	double		rows;			/* 0 if not known, or if it is a view */
} RemoteTable;

/* Results of AnalyzeForeignTable; of RemoteTable, in TopMemoryContext */
static List *described = NIL;

/* Removes and returns the entry of a table; false if there is none. */
static bool
take_description(Oid relid, RemoteTable *table)
{
	ListCell   *cell;

	foreach(cell, described)
	{
		RemoteTable *known = lfirst(cell);

		if (known->relid == relid)
		{
			*table = *known;
			described = list_delete_cell(described, cell);
			pfree(known);
			return true;
		}
	}
	return false;
}

/* The session of the table's owner: ANALYZE runs as that user. */
static Session *
owners_session(Relation rel)
{
	return transaction_get_session(rel->rd_rel->relowner,
								   GetForeignServerIdByRelId(RelationGetRelid(rel)));
}

/*
 * Executes a query that returns one row of numbers; a NULL is 0. False if the
 * remote server refuses it.
 */
static bool
query_numbers(Session *session, const char *sql, double *answers, int nanswers)
{
	PGresult   *res = session_ask(session, sql);
	bool		fits = PQntuples(res) == 1 && PQnfields(res) == nanswers;

	for (int i = 0; fits && i < nanswers; i++)
		answers[i] = strtod(PQgetvalue(res, 0, i), NULL);
	PQclear(res);
	return fits;
}

/*
 * Queries only the number of a table's blocks, as postgres_fdw does, which
 * needs no right to read the catalogs.
 */
static RemoteTable
describe_hidden(Relation rel, Session *session)
{
	const char *sql = psprintf("SELECT pg_catalog.pg_relation_size(%s) / %d",
							   deparse_regclass(rel), BLCKSZ);
	RemoteCommand command = {.sql = sql,.shown = sql};
	PGresult   *res = session_execute(session, &command, 1, true);
	RemoteTable table = {.relid = RelationGetRelid(rel),.is_hidden = true};
	const char *pages = result_value(res);

	if (pages != NULL)
		table.pages = strtod(pages, NULL);
	PQclear(res);
	return table;
}

/* A number in the result of deparse_table's query; a NULL is 0. */
static double
number(const PGresult *res, TableColumn column)
{
	return strtod(PQgetvalue(res, 0, column), NULL);
}

/* A Boolean in that result; a NULL is false. */
static bool
is_yes(const PGresult *res, TableColumn column)
{
	return strcmp(PQgetvalue(res, 0, column), "t") == 0;
}

/*
 * How many blocks a table must have for the remote planner to give a scan of it two
 * workers at least, of those that a query may have; DBL_MAX if it never does.
 * The first is for the blocks of a setting, the second for three times as many.
 * One alone saves little more time than it takes to start.
 */
static double
blocks_for_workers(const PGresult *res)
{
	int			kilobytes;

	if (Min(number(res, TABLE_WORKERS), number(res, TABLE_GATHER_WORKERS)) < 2 ||
		!parse_int(PQgetvalue(res, 0, TABLE_SCAN_SIZE), &kilobytes, GUC_UNIT_KB,
				   NULL))
		return DBL_MAX;
	return 3 * Max(kilobytes * 1024.0 / number(res, TABLE_BLOCK_SIZE), 1);
}

/*
 * Takes a table's own blocks and rows from the result of deparse_table's
 * query.
 */
static void
take_size(RemoteTable *table, const PGresult *res)
{
	char		kind = *PQgetvalue(res, 0, TABLE_KIND);
	double		analyzed = number(res, TABLE_PAGES);
	double		rows = number(res, TABLE_ROWS);

	table->is_stored = kind == RELKIND_RELATION || kind == RELKIND_MATVIEW ||
		kind == RELKIND_PARTITIONED_TABLE;
	table->pages = floor(number(res, TABLE_SIZE) /
						 Max(number(res, TABLE_BLOCK_SIZE), 1));
	table->is_known = table->pages == 0 || (analyzed > 0 && rows >= 0);
	if (kind == RELKIND_FOREIGN_TABLE)
		table->rows = Max(rows, 0);
	else if (table->pages > 0 && analyzed > 0)
		table->rows = Max(rows, 0) / analyzed * table->pages;
}

/*
 * Queries the blocks and rows of a table with its children; false if refused.
 */
static bool
query_tree_size(RemoteTable *table, Relation rel, Session *session)
{
	double		answers[5];

	if (!query_numbers(session, deparse_tree_size(rel), answers, lengthof(answers)))
		return false;
	table->is_stored = answers[0] != 0;
	table->is_known = answers[1] != 0;
	table->pages = answers[2];
	table->rows = answers[3];
	table->has_parts = answers[4] > 1;
	return true;
}

/*
 * How many blocks the rows of a view or a remote foreign table would fill, by
 * the estimates of the remote planner; 0 if it refuses, as for a relation that
 * the user may not read.
 */
static double
explain_pages(Relation rel, Session *session)
{
	SamplePlan	everything = {.method = SAMPLING_OFF,.blocks = 1.0,.rows = 1.0};
	List	   *attrs;
	char	   *sql = psprintf("EXPLAIN %s", deparse_sample(rel, &everything, &attrs));
	PGresult   *res = session_ask(session, sql);
	const char *cost = PQntuples(res) > 0 && PQnfields(res) > 0 ?
		strstr(PQgetvalue(res, 0, 0), "(cost=") : NULL;
	double		rows = 0;
	int			width = 0;
	bool		fits = cost != NULL &&
		sscanf(cost, "(cost=%*f..%*f rows=%lf width=%d)", &rows, &width) == 2;

	if (res == NULL)
		return 0;
	PQclear(res);
	if (!fits)
		elog(ERROR, "unexpected answer from the remote server to: %s", sql);
	return Max(1, ceil(rows * (MAXALIGN(width) + MAXALIGN(SizeofHeapTupleHeader) +
							   sizeof(ItemIdData)) / BLCKSZ));
}

/*
 * Queries the size of a table. A remote view has no size, but gets an
 * estimated one if it is a child here: ANALYZE of the parent takes rows of
 * each child in proportion to its size.
 */
static RemoteTable
describe(Relation rel)
{
	Session    *session = owners_session(rel);
	int			version = PQserverVersion(session->conn);
	PGresult   *res = session_ask(session, deparse_table(rel, version));
	RemoteTable table = {.relid = RelationGetRelid(rel)};
	bool		has_result = PQntuples(res) == 1 && PQnfields(res) == NUM_TABLE_COLUMNS;
	bool		has_children = has_result && is_yes(res, TABLE_HAS_CHILDREN);
	bool		may_hash = has_result && is_yes(res, TABLE_MAY_HASH);
	double		hashed_blocks = DBL_MAX;

	if (has_result)
	{
		take_size(&table, res);
		table.has_jit = strcmp(PQgetvalue(res, 0, TABLE_JIT), "on") == 0;
		hashed_blocks = blocks_for_workers(res);
	}
	PQclear(res);
	if (!has_result || (has_children && !query_tree_size(&table, rel, session)))
		return describe_hidden(rel, session);
	if (!table.is_stored && has_superclass(RelationGetRelid(rel)))
		table.pages = explain_pages(rel, session);
	table.can_sample = table.is_stored && version >= TABLESAMPLE_VERSION;
	table.by_hash = table.is_stored && may_hash && table.pages >= hashed_blocks;
	return table;
}

/* Estimates a table's rows by counting those of some blocks; 0 if it cannot. */
static double
estimate_rows(Relation rel, const RemoteTable *table)
{
	double		share = Min(1.0, PROBE_BLOCKS / table->pages);
	double		rows;

	if (!table->can_sample ||
		!query_numbers(owners_session(rel), deparse_count(rel, share), &rows, 1))
		return 0;
	return rint(rows / share);
}

/* Is reading some blocks of a table cheaper than reading all of them? */
static bool
is_cheaper_by_blocks(const RemoteTable *table, int target)
{
	double		all = table->by_hash ? ALL_BLOCK_HASH_COST : ALL_BLOCK_COST;

	return table->pages > target &&
		target * (SOME_BLOCK_COST + SOME_ROW_COST * table->rows / table->pages) <
		all * table->pages;
}

/*
 * Plans the sample: all rows if there are no more than the sample's target, or
 * if their number is not known.
 */
static SamplePlan
plan_sample(SamplingMethod method, const RemoteTable *table, int target)
{
	SamplePlan	plan = {.method = method,.blocks = 1.0,.rows = 1.0};

	if (method == SAMPLING_AUTO)
	{
		if (!table->can_sample)
			plan.method = SAMPLING_RANDOM;
		else if (!is_cheaper_by_blocks(table, target))
			plan.method = SAMPLING_BERNOULLI;
	}
	if (table->rows <= target)
		plan.method = SAMPLING_OFF;
	plan.switches_jit = table->has_jit && plan.method != SAMPLING_OFF;

	switch (plan.method)
	{
		case SAMPLING_AUTO:
			plan.blocks = target / table->pages;
			/* Somewhat more than the target, since chance may yield fewer. */
			plan.rows = Min(1.0, (target + 3 * sqrt(target)) /
							(table->rows * plan.blocks));
			break;
		case SAMPLING_SYSTEM:
			plan.blocks = target / table->rows;
			break;
		case SAMPLING_RANDOM:
		case SAMPLING_BERNOULLI:
			plan.rows = target / table->rows;
			plan.by_hash = table->by_hash;
			plan.has_parts = table->has_parts;
			plan.seed = pg_prng_uint32(&pg_global_prng_state) & PG_INT32_MAX;
			break;
		default:
			break;
	}
	return plan;
}

/* Estimates the rows of the table from the rows received. */
static double
count_rows(const SamplePlan *plan, double seen)
{
	return rint(seen / (plan->blocks * plan->rows));
}

/*
 * Do the rows received differ from the remote statistics by more than chance?
 */
static bool
is_surprising(const RemoteTable *table, const SamplePlan *plan, double seen)
{
	double		expected = table->rows * plan->blocks * plan->rows;
	double		variance = 1 / expected;

	/* Rows of one block are chosen together: few blocks mean more variance. */
	if (plan->blocks < 1)
		variance += 1 / (table->pages * plan->blocks);
	return fabs(seen / expected - 1) > Max(ROWS_DOUBT, CHANCE * sqrt(variance));
}

/*
 * Imports the statistics of a table; otherwise reports the obstacle and
 * returns false.
 */
static bool
import(Relation rel, int elevel, const RemoteTable *table)
{
	const char *obstacle = table->is_hidden ? IMPORT_REFUSED
		: import_statistics(rel, owners_session(rel));

	settings_require(REQUIRE_IMPORT, obstacle == NULL);
	if (obstacle != NULL)
		ereport(NOTICE,
				(errmsg("statistics of foreign table \"%s\" are sampled, not imported",
						RelationGetRelationName(rel)),
				 errdetail_internal("%s", obstacle)));
	else
		ereport(elevel,
				(errmsg("\"%s\": table contains %.0f rows, its statistics are imported",
						RelationGetRelationName(rel), table->rows)));
	return obstacle == NULL;
}

/* Takes a sample by a method, in place of an earlier one. */
static void
take_sample(Sample *sample, SamplingMethod method, const RemoteTable *table)
{
	sample->plan = plan_sample(method, table, sample->target);
	sample_read(sample, owners_session(sample->rel));
}

/*
 * Samples the rows of a table by a method; again if the chosen blocks had no
 * row, or far fewer rows than the remote statistics say.  Corrects the number
 * of the table's rows.
 */
static void
sample_table(Sample *sample, SamplingMethod method, RemoteTable *table)
{
	const SamplePlan *plan = &sample->plan;

	if (method != SAMPLING_OFF && !table->is_known)
		table->rows = estimate_rows(sample->rel, table);
	take_sample(sample, method, table);

	/* If the table has few blocks, chance may have chosen none. */
	if (sample->nrows == 0 && plan->blocks < 1)
	{
		method = SAMPLING_BERNOULLI;
		take_sample(sample, method, table);
	}
	if (plan->method != SAMPLING_OFF &&
		!is_surprising(table, plan, sample->seen))
		return;
	table->rows = count_rows(plan, sample->seen);
	if (plan->method != SAMPLING_OFF && sample->seen < sample->target / 2)
	{
		take_sample(sample, method, table);
		table->rows = count_rows(plan, sample->seen);
	}
}

/*
 * AcquireSampleRowsFunc: samples the rows of a foreign table; returns their
 * number.  If that is 0 ANALYZE does not change the statistics, so imported
 * ones remain.
 */
static int
acquire_sample(Relation rel, int elevel, HeapTuple *rows, int target,
			   double *totalrows, double *totaldeadrows)
{
	SamplingMethod method = option_sampling_method(rel);
	Sample		sample = {.rel = rel,.rows = rows,.target = target};
	RemoteTable table;

	if (!take_description(RelationGetRelid(rel), &table))
		table = describe(rel);
	*totaldeadrows = 0;
	if (method == SAMPLING_IMPORT)
	{
		*totalrows = table.rows;
		if (import(rel, elevel, &table))
			return 0;
		method = SAMPLING_AUTO;
	}
	sample_table(&sample, method, &table);
	*totalrows = table.rows;

	ereport(elevel,
			(errmsg("\"%s\": table contains %.0f rows, %d rows in sample",
					RelationGetRelationName(rel), *totalrows, sample.nrows),
			 errdetail("The method was \"%s\"%s: %.4g%% of the blocks, %.4g%% of the rows in them.",
					   option_sampling_name(sample.plan.method),
					   sample.plan.by_hash ? ", by a hash of ctid" : "",
					   100 * sample.plan.blocks, 100 * sample.plan.rows)));
	return sample.nrows;
}

/* Sets the number of the table's blocks, and the function that samples it. */
bool
tollfreeAnalyzeForeignTable(Relation rel, AcquireSampleRowsFunc *func,
							BlockNumber *totalpages)
{
	RemoteTable table = describe(rel);
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	RemoteTable *known = palloc(sizeof(RemoteTable));
	RemoteTable former;

	(void) take_description(table.relid, &former);
	*known = table;
	described = lappend(described, known);
	MemoryContextSwitchTo(old);
	*func = acquire_sample;
	*totalpages = (BlockNumber) Min(table.pages, MaxBlockNumber);
	return true;
}
