/*
 * located.h
 *	  Identifies rows to be modified by their ctid and remote table.
 */
#ifndef TOLLFREE_FDW_LOCATED_H
#define TOLLFREE_FDW_LOCATED_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

extern void located_note_target(PlannerInfo *root, ForeignScan *plan);
extern char *located_write(const char *sql, int nparams, bool has_table);

#endif							/* TOLLFREE_FDW_LOCATED_H */
