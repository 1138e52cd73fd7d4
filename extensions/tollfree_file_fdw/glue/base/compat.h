/*
 * compat.h
 *	  What differs between the supported major versions, 15 to 19.
 */
#ifndef TOLLFREE_FILE_COMPAT_H
#define TOLLFREE_FILE_COMPAT_H

#include "access/xact.h"
#include "catalog/pg_foreign_data_wrapper.h"
#include "catalog/pg_foreign_server.h"
#include "commands/copyfrom_internal.h"
#include "commands/explain.h"
#include "commands/vacuum.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "optimizer/appendinfo.h"
#include "optimizer/pathnode.h"
#include "storage/buffile.h"
#include "utils/acl.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/pg_locale.h"
#include "utils/resowner.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#include "varatt.h"				/* part of postgres.h before */
#endif
#if PG_VERSION_NUM >= 190000
#include "executor/instrument.h"
#include "utils/tuplestore.h"
#endif

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 200000
#error "the COPY parser of this version is not known here"
#endif

/* That a case goes on with the next one; compilers do not read comments. */
#define compat_fallthrough __attribute__((fallthrough))

/*
 * The format of a file in COPY's options, and how many records its header has: a
 * number from 19 on, where MATCH is negative.  What EXPLAIN ANALYZE counts of a node.
 */
#if PG_VERSION_NUM >= 190000
#define compat_is_binary(options) ((options)->format == COPY_FORMAT_BINARY)
#define compat_is_csv(options) ((options)->format == COPY_FORMAT_CSV)
#define compat_header_records(options) \
	((options)->header_line == COPY_HEADER_MATCH ? 1 : (options)->header_line)
typedef NodeInstrumentation CompatNodeCounts;
#else
#define compat_is_binary(options) ((options)->binary)
#define compat_is_csv(options) ((options)->csv_mode)
#define compat_header_records(options) \
	((options)->header_line == COPY_HEADER_FALSE ? 0 : 1)
typedef Instrumentation CompatNodeCounts;
#endif

/* A path of a base relation, without parameters. */
static inline ForeignPath *
compat_create_scan_path(PlannerInfo *root, RelOptInfo *rel, double rows,
						Cost startup_cost, Cost total_cost, List *private)
{
#if PG_VERSION_NUM >= 180000
	return create_foreignscan_path(root, rel, NULL, rows, 0, startup_cost,
								   total_cost, NIL, rel->lateral_relids, NULL,
								   NIL, private);
#elif PG_VERSION_NUM >= 170000
	return create_foreignscan_path(root, rel, NULL, rows, startup_cost,
								   total_cost, NIL, rel->lateral_relids, NULL,
								   NIL, private);
#else
	return create_foreignscan_path(root, rel, NULL, rows, startup_cost,
								   total_cost, NIL, rel->lateral_relids, NULL,
								   private);
#endif
}

/* A path of an aggregation. */
static inline ForeignPath *
compat_create_upper_path(PlannerInfo *root, RelOptInfo *rel, double rows,
						 Cost startup_cost, Cost total_cost, Path *outer,
						 List *private)
{
#if PG_VERSION_NUM >= 180000
	return create_foreign_upper_path(root, rel, rel->reltarget, rows, 0,
									 startup_cost, total_cost, NIL, outer, NIL,
									 private);
#elif PG_VERSION_NUM >= 170000
	return create_foreign_upper_path(root, rel, rel->reltarget, rows,
									 startup_cost, total_cost, NIL, outer, NIL,
									 private);
#else
	return create_foreign_upper_path(root, rel, rel->reltarget, rows,
									 startup_cost, total_cost, NIL, outer,
									 private);
#endif
}

/* GROUP BY without what the planner has found to be redundant. */
static inline List *
compat_group_clause(PlannerInfo *root)
{
#if PG_VERSION_NUM >= 160000
	return root->processed_groupClause;
#else
	return root->parse->groupClause;
#endif
}

