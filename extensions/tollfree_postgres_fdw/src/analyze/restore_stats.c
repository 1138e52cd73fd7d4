/*
 * restore_stats.c
 *	  postgres_fdw's import of statistics, new in PostgreSQL 19, over our
 *	  connection.
 *
 * The option is import_stats; betas of 19 name it restore_stats, and both names
 * are understood (base/options.c).  ANALYZE calls this before it samples rows, and
 * imports the remote statistics, stale or not, as postgres_fdw does: one query reads
 * the sizes and the columns' statistics, and PostgreSQL's own functions store
 * them.  If something cannot be imported, the warning is that of
 * postgres_fdw, and the table is sampled.
 *
 * analyze_sampling 'import' (import_stats.c) works on all majors, and only
 * imports what is not out of date.  It does nothing where this option decides.
 */
#include "postgres.h"

#include "analyze/analyze.h"

#if PG_VERSION_NUM >= 190000

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "pgstat.h"
#include "statistics/statistics.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/options.h"
#include "session/session.h"
#include "wire/rows.h"
#include "xact/transaction.h"

/* The first versions that tell an empty table from one never analyzed, and that
 * have statistics of ranges */
#define KNOWS_ANALYZED 140000
#define HAS_RANGES 170000

/* The columns of the remote query's result; from NULL_FRAC on in the order of
 * import_attribute_statistics's parameters */
enum
{
	PAGES,
	TUPLES,
	KIND,
	NAME,
	COMMON_ELEMENTS = END_OF_STATISTICS,
	COMMON_ELEMENT_FREQUENCIES,
	ELEMENT_COUNTS,
	RANGE_LENGTHS,
	RANGE_EMPTY_FRAC,
	RANGE_BOUNDS,
	NUM_COLUMNS
};

/* How the columns from NULL_FRAC on are read */
static const Oid column_types[NUM_COLUMNS] = {
	[NULL_FRAC] = FLOAT4OID,[AVG_WIDTH] = INT4OID,[N_DISTINCT] = FLOAT4OID,
	[COMMON_VALUES] = TEXTOID,[COMMON_FREQUENCIES] = FLOAT4ARRAYOID,
	[BOUNDS] = TEXTOID,[CORRELATION] = FLOAT4OID,
	[COMMON_ELEMENTS] = TEXTOID,
	[COMMON_ELEMENT_FREQUENCIES] = FLOAT4ARRAYOID,
	[ELEMENT_COUNTS] = FLOAT4ARRAYOID,[RANGE_LENGTHS] = TEXTOID,
	[RANGE_EMPTY_FRAC] = FLOAT4OID,[RANGE_BOUNDS] = TEXTOID
};

/* One column of the ANALYZE command */
typedef struct WantedColumn
{
	AttrNumber	attnum;
	const char *remote;			/* its name there */
	int			row;			/* of the result; -1 if it has none */
} WantedColumn;

/* What is to be imported */
typedef struct Restoration
{
	Relation	rel;
	const char *local;			/* "schema.table" for messages */
	const char *schema;			/* remote */
	const char *table;
	int			ncolumns;
	WantedColumn *columns;		/* in the order of their remote names */
	int			version;		/* of the remote server */
	const PGresult *res;
	double		tuples;			/* as the remote server has it */
} Restoration;

static int
compare_columns(const void *x, const void *y)
{
	return strcmp(((const WantedColumn *) x)->remote,
				  ((const WantedColumn *) y)->remote);
}

/* Is a column in ANALYZE's list?  No list is all. */
static bool
is_listed(List *names, const char *name)
{
	ListCell   *cell;

	foreach(cell, names)
	{
		if (strcmp(strVal(lfirst(cell)), name) == 0)
			return true;
	}
	return names == NIL;
}

/* Finds the columns to be analyzed. */
static void
find_columns(Restoration *restored, List *names)
{
	TupleDesc	desc = RelationGetDescr(restored->rel);

	restored->columns = palloc_array(WantedColumn, Max(desc->natts, 1));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (!is_listed(names, NameStr(attribute->attname)) ||
			!attribute_is_analyzable(restored->rel, attribute->attnum, attribute, NULL))
			continue;
		restored->columns[restored->ncolumns++] = (WantedColumn)
		{
			.attnum = attribute->attnum,
				.remote = deparse_column_name(restored->rel, attribute->attnum),
				.row = -1
		};
	}
	qsort(restored->columns, restored->ncolumns, sizeof(WantedColumn),
		  compare_columns);
}

