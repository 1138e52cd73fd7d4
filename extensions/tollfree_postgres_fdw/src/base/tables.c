/*
 * tables.c
 *	  Options of foreign tables that each planning reads.
 *
 * PostgreSQL parses the options of a table and of its server each time that
 * they are read.  Planning a join reads them for each table and each pair of
 * tables.  So they are kept, until any foreign table or server changes.
 */
#include "postgres.h"

#include "foreign/foreign.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/syscache.h"

#include "base/fastpath.h"
#include "base/options.h"
#include "base/tables.h"

/* Tables that the hash table has room for at first */
#define TABLES_EXPECTED 64

static HTAB *known = NULL;

/* Advances with each change of a foreign table or server */
static uint64 generation = 0;

/* The generation that the known tables are of */
static uint64 known_generation = 0;

/* The server that was asked about last, if its generation is the present one */
static struct
{
	Oid			serverid;
	uint64		generation;
	bool		has_extensions;
} last_server;

/* A foreign table or a server has changed. */
static void
note_change(Datum arg, int cache, uint32 hash)
{
	generation++;
}

/* Forgets all tables if any has changed; makes the hash table. */
static void
refresh(void)
{
	static bool registered = false;
	HASHCTL		control = {
		.keysize = sizeof(Oid),.entrysize = sizeof(TableOptions)
	};

	if (known != NULL && known_generation == generation)
		return;
	if (!registered)
	{
		registered = true;
		CacheRegisterSyscacheCallback(FOREIGNTABLEREL, note_change, (Datum) 0);
		CacheRegisterSyscacheCallback(FOREIGNSERVEROID, note_change, (Datum) 0);
	}
	if (known != NULL)
		hash_destroy(known);
	known = NULL;
	known = hash_create("tollfree_postgres_fdw tables", TABLES_EXPECTED,
						&control, HASH_ELEM | HASH_BLOBS);
	known_generation = generation;
}

/* Reads the options from the catalogs. */
static TableOptions
read_options(Oid relid)
{
	ForeignTable *table = GetForeignTable(relid);
	ForeignServer *server = GetForeignServer(table->serverid);

	return (TableOptions)
	{
		.relid = relid,
			.fast_paths = fastpath_of_options(table->options, server->options),
			.remote_estimates = option_is_true(table->options,
											   "use_remote_estimate",
											   option_is_true(server->options,
															  "use_remote_estimate",
															  false))
	};
}

/* What the options of a foreign table say. */
TableOptions
tables_options(Oid relid)
{
	TableOptions *found;
	TableOptions options;

	refresh();
	found = hash_search(known, &relid, HASH_FIND, NULL);
	if (found != NULL)
		return *found;
	options = read_options(relid);
	/* A change may be noticed while the catalogs are read. */
	if (known_generation == generation)
		*(TableOptions *) hash_search(known, &relid, HASH_ENTER, NULL) = options;
	return options;
}

/* Has a server the option "extensions"? */
bool
tables_server_has_extensions(Oid serverid)
{
	ForeignServer *server;

	if (last_server.serverid == serverid && known != NULL &&
		last_server.generation == generation)
		return last_server.has_extensions;

	refresh();
	last_server.generation = generation;

	server = GetForeignServer(serverid);
	last_server.serverid = serverid;
	last_server.has_extensions = option_find(server->options, "extensions") != NULL;
	return last_server.has_extensions;
}
