/*
 * located.c
 *	  Identifies rows to be modified by their ctid and remote table.
 *
 * postgres_fdw modifies a row of the remote table t by
 *
 *	UPDATE t SET ... WHERE ctid = $1
 *
 * If t has partitions or children a row of each of them may have that ctid,
 * and all are modified.  So the executed commands distinguish their tables:
 * the scan has
 *
 *	concat(ctid,nullif(tableoid,(SELECT to_regclass('t'))))
 *
 * in place of ctid.  For a row of t itself this is its ctid, and for a row of
 * another table the ctid followed by the table's OID (wire/ctids.c).  The
 * former row is modified by UPDATE ONLY t ...  WHERE ctid = $1, the latter by
 * UPDATE t ...  WHERE ctid = $1 AND tableoid = $2.
 *
 * So no properties of t are needed, which could change, and a row of a table
 * without children takes no more bytes.  EXPLAIN and errors show the commands
 * of postgres_fdw.
 *
 * Functions and operators need no schema, since temporary ones are not found
 * without one.  A name with a schema, or a cast to a type, would need rights
 * to pg_catalog.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "lib/stringinfo.h"
#include "nodes/nodeFuncs.h"
#include "nodes/value.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"

#include "sql/deparse.h"
#include "sql/located.h"
#include "sql/plan.h"

/*
 * The first occurrence of a text at the top level of a query, outside of
 * quotes and parentheses; NULL if there is none.  Quotes in quotes are
 * doubled.
 */
static const char *
find_at_top(const char *sql, const char *text)
{
	int			depth = 0;
	char		quote = '\0';

	for (const char *p = sql; *p != '\0'; p++)
	{
		if (quote == '\0' && depth == 0 && strncmp(p, text, strlen(text)) == 0)
			return p;
		if (quote != '\0')
			quote = *p == quote ? '\0' : quote;
		else if (*p == '\'' || *p == '"')
			quote = *p;
		else
			depth += (*p == '(') - (*p == ')');
	}
	return NULL;
}

/*
 * The query of a scan with the remote table added to its nth column, from 0
 * on, which is the ctid of a table, perhaps qualified.
 */
static char *
locate_scan(const char *sql, int n, Oid relid)
{
	const char *item = sql + strlen("SELECT ");
	const char *ctid;
	const char *schema;
	const char *table;

	for (int i = 0; item != NULL && i < n; i++)
	{
		item = find_at_top(item, ", ");
		if (item != NULL)
			item += strlen(", ");
	}
	ctid = item == NULL ? NULL : find_at_top(item, "ctid");
	if (ctid == NULL || memchr(item, ' ', ctid - item) != NULL)
		elog(ERROR, "could not find ctid in remote query: %s", sql);
	deparse_table_name(relid, &schema, &table);
	return psprintf("%.*sconcat(%.*sctid,nullif(%.*stableoid,(SELECT to_regclass(%s))))%s",
					(int) (item - sql), sql,
					(int) (ctid - item), item, (int) (ctid - item), item,
					quote_literal_cstr(quote_qualified_identifier(schema, table)),
					ctid + strlen("ctid"));
}

/*
 * The command that modifies a row by its ctid: of the table that it names or,
 * by one more parameter after its nparams, of another one.
 */
char *
located_write(const char *sql, int nparams, bool has_table)
{
	const char *verb = strncmp(sql, "UPDATE ", strlen("UPDATE ")) == 0 ?
		"UPDATE " : "DELETE FROM ";
	const char *condition = " WHERE ctid = $1";
	const char *found = find_at_top(sql, condition);

	if (found == NULL || strncmp(sql, verb, strlen(verb)) != 0)
		elog(ERROR, "could not find ctid in remote command: %s", sql);
	if (!has_table)
		return psprintf("%sONLY %s", verb, sql + strlen(verb));
	return psprintf("%.*s%s AND tableoid = $%d%s", (int) (found - sql), sql,
					condition, nparams + 1, found + strlen(condition));
}

/* Walker: does a query refer to a ctid, other than as a junk column? */
static bool
refers_to_ctid(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varattno == SelfItemPointerAttributeNumber;
	if (IsA(node, TargetEntry) && ((TargetEntry *) node)->resjunk &&
		IsA(((TargetEntry *) node)->expr, Var))
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, refers_to_ctid, context, 0);
	return expression_tree_walker(node, refers_to_ctid, context);
}

/* The same, except in RETURNING, which shows the remote server's values. */
static bool
uses_ctid(const Query *parse)
{
	Query		query = *parse;

	query.returningList = NIL;
	return refers_to_ctid((Node *) &query, NULL);
}

/*
 * Is a column of a scan, by its attribute number, the ctid of a table that the
 * query modifies?  Returns its range table index, or 0.
 */
static Index
target_of(const PlannerInfo *root, const ForeignScan *plan, AttrNumber attno)
{
	Index		rtindex = plan->scan.scanrelid;

	if (rtindex == 0)
	{
		const Var  *var = (const Var *)
			list_nth_node(TargetEntry, plan->fdw_scan_tlist, attno - 1)->expr;

		if (!IsA(var, Var))
			return 0;
		rtindex = var->varno;
		attno = var->varattno;
	}
	return attno == SelfItemPointerAttributeNumber &&
		bms_is_member(rtindex, root->all_result_relids) ? rtindex : 0;
}

/*
 * Adds the remote table to the ctids of a modified table's scan.  It must have
 * gone through plan_annotate_scan.
 */
void
located_note_target(PlannerInfo *root, ForeignScan *plan)
{
	const Query *parse = root->parse;
	ScanPlan	scan;
	ListCell   *cell;

	if (parse->commandType != CMD_UPDATE && parse->commandType != CMD_DELETE)
		return;
	scan = plan_read_scan(plan->fdw_private);
	foreach(cell, scan.attrs)
	{
		ScanTarget	target = {.attno = lfirst_int(cell)};

		target.rtindex = target_of(root, plan, target.attno);
		if (target.rtindex == 0)
			continue;
		target.uses_ctid = uses_ctid(parse);
		plan_note_target(plan,
						 locate_scan(scan.command.sql,
									 foreach_current_index(cell),
									 planner_rt_fetch(target.rtindex, root)->relid),
						 target);
		return;
	}
}
