/*
 * plan.h
 *	  What the planner knows of a foreign table, and leaves for the executor.
 */
#ifndef TOLLFREE_FILE_PLAN_H
#define TOLLFREE_FILE_PLAN_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "base/columns.h"
#include "base/format.h"

/* Of one foreign table in a query; in its RelOptInfo's fdw_private. */
typedef struct FilePlanState
{
	FileOptions options;
	FileLayout	layout;
	const char *slow_reason;	/* why core/ cannot read the file, or NULL */
	bool		is_special;		/* is it known to be no regular file? */
	off_t		size;			/* of the file, or of all to be read, bytes; a
								 * guess if it is no regular file */
	off_t		total;			/* of many files: the same before conditions
								 * have been looked at */
	int64		text_size;		/* of all their text, as far as it can be
								 * guessed, bytes */
	int64		modified_ns;	/* since 1970 */
	BlockNumber pages;			/* of the file, on disk */
	int			nfiles;			/* to be read, of a table that has many; else
								 * 0 */
	int			nall;			/* before conditions have been looked at */
	List	   *file_conditions;	/* RestrictInfo: decided for a file as a
									 * whole */
	List	   *computed;		/* Integer: referenced columns with a source */
	double		rows;			/* in the file */
	List	   *columns;		/* String: those referenced; NIL means all */
	int			ncolumns;		/* how many those are */
	bool		counts_only;	/* is no value needed, nor to be checked? */
} FilePlanState;

/*
 * The members of a plan's fdw_private.  A scan for the executor has the first
 * five only, one that aggregates all of them.
 */
typedef enum PlanMember
{
	PLAN_BUILD,					/* of the library; String.  First in later
								 * builds, too: plan_check_build reads it */
	PLAN_COLUMNS,				/* String: those to convert; NIL means all */
	PLAN_COUNTS_ONLY,			/* may even these be left alone? Boolean */
	PLAN_COMPUTED,				/* Integer: numbers of columns that are not in
								 * the file */
	PLAN_FILES,					/* Integer: how many files are to be read, and
								 * how many there are */
	PLAN_QUALS,					/* conditions that rows must satisfy */
	PLAN_VARNO					/* of the table's columns in those; Integer */
} PlanMember;

extern Cost plan_read_cost(const FilePlanState *state, double part);
extern ForeignPath *plan_scan_path(PlannerInfo *root, RelOptInfo *baserel,
								   double part);
extern int	plan_parallel_workers(PlannerInfo *root, RelOptInfo *baserel);
extern double plan_parallel_divisor(int nworkers);
extern const ForeignScan *plan_find_scan(const Plan *plan);
extern void plan_check_build(const ForeignScan *plan);

#endif							/* TOLLFREE_FILE_PLAN_H */