/* An expression over a partitioned table, as it is over a partition. */
static inline Node *
compat_translate_to_partition(PlannerInfo *root, Node *expr,
							  RelOptInfo *partition)
{
#if PG_VERSION_NUM >= 160000
	return adjust_appendrel_attrs_multilevel(root, expr, partition,
											 partition->top_parent);
#else
	return adjust_appendrel_attrs_multilevel(root, expr, partition->relids,
											 partition->top_parent_relids);
#endif
}

/* DecodeDateTime of what ParseDateTime has found; 0, or one of its errors. */
static inline int
compat_decode_time(char **fields, int *types, int nfields, int *type,
				   struct pg_tm *tm, fsec_t *fraction, int *west)
{
#if PG_VERSION_NUM >= 160000
	DateTimeErrorExtra extra;

	return DecodeDateTime(fields, types, nfields, type, tm, fraction, west,
						  &extra);
#else
	return DecodeDateTime(fields, types, nfields, type, tm, fraction, west);
#endif
}

/* From 18 on a minimal tuple is copied with room for extra bytes in front. */
#if PG_VERSION_NUM >= 180000
#define COMPAT_EXTRA_PARAMETER , Size extra
#define COMPAT_EXTRA_ARGUMENT , extra
#else
#define COMPAT_EXTRA_PARAMETER
#define COMPAT_EXTRA_ARGUMENT
#endif

/*
 * Reads size bytes of a temporary file; false if it has ended there and may.
 * ERROR if it cannot be read, or has fewer.
 */
static inline bool
compat_read_saved(BufFile *file, void *bytes, size_t size, bool may_end)
{
#if PG_VERSION_NUM >= 160000
	return BufFileReadMaybeEOF(file, bytes, size, may_end) > 0;
#else
	size_t		nread = BufFileRead(file, bytes, size);

	if (nread != size && (nread > 0 || !may_end))
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("the temporary file of a hash table has %zu bytes where it should have %zu",
						nread, size)));
	return nread > 0;
#endif
}

static inline void
compat_vacuum_delay_point(void)
{
#if PG_VERSION_NUM >= 180000
	vacuum_delay_point(true);
#else
	vacuum_delay_point();
#endif
}

/* Do values without valid syntax become null, as on_error 'set_null' says? */
static inline bool
compat_nulls_errors(const CopyFormatOptions *options)
{
#if PG_VERSION_NUM >= 190000
	return options->on_error == COPY_ON_ERROR_SET_NULL;
#else
	return false;
#endif
}

/* Is the order of a collation that of its bytes? */
static inline bool
compat_collation_is_c(Oid collation)
{
#if PG_VERSION_NUM >= 180000
	return pg_newlocale_from_collation(collation)->collate_is_c;
#else
	return lc_collate_is_c(collation);
#endif
}

/* Does a string in the file stand for a column's default? */
static inline bool
compat_has_default(const CopyFormatOptions *options)
{
#if PG_VERSION_NUM >= 160000
	return options->default_print != NULL;
#else
	return false;
#endif
}

/* The string that stands for a column's default, or NULL. */
static inline const char *
compat_default_string(const CopyFormatOptions *options)
{
#if PG_VERSION_NUM >= 160000
	return options->default_print;
#else
	return NULL;
#endif
}

/* Has the record read last a column's default, for an attribute counted from 0? */
static inline bool
compat_take_default(CopyFromState copy, int i)
{
#if PG_VERSION_NUM >= 160000
	bool		is_default = copy->defaults[i];

	copy->defaults[i] = false;
	return is_default;
#else
	return false;
#endif
}

/* Does a line \\. end the data of a CSV file? */
#define COMPAT_MARKER_IN_CSV (PG_VERSION_NUM < 180000)

/* What an input function has to say of a string. */
typedef struct CompatInput
{
	int			attribute;		/* counted from 0 */
	char	   *string;			/* NULL for null */
	int32		typmod;
	bool		wants_reason;	/* is the next to be set? */
	const char *reason;			/* why the string is refused; may be NULL */
} CompatInput;

