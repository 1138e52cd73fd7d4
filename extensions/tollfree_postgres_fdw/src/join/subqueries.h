/*
 * subqueries.h
 *	  Batches the lookups of correlated subqueries.
 */
#ifndef TOLLFREE_FDW_SUBQUERIES_H
#define TOLLFREE_FDW_SUBQUERIES_H

extern void subqueries_install(void);

#endif							/* TOLLFREE_FDW_SUBQUERIES_H */
