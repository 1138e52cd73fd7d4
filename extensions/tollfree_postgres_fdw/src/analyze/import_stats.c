/*
 * import_stats.c
 *	  ANALYZE without rows: the remote server's own statistics.
 *
 * One query reads the remote view pg_stats, which has all statistics of types
 * that are analyzed in the standard way, and the answer is written into
 * pg_statistic here.  ANALYZE gets no rows: then it sets the table's size
 * and does not change pg_statistic.
 *
 * All columns are imported or none.  Statistics that are out of date, or of
 * values of another type or sort order, would mislead the planner.  So any
 * difference in meaning is an obstacle: the caller reports it, and samples
 * rows instead.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/indexing.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "commands/progress.h"
#include "executor/spi.h"
#include "parser/parse_oper.h"
#include "utils/array.h"
#include "utils/attoptcache.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "analyze/analyze.h"
#include "base/compat.h"
#include "session/session.h"
#include "sql/deparse.h"
#include "wire/rows.h"

/*
 * A column's type and sort order as text, for comparison. Catalog columns that
 * some versions lack are read through to_jsonb.
 */
#define COLUMN_IDENTITY \
	"pg_catalog.concat_ws(' ', pg_catalog.format_type(a.atttypid, a.atttypmod)," \
	" CASE WHEN a.attcollation = 0 AND a.atttypid <> 'pg_catalog.jsonb'::pg_catalog.regtype" \
	" THEN NULL WHEN a.attcollation IN (0, 100) THEN" \
	" (SELECT pg_catalog.concat_ws(' ', pg_catalog.pg_encoding_to_char(d.encoding)," \
	" coalesce(j ->> 'datlocprovider', 'c'), d.datcollate," \
	" coalesce(j ->> 'datlocale', j ->> 'daticulocale'), j ->> 'datcollversion'," \
	" 'rules ' || (j ->> 'daticurules'))" \
	" FROM pg_catalog.pg_database d, pg_catalog.to_jsonb(d) j" \
	" WHERE d.datname = pg_catalog.current_database()) ELSE" \
	" (SELECT pg_catalog.concat_ws(' ', pg_catalog.getdatabaseencoding()," \
	" coalesce(j ->> 'collprovider', 'c'), c.collcollate," \
	" coalesce(j ->> 'colllocale', j ->> 'colliculocale'), j ->> 'collversion'," \
	" 'rules ' || (j ->> 'collicurules')," \
	" CASE j ->> 'collisdeterministic' WHEN 'false' THEN 'nondeterministic' END)" \
	" FROM pg_catalog.pg_collation c, pg_catalog.to_jsonb(c) j" \
	" WHERE c.oid = a.attcollation) END)"

/* The columns of the remote query's result */
enum
{
	IS_PLAIN,					/* is it a table or materialized view without
								 * children? */
	IS_STALE,					/* are the statistics out of date? */
	NAME,
	IDENTITY,
	NUM_COLUMNS = END_OF_STATISTICS
};

/* The remote query; the table is appended as a regclass. */
#define STATISTICS_SQL \
	"SELECT c.relkind IN ('r', 'm') AND NOT c.relhassubclass," \
	/* by autovacuum's default rule, with changes that this session has not
	 * reported yet; or the table was truncated or rewritten */ \
	" pg_catalog.pg_stat_get_mod_since_analyze(c.oid)" \
	" + pg_catalog.pg_stat_get_xact_tuples_inserted(c.oid)" \
	" + pg_catalog.pg_stat_get_xact_tuples_updated(c.oid)" \
	" + pg_catalog.pg_stat_get_xact_tuples_deleted(c.oid)" \
	" > 50 + 0.1 * greatest(c.reltuples, 0)" \
	" OR c.relpages = 0 AND pg_catalog.pg_relation_size(c.oid) > 0," \
	" a.attname, " COLUMN_IDENTITY "," \
	" " STATISTICS_COLUMNS \
	" FROM pg_catalog.pg_class c" \
	" JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace" \
	" JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid" \
	" LEFT JOIN pg_catalog.pg_stats s ON s.schemaname = n.nspname" \
	" AND s.tablename = c.relname AND s.attname = a.attname AND NOT s.inherited" \
	" WHERE a.attnum > 0 AND NOT a.attisdropped AND c.oid = "

