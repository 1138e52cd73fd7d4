/*
 * truncate.c
 *	  TRUNCATE of foreign tables.
 */
#include "postgres.h"

#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/rel.h"

#include "modify/modify.h"
#include "session/remote_xact.h"
#include "session/session.h"
#include "sql/deparse.h"
#include "xact/transaction.h"

/* Raises an ERROR unless the table may be truncated. */
static void
check_truncatable(Relation rel)
{
	if (!option_of_table_is_true(RelationGetRelid(rel), "truncatable", true))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("foreign table \"%s\" does not allow truncates",
						RelationGetRelationName(rel))));
}

/* Truncates tables, all of one server. */
void
tollfreeExecForeignTruncate(List *rels, DropBehavior behavior,
							bool restart_seqs)
{
	RemoteCommand command = {0};
	ForeignServer *server;
	Session    *session;
	ListCell   *cell;
	Oid			first = RelationGetRelid((Relation) linitial(rels));

	foreach(cell, rels)
		check_truncatable(lfirst(cell));
	server = GetForeignServer(GetForeignTable(first)->serverid);
	/* The two connections would wait for each other: see handler.c. */
	if (transaction_noted_stock(server->serverid))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot truncate tables of server \"%s\" after importing its schemas in the same transaction",
						server->servername),
				 errhint("Truncate in a transaction of its own.")));
	session = transaction_get_session(GetUserId(), server->serverid);
	command.sql = command.shown = deparse_truncate(rels, behavior, restart_seqs);
	PQclear(session_execute(session, &command, 1, false));
	/* Not earlier: a lost connection may have been replaced. */
	remote_xact_note_truncation(session);
}
