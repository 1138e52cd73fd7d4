/*
 * deparse.c
 *	  Remote commands that postgres_fdw does not plan: TRUNCATE, INSERT for COPY
 *	  and for routed rows, INSERT of several rows or of arrays, a query for
 *	  many values of its parameters, and the queries of ANALYZE.
 *
 * Names in pg_catalog are written with their schema.  The remote session's
 * temporary schema is searched before pg_catalog, and a remote function may
 * have created objects there.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "nodes/bitmapset.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "sql/deparse.h"

/* The first version whose current_setting has missing_ok */
#define SETTINGS_VERSION 90600

/* An attribute's member of a set, as pull_varattnos makes one */
#define MEMBER(attno) ((attno) - FirstLowInvalidHeapAttributeNumber)

/* The remote name of a table, in this context. */
void
deparse_table_name(Oid relid, const char **schema, const char **table)
{
	List	   *options = GetForeignTable(relid)->options;

	*schema = option_find(options, "schema_name");
	*table = option_find(options, "table_name");
	if (*schema == NULL)
		*schema = get_namespace_name(get_rel_namespace(relid));
	if (*table == NULL)
		*table = get_rel_name(relid);
}

/* Appends the remote name of a table. */
static void
append_table(StringInfo sql, Relation rel)
{
	const char *schema;
	const char *table;

	deparse_table_name(RelationGetRelid(rel), &schema, &table);
	appendStringInfo(sql, "%s.%s", quote_identifier(schema),
					 quote_identifier(table));
}

/* The remote name of a column. */
const char *
deparse_column_name(Relation rel, AttrNumber attno)
{
	const char *name =
		option_find(GetForeignColumnOptions(RelationGetRelid(rel), attno),
					"column_name");

	if (name == NULL)
		name = NameStr(TupleDescAttr(RelationGetDescr(rel), attno - 1)->attname);
	return name;
}

/* Appends the remote name of a column. */
static void
append_column(StringInfo sql, Relation rel, AttrNumber attno)
{
	appendStringInfoString(sql,
						   quote_identifier(deparse_column_name(rel, attno)));
}

/*
 * Appends the columns of a set, with a prefix before the first; returns their
 * attribute numbers.  A whole-row reference means all columns.
 */
static List *
append_columns(StringInfo sql, const char *word, Relation rel,
			   const Bitmapset *columns)
{
	TupleDesc	tupdesc = RelationGetDescr(rel);
	bool		whole = bms_is_member(MEMBER(InvalidAttrNumber), columns);
	List	   *attrs = NIL;

	for (AttrNumber attno = 1; attno <= tupdesc->natts; attno++)
	{
		if (TupleDescAttr(tupdesc, attno - 1)->attisdropped ||
			!(whole || bms_is_member(MEMBER(attno), columns)))
			continue;
		appendStringInfoString(sql, attrs == NIL ? word : ", ");
		append_column(sql, rel, attno);
		attrs = lappend_int(attrs, attno);
	}
	if (bms_is_member(MEMBER(SelfItemPointerAttributeNumber), columns))
	{
		appendStringInfo(sql, "%sctid", attrs == NIL ? word : ", ");
		attrs = lappend_int(attrs, SelfItemPointerAttributeNumber);
	}
	return attrs;
}

/* Appends the name of a type of pg_catalog, without its modifier. */
static void
append_builtin_type(StringInfo sql, Oid type)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	appendStringInfo(sql, "pg_catalog.%s",
					 quote_identifier(NameStr(((Form_pg_type) GETSTRUCT(tuple))->typname)));
	ReleaseSysCache(tuple);
}

/*
 * Can values of a type be sent as an array whose delimiter is a comma?  That
 * of box is a semicolon.
 */
bool
deparse_may_be_key(Oid type)
{
	return type < FirstGenbkiObjectId && type != BOXOID &&
		get_typtype(type) == TYPTYPE_BASE &&
		get_element_type(type) == InvalidOid &&
		OidIsValid(get_array_type(type));
}

