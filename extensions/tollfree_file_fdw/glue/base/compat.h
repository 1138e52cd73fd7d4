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

/*
 * Has the input function of an attribute, counted from 0, make a value, in COPY's way;
 * false if it has refused the string, NULL for null, and the table is to ignore that.
 */
static inline bool
compat_input_value(CopyFromState copy, int i, char *string, int32 typmod,
				   Datum *value)
{
#if PG_VERSION_NUM >= 180000
	if (copy->escontext != NULL)
		return InputFunctionCallSafe(&copy->in_functions[i], string,
									 copy->typioparams[i], typmod,
									 (Node *) copy->escontext, value);
#endif
	*value = InputFunctionCall(&copy->in_functions[i], string,
							   copy->typioparams[i], typmod);
	return true;
}

/*
 * Why the input function of an attribute, counted from 0, refuses a string, NULL for
 * null; NULL if it does not.  Other errors than that are raised.  Before 16 functions
 * have no other way to say so than an error.
 */
static inline const char *
compat_input_refusal(CopyFromState copy, int i, char *string, int32 typmod)
{
#if PG_VERSION_NUM >= 160000
	ErrorSaveContext context = {T_ErrorSaveContext,.details_wanted = true};
	Datum		value;

	return InputFunctionCallSafe(&copy->in_functions[i], string,
								 copy->typioparams[i], typmod, (Node *) &context,
								 &value) ? NULL : context.error_data->message;
#else
	MemoryContext memory = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(memory);
	PG_TRY();
	{
		(void) InputFunctionCall(&copy->in_functions[i], string,
								 copy->typioparams[i], typmod);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(memory);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(memory);
	CurrentResourceOwner = owner;
	if (error != NULL &&
		ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_DATA_EXCEPTION &&
		ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION)
		ReThrowError(error);
	return error == NULL ? NULL : error->message;
#endif
}

/*
 * Counts a row that is skipped for its value of COPY's present column, on that line;
 * says so if log_verbosity wants it.
 */
static inline void
compat_reject_row(CopyFromState copy, int64 line)
{
#if PG_VERSION_NUM >= 180000
	copy->num_errors++;
	if (copy->opts.log_verbosity != COPY_LOG_VERBOSITY_VERBOSE)
		return;
	copy->relname_only = true;
	ereport(NOTICE,
			copy->cur_attval == NULL ?
			errmsg("skipping row due to data type incompatibility at line " INT64_FORMAT " for column \"%s\": null input",
				   line, copy->cur_attname) :
			errmsg("skipping row due to data type incompatibility at line " INT64_FORMAT " for column \"%s\": \"%s\"",
				   line, copy->cur_attname,
				   CopyLimitPrintoutLength(copy->cur_attval)));
	copy->relname_only = false;
#endif
}

/* Raises an ERROR if more rows have been skipped than may be. */
static inline void
compat_check_reject_limit(const CopyFromStateData *copy)
{
#if PG_VERSION_NUM >= 180000
	if (copy->opts.reject_limit > 0 &&
		copy->num_errors > copy->opts.reject_limit)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("skipped more than REJECT_LIMIT (%lld) rows due to data type incompatibility",
						(long long) copy->opts.reject_limit)));
#endif
}

/*
 * After a row was read: was it one to skip, since a value has no valid syntax
 * and the table is to ignore that?  Raises an ERROR beyond reject_limit.
 */
static inline bool
compat_row_is_rejected(CopyFromState copy)
{
#if PG_VERSION_NUM >= 180000
	if (copy->opts.on_error != COPY_ON_ERROR_IGNORE ||
		!copy->escontext->error_occurred)
		return false;
	copy->escontext->error_occurred = false;
	compat_check_reject_limit(copy);
	return true;
#else
	return false;
#endif
}

/*
 * Counts a line that is left out since it is no record, if the table is to ignore that;
 * else false.  Raises an ERROR beyond reject_limit.
 */
static inline bool
compat_leave_out_line(CopyFromState copy, const char *reason)
{
#if PG_VERSION_NUM >= 180000
	if (copy->opts.on_error != COPY_ON_ERROR_IGNORE)
		return false;
	copy->num_errors++;
	if (copy->opts.log_verbosity == COPY_LOG_VERBOSITY_VERBOSE)
		ereport(NOTICE,
				(errmsg("skipping line %llu, which is no record: %s",
						(unsigned long long) copy->cur_lineno, reason)));
	compat_check_reject_limit(copy);
	return true;
#else
	return false;
#endif
}

/* As file_fdw does for ANALYZE, which skips any number of rows. */
static inline void
compat_lift_reject_limit(CopyFromState copy)
{
#if PG_VERSION_NUM >= 180000
	copy->opts.reject_limit = 0;
#endif
}

/* How many rows have been skipped so far. */
static inline uint64
compat_get_rejected(const CopyFromStateData *copy)
{
#if PG_VERSION_NUM >= 180000
	return copy->num_errors;
#else
	return 0;
#endif
}

/* Forgets that rows were skipped, which are to be read again. */
static inline void
compat_forget_rejected(CopyFromState copy)
{
#if PG_VERSION_NUM >= 180000
	copy->num_errors = 0;
#endif
}

/* How many rows were skipped that are to be told of. */
static inline uint64
compat_count_rejected(CopyFromState copy)
{
#if PG_VERSION_NUM >= 180000
	if (copy->opts.on_error == COPY_ON_ERROR_IGNORE &&
		copy->opts.log_verbosity >= COPY_LOG_VERBOSITY_DEFAULT)
		return copy->num_errors;
#endif
	return 0;
}

#endif							/* TOLLFREE_FILE_COMPAT_H */