/* The remote query: a row for each column that has statistics, or one. */
static char *
statistics_sql(const Restoration *restored)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql,
					 "SELECT c.relpages, c.reltuples, c.relkind, s.*"
					 " FROM pg_catalog.pg_class c LEFT JOIN"
					 " (SELECT DISTINCT ON (attname COLLATE \"C\") attname,"
					 " " STATISTICS_COLUMNS ", most_common_elems, most_common_elem_freqs,"
					 " elem_count_histogram, %s FROM pg_catalog.pg_stats"
					 " WHERE schemaname = %s AND tablename = %s"
					 " AND attname = ANY (ARRAY[",
					 restored->version < HAS_RANGES ? "NULL, NULL, NULL" :
					 "range_length_histogram, range_empty_frac, range_bounds_histogram",
					 quote_literal_cstr(restored->schema),
					 quote_literal_cstr(restored->table));
	for (int i = 0; i < restored->ncolumns; i++)
		appendStringInfo(&sql, "%s%s", i > 0 ? ", " : "",
						 quote_literal_cstr(restored->columns[i].remote));
	appendStringInfo(&sql,
					 "]::pg_catalog.name[])"
					 " ORDER BY attname COLLATE \"C\", inherited DESC) s ON true"
					 " WHERE c.oid = %s", deparse_regclass(restored->rel));
	return sql.data;
}

/* Warns that a table's statistics are not imported, and why; false. */
static bool
refuse(const Restoration *restored, const char *reason)
{
	ereport(WARNING,
			(errmsg("could not import statistics for foreign table \"%s\" --- %s",
					restored->local, reason)));
	return false;
}

/* Finds the columns' rows; false with a warning if one has none. */
static bool
match_columns(Restoration *restored)
{
	const PGresult *res = restored->res;

	if (restored->ncolumns > 0 && PQgetisnull(res, 0, NAME))
		return refuse(restored,
					  psprintf("remote table \"%s.%s\" has no attribute statistics to import",
							   restored->schema, restored->table));
	for (int i = 0; i < restored->ncolumns; i++)
	{
		WantedColumn *column = &restored->columns[i];

		for (int row = 0; row < PQntuples(res) && column->row < 0; row++)
		{
			if (strcmp(PQgetvalue(res, row, NAME), column->remote) == 0)
				column->row = row;
		}
		if (column->row < 0)
			return refuse(restored,
						  psprintf("no attribute statistics found for column \"%s\" of remote table \"%s.%s\"",
								   column->remote, restored->schema, restored->table));
	}
	return true;
}

/*
 * May the statistics be imported? Warns if not. Of an empty table only sizes
 * are.
 */
static bool
check_remote(Restoration *restored)
{
	const char *kind = PQgetvalue(restored->res, 0, KIND);
	double		tuples = strtod(PQgetvalue(restored->res, 0, TUPLES), NULL);

	restored->tuples = tuples;
	if (strchr("rfmp", *kind) == NULL)
		return refuse(restored,
					  psprintf("remote table \"%s.%s\" is of relkind \"%c\" which cannot have statistics",
							   restored->schema, restored->table, *kind));
	if (tuples == (restored->version < KNOWS_ANALYZED ? 0 : -1))
		return refuse(restored,
					  psprintf("remote table \"%s.%s\" has no relation statistics to import",
							   restored->schema, restored->table));
	if (tuples == 0)
		restored->ncolumns = 0;
	return match_columns(restored);
}

/* A field of the result, as an argument of this type; NULL if it is. */
static NullableDatum
argument(const PGresult *res, int row, int field, Oid type)
{
	Oid			input;
	Oid			param;

	if (PQgetisnull(res, row, field))
		return (NullableDatum)
	{
		.isnull = true
	};
	getTypeInputInfo(type, &input, &param);
	return (NullableDatum)
	{
		.value = OidInputFunctionCall(input, PQgetvalue(res, row, field), param, -1)
	};
}

