/*
 * compare_collations.c
 *	  The SQL function that compares the collations of both sides of a server.
 *
 * The owner of a server calls it before setting the option collations to 'same'.
 * Each connection checks that option again (session/questions.c).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_foreign_server.h"
#include "foreign/fdwapi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "base/compat.h"
#include "base/compat_export.h"
#include "scan/scan.h"
#include "session/locale.h"
#include "session/result.h"
#include "session/session.h"
#include "xact/transaction.h"

#define COLUMNS 3

COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_compare_collations);

/* A server of this wrapper that the user may use; raises an ERROR otherwise. */
static ForeignServer *
find_server(const char *name)
{
	ForeignServer *server = GetForeignServerByName(name, false);
	AclResult	usage = compat_server_aclcheck(server->serverid);

	if (usage != ACLCHECK_OK)
		aclcheck_error(usage, OBJECT_FOREIGN_SERVER, name);
	if (GetFdwRoutineByServerId(server->serverid)->BeginForeignScan !=
		tollfreeBeginForeignScan)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("server \"%s\" is not one of tollfree_postgres_fdw", name)));
	return server;
}

/* The collations of the remote database, as locale.c has them; NULL if it refuses. */
static char *
collations_there(const ForeignServer *server)
{
	Session    *session = transaction_get_session(GetUserId(), server->serverid);
	PGresult   *res = session_ask(session,
								  locale_sql(PQserverVersion(session->conn)));
	const char *value = res != NULL ? result_value(res) : NULL;
	char	   *there = value != NULL ? pstrdup(value) : NULL;

	PQclear(res);
	return there;
}

/* The SQL function: what both sides have, and whether that is the same. */
Datum
tollfree_postgres_fdw_compare_collations(PG_FUNCTION_ARGS)
{
	const ForeignServer *server = find_server(NameStr(*PG_GETARG_NAME(0)));
	const char *there = collations_there(server);
	const char *here = locale_here();
	bool		is_known = here != NULL && there != NULL;
	bool		nulls[COLUMNS] = {here == NULL, there == NULL, !is_known};
	Datum		values[COLUMNS] = {0};
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE ||
		desc->natts != COLUMNS)
		elog(ERROR, "unexpected result type");
	if (here != NULL)
		values[0] = CStringGetTextDatum(here);
	if (there != NULL)
		values[1] = CStringGetTextDatum(there);
	if (is_known)
		values[2] = BoolGetDatum(strcmp(here, there) == 0);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
