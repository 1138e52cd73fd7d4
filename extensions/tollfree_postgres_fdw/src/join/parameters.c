/*
 * parameters.c
 *	  Parameterized scans of tables without use_remote_estimate.
 *
 * Without use_remote_estimate postgres_fdw makes no such paths: it does not
 * know whether there is a remote index, and each execution would be a round
 * trip.  In batches there is one round trip for many executions, and the
 * remote server reads the table at most once for a batch.  So this file makes
 * these paths, for equalities of a column with a value of other tables.  Only
 * batched lookups use them.
 *
 * Which columns have an index is queried once for each connection, after a
 * transaction (questions.c).  Without one, the startup cost of a scan is that
 * of reading the table, and each batch starts one.  Until the answer is
 * known, an index is assumed.
 *
 * Where the query may stop early, reading the table could cost many times
 * what fetching some rows does.  There only a column with an index is looked
 * up, and until the answer is known only a unique column (by its statistics)
 * is assumed to have one.
 *
 * postgres_fdw must send the equality, or else every execution would read the
 * whole table.  So only conditions are accepted that it certainly sends:
 * built-in operators and types, no functions, the default collation.
 *
 * With postgres_fdw, which has such scans for LATERAL alone, the local server
 * joins.  So a join condition is sent only if it has the same result
 * remotely: it must not depend on the order of texts, and columns are cast to
 * their local types, in case the remote types differ.  A condition beside the
 * equalities must be leakproof, since the remote server may evaluate it for
 * rows that they drop.  All other conditions are checked here.  A remote cast
 * gives the same value as reading the text here, except for a few pairs of
 * types that the reference lists.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type_d.h"
#include "commands/defrem.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/options.h"
#include "base/tables.h"
#include "join/lookup.h"
#include "rewrite/rewrite.h"
#include "session/session.h"
#include "sql/deparse.h"
#include "sql/plan.h"

/* Pages that a lookup reads: one of an index, one of the table */
#define LOOKUP_PAGES 2

/* Is this collation, which may be none, the default one? */
static bool
is_plain_collation(Oid collation)
{
	return !OidIsValid(collation) || collation == DEFAULT_COLLATION_OID;
}

/*
 * Are the texts of a type's values names of objects, which may differ
 * remotely?
 */
static bool
names_objects(Oid type)
{
	switch (type)
	{
		case REGPROCOID:
		case REGPROCEDUREOID:
		case REGOPEROID:
		case REGOPERATOROID:
		case REGCLASSOID:
		case REGTYPEOID:
		case REGCOLLATIONOID:
		case REGCONFIGOID:
		case REGDICTIONARYOID:
		case REGROLEOID:
		case REGNAMESPACEOID:
		case ACLITEMOID:
			return true;
		default:
			return false;
	}
}

/* May the remote encoding lack characters of a value of a type? */
static bool
may_lack_characters(Oid type, const RelOptInfo *rel)
{
	return (type_is_collatable(type) || type == CHAROID || type == JSONBOID) &&
		!sessions_have_same_encoding(lookup_user(rel), rel->serverid);
}

/* A table to be looked up */
typedef struct LookupTable
{
	PlannerInfo *root;
	RelOptInfo *rel;
} LookupTable;

/* Can no values of a type be sent as keys? */
static bool
is_other_type(Oid type, const LookupTable *table)
{
	return !deparse_may_be_key(type) || names_objects(type) ||
		may_lack_characters(type, table->rel);
}

/*
 * Walker: is there a node other than columns, constants and built-in operators
 * of types that can be sent as keys?
 */