/*
 * Appends a query with its parameters replaced by columns of another table,
 * whose name needs no quotes.  Strings and quoted names are copied: a doubled
 * quote ends one and begins the next.
 */
static void
append_with_columns(StringInfo query, const char *sql, const char *table)
{
	char		quote = '\0';

	for (const char *p = sql; *p != '\0'; p++)
	{
		if (quote != '\0' && *p == quote)
			quote = '\0';
		else if (quote == '\0' && (*p == '\'' || *p == '"'))
			quote = *p;
		if (quote == '\0' && *p == '$')
			appendStringInfo(query, "%s.%s_", table, table);
		else
			appendStringInfoChar(query, *p);
	}
}

/* The name of a type, as postgres_fdw writes it in casts. */
static char *
cast_name(const Node *expr)
{
	Oid			type = exprType(expr);
	uint16		flags = FORMAT_TYPE_TYPEMOD_GIVEN;

	if (type >= FirstGenbkiObjectId)
		flags |= FORMAT_TYPE_FORCE_QUALIFY;
	return format_type_extended(type, exprTypmod(expr), flags);
}

/*
 * Appends an unknown value in place of a parameter, which postgres_fdw writes
 * as $n::type; returns the text after it.
 */
static const char *
append_unknown(StringInfo query, const char *param, List *params)
{
	char	   *rest;
	long		n = strtol(param + 1, &rest, 10);
	char	   *cast = n < 1 || n > list_length(params) ? "" :
		psprintf("::%s", cast_name(list_nth(params, n - 1)));

	/* If the text has no cast here, it casts the value later. */
	if (strncmp(rest, cast, strlen(cast)) != 0)
		cast = "";
	appendStringInfo(query, "((SELECT null%s)%s)", cast, cast);
	return rest + strlen(cast);
}

/*
 * The EXPLAIN of a query of postgres_fdw; params are the expressions of its
 * parameters.
 */
char *
deparse_estimate(const char *sql, List *params)
{
	StringInfoData query;
	char		quote = '\0';

	initStringInfo(&query);
	appendStringInfoString(&query, "EXPLAIN ");
	for (const char *p = sql; *p != '\0';)
	{
		if (quote != '\0' && *p == quote)
			quote = '\0';
		else if (quote == '\0' && (*p == '\'' || *p == '"'))
			quote = *p;
		if (quote == '\0' && *p == '$')
			p = append_unknown(&query, p, params);
		else
			appendStringInfoChar(&query, *p++);
	}
	return query.data;
}

/*
 * Removes the clause that locks a table's rows from the end of a query, in this
 * context; returns whether there was one.
 */
static bool
remove_locking(const char **sql)
{
	static const char clause[] = " FOR UPDATE";
	size_t		length = strlen(*sql);
	size_t		before = length - strlen(clause);

	if (length < strlen(clause) || strcmp(*sql + before, clause) != 0)
		return false;
	*sql = pnstrdup(*sql, before);
	return true;
}

/*
 * The query that returns the rows of another one for many values of its
 * parameters, which are sent as arrays.  The last column is the index of a
 * row's values in the arrays, from 1 on; rows are ordered by it.  keys are the
 * expressions that are the parameters; NULL if the values of one cannot be
 * sent as an array.
 *
 * If the query locks rows the whole one does so instead, which locks the same
 * ones: a subquery that did could not become part of a join, and so the remote
 * server would execute it for each key.
 */
