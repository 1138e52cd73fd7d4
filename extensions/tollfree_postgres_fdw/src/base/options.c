/*
 * options.c
 *	  Options of servers, user mappings and foreign tables: reading them.
 *
 * validator.c checks their values when they are set.
 */
#include "postgres.h"

#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "libpq-fe.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "base/options.h"
#include "base/settings.h"

#define BATCH_SIZE_DEFAULT 1

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

/* The value of a boolean option, or the default (otherwise). */
bool
option_is_true(List *options, const char *name, bool otherwise)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		if (strcmp(option->defname, name) == 0)
			return defGetBoolean(option);
	}
	return otherwise;
}

/* The same for a foreign table, whose option overrides its server's. */
bool
option_of_table_is_true(Relation rel, const char *name, bool otherwise)
{
	ForeignTable *table = GetForeignTable(RelationGetRelid(rel));
	ForeignServer *server = GetForeignServer(table->serverid);

	return option_is_true(table->options, name,
						  option_is_true(server->options, name, otherwise));
}

/* How many rows one INSERT into this table may have. */
int
option_batch_size(Relation rel)
{
	ForeignTable *table = GetForeignTable(RelationGetRelid(rel));
	const char *value = option_find(table->options, "batch_size");
	int			size = BATCH_SIZE_DEFAULT;

	if (value == NULL)
		value = option_find(GetForeignServer(table->serverid)->options,
							"batch_size");
	if (value != NULL)
		(void) parse_int(value, &size, 0, NULL);
	return size;
}

/* The names of sampling methods, in the order of the enum */
static const char *const sampling_names[] = {
	"off", "random", "system", "bernoulli", "auto", "import"
};

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
		if (strcmp(sampling_names[i], name) == 0)
		{
			*method = i;
			return true;
		}
	}
	return false;
}

/* The sampling method of a foreign table. */
SamplingMethod
option_sampling_method(Relation rel)
{
	ForeignTable *table = GetForeignTable(RelationGetRelid(rel));
	const char *value = option_find(table->options, OPTION_ANALYZE_SAMPLING);
	SamplingMethod method = SAMPLING_AUTO;

	if (value == NULL)
		value = option_find(GetForeignServer(table->serverid)->options,
							OPTION_ANALYZE_SAMPLING);
	if (value != NULL)
		(void) option_find_sampling(value, &method);
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

/* Are this server's remote transactions READ COMMITTED? */
bool
option_reads_committed(List *server_options)
{
	const char *level = option_find(server_options, OPTION_REMOTE_ISOLATION);

	return level != NULL && pg_strcasecmp(level, "read committed") == 0;
}

/* Is the server to be used as by postgres_fdw, without any fast path? */
bool
option_is_compatible(List *server_options)
{
	const char *with = option_find(server_options, OPTION_COMPATIBILITY);

	return with != NULL && pg_strcasecmp(with, COMPATIBILITY_STOCK) == 0;
}

/*
 * How many statements a connection to this server may keep prepared, by
 * option; the setting may allow fewer.
 */
int
option_statement_cache_size(List *server_options)
{
	const char *value = option_find(server_options,
									OPTION_STATEMENT_CACHE_SIZE);
	int			size = STATEMENT_CACHE_SIZE_MAX;

	if (option_is_compatible(server_options))
		return 0;
	if (value != NULL)
		(void) parse_int(value, &size, 0, NULL);
	return size;
}