/* One column, on both servers */
typedef struct ImportedColumn
{
	Form_pg_attribute attribute;	/* local */
	const char *identity;		/* local */
	const PGresult *res;
	int			row;			/* of the remote column; -1 if there is none */
} ImportedColumn;

/* A field of the column's row, or NULL. */
static const char *
field(const ImportedColumn *column, int number)
{
	if (PQgetisnull(column->res, column->row, number))
		return NULL;
	return PQgetvalue(column->res, column->row, number);
}

/* The local columns' identities, by attribute number, in this context. */
static const char **
local_identities(Relation rel)
{
	const char **identities = palloc0((RelationGetNumberOfAttributes(rel) + 1) *
									  sizeof(char *));
	MemoryContext context = CurrentMemoryContext;
	char	   *sql = psprintf("SELECT a.attnum, " COLUMN_IDENTITY
							   " FROM pg_catalog.pg_attribute a"
							   " WHERE a.attnum > 0 AND a.attrelid = %u",
							   RelationGetRelid(rel));

	if (SPI_connect() != SPI_OK_CONNECT ||
		SPI_execute(sql, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not look up the columns of \"%s\"",
			 RelationGetRelationName(rel));
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	tuple = SPI_tuptable->vals[i];
		char	   *attnum = SPI_getvalue(tuple, SPI_tuptable->tupdesc, 1);
		char	   *identity = SPI_getvalue(tuple, SPI_tuptable->tupdesc, 2);

		identities[atoi(attnum)] = MemoryContextStrdup(context, identity);
	}
	SPI_finish();
	return identities;
}

/* The remote column's row in the result, or -1. */
static int
find_row(const PGresult *res, const char *name)
{
	for (int row = 0; row < PQntuples(res); row++)
	{
		if (strcmp(PQgetvalue(res, row, NAME), name) == 0)
			return row;
	}
	return -1;
}

/*
 * Are values of this type analyzed in the standard way, on every server?  Not
 * those of regclass and its like, which sort by OIDs that differ.
 */
static bool
is_standard_type(Oid type)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	bool		is_standard;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	is_standard = type < FirstNormalObjectId &&
		!OidIsValid(((Form_pg_type) GETSTRUCT(tuple))->typanalyze) &&
		(type == OIDOID ||
		 lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf != OID_BTREE_FAM_OID);
	ReleaseSysCache(tuple);
	return is_standard;
}

/* Converts the text of an array with such elements. */
static Datum
read_array(const char *text, Oid element)
{
	return OidInputFunctionCall(F_ARRAY_IN, unconstify(char *, text), element,
								-1);
}

/* The elements of an array's text; 0 if NULL, with nulls, not 1-dimensional. */
static int
count_elements(const char *text, Oid element)
{
	ArrayType  *array;

	if (text == NULL)
		return 0;
	array = DatumGetArrayTypeP(read_array(text, element));
	return ARR_NDIM(array) != 1 || array_contains_nulls(array) ? 0 :
		ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
}

/*
 * Has each common value a frequency, and the histogram bounds?  The planner
 * relies on both, and a remote server can send anything.
 */
static bool
is_sound(const ImportedColumn *column)
{
	Oid			type = column->attribute->atttypid;
	const char *values = field(column, COMMON_VALUES);
	const char *bounds = field(column, BOUNDS);
	int			nvalues = count_elements(values, type);

	return (values == NULL ||
			(nvalues > 0 &&
			 nvalues == count_elements(field(column, COMMON_FREQUENCIES),
									   FLOAT4OID))) &&
		(bounds == NULL || count_elements(bounds, type) > 0);
}

/* The reason why a column's statistics cannot be imported, or NULL. */
static const char *
column_obstacle(const ImportedColumn *column)
{
	const char *name = NameStr(column->attribute->attname);
	const char *identity;

	if (column->row < 0)
		return psprintf("Column \"%s\" does not exist on the remote server.",
						name);
	if (!is_standard_type(column->attribute->atttypid))
		return psprintf("Statistics of type %s, of column \"%s\", cannot be imported.",
						format_type_be(column->attribute->atttypid), name);
	identity = field(column, IDENTITY);
	if (identity == NULL || strcmp(column->identity, identity) != 0)
		return psprintf("Column \"%s\" differs in type or collation: here it is %s, on the remote server %s.",
						name, column->identity, identity ? identity : "unknown");
	if (field(column, NULL_FRAC) == NULL ||
		field(column, AVG_WIDTH) == NULL || field(column, N_DISTINCT) == NULL)
		return psprintf("Column \"%s\" has no statistics on the remote server, or none that the remote user may read.",
						name);
	if (!is_sound(column))
		return psprintf("Column \"%s\" has inconsistent statistics on the remote server.",
						name);
	return NULL;
}

