/*
 * assigned.h
 *	  Values without a type that SET assigns.
 */
#ifndef TOLLFREE_FDW_ASSIGNED_H
#define TOLLFREE_FDW_ASSIGNED_H

#include "nodes/pg_list.h"

extern char *assigned_write(const char *sql, List *columns, const char *row);

#endif							/* TOLLFREE_FDW_ASSIGNED_H */
