/*
 * libpq.h
 *	  The only way here to libpq's declarations.
 *
 * From PostgreSQL 19 on libpq-be-fe.h has macros that make a PGresult a
 * wrapped one, which a memory context owns.  Results are libpq's own here, and
 * freed by whoever has them.
 */
#ifndef TOLLFREE_FDW_LIBPQ_H
#define TOLLFREE_FDW_LIBPQ_H

#include "libpq/libpq-be-fe-helpers.h"

#undef PGresult
#undef PQclear
#undef PQcmdStatus
#undef PQcmdTuples
#undef PQfname
#undef PQgetResult
#undef PQgetisnull
#undef PQgetlength
#undef PQgetvalue
#undef PQnfields
#undef PQntuples
#undef PQresultErrorField
#undef PQresultErrorMessage
#undef PQresultStatus

#endif							/* TOLLFREE_FDW_LIBPQ_H */
