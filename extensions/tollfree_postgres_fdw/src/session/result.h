/*
 * result.h
 *	  Single results of libpq.
 *
 * A server may be hostile, or none: a result can have any shape.
 */
#ifndef TOLLFREE_FDW_RESULT_H
#define TOLLFREE_FDW_RESULT_H

#include "base/libpq.h"

/*
 * The first value of a result of one row, which may be NULL; NULL if it has none.
 */
static inline const char *
result_value(const PGresult *res)
{
	return PQntuples(res) == 1 && PQnfields(res) > 0 ?
		PQgetvalue(res, 0, 0) : NULL;
}

/* Has the command of this result, which may be NULL, succeeded? */
static inline bool
result_has_worked(const PGresult *res)
{
	return PQresultStatus(res) == PGRES_COMMAND_OK ||
		PQresultStatus(res) == PGRES_TUPLES_OK;
}

#endif							/* TOLLFREE_FDW_RESULT_H */