/* Fills a slot; values and numbers are texts of arrays, or NULL. */
static void
fill_slot(Datum *row, bool *nulls, int slot, int kind, Oid operator,
		  const ImportedColumn *column, const char *values,
		  const char *numbers)
{
	row[Anum_pg_statistic_stakind1 - 1 + slot] = Int16GetDatum(kind);
	row[Anum_pg_statistic_staop1 - 1 + slot] = ObjectIdGetDatum(operator);
	row[Anum_pg_statistic_stacoll1 - 1 + slot] =
		ObjectIdGetDatum(column->attribute->attcollation);
	if (numbers != NULL)
	{
		row[Anum_pg_statistic_stanumbers1 - 1 + slot] =
			read_array(numbers, FLOAT4OID);
		nulls[Anum_pg_statistic_stanumbers1 - 1 + slot] = false;
	}
	if (values != NULL)
	{
		row[Anum_pg_statistic_stavalues1 - 1 + slot] =
			read_array(values, column->attribute->atttypid);
		nulls[Anum_pg_statistic_stavalues1 - 1 + slot] = false;
	}
}

/* Fills the slots that the column has statistics for. */
static void
fill_slots(Datum *row, bool *nulls, const ImportedColumn *column)
{
	const char *correlation = field(column, CORRELATION);
	Oid			less;
	Oid			equal;
	int			slot = 0;

	get_sort_group_operators(column->attribute->atttypid, false, false, false,
							 &less, &equal, NULL, NULL);
	if (field(column, COMMON_VALUES) != NULL)
		fill_slot(row, nulls, slot++, STATISTIC_KIND_MCV, equal, column,
				  field(column, COMMON_VALUES),
				  field(column, COMMON_FREQUENCIES));
	if (field(column, BOUNDS) != NULL)
		fill_slot(row, nulls, slot++, STATISTIC_KIND_HISTOGRAM, less, column,
				  field(column, BOUNDS), NULL);
	if (correlation != NULL)
		fill_slot(row, nulls, slot++, STATISTIC_KIND_CORRELATION, less, column,
				  NULL, psprintf("{%s}", correlation));
}

/* The number of distinct values; a local setting overrides it. */
static float4
distinct_values(Relation rel, const ImportedColumn *column)
{
	AttributeOpts *options = get_attribute_options(RelationGetRelid(rel),
												   column->attribute->attnum);

	if (options != NULL && options->n_distinct != 0)
		return (float4) options->n_distinct;
	return strtof(field(column, N_DISTINCT), NULL);
}

/* Writes a column's row of pg_statistic, in place of an older one. */
static void
write_column(Relation rel, Relation catalog, CatalogIndexState indexes,
			 const ImportedColumn *column)
{
	Datum		row[Natts_pg_statistic] = {0};
	bool		nulls[Natts_pg_statistic] = {0};
	HeapTuple	old;
	HeapTuple	tuple;

	for (int slot = 0; slot < STATISTIC_NUM_SLOTS; slot++)
	{
		nulls[Anum_pg_statistic_stanumbers1 - 1 + slot] = true;
		nulls[Anum_pg_statistic_stavalues1 - 1 + slot] = true;
	}
	row[Anum_pg_statistic_starelid - 1] = ObjectIdGetDatum(RelationGetRelid(rel));
	row[Anum_pg_statistic_staattnum - 1] = Int16GetDatum(column->attribute->attnum);
	row[Anum_pg_statistic_stainherit - 1] = BoolGetDatum(false);
	row[Anum_pg_statistic_stanullfrac - 1] =
		Float4GetDatum(strtof(field(column, NULL_FRAC), NULL));
	row[Anum_pg_statistic_stawidth - 1] =
		Int32GetDatum(atoi(field(column, AVG_WIDTH)));
	row[Anum_pg_statistic_stadistinct - 1] =
		Float4GetDatum(distinct_values(rel, column));
	fill_slots(row, nulls, column);
	tuple = heap_form_tuple(RelationGetDescr(catalog), row, nulls);

	old = SearchSysCache3(STATRELATTINH,
						  ObjectIdGetDatum(RelationGetRelid(rel)),
						  Int16GetDatum(column->attribute->attnum),
						  BoolGetDatum(false));
	if (HeapTupleIsValid(old))
	{
		CatalogTupleUpdateWithInfo(catalog, &old->t_self, tuple, indexes);
		ReleaseSysCache(old);
	}
	else
		CatalogTupleInsertWithInfo(catalog, tuple, indexes);
	heap_freetuple(tuple);
}

