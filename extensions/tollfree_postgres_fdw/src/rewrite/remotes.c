/*
 * remotes.c
 *	  What may be sent to the server of a relation, by what is known of it.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "pgtime.h"
#include "utils/lsyscache.h"

#include "base/options.h"
#include "rewrite/planning.h"
#include "rewrite/remotes.h"
#include "session/questions.h"
#include "session/session.h"
#include "xact/transaction.h"

/* Rows of a table for which a question that takes ten milliseconds is worth it */
#define ZONE_MIN_ROWS 5000

/*
 * Walker: is there a text with characters that another encoding may lack?  To send it
 * would be an error.
 */
static bool
has_odd_text(Node *node, void *context)
{
	const Const *constant = (const Const *) node;
	Oid			output;
	bool		is_varlena;

	if (node == NULL)
		return false;
	if ((!IsA(node, Const) && !IsA(node, Param)) ||
		!(type_is_collatable(exprType(node)) || exprType(node) == JSONBOID))
		return expression_tree_walker(node, has_odd_text, context);
	if (IsA(node, Param))
		return true;
	if (constant->constisnull)
		return false;
	getTypeOutputInfo(constant->consttype, &output, &is_varlena);
	for (const char *c = OidOutputFunctionCall(output, constant->constvalue);
		 *c != '\0'; c++)
	{
		if (IS_HIGHBIT_SET(*c))
			return true;
	}
	return false;
}

/* Is the database of a table known to have another encoding than the local one? */
bool
remotes_have_other_encoding(const RelOptInfo *rel)
{
	return !sessions_have_same_encoding(OidIsValid(rel->userid) ? rel->userid :
										GetUserId(), rel->serverid);
}

/* Has an expression a text that another encoding may lack? */
bool
remotes_have_odd_text(Node *expr)
{
	return has_odd_text(expr, NULL);
}

/* Can all texts of an expression be sent to the database of a table? */
bool
remotes_can_encode(const RelOptInfo *rel, Node *expr)
{
	return !remotes_have_other_encoding(rel) || !has_odd_text(expr, NULL);
}

/*
 * Is a table, or any table of a query that an aggregation is of, so large that it is
 * worth asking whether the server has the rules of a zone?  Yes if that is not known.
 */
static bool
is_worth_asking(const PlannerInfo *root, const RelOptInfo *rel)
{
	if (rel->relid > 0)
		return rel->tuples < 0 || rel->tuples >= ZONE_MIN_ROWS;
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		if (root->simple_rel_array[i] != NULL && root->simple_rel_array[i]->relid > 0 &&
			is_worth_asking(root, root->simple_rel_array[i]))
			return true;
	}
	return false;
}

/* What decides whether times in a zone may be sent to the server of a relation. */
ZoneRules
remotes_zone_rules(const PlannerInfo *root, const RelOptInfo *rel)
{
	return (ZoneRules)
	{
		.userid = OidIsValid(rel->userid) ? rel->userid : GetUserId(),
			.serverid = rel->serverid,
			.may_send = planned->written != NULL,
			.may_ask = planned->written != NULL && is_worth_asking(root, rel)
	};
}

/*
 * May times in a zone be sent to a server?  Not if its rules of that zone are known to
 * differ, nor if that could not be found out later, or would take longer than to fetch
 * the rows.
 */
bool
remotes_may_send_zone(const ZoneRules *rules, const pg_tz *zone)
{
	bool		is_same;

	if (!rules->may_send)
		return false;
	return sessions_know_zone(rules->userid, rules->serverid, zone, &is_same) ?
		is_same : rules->may_ask;
}

/*
 * May casts of texts be sent to the server of a relation?  Not if it is known to have
 * another major version, nor if that could not be found out later.
 */
bool
remotes_may_read_texts(const RelOptInfo *rel)
{
	return planned->written != NULL &&
		sessions_have_same_version(OidIsValid(rel->userid) ? rel->userid :
								   GetUserId(), rel->serverid);
}

/*
 * May the server of a relation count characters that postgres_fdw would count here?
 * Not if its database is known to have another encoding, nor if that could not be found
 * out later.
 */
bool
remotes_may_count(const RelOptInfo *rel)
{
	return planned->written != NULL && !remotes_have_other_encoding(rel);
}

/*
 * Has the remote database the collations of this one?  It is asked only if the
 * server's option says so; then a connection is made, if there is none.
 */
bool
remotes_have_same_collations(const RelOptInfo *rel)
{
	Oid			user = OidIsValid(rel->userid) ? rel->userid : GetUserId();

	return OidIsValid(rel->serverid) &&
		option_claims_collations(GetForeignServer(rel->serverid)->options) &&
		questions_have_same_collations(transaction_get_session(user,
															   rel->serverid));
}