char *
deparse_lookups(const char *sql, List *keys)
{
	StringInfoData query;
	StringInfoData columns;
	char	   *table = "keys";
	bool		locks_rows = remove_locking(&sql);
	ListCell   *cell;

	/*
	 * A prefix for the columns' names that does not occur in the query: a
	 * column that the remote table lacks must remain an error.
	 */
	for (int i = 1; strstr(sql, table) != NULL; i++)
		table = psprintf("keys%d", i);
	initStringInfo(&query);
	initStringInfo(&columns);
	appendStringInfo(&query, "SELECT q.*, %s.%s_n FROM ROWS FROM (", table, table);
	foreach(cell, keys)
	{
		int			n = foreach_current_index(cell) + 1;

		if (!deparse_may_be_key(exprType(lfirst(cell))))
			return NULL;
		appendStringInfo(&query, "%spg_catalog.unnest($%d::",
						 n > 1 ? ", " : "", n);
		append_builtin_type(&query, exprType(lfirst(cell)));
		appendStringInfoString(&query, "[])");
		appendStringInfo(&columns, "%s_%d, ", table, n);
	}
	appendStringInfo(&query, ") WITH ORDINALITY AS %s(%s%s_n), LATERAL (",
					 table, columns.data, table);
	append_with_columns(&query, sql, table);
	appendStringInfo(&query, ") AS q ORDER BY %s.%s_n%s", table, table,
					 locks_rows ? " FOR UPDATE OF q" : "");
	return query.data;
}

/* The command that truncates tables, all of one server. */
char *
deparse_truncate(List *rels, DropBehavior behavior, bool restart_seqs)
{
	StringInfoData sql;
	ListCell   *cell;

	initStringInfo(&sql);
	foreach(cell, rels)
	{
		appendStringInfoString(&sql, cell == list_head(rels) ? "TRUNCATE " : ", ");
		append_table(&sql, lfirst(cell));
	}
	appendStringInfo(&sql, " %s IDENTITY %s",
					 restart_seqs ? "RESTART" : "CONTINUE",
					 behavior == DROP_CASCADE ? "CASCADE" : "RESTRICT");
	return sql.data;
}

/*
 * Appends the values of one row, with parameters numbered from first_param on.
 * Returns the number after its last one.  A generated column has no parameter.
 */
static int
append_row(StringInfo sql, Relation rel, List *targets, int first_param)
{
	int			param = first_param;
	ListCell   *cell;

	foreach(cell, targets)
	{
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel),
													lfirst_int(cell) - 1);

		appendStringInfoString(sql, cell == list_head(targets) ? "(" : ", ");
		if (attribute->attgenerated)
			appendStringInfoString(sql, "DEFAULT");
		else
			appendStringInfo(sql, "$%d", param++);
	}
	appendStringInfoChar(sql, ')');
	return param;
}

/* An INSERT of several rows, made from the plan's of one with its nparams. */
char *
deparse_insert_rows(const ModifyPlan *plan, Relation rel, int nparams,
					int nrows)
{
	StringInfoData sql;
	int			param = nparams + 1;

	initStringInfo(&sql);
	appendBinaryStringInfo(&sql, plan->sql, plan->values_end);
	for (int i = 1; i < nrows; i++)
	{
		appendStringInfoString(&sql, ", ");
		param = append_row(&sql, rel, plan->targets, param);
	}
	appendStringInfoString(&sql, plan->sql + plan->values_end);
	return sql.data;
}

/* An INSERT of one array per column, made from the plan's of one row. */
char *
deparse_insert_arrays(const ModifyPlan *plan, Relation rel)
{
	StringInfoData sql;
	StringInfoData arrays;
	int			param = 0;
	ListCell   *cell;

	initStringInfo(&sql);
	initStringInfo(&arrays);
	appendStringInfoString(&sql, "INSERT INTO ");
	append_table(&sql, rel);
	foreach(cell, plan->targets)
	{
		AttrNumber	attno = lfirst_int(cell);
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel),
													attno - 1);

		if (attribute->attgenerated)
			continue;
		appendStringInfoString(&sql, param == 0 ? "(" : ", ");
		append_column(&sql, rel, attno);
		appendStringInfo(&arrays, "%spg_catalog.unnest($%d::",
						 param == 0 ? "" : ", ", param + 1);
		append_builtin_type(&arrays, attribute->atttypid);
		appendStringInfoString(&arrays, "[])");
		param++;
	}
	appendStringInfo(&sql, ") SELECT %s%s", arrays.data,
					 plan->sql + plan->values_end);
	pfree(arrays.data);
	return sql.data;
}

