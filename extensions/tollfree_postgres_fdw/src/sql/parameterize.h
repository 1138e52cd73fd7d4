/*
 * parameterize.h
 *	  Constants of a remote command, sent as parameters.
 */
#ifndef TOLLFREE_FDW_PARAMETERIZE_H
#define TOLLFREE_FDW_PARAMETERIZE_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/* Parameters of one command, at most; further constants stay in its text. */
#define PARAMETERIZE_MAX 32

/*
 * Numbers of Params from this one on down are free for others, whose values are
 * sent beside those of the constants.
 */
#define PARAMETERIZE_OTHERS (-1 - PARAMETERIZE_MAX)

/* A command that is being planned */
typedef struct Parameterization
{
	bool		is_known;		/* have all its expressions been walked? */
	bool		is_cacheable;	/* if so, may it be kept prepared? */
	bool		in_set;			/* is SET being walked, not WHERE? */
	int			count;			/* constants replaced */
	int			max;			/* 0 if no constant is to be replaced */
	Const	   *constants[PARAMETERIZE_MAX];	/* the constants replaced */
	List	   *places;			/* of Expr **, in the planner's structures */
	List	   *originals;		/* of Expr *, what was at these places */
	char	   *sql;			/* with parameters; NULL if it has none */
	List	   *types;			/* to be declared for them, 0 for none */
} Parameterization;

extern void parameterize_scan(Parameterization *command,
							  const PlannerInfo *root, const RelOptInfo *rel,
							  const ForeignPath *path, List *clauses,
							  int fast_paths);
extern ForeignScan *parameterize_direct(Parameterization *command,
										PlannerInfo *root,
										const ModifyTable *plan,
										Index target);
extern void parameterize_restore(const Parameterization *command,
								 ForeignScan *plan);
extern bool parameterize_finish(Parameterization *command, ForeignScan *plan);
extern void parameterize_note(const Parameterization *command,
							  ForeignScan *plan);

#endif							/* TOLLFREE_FDW_PARAMETERIZE_H */