#if PG_VERSION_NUM < 160000
/* Is it an error by which the input functions of 16 and later refuse a string? */
static inline bool
compat_is_refusal(int sqlstate)
{
	return ERRCODE_TO_CATEGORY(sqlstate) == ERRCODE_DATA_EXCEPTION ||
		ERRCODE_TO_CATEGORY(sqlstate) == ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION ||
		sqlstate == ERRCODE_PROGRAM_LIMIT_EXCEEDED;
}

/*
 * Does an input function do nothing but allocate memory?  Then an error of it can be
 * caught as it is: there is nothing else to give back.
 */
static inline bool
compat_input_is_plain(Oid function)
{
	static const Oid plain[] = {
		F_INT2IN, F_INT4IN, F_INT8IN, F_FLOAT4IN, F_FLOAT8IN, F_NUMERIC_IN,
		F_BOOLIN, F_TEXTIN, F_BPCHARIN, F_VARCHARIN, F_NAMEIN, F_CHARIN, F_BYTEAIN,
		F_DATE_IN, F_TIME_IN, F_TIMETZ_IN, F_TIMESTAMP_IN, F_TIMESTAMPTZ_IN,
		F_INTERVAL_IN, F_UUID_IN, F_JSON_IN, F_JSONB_IN, F_INET_IN, F_CIDR_IN,
		F_OIDIN, F_BIT_IN, F_VARBIT_IN
	};

	for (int i = 0; i < lengthof(plain); i++)
	{
		if (function == plain[i])
			return true;
	}
	return false;
}

/*
 * Raises an error of an input function again unless that refuses a string, and what the
 * function has taken is given back.
 */
static inline void
compat_check_refusal(ErrorData *error, bool is_undone)
{
	bool		is_refusal = compat_is_refusal(error->sqlerrcode);

	if (is_undone && is_refusal)
		return;
	if (is_refusal && error->hint == NULL)
		error->hint = "Set max_parallel_workers_per_gather to 0 to have a refused value leave out its row.";
	ReThrowError(error);
}

/*
 * Functions of 15 have no other way to refuse a string than an error.  One that may
 * have taken more than memory is called in a subtransaction, which gives that back.
 * While a query has workers PostgreSQL does not begin one: then the error is raised.
 */
static inline bool
compat_input_value(CopyFromState copy, CompatInput *input, Datum *value)
{
	FmgrInfo   *function = &copy->in_functions[input->attribute];
	MemoryContext memory = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	bool		is_plain = compat_input_is_plain(function->fn_oid);
	bool		nests = !is_plain && !IsInParallelMode();
	ErrorData  *volatile error = NULL;

	if (nests)
		BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(memory);
	PG_TRY();
	{
		*value = InputFunctionCall(function, input->string,
								   copy->typioparams[input->attribute],
								   input->typmod);
		if (nests)
			ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(memory);
		error = CopyErrorData();
		FlushErrorState();
		if (nests)
			RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(memory);
	CurrentResourceOwner = owner;
	if (error != NULL)
		compat_check_refusal(error, is_plain || nests);
	input->reason = error == NULL ? NULL : error->message;
	return error == NULL;
}
#else
/*
 * Has the input function of an attribute make a value of a string; false if it refuses
 * the string.  Other errors than that are raised.
 */
static inline bool
compat_input_value(CopyFromState copy, CompatInput *input, Datum *value)
{
	ErrorSaveContext context = {
		T_ErrorSaveContext,
		.details_wanted = input->wants_reason
	};

	if (InputFunctionCallSafe(&copy->in_functions[input->attribute],
							  input->string,
							  copy->typioparams[input->attribute],
							  input->typmod, (Node *) &context, value))
		return true;
	input->reason = input->wants_reason ? context.error_data->message : NULL;
	return false;
}
#endif

/* The expression that computes a column's default, for an attribute counted from 0. */
static inline ExprState *
compat_default_expression(const CopyFromStateData *copy, int i)
{
#if PG_VERSION_NUM >= 160000
	return copy->defexprs[i];
#else
	for (int n = 0; n < copy->num_defaults; n++)
	{
		if (copy->defmap[n] == i)
			return copy->defexprs[n];
	}
	return NULL;
#endif
}

#endif							/* TOLLFREE_FILE_COMPAT_H */
