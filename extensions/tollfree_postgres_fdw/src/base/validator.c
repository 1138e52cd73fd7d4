/*
 * validator.c
 *	  The validator of the wrapper: options and their values.
 *
 * The options that this wrapper adds are checked here.  All others are passed
 * to postgres_fdw's own validator.
 */
#include "postgres.h"

#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "base/compat.h"
#include "base/compat_export.h"
#include "base/options.h"
#include "base/settings.h"
#include "base/validator.h"

COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_validator);

/*
 * An option that postgres_fdw does not have; those of fastpath.c are booleans
 */
typedef struct OwnOption
{
	const char *name;
	bool		of_table;		/* of tables, too, not of servers only */
	const char *const *values;	/* the last is NULL; NULL for a boolean or
								 * number */
	int			max;			/* of a number, whose minimum is 0; 0 for a
								 * boolean */
} OwnOption;

static const char *const isolation_levels[] = {
	"repeatable read", "read committed", NULL
};

static const char *const compatibilities[] = {
	COMPATIBILITY_STOCK, COMPATIBILITY_TOLLFREE, NULL
};

static const OwnOption own_options[] = {
	{OPTION_REMOTE_ISOLATION, false, isolation_levels, 0},
	{OPTION_COMPATIBILITY, false, compatibilities, 0},
	{OPTION_STATEMENT_CACHE_SIZE, false, NULL, STATEMENT_CACHE_SIZE_MAX},
	{"direct_results", true, NULL, 0},
	{"read_ahead", true, NULL, 0},
	{"binary_results", true, NULL, 0},
	{"constants_as_parameters", true, NULL, 0},
	{"autocommit_scans", true, NULL, 0},
	{"pipelined_writes", true, NULL, 0},
	{"insert_arrays", true, NULL, 0},
	{"unawaited_commit", false, NULL, 0}
};

/* Finds the option of our own with this name, or NULL. */
static const OwnOption *
find_own(const char *name)
{
	for (int i = 0; i < lengthof(own_options); i++)
	{
		if (strcmp(name, own_options[i].name) == 0)
			return &own_options[i];
	}
	return NULL;
}

/* Does postgres_fdw accept this option with this value? */
bool
validator_is_stock(const char *name, const char *value)
{
	if (strcmp(name, OPTION_ANALYZE_SAMPLING) == 0)
		return COMPAT_STOCK_SAMPLES &&
			strcmp(value, option_sampling_name(SAMPLING_IMPORT)) != 0;
	return find_own(name) == NULL;
}

/*
 * Is this a sampling method that postgres_fdw's validator must not see?
 * Raises an ERROR for an unknown method where postgres_fdw lacks the option.
 */
static bool
is_own_sampling(const char *name, const char *value, Oid catalog)
{
	SamplingMethod method;

	if (strcmp(name, OPTION_ANALYZE_SAMPLING) != 0 ||
		validator_is_stock(name, value) ||
		(catalog != ForeignServerRelationId &&
		 catalog != ForeignTableRelationId))
		return false;
	if (!option_find_sampling(value, &method))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for string option \"%s\": %s",
						name, value)));
	return true;
}

/* Raises an ERROR unless the value is one of those listed. */
static void
check_listed(const OwnOption *option, const char *value)
{
	StringInfoData list;

	for (int i = 0; option->values[i] != NULL; i++)
	{
		if (pg_strcasecmp(value, option->values[i]) == 0)
			return;
	}
	initStringInfo(&list);
	for (int i = 0; option->values[i] != NULL; i++)
		appendStringInfo(&list, "%s\"%s\"", i > 0 ? " and " : "",
						 option->values[i]);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for string option \"%s\": %s",
					option->name, value),
			 errhint("Valid values are %s.", list.data)));
}

/* Raises an ERROR unless the value is a number in range, or a boolean. */
static void
check_simple(const OwnOption *option, const char *value)
{
	bool		is_true;
	int			number;

	if (option->max > 0 &&
		(!parse_int(value, &number, 0, NULL) || number < 0 ||
		 number > option->max))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for integer option \"%s\": %s",
						option->name, value),
				 errhint("Valid values are 0 to %d.", option->max)));
	if (option->max == 0 && !parse_bool(value, &is_true))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for Boolean option \"%s\": %s",
						option->name, value)));
}

/* Raises an ERROR unless the object may have the option, with this value. */
static void
check_own(const OwnOption *option, const char *value, Oid catalog)
{
	if (catalog != ForeignServerRelationId &&
		!(option->of_table && catalog == ForeignTableRelationId))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("invalid option \"%s\"", option->name),
				 option->of_table ?
				 errhint("Set it on the foreign server or on a foreign table.") :
				 errhint("Set it on the foreign server.")));
	if (option->values != NULL)
		check_listed(option, value);
	else
		check_simple(option, value);
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
		if (find_own(name) != NULL)
			check_own(find_own(name), value, catalog);
		else if (!is_own_sampling(name, value, catalog))
			elements[kept++] = elements[i];
	}
	return construct_array(elements, kept, TEXTOID, -1, false, TYPALIGN_INT);
}

/* The wrapper's validator function. */
Datum
tollfree_postgres_fdw_validator(PG_FUNCTION_ARGS)
{
	Oid			catalog = PG_GETARG_OID(1);
	ArrayType  *options = strip_own_options(PG_GETARG_ARRAYTYPE_P(0), catalog);
	PGFunction	validator = load_external_function("$libdir/postgres_fdw",
												   "postgres_fdw_validator",
												   true, NULL);

	DirectFunctionCall2(validator, PointerGetDatum(options),
						ObjectIdGetDatum(catalog));
	PG_RETURN_VOID();
}