/*
 * The columns that the remote RETURNING must have: those used by the local
 * RETURNING list, by views' check options, and by triggers that see the new
 * row.
 */
static Bitmapset *
returned_columns(ResultRelInfo *rinfo, Index rtindex)
{
	Relation	rel = rinfo->ri_RelationDesc;
	Bitmapset  *columns = NULL;

	if (rel->trigdesc != NULL && rel->trigdesc->trig_insert_after_row)
		columns = bms_make_singleton(MEMBER(InvalidAttrNumber));
	pull_varattnos((Node *) rinfo->ri_WithCheckOptions, rtindex, &columns);
	pull_varattnos((Node *) rinfo->ri_returningList, rtindex, &columns);
	return columns;
}

/*
 * An INSERT of one row with all its columns.  Expressions of the result
 * relation refer to it by rtindex.
 */
ModifyPlan
deparse_insert(ResultRelInfo *rinfo, Index rtindex, bool do_nothing)
{
	Relation	rel = rinfo->ri_RelationDesc;
	ModifyPlan	plan = {0};
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "INSERT INTO ");
	append_table(&sql, rel);
	plan.targets = append_columns(&sql, "(", rel,
								  bms_make_singleton(MEMBER(InvalidAttrNumber)));
	if (plan.targets == NIL)
		appendStringInfoString(&sql, " DEFAULT VALUES");
	else
	{
		appendStringInfoString(&sql, ") VALUES ");
		append_row(&sql, rel, plan.targets, 1);
	}
	plan.values_end = sql.len;
	if (do_nothing)
		appendStringInfoString(&sql, " ON CONFLICT DO NOTHING");
	plan.attrs = append_columns(&sql, " RETURNING ", rel,
								returned_columns(rinfo, rtindex));
	plan.has_returning = plan.attrs != NIL;
	plan.sql = sql.data;
	return plan;
}

/* The remote name of a table as a constant of type regclass. */
char *
deparse_regclass(Relation rel)
{
	StringInfoData name;

	initStringInfo(&name);
	append_table(&name, rel);
	return psprintf("%s::pg_catalog.regclass", quote_literal_cstr(name.data));
}

/*
 * A query for the properties of a table on a server of this version, without
 * its partitions and children: one row, TableColumn.  It fails if the user may
 * not call random().  It is cheap, since a table may have many partitions; the
 * caller computes.
 */
char *
deparse_table(Relation rel, int version)
{
	const char *table = deparse_regclass(rel);

	return psprintf("SELECT c.relkind, c.relpages, c.reltuples, c.relhassubclass,"
					" pg_catalog.pg_relation_size(c.oid),"
					" pg_catalog.current_setting('block_size'),"
					" pg_catalog.has_table_privilege(%s, 'SELECT')"
					" AND pg_catalog.has_function_privilege("
					"pg_catalog.to_regprocedure('pg_catalog.hashtidextended(tid,bigint)'),"
					" 'EXECUTE') AND pg_catalog.random() >= 0, %s"
					" FROM pg_catalog.pg_class c WHERE c.oid = %s",
					table, version < SETTINGS_VERSION ? "NULL, NULL, NULL, NULL" :
					"pg_catalog.current_setting('jit', true),"
					" pg_catalog.current_setting('max_parallel_workers', true),"
					" pg_catalog.current_setting('max_parallel_workers_per_gather', true),"
					" pg_catalog.current_setting('min_parallel_table_scan_size', true)",
					table);
}

/*
 * A query for the size of a table with its partitions and children.  Its
 * result is one row of numbers, 1 for true and 0 for false:
 *
 *	0	can it be sampled?
 *	1	is the number of its rows known?
 *	2	blocks
 *	3	rows: those of the last ANALYZE or VACUUM, scaled by the blocks now
 *	4	number of tables
 */
