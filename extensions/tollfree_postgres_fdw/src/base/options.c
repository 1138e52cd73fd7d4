/*
 * options.c
 *	  Options of servers, user mappings and foreign tables.
 *
 * The validator checks the options that this wrapper adds.  All others are
 * passed to postgres_fdw's own.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "base/compat.h"
#include "base/compat_export.h"
#include "base/fastpath.h"
#include "base/libpq.h"
#include "base/options.h"
#include "base/settings.h"

#define ANALYZE_SAMPLING "analyze_sampling"
#define COMPATIBILITY "compatibility"
#define IMPORT_STATS "import_stats"
#define REMOTE_ISOLATION "remote_isolation"
/* IMPORT_STATS in betas of PostgreSQL 19 */
#define RESTORE_STATS "restore_stats"
#define STATEMENT_CACHE_SIZE "statement_cache_size"

#define COMPATIBILITY_STOCK "stock"
#define READ_COMMITTED "read committed"

#define BATCH_SIZE_DEFAULT 1

COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_validator);

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
static bool
is_import(const char *name)
{
	return COMPAT_STOCK_IMPORTS &&
		(strcmp(name, IMPORT_STATS) == 0 || strcmp(name, RESTORE_STATS) == 0);
}

/* The value of that option, or NULL. */
static const char *
find_import(List *options)
{
	const char *value = option_find(options, IMPORT_STATS);

	return value != NULL ? value : option_find(options, RESTORE_STATS);
}

/* Does a foreign table's option, or else its server's, ask for the import? */
bool
option_imports_statistics(Oid relid)
{
	ForeignTable *table = GetForeignTable(relid);
	const char *value = find_import(table->options);

	return is_true(value != NULL ? value :
				   find_import(GetForeignServer(table->serverid)->options), false);
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
static bool
find_sampling(const char *name, SamplingMethod *method)
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

	if (value == NULL || !find_sampling(value, &method) ||
		(method == SAMPLING_IMPORT &&
		 (find_import(GetForeignTable(relid)->options) != NULL ||
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

/* Does postgres_fdw accept this option with this value? */
bool
option_is_stock(const char *name, const char *value)
{
	bool		of_table;

	if (strcmp(name, ANALYZE_SAMPLING) == 0)
		return COMPAT_STOCK_SAMPLES &&
			strcmp(value, sampling_names[SAMPLING_IMPORT]) != 0;
	return strcmp(name, REMOTE_ISOLATION) != 0 &&
		strcmp(name, COMPATIBILITY) != 0 &&
		strcmp(name, STATEMENT_CACHE_SIZE) != 0 &&
		!fastpath_is_option(name, &of_table);
}

/* Raises an ERROR for an option's value, with a hint unless that is NULL. */
static void
refuse_value(const char *name, const char *value, const char *type,
			 const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for %s option \"%s\": %s", type, name,
					value),
			 hint != NULL ? errhint("%s", hint) : 0));
}

/* Raises an ERROR unless the value is one of two. */
static void
check_either(const char *name, const char *value, const char *first,
			 const char *second)
{
	if (pg_strcasecmp(value, first) != 0 && pg_strcasecmp(value, second) != 0)
		refuse_value(name, value, "string",
					 psprintf("Valid values are \"%s\" and \"%s\".", first,
							  second));
}

/* Raises an ERROR unless an option of our own may have this value. */
static void
check_value(const char *name, const char *value)
{
	SamplingMethod method;
	int			size;
	bool		is_on;

	if (is_import(name))
		(void) defGetBoolean(makeDefElem(unconstify(char *, name),
										 (Node *) makeString(unconstify(char *, value)), -1));
	else if (strcmp(name, REMOTE_ISOLATION) == 0)
		check_either(name, value, "repeatable read", READ_COMMITTED);
	else if (strcmp(name, COMPATIBILITY) == 0)
		check_either(name, value, COMPATIBILITY_STOCK, "tollfree");
	else if (strcmp(name, ANALYZE_SAMPLING) == 0)
	{
		if (!find_sampling(value, &method))
			refuse_value(name, value, "string", NULL);
	}
	else if (strcmp(name, STATEMENT_CACHE_SIZE) == 0)
	{
		if (!parse_int(value, &size, 0, NULL) || size < 0 ||
			size > STATEMENT_CACHE_SIZE_MAX)
			refuse_value(name, value, "integer",
						 psprintf("Valid values are 0 to %d.",
								  STATEMENT_CACHE_SIZE_MAX));
	}
	else if (!parse_bool(value, &is_on))
		refuse_value(name, value, "Boolean", NULL);
}

/* Raises an ERROR unless the object may have the option, with this value. */
static void
check_own(const char *name, const char *value, Oid catalog)
{
	bool		of_table = strcmp(name, ANALYZE_SAMPLING) == 0 || is_import(name);

	(void) fastpath_is_option(name, &of_table);
	if (catalog != ForeignServerRelationId &&
		!(of_table && catalog == ForeignTableRelationId))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("invalid option \"%s\"", name),
				 of_table ?
				 errhint("Set it on the foreign server or on a foreign table.") :
				 errhint("Set it on the foreign server.")));
	check_value(name, value);
}