/* Writes all columns. */
static void
write_columns(Relation rel, const ImportedColumn *columns, int ncolumns)
{
	Relation	catalog = table_open(StatisticRelationId, RowExclusiveLock);
	CatalogIndexState indexes = CatalogOpenIndexes(catalog);

	for (int i = 0; i < ncolumns; i++)
		write_column(rel, catalog, indexes, &columns[i]);
	CatalogCloseIndexes(indexes);
	table_close(catalog, RowExclusiveLock);
}

/* The reason why the table's statistics cannot be imported, or NULL. */
static const char *
table_obstacle(Relation rel, const PGresult *res)
{
	if (RelationGetStatExtList(rel) != NIL)
		return "It has extended statistics, which need rows.";
	if (PQntuples(res) == 0)
		return "It has no columns on the remote server.";
	if (strcmp(PQgetvalue(res, 0, IS_PLAIN), "t") != 0)
		return "It is not an ordinary table on the remote server, or has children there.";
	return NULL;
}

/* Writes the statistics; returns NULL, or the reason why it cannot. */
static const char *
take_over(Relation rel, const PGresult *res)
{
	const char *obstacle = table_obstacle(rel, res);
	const char **identities = local_identities(rel);
	int			natts = RelationGetNumberOfAttributes(rel);
	ImportedColumn *columns = palloc(Max(natts, 1) * sizeof(ImportedColumn));
	int			ncolumns = 0;

	for (AttrNumber attno = 1; attno <= natts && obstacle == NULL; attno++)
	{
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel),
													attno - 1);

		if (!compat_is_analyzed(attribute))
			continue;
		columns[ncolumns] = (ImportedColumn)
		{
			.attribute = attribute,
				.identity = identities[attno],
				.res = res,
				.row = find_row(res, deparse_column_name(rel, attno))
		};
		obstacle = column_obstacle(&columns[ncolumns++]);
	}
	/* Checked last: a table never analyzed gets the reason of its columns. */
	if (obstacle == NULL && strcmp(PQgetvalue(res, 0, IS_STALE), "t") == 0)
		obstacle = "It has changed since the remote server analyzed it.";
	if (obstacle == NULL)
		write_columns(rel, columns, ncolumns);
	return obstacle;
}

/*
 * Imports the statistics of all columns; returns NULL, or the reason why it
 * cannot.  The caller must be ANALYZE, which holds the lock that it takes.
 */
const char *
import_statistics(Relation rel, Session *session)
{
	const char *obstacle;
	const char *sql;
	PGresult   *res;
	int			nestlevel;

	/*
	 * ANALYZE of a parent samples this table's rows, too; a foreign table
	 * with children is sampled twice. Only the progress report shows which
	 * table ANALYZE is processing.
	 */
	if (MyBEEntry == NULL || MyBEEntry->st_progress_command != PROGRESS_COMMAND_ANALYZE ||
		MyBEEntry->st_progress_command_target != RelationGetRelid(rel) ||
		MyBEEntry->st_progress_param[PROGRESS_ANALYZE_CURRENT_CHILD_TABLE_RELID] != 0)
		return pgstat_track_activities ?
			"The statistics of its parent table need its rows." :
			"The setting track_activities is off.";

	sql = psprintf(STATISTICS_SQL "%s", deparse_regclass(rel));
	res = session_ask(session, sql);
	if (res == NULL)
		return IMPORT_REFUSED;
	PG_TRY();
	{
		if (PQnfields(res) != NUM_COLUMNS)
			elog(ERROR, "unexpected answer from the remote server to: %s",
				 sql);

		/*
		 * The settings under which the remote server printed types and
		 * values.
		 */
		nestlevel = rows_enter_transmission(true);
		obstacle = take_over(rel, res);
		rows_leave_transmission(nestlevel);
	}
	PG_FINALLY();
	{
		PQclear(res);
	}
	PG_END_TRY();
	return obstacle;
}