char *
deparse_tree_size(Relation rel)
{
	return psprintf("WITH RECURSIVE tree (oid) AS (SELECT %s::pg_catalog.oid"
					" UNION SELECT i.inhrelid FROM tree"
					" JOIN pg_catalog.pg_inherits i ON i.inhparent = tree.oid)"
					" SELECT pg_catalog.min((relkind IN ('r', 'm', 'p'))::int),"
					" pg_catalog.min((pages = 0 OR relpages > 0 AND reltuples >= 0)::int),"
					" pg_catalog.sum(pages),"
					" pg_catalog.sum(CASE WHEN relkind = 'f' THEN greatest(reltuples, 0)"
					" WHEN pages > 0 AND relpages > 0"
					" THEN greatest(reltuples, 0) / relpages * pages"
					" ELSE 0 END), pg_catalog.count(*)"
					" FROM (SELECT c.relkind, c.relpages, c.reltuples,"
					" coalesce(pg_catalog.pg_relation_size(c.oid), 0)"
					" / pg_catalog.current_setting('block_size')::pg_catalog.int8 AS pages"
					" FROM tree JOIN pg_catalog.pg_class c ON c.oid = tree.oid) s",
					deparse_regclass(rel));
}

/* A query that counts the rows in a share of a table's blocks. */
char *
deparse_count(Relation rel, double share)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT pg_catalog.count(*) FROM ");
	append_table(&sql, rel);
	appendStringInfo(&sql, " TABLESAMPLE SYSTEM(%.10g)", 100 * share);
	return sql.data;
}

/*
 * Appends the condition that chooses a share of the rows by a hash of their
 * ctid.  If there are several tables their OIDs go into the hash: rows with
 * the same ctid in two partitions may be correlated.
 *
 * The condition is a range at the upper end of the hash's values.  Its first
 * comparison rejects most rows.  The planner expects few rows from a range,
 * and so plans parallel workers.
 */
static void
append_hash_condition(StringInfo sql, const SamplePlan *plan)
{
	int64		lowest = (int64) ldexp(0.5 - Max(plan->rows, DBL_EPSILON), 64);

	appendStringInfo(sql, " WHERE pg_catalog.hashtidextended(ctid, %s%lld)"
					 " BETWEEN '%lld' AND '%lld'",
					 plan->has_parts ? "tableoid::pg_catalog.int8 + " : "",
					 (long long) plan->seed, (long long) lowest,
					 (long long) PG_INT64_MAX);
}

/*
 * Appends the TABLESAMPLE or WHERE clause that chooses the rows of a sample.
 */
static void
append_sampling(StringInfo sql, const SamplePlan *plan)
{
	if (plan->by_hash)
	{
		append_hash_condition(sql, plan);
		return;
	}
	if (plan->method == SAMPLING_BERNOULLI)
	{
		appendStringInfo(sql, " TABLESAMPLE BERNOULLI(%.10g)", 100 * plan->rows);
		return;
	}
	if (plan->blocks < 1)
		appendStringInfo(sql, " TABLESAMPLE SYSTEM(%.10g)", 100 * plan->blocks);
	if (plan->rows < 1)
		appendStringInfo(sql, " WHERE pg_catalog.random() < %.10g", plan->rows);
}

/*
 * A query for a sample.  Sets the attribute number of each result column.
 * Rows chosen by a hash arrive in any order, so ctid and tableoid are
 * selected, too.
 */
char *
deparse_sample(Relation rel, const SamplePlan *plan, List **attrs)
{
	Bitmapset  *columns = bms_make_singleton(MEMBER(InvalidAttrNumber));
	StringInfoData sql;

	initStringInfo(&sql);
	if (plan->by_hash)
		columns = bms_add_member(columns, MEMBER(SelfItemPointerAttributeNumber));
	*attrs = append_columns(&sql, "SELECT ", rel, columns);
	if (*attrs == NIL)
		appendStringInfoString(&sql, "SELECT NULL");
	if (plan->by_hash && plan->has_parts)
	{
		appendStringInfoString(&sql, ", tableoid");
		*attrs = lappend_int(*attrs, TableOidAttributeNumber);
	}
	appendStringInfoString(&sql, " FROM ");
	append_table(&sql, rel);
	append_sampling(&sql, plan);
	return sql.data;
}
