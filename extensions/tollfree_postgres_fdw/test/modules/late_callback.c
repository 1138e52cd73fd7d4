/*
 * late_callback.c
 *	  Executes a query when a transaction, or a subtransaction, is about to commit.
 *
 * For a test: callbacks that were registered earlier are called later, so one
 * of a library that is loaded first comes behind the wrapper's.  The query is
 * the setting late_callback.query, or late_callback.subquery.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

static void
execute_setting(const char *setting)
{
	const char *query = GetConfigOption(setting, true, false);

	if (query == NULL || *query == '\0')
		return;
	SPI_connect();
	PushActiveSnapshot(GetTransactionSnapshot());
	if (SPI_execute(query, false, 0) < 0)
		elog(ERROR, "could not execute: %s", query);
	PopActiveSnapshot();
	SPI_finish();
}

static void
execute_query(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_COMMIT)
		execute_setting("late_callback.query");
}

static void
execute_subquery(SubXactEvent event, SubTransactionId mine,
				 SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_PRE_COMMIT_SUB)
		execute_setting("late_callback.subquery");
}

void
_PG_init(void)
{
	RegisterXactCallback(execute_query, NULL);
	RegisterSubXactCallback(execute_subquery, NULL);
}
