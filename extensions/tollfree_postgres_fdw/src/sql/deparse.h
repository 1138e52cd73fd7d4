/*
 * deparse.h
 *	  Remote commands that postgres_fdw does not plan.
 */
#ifndef TOLLFREE_FDW_DEPARSE_H
#define TOLLFREE_FDW_DEPARSE_H

#include "nodes/execnodes.h"
#include "nodes/parsenodes.h"
#include "utils/rel.h"

#include "base/options.h"
#include "sql/plan.h"

/* ANALYZE's sample of a table */
typedef struct SamplePlan
{
	SamplingMethod method;
	double		blocks;			/* share of the blocks that are read, 0 to 1 */
	double		rows;			/* share of their rows that are sent, 0 to 1 */
	bool		by_hash;		/* are rows chosen by a hash of their ctid? */
	bool		has_parts;		/* are there partitions or children? */
	int64		seed;			/* of the hash, 0 to PG_INT32_MAX */
	bool		switches_jit;	/* is jit to be switched off for the query? */
} SamplePlan;

/* The result columns of deparse_table's query */
typedef enum TableColumn
{
	TABLE_KIND,					/* relkind */
	TABLE_PAGES,				/* blocks at the last ANALYZE or VACUUM */
	TABLE_ROWS,					/* the same of rows */
	TABLE_HAS_CHILDREN,			/* may it have some? */
	TABLE_SIZE,					/* bytes; NULL of a view */
	TABLE_BLOCK_SIZE,
	TABLE_MAY_HASH,				/* may the user read all columns, ctid too,
								 * and call the hash function? */
	TABLE_JIT,					/* settings; NULL if there is none */
	TABLE_WORKERS,
	TABLE_GATHER_WORKERS,
	TABLE_SCAN_SIZE,			/* of a table for a scan to have one worker,
								 * with a unit */
	NUM_TABLE_COLUMNS
} TableColumn;

extern bool deparse_may_be_key(Oid type);
extern char *deparse_estimate(const char *sql, List *params);
extern char *deparse_lookups(const char *sql, List *keys);
extern char *deparse_truncate(List *rels, DropBehavior behavior,
							  bool restart_seqs);
extern ModifyPlan deparse_insert(ResultRelInfo *rinfo, Index rtindex,
								 bool do_nothing);
extern char *deparse_insert_rows(const ModifyPlan *plan, Relation rel,
								 int nparams, int nrows);
extern char *deparse_insert_arrays(const ModifyPlan *plan, Relation rel);
extern void deparse_table_name(Oid relid, const char **schema,
							   const char **table);
extern const char *deparse_column_name(Relation rel, AttrNumber attno);
extern char *deparse_regclass(Relation rel);
extern char *deparse_table(Relation rel, int version);
extern char *deparse_tree_size(Relation rel);
extern char *deparse_count(Relation rel, double share);
extern char *deparse_sample(Relation rel, const SamplePlan *plan, List **attrs);

#endif							/* TOLLFREE_FDW_DEPARSE_H */