/* Imports one column's statistics; false if PostgreSQL refuses, and warns. */
static bool
restore_column(const Restoration *restored, const WantedColumn *column)
{
	const NullableDatum version = {.value = Int32GetDatum(restored->version)};
	NullableDatum a[NUM_COLUMNS];

	CHECK_FOR_INTERRUPTS();
	delete_attribute_statistics(restored->rel, column->attnum, false);
	for (int i = NULL_FRAC; i < NUM_COLUMNS; i++)
		a[i] = argument(restored->res, column->row, i, column_types[i]);
	return import_attribute_statistics(restored->rel, column->attnum, false, &version,
									   &a[NULL_FRAC], &a[AVG_WIDTH], &a[N_DISTINCT],
									   &a[COMMON_VALUES], &a[COMMON_FREQUENCIES],
									   &a[BOUNDS], &a[CORRELATION], &a[COMMON_ELEMENTS],
									   &a[COMMON_ELEMENT_FREQUENCIES],
									   &a[ELEMENT_COUNTS], &a[RANGE_LENGTHS],
									   &a[RANGE_EMPTY_FRAC], &a[RANGE_BOUNDS]);
}

/* Imports the columns, and then the sizes; false with a warning if refused. */
static bool
restore(const Restoration *restored)
{
	const NullableDatum version = {.value = Int32GetDatum(restored->version)};
	const NullableDatum none = {.isnull = true};
	const NullableDatum pages = {
		.value = UInt32GetDatum((uint32) strtoul(PQgetvalue(restored->res, 0, PAGES), NULL, 10))
	};
	const NullableDatum tuples = argument(restored->res, 0, TUPLES, FLOAT4OID);

	for (int i = 0; i < restored->ncolumns; i++)
	{
		const WantedColumn *column = &restored->columns[i];

		if (!restore_column(restored, column))
			return refuse(restored,
						  psprintf("attribute statistics import failed for column \"%s\" of this foreign table",
								   NameStr(TupleDescAttr(RelationGetDescr(restored->rel),
														 column->attnum - 1)->attname)));
	}
	if (!import_relation_statistics(restored->rel, &version, &pages, &tuples,
									&none, &none))
		return refuse(restored, "relation statistics import failed for this foreign table");
	return true;
}

/*
 * Queries the remote statistics and imports them; false with a warning if it
 * cannot.
 */
static bool
fetch_and_restore(Restoration *restored, Session *session)
{
	const char *sql = statistics_sql(restored);
	RemoteCommand command = {.sql = sql,.shown = sql};
	PGresult   *res = session_execute(session, &command, 1, true);
	bool		done;

	PG_TRY();
	{
		int			nestlevel;

		if (PQntuples(res) == 0 || PQnfields(res) != NUM_COLUMNS)
			elog(ERROR, "unexpected answer from the remote server to: %s", sql);
		restored->res = res;
		nestlevel = rows_enter_transmission(true);
		done = check_remote(restored) && restore(restored);
		rows_leave_transmission(nestlevel);
	}
	PG_FINALLY();
	{
		PQclear(res);
	}
	PG_END_TRY();
	return done;
}

/* Imports a table's statistics; false if ANALYZE has to sample rows. */
static bool
import_foreign_statistics(Relation rel, List *names, int elevel)
{
	Restoration restored = {.rel = rel};
	TimestampTz start = GetCurrentTimestamp();
	Session    *session;

	if (!option_imports_statistics(RelationGetRelid(rel)))
		return false;
	restored.local = psprintf("%s.%s", get_namespace_name(RelationGetNamespace(rel)),
							  RelationGetRelationName(rel));
	if (HasRelationExtStatistics(rel))
	{
		ereport(WARNING,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot import statistics for foreign table \"%s\" --- this foreign table has extended statistics objects",
						restored.local)));
		return false;
	}
	ereport(elevel,
			(errmsg("importing statistics for foreign table \"%s\"", restored.local)));
	deparse_table_name(RelationGetRelid(rel), &restored.schema, &restored.table);
	find_columns(&restored, names);
	session = transaction_get_session(GetUserId(), GetForeignServerIdByRelId(RelationGetRelid(rel)));
	restored.version = PQserverVersion(session->conn);
	if (!fetch_and_restore(&restored, session))
		return false;
	pgstat_report_analyze(rel, restored.tuples, 0, names == NIL, start);
	ereport(elevel,
			(errmsg("finished importing statistics for foreign table \"%s\"", restored.local)));
	return true;
}

/* Puts the callback into the routine. */
void
restore_stats_install(FdwRoutine *routine)
{
	routine->ImportForeignStatistics = import_foreign_statistics;
}

#else

/* Before 19 there is no such callback. */
void
restore_stats_install(FdwRoutine *routine)
{
}

#endif