static bool
has_other(Node *node, void *context)
{
	const LookupTable *table = context;
	Oid			type = InvalidOid;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
			type = exprType(node);
			/* A remote timestamp without time zone is read in the local zone. */
			if ((Index) ((Var *) node)->varno == table->rel->relid &&
				(type == TIMESTAMPTZOID || type == TIMETZOID))
				return true;
			type = rewrite_sent_as(table->root, table->rel, type);
			compat_fallthrough;
		case T_Const:
		case T_RelabelType:
			if (is_other_type(OidIsValid(type) ? type : exprType(node), table) ||
				!is_plain_collation(exprCollation(node)))
				return true;
			break;
		case T_OpExpr:
			if (((OpExpr *) node)->opno >= FirstGenbkiObjectId ||
				OidIsValid(((OpExpr *) node)->inputcollid) ||
				contain_mutable_functions(node))
				return true;
			break;
		default:
			return true;
	}
	return expression_tree_walker(node, has_other, context);
}

/* Is an expression a column of the table? */
static bool
is_column(Node *node, const RelOptInfo *rel)
{
	if (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return IsA(node, Var) && ((Var *) node)->varno == rel->relid &&
		((Var *) node)->varattno > 0;
}

/* Is a clause an equality of a column with a value?  Sets both, if it is. */
static bool
is_equality(const RestrictInfo *clause, const RelOptInfo *rel, Node **column,
			Node **value)
{
	const OpExpr *operation = (const OpExpr *) clause->clause;

	if (!IsA(operation, OpExpr) || list_length(operation->args) != 2 ||
		operation->opno >= FirstGenbkiObjectId ||
		!OidIsValid(clause->hashjoinoperator) ||
		!is_plain_collation(operation->inputcollid))
		return false;
	*column = linitial(operation->args);
	*value = lsecond(operation->args);
	if (!is_column(*column, rel))
	{
		*column = *value;
		*value = linitial(operation->args);
	}
	return is_column(*column, rel);
}

/* The column of the table that an equality compares. */
static const Var *
looked_up(const RestrictInfo *clause, const RelOptInfo *rel)
{
	Node	   *column;
	Node	   *value;

	(void) is_equality(clause, rel, &column, &value);
	if (IsA(column, RelabelType))
		column = (Node *) ((RelabelType *) column)->arg;
	return (const Var *) column;
}

/* Is a clause one with a value of other tables, and may it be sent? */
static bool
is_lookup(PlannerInfo *root, const RestrictInfo *clause, RelOptInfo *rel)
{
	LookupTable table = {root, rel};
	Node	   *column;
	Node	   *value;

	return is_equality(clause, rel, &column, &value) &&
		!has_other(column, &table) && !has_other(value, &table) &&
		!bms_is_member(rel->relid, pull_varnos(root, value));
}

/* State of the search for a column of the table in equivalence classes */
typedef struct ColumnSearch
{
	AttrNumber	attno;			/* the present column */
} ColumnSearch;

/* ec_matches_callback_type */
static bool
is_member(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *ec,
		  EquivalenceMember *member, void *arg)
{
	Node	   *expr = (Node *) member->em_expr;

	if (!is_column(expr, rel))
		return false;
	if (IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	return ((Var *) expr)->varattno == ((ColumnSearch *) arg)->attno;
}

/*
 * Does the query use a column of a table?  attr_needed is not set for
 * partitions: there it counts as used.
 */
static bool
is_used(const RelOptInfo *rel, AttrNumber attno)
{
	return rel->reloptkind != RELOPT_BASEREL ||
		!bms_is_empty(rel->attr_needed[attno - rel->min_attr]);
}

/* The conditions of joins that are equalities of a table's column with a value. */
static List *
find_equalities(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *clauses = NIL;
	List	   *equalities = NIL;
	Node	   *column;
	Node	   *value;
	ListCell   *cell;

	foreach(cell, rel->joininfo)
	{
		if (join_clause_is_movable_to(lfirst(cell), rel))
			clauses = lappend(clauses, lfirst(cell));
	}
	if (rel->has_eclass_joins)
	{
		ColumnSearch search;

		for (search.attno = 1; search.attno <= rel->max_attr; search.attno++)
		{
			if (!is_used(rel, search.attno))
				continue;
			clauses = list_concat(clauses,
								  generate_implied_equalities_for_column(root,
																		 rel,
																		 is_member,
																		 &search,
																		 rel->lateral_referencers));
		}
	}
	foreach(cell, clauses)
	{
		if (is_equality(lfirst(cell), rel, &column, &value))
			equalities = lappend(equalities, lfirst(cell));
	}
	return equalities;
}

/*
 * Those of these tables whose values could be looked up in a table, by an
 * equality with a column; NULL if there are none.  lookup_make_scan() uses all
 * of these tables, for a table and for each of its partitions.
 */
Relids
lookup_outer(PlannerInfo *root, RelOptInfo *rel, Relids tables)
{
	Relids		outer = NULL;
	ListCell   *cell;

	if (!bms_is_subset(rel->lateral_relids, tables))
		return NULL;
	foreach(cell, find_equalities(root, rel))
	{
		const RestrictInfo *clause = lfirst(cell);
		Relids		others = bms_difference(clause->clause_relids, rel->relids);

		if (bms_is_subset(others, tables))
			outer = bms_add_members(outer, others);
	}
	return outer == NULL ? NULL : bms_add_members(outer, rel->lateral_relids);
}

/* Are the values of a column all different, as those of a primary key? */
static bool
is_distinct(Oid relid, AttrNumber attno)
{
	HeapTuple	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relid),
										Int16GetDatum(attno),
										BoolGetDatum(false));
	bool		is_distinct = false;

	if (HeapTupleIsValid(tuple))
	{
		is_distinct = ((Form_pg_statistic) GETSTRUCT(tuple))->stadistinct == -1;
		ReleaseSysCache(tuple);
	}
	return is_distinct;
}

