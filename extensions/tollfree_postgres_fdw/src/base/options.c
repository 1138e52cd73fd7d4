/*
 * options.c
 *	  Options of servers, user mappings and foreign tables.
 *
 * postgres_fdw knows its options and their values; its own validator checks
 * them.  Here only those are checked that this wrapper adds, all of them
 * options of a server:
 *
 *	remote_isolation	the level of remote transactions, "repeatable read"
 *						(as with postgres_fdw) or "read committed"
 */
#include "postgres.h"

#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "libpq-fe.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "base/compat.h"
#include "base/compat_export.h"
#include "base/options.h"

#define BATCH_SIZE_DEFAULT 1

COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_validator);

/* Is this an option that postgres_fdw does not have? */
static bool
option_is_ours(const char *name)
{
	return strcmp(name, OPTION_REMOTE_ISOLATION) == 0;
}

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

/* The value of a boolean option; validated when it was set. */
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

/* The same of a foreign table, whose option counts before its server's. */
bool
option_of_table_is_true(Relation rel, const char *name, bool otherwise)
{
	ForeignTable *table = GetForeignTable(RelationGetRelid(rel));
	ForeignServer *server = GetForeignServer(table->serverid);

	return option_is_true(table->options, name,
						  option_is_true(server->options, name, otherwise));
}

/* How many rows one INSERT may carry into this table. */
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

/* The names of methods, in the order of the enum. */
static const char *const sampling_names[] = {
	"off", "random", "system", "bernoulli", "auto", "import"
};

/* The name of a method. */
const char *
option_sampling_name(SamplingMethod method)
{
	return sampling_names[method];
}

/* Finds a method by its name; false if there is none. */
static bool
find_sampling(const char *name, SamplingMethod *method)
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

/* Which rows ANALYZE asks for. */
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
		(void) find_sampling(value, &method);
	return method;
}

/* Is it an option for libpq that a server or a user mapping may set? */
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

/* Do this server's remote transactions take a snapshot per statement? */
bool
option_reads_committed(List *server_options)
{
	const char *level = option_find(server_options, OPTION_REMOTE_ISOLATION);

	return level != NULL && pg_strcasecmp(level, "read committed") == 0;
}

/* Does postgres_fdw take this option with this value? */
bool
option_is_stock(const char *name, const char *value)
{
	if (strcmp(name, OPTION_ANALYZE_SAMPLING) == 0)
		return COMPAT_STOCK_SAMPLES &&
			strcmp(value, sampling_names[SAMPLING_IMPORT]) != 0;
	return !option_is_ours(name);
}

/*
 * Is it a way to sample that postgres_fdw need not be asked about?  One that
 * nobody knows is an ERROR, where postgres_fdw has no such option.
 */
static bool
is_our_sampling(const char *name, const char *value, Oid catalog)
{
	SamplingMethod method;

	if (strcmp(name, OPTION_ANALYZE_SAMPLING) != 0 ||
		option_is_stock(name, value) ||
		(catalog != ForeignServerRelationId &&
		 catalog != ForeignTableRelationId))
		return false;
	if (!find_sampling(value, &method))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for string option \"%s\": %s",
						name, value)));
	return true;
}

/* Raises an ERROR unless value is one that our option can have. */
static void
check_our_option(const char *value, Oid catalog)
{
	if (catalog != ForeignServerRelationId)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("invalid option \"%s\"", OPTION_REMOTE_ISOLATION),
				 errhint("Set it on the foreign server.")));
	if (pg_strcasecmp(value, "repeatable read") != 0 &&
		pg_strcasecmp(value, "read committed") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for string option \"%s\": %s",
						OPTION_REMOTE_ISOLATION, value),
				 errhint("Valid values are \"repeatable read\" and \"read committed\".")));
}

/* The array without our options, which are checked. */
static ArrayType *
strip_our_options(ArrayType *options, Oid catalog)
{
	Datum	   *elements;
	int			count;
	int			kept = 0;

	deconstruct_array(options, TEXTOID, -1, false, TYPALIGN_INT,
					  &elements, NULL, &count);
	for (int i = 0; i < count; i++)
	{
		char	   *name = TextDatumGetCString(elements[i]);
		char	   *equals = strchr(name, '=');
		const char *value = equals == NULL ? "" : equals + 1;

		if (equals != NULL)
			*equals = '\0';
		if (option_is_ours(name))
			check_our_option(value, catalog);
		else if (!is_our_sampling(name, value, catalog))
			elements[kept++] = elements[i];
	}
	return construct_array(elements, kept, TEXTOID, -1, false, TYPALIGN_INT);
}

/* The wrapper's validator. */
Datum
tollfree_postgres_fdw_validator(PG_FUNCTION_ARGS)
{
	Oid			catalog = PG_GETARG_OID(1);
	ArrayType  *options = strip_our_options(PG_GETARG_ARRAYTYPE_P(0), catalog);
	PGFunction	validator = load_external_function("$libdir/postgres_fdw",
												   "postgres_fdw_validator",
												   true, NULL);

	DirectFunctionCall2(validator, PointerGetDatum(options),
						ObjectIdGetDatum(catalog));
	PG_RETURN_VOID();
}
