/*
 * parameterize.h
 *	  Constants of a remote command, sent as parameters.
 */
#ifndef TOLLFREE_FDW_PARAMETERIZE_H
#define TOLLFREE_FDW_PARAMETERIZE_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/* Of one command; further constants stay where they are. */
#define PARAMETERIZE_MAX 32

/* A command that is being planned */
typedef struct Parameterization
{
	bool		is_known;		/* have all its expressions been looked at? */
	bool		is_cacheable;	/* if so, may it be kept prepared? */
	bool		in_set;			/* is SET being looked at, not WHERE? */
	int			count;
	int			max;			/* 0 if no constant is to be replaced */
	Const	   *constants[PARAMETERIZE_MAX];	/* that have been replaced */
	List	   *places;			/* of Expr *, in the planner's structures */
	List	   *originals;		/* what was there */
} Parameterization;

extern void parameterize_scan(Parameterization *command,
							  const PlannerInfo *root, const RelOptInfo *rel,
							  const ForeignPath *path, List *clauses);
extern ForeignScan *parameterize_direct(Parameterization *command,
										PlannerInfo *root,
										const ModifyTable *plan,
										Index target);
extern void parameterize_restore(Parameterization *command);
extern void parameterize_note(const Parameterization *command,
							  ForeignScan *plan,
							  const ForeignScan *parameterized);

#endif							/* TOLLFREE_FDW_PARAMETERIZE_H */