/*
 * May the query stop reading a join early?  Sorts and aggregates read all
 * rows.
 */
bool
lookup_may_stop(const PlannerInfo *root)
{
	return root->tuple_fraction > 0 && root->query_pathkeys == NIL &&
		!root->parse->hasAggs;
}

/* Is a column expected to have a remote index?  None is used for an enum's label. */
static bool
has_index(const PlannerInfo *root, const RelOptInfo *rel, Oid relid,
		  const Var *column)
{
	Relation	table;
	IndexFact	fact;

	if (type_is_enum(getBaseType(column->vartype)))
		return false;
	table = table_open(relid, NoLock);
	fact = sessions_know_index(lookup_user(rel), rel->serverid, relid,
							   deparse_column_name(table, column->varattno));
	table_close(table, NoLock);
	return fact == INDEX_PRESENT ||
		(fact == INDEX_UNKNOWN &&
		 (!lookup_may_stop(root) || is_distinct(relid, column->varattno)));
}

/* The cost of a row of a table that is fetched. */
static Cost
row_cost(const RelOptInfo *rel)
{
	return option_cost(rel->serverid, "fdw_tuple_cost",
					   COMPAT_FDW_TUPLE_COST) + cpu_tuple_cost;
}

/*
 * What of the cost of a scan with parameters is for reading an index; 0 if this file has
 * not made it.
 */
Cost
lookup_index_cost(const PlannerInfo *root, const Path *path)
{
	const RelOptInfo *rel = path->parent;

	if (!IsA(path, ForeignPath) || !IS_SIMPLE_REL(rel) || rel->rtekind != RTE_RELATION ||
		bms_equal(path->param_info->ppi_req_outer, rel->lateral_relids) ||
		tables_asks_for_estimates(planner_rt_fetch(rel->relid, root)->relid))
		return 0;
	return path->total_cost - path->startup_cost - path->rows * row_cost(rel);
}

/*
 * The scan parameterized by these other tables.  Without an index its startup
 * cost is that of reading the whole table.
 */
static Path *
make_scan(PlannerInfo *root, RelOptInfo *rel, Relids outer, bool by_index)
{
	double		rows = get_baserel_parampathinfo(root, rel, outer)->ppi_rows;
	double		startup = option_cost(rel->serverid, "fdw_startup_cost",
									  COMPAT_FDW_STARTUP_COST);

	if (!by_index)
		startup += rel->pages * seq_page_cost + rel->tuples * cpu_tuple_cost;
	return (Path *)
		compat_foreign_path(root, rel, rows, startup, startup + rows * row_cost(rel) +
							(by_index ? LOOKUP_PAGES * random_page_cost : 0),
							outer);
}

