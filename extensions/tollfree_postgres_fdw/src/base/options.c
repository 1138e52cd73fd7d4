/*
 * options.c
 *	  Values of the options of servers, user mappings and foreign tables.
 *
 * validator.c checks them when they are given.
 */
#include "postgres.h"

#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "base/compat.h"
#include "base/libpq.h"
#include "base/options.h"
#include "base/settings.h"

#define BATCH_SIZE_DEFAULT 1

static const char *const sampling_names[] = {
	[SAMPLING_OFF] = "off",
	[SAMPLING_RANDOM] = "random",
	[SAMPLING_SYSTEM] = "system",
	[SAMPLING_BERNOULLI] = "bernoulli",
	[SAMPLING_AUTO] = "auto",
	[SAMPLING_IMPORT] = "import"
};

/* The value of an option, or NULL. */
const char *
option_find(List *options, const char *name)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		if (strcmp(option->defname, name) == 0)
			return defGetString(option);
	}
	return NULL;
}

/* The value of a foreign table's option, or else of its server's, or NULL. */
static const char *
find_of_table(Oid relid, const char *name)
{
	ForeignTable *table = GetForeignTable(relid);
	const char *value = option_find(table->options, name);

	return value != NULL ? value
		: option_find(GetForeignServer(table->serverid)->options, name);
}

/* A boolean, or the default (otherwise) if the value is NULL. */
static bool
is_true(const char *value, bool otherwise)
{
	bool		result;

	return value != NULL && parse_bool(value, &result) ? result : otherwise;
}

/* A number, or the default (otherwise) if the value is NULL. */
static int
number(const char *value, int otherwise)
{
	int			result;

	return value != NULL && parse_int(value, &result, 0, NULL) ? result
		: otherwise;
}

/* The value of a boolean option. */
bool
option_is_true(List *options, const char *name, bool otherwise)
{
	return is_true(option_find(options, name), otherwise);
}

/*
 * Is this postgres_fdw's option to import statistics, by either name?  Which one
 * postgres_fdw knows depends on its release of PostgreSQL 19.
 */
bool
option_is_import(const char *name)
{
	return COMPAT_STOCK_IMPORTS &&
		(strcmp(name, IMPORT_STATS) == 0 || strcmp(name, RESTORE_STATS) == 0);
}

/* The value of that option, or NULL. */
const char *
option_find_import(List *options)
{
	const char *value = option_find(options, IMPORT_STATS);

	return value != NULL ? value : option_find(options, RESTORE_STATS);
}

/* Does a foreign table's option, or else its server's, ask for the import? */
bool
option_imports_statistics(Oid relid)
{
	ForeignTable *table = GetForeignTable(relid);
	const char *value = option_find_import(table->options);

	return is_true(value != NULL ? value :
				   option_find_import(GetForeignServer(table->serverid)->options), false);
}

/* The same for a foreign table, whose option overrides its server's. */
bool
option_of_table_is_true(Oid relid, const char *name, bool otherwise)
{
	return is_true(find_of_table(relid, name), otherwise);
}

/* A cost of a server, or the default (otherwise); tables have none of their own. */
double
option_cost(Oid server, const char *name, double otherwise)
{
	const char *value = option_find(GetForeignServer(server)->options, name);

	return value == NULL ? otherwise : strtod(value, NULL);
}

/* How many rows one INSERT into this table may have. */
int
option_batch_size(Relation rel)
{
	return number(find_of_table(RelationGetRelid(rel), "batch_size"),
				  BATCH_SIZE_DEFAULT);
}

/* The name of a sampling method. */
const char *
option_sampling_name(SamplingMethod method)
{
	return sampling_names[method];
}

/* Finds a sampling method by its name; false if there is none. */
bool
option_find_sampling(const char *name, SamplingMethod *method)
{
	for (int i = 0; i < lengthof(sampling_names); i++)
	{
		*method = i;
		if (strcmp(sampling_names[i], name) == 0)
			return true;
	}
	return false;
}

/*
 * The sampling method of a foreign table.  Where import_stats decides whether
 * statistics are imported, 'import' does not ask a second time.
 */
SamplingMethod
option_sampling_method(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	const char *value = find_of_table(relid, ANALYZE_SAMPLING);
	SamplingMethod method;

	if (value == NULL || !option_find_sampling(value, &method) ||
		(method == SAMPLING_IMPORT &&
		 (option_find_import(GetForeignTable(relid)->options) != NULL ||
		  option_imports_statistics(relid))))
		return SAMPLING_AUTO;
	return method;
}

/* Is this an option of libpq that a server or a user mapping may set? */
bool
option_is_libpq(const char *name)
{
	static PQconninfoOption *known = NULL;

	if (known == NULL)
		known = PQconndefaults();
	if (known == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Could not get libpq's default connection options.")));

	if (strcmp(name, "fallback_application_name") == 0 ||
		strcmp(name, "client_encoding") == 0 ||
		strncmp(name, "oauth_", strlen("oauth_")) == 0)
		return false;
	for (const PQconninfoOption *option = known; option->keyword; option++)
	{
		if (strcmp(option->keyword, name) == 0)
			return strchr(option->dispchar, 'D') == NULL;
	}
	return false;
}

/* Has the option this value, in either case of letters? */
static bool
has_value(List *options, const char *name, const char *value)
{
	const char *given = option_find(options, name);

	return given != NULL && pg_strcasecmp(given, value) == 0;
}

/* Are this server's remote transactions READ COMMITTED? */
bool
option_reads_committed(List *server_options)
{
	return has_value(server_options, REMOTE_ISOLATION, READ_COMMITTED);
}

/* Is the server to be used as by postgres_fdw, without any fast path? */
bool
option_is_compatible(List *server_options)
{
	return has_value(server_options, COMPATIBILITY, COMPATIBILITY_STOCK);
}

/* Does the owner say that both databases have the same collations? */
bool
option_claims_collations(List *server_options)
{
	return has_value(server_options, COLLATIONS, COLLATIONS_SAME);
}

/*
 * How many statements a connection to this server may keep prepared, by
 * option; the setting may allow fewer.
 */
int
option_statement_cache_size(List *server_options)
{
	return option_is_compatible(server_options) ? 0
		: number(option_find(server_options, STATEMENT_CACHE_SIZE),
				 STATEMENT_CACHE_SIZE_MAX);
}

/*
 * Has a session its server connection for itself, by the server's options?  Who
 * wants no statement kept has a pooler that hands connections around, unless the
 * server's option says otherwise.
 */
PoolMode
option_pool_mode(List *server_options)
{
	if (has_value(server_options, POOL_MODE, POOL_MODE_SESSION))
		return POOL_SESSION;
	if (has_value(server_options, POOL_MODE, POOL_MODE_TRANSACTION) ||
		number(option_find(server_options, STATEMENT_CACHE_SIZE), 1) == 0)
		return POOL_TRANSACTION;
	return POOL_UNKNOWN;
}
