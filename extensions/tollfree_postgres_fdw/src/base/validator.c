/*
 * validator.c
 *	  Which options an object of the wrapper may have.
 *
 * Options of our own are checked here, the others by postgres_fdw's validator.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "base/compat.h"
#include "base/compat_export.h"
#include "base/fastpath.h"
#include "base/option_hint.h"
#include "base/options.h"
#include "base/settings.h"
#include "base/validator.h"

COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_validator);

/* Options of our own, apart from those to import */
#define OWN_OPTIONS_MAX (FAST_UNAWAITED_COMMIT + 1 + 6)

/* Does postgres_fdw accept this option with this value? */
bool
validator_is_stock(const char *name, const char *value)
{
	bool		of_table;

	if (strcmp(name, ANALYZE_SAMPLING) == 0)
		return COMPAT_STOCK_SAMPLES &&
			strcmp(value, option_sampling_name(SAMPLING_IMPORT)) != 0;
	return strcmp(name, REMOTE_ISOLATION) != 0 &&
		strcmp(name, COMPATIBILITY) != 0 &&
		strcmp(name, COLLATIONS) != 0 &&
		strcmp(name, POOL_MODE) != 0 &&
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

	if (option_is_import(name))
		(void) defGetBoolean(makeDefElem(unconstify(char *, name),
										 (Node *) makeString(unconstify(char *, value)), -1));
	else if (strcmp(name, REMOTE_ISOLATION) == 0)
		check_either(name, value, "repeatable read", READ_COMMITTED);
	else if (strcmp(name, COMPATIBILITY) == 0)
		check_either(name, value, COMPATIBILITY_STOCK, "tollfree");
	else if (strcmp(name, COLLATIONS) == 0)
		check_either(name, value, COLLATIONS_SAME, "unknown");
	else if (strcmp(name, POOL_MODE) == 0)
		check_either(name, value, POOL_MODE_SESSION, POOL_MODE_TRANSACTION);
	else if (strcmp(name, ANALYZE_SAMPLING) == 0)
	{
		if (!option_find_sampling(value, &method))
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
	bool		of_table = strcmp(name, ANALYZE_SAMPLING) == 0 ||
		option_is_import(name);

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
	const char *name = option_find(options, IMPORT_STATS) != NULL ?
		IMPORT_STATS : RESTORE_STATS;

	if (!COMPAT_STOCK_IMPORTS || option_find_import(options) == NULL)
		return;
	if (option_find(options, IMPORT_STATS) != NULL &&
		option_find(options, RESTORE_STATS) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("options \"%s\" and \"%s\" cannot be used together",
						IMPORT_STATS, RESTORE_STATS),
				 errdetail("They are two names of the same option."),
				 errhint("Drop \"%s\".", RESTORE_STATS)));
	if (sampling != NULL &&
		strcmp(sampling, option_sampling_name(SAMPLING_IMPORT)) == 0 &&
		!option_is_true(options, name, false))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" is off, but \"%s\" is \"%s\"",
						name, ANALYZE_SAMPLING, sampling),
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
validator_check_stock(const char *name, const char *value, Oid catalog)
{
	Datum		option = CStringGetTextDatum(psprintf("%s=%s", name, value));

	if (option_is_import(name))
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
		if (!option_is_import(name) && validator_is_stock(name, value))
			elements[kept++] = elements[i];
		else
			check_own(name, value, catalog);
	}
	return construct_array(elements, kept, TEXTOID, -1, false, TYPALIGN_INT);
}

/* Lists the options of our own, apart from those to import; returns their number. */
static int
list_own(const char **names)
{
	int			n = 0;

	for (FastPath path = 0; path <= FAST_UNAWAITED_COMMIT; path++)
	{
		if (fastpath_option_name(path) != NULL)
			names[n++] = fastpath_option_name(path);
	}
	names[n++] = ANALYZE_SAMPLING;
	names[n++] = COLLATIONS;
	names[n++] = COMPATIBILITY;
	names[n++] = POOL_MODE;
	names[n++] = REMOTE_ISOLATION;
	names[n++] = STATEMENT_CACHE_SIZE;
	Assert(n <= OWN_OPTIONS_MAX);
	return n;
}

/* The wrapper's validator function. */
Datum
tollfree_postgres_fdw_validator(PG_FUNCTION_ARGS)
{
	Oid			catalog = PG_GETARG_OID(1);
	ArrayType  *options = strip_own_options(PG_GETARG_ARRAYTYPE_P(0), catalog);
	const char *names[OWN_OPTIONS_MAX];
	OptionHint	hint = {
		.options = PointerGetDatum(options),
		.names = names,
		.nnames = list_own(names)
	};
	ErrorContextCallback context = {
		.callback = option_hint,
		.arg = &hint,
		.previous = error_context_stack
	};

	check_import(untransformRelOptions(PG_GETARG_DATUM(0)));
	/* Other objects can have none of ours. */
	if (catalog == ForeignServerRelationId || catalog == ForeignTableRelationId)
		error_context_stack = &context;
	call_stock_validator(PointerGetDatum(options), catalog);
	error_context_stack = context.previous;
	PG_RETURN_VOID();
}