/*
 * The scan of a foreign table parameterized by these tables, with all
 * equalities between them; NULL if there is none, or if postgres_fdw has made
 * one.
 */
Path *
lookup_make_scan(PlannerInfo *root, RelOptInfo *rel, Relids tables)
{
	Oid			relid = planner_rt_fetch(rel->relid, root)->relid;
	Relids		outer = bms_copy(rel->lateral_relids);
	bool		found = false;
	bool		by_index = false;
	ListCell   *cell;

	foreach(cell, find_equalities(root, rel))
	{
		const RestrictInfo *clause = lfirst(cell);
		Relids		others = bms_difference(clause->clause_relids, rel->relids);

		if (!bms_is_subset(others, tables) || !is_lookup(root, clause, rel))
			continue;
		found = true;
		by_index = by_index || has_index(root, rel, relid,
										 looked_up(clause, rel));
		outer = bms_add_members(outer, others);
	}
	if (!found || !bms_is_subset(outer, tables) ||
		tables_asks_for_estimates(relid))
		return NULL;

	/*
	 * A query that may stop early must not wait for the whole table, or for
	 * many rows.
	 */
	if (lookup_may_stop(root) &&
		(!by_index ||
		 get_baserel_parampathinfo(root, rel, outer)->ppi_rows > PLAN_FEW_ROWS))
		return NULL;
	return make_scan(root, rel, outer, by_index);
}

/* Mutator: gives columns of the table their local types by casts. */
static Node *
cast_columns(Node *node, void *context)
{
	const RelOptInfo *rel = context;
	Var		   *var = (Var *) node;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var) || (Index) var->varno != rel->relid)
		return expression_tree_mutator(node, cast_columns, context);

	/*
	 * All numeric types compare alike, and a cast could prevent the use of an
	 * index.
	 */
	if (var->vartype == INT2OID || var->vartype == INT4OID ||
		var->vartype == INT8OID)
		return copyObjectImpl(node);
	return (Node *) makeRelabelType(copyObjectImpl(var), var->vartype,
									var->vartypmod, var->varcollid,
									COERCE_EXPLICIT_CAST);
}

/*
 * Splits the conditions of a scan with parameters into those that are sent,
 * to which the list is set, and those that are checked here.  Returns the
 * latter, as expressions.  Conditions that postgres_fdw would send are sent:
 * those without parameters, those with LATERAL parameters only, and all with
 * use_remote_estimate.
 *
 * The remote server ignores a cast to the type that a column has anyway.
 */
List *
lookup_split_clauses(PlannerInfo *root, RelOptInfo *rel, const Path *path,
					 List **clauses)
{
	LookupTable table = {root, rel};
	List	   *sent = NIL;
	List	   *kept = NIL;
	ListCell   *cell;

	if (path->param_info == NULL || !IS_SIMPLE_REL(rel) ||
		bms_equal(path->param_info->ppi_req_outer, rel->lateral_relids) ||
		tables_asks_for_estimates(planner_rt_fetch(rel->relid, root)->relid))
		return NIL;
	foreach(cell, *clauses)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);

		if (clause->pseudoconstant ||
			list_member_ptr(rel->baserestrictinfo, clause))
			sent = lappend(sent, clause);
		else if (is_lookup(root, clause, rel) ||
				 (IsA(clause->clause, OpExpr) &&
				  !has_other((Node *) clause->clause, &table) &&
				  !contain_leaked_vars((Node *) clause->clause)))
		{
			RestrictInfo *copy = makeNode(RestrictInfo);
			Node	   *written = (Node *) clause->clause;
			Node	   *form = rewrite_lookup(root, rel, written);

			*copy = *clause;
			copy->clause = (Expr *) cast_columns(form, rel);
			if (form != written)
				rewrite_note_lookup(root, rel, written, (Node *) copy->clause);
			sent = lappend(sent, copy);
		}
		else
			kept = lappend(kept, clause->clause);
	}
	*clauses = sent;
	return kept;
}