/* Raises an ERROR if the options of one object disagree about importing statistics. */
static void
check_import(List *options)
{
	const char *sampling = option_find(options, ANALYZE_SAMPLING);

	if (!COMPAT_STOCK_IMPORTS || find_import(options) == NULL)
		return;
	if (option_find(options, IMPORT_STATS) != NULL &&
		option_find(options, RESTORE_STATS) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("options \"%s\" and \"%s\" cannot be used together",
						IMPORT_STATS, RESTORE_STATS),
				 errdetail("They are two names of the same option."),
				 errhint("Drop \"%s\".", RESTORE_STATS)));
	if (sampling != NULL && strcmp(sampling, sampling_names[SAMPLING_IMPORT]) == 0 &&
		!is_true(find_import(options), false))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" is off, but \"%s\" is \"%s\"",
						option_find(options, IMPORT_STATS) ? IMPORT_STATS : RESTORE_STATS,
						ANALYZE_SAMPLING, sampling),
				 errhint("Drop one of them, or choose another value of \"%s\".",
						 ANALYZE_SAMPLING)));
}

/* postgres_fdw's validator: raises an ERROR for what it does not accept. */
static void
call_stock_validator(Datum options, Oid catalog)
{
	PGFunction	validator = load_external_function("$libdir/postgres_fdw",
												   "postgres_fdw_validator",
												   true, NULL);

	DirectFunctionCall2(validator, options, ObjectIdGetDatum(catalog));
}

/*
 * Raises postgres_fdw's own ERROR if the object, on which the option to import
 * statistics has this name, could not have it there.
 */
void
option_check_stock(const char *name, const char *value, Oid catalog)
{
	Datum		option = CStringGetTextDatum(psprintf("%s=%s", name, value));

	if (is_import(name))
		call_stock_validator(PointerGetDatum(construct_array(&option, 1, TEXTOID, -1,
															 false, TYPALIGN_INT)),
							 catalog);
}

/* Checks the options of our own, and returns the array without them. */
static ArrayType *
strip_own_options(ArrayType *options, Oid catalog)
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
		if (!is_import(name) && option_is_stock(name, value))
			elements[kept++] = elements[i];
		else
			check_own(name, value, catalog);
	}
	return construct_array(elements, kept, TEXTOID, -1, false, TYPALIGN_INT);
}

/* The wrapper's validator function. */
Datum
tollfree_postgres_fdw_validator(PG_FUNCTION_ARGS)
{
	Oid			catalog = PG_GETARG_OID(1);
	ArrayType  *options = strip_own_options(PG_GETARG_ARRAYTYPE_P(0), catalog);

	check_import(untransformRelOptions(PG_GETARG_DATUM(0)));
	call_stock_validator(PointerGetDatum(options), catalog);
	PG_RETURN_VOID();
}
