/*
 * quals.h
 *	  Conditions of a query that are evaluated on batches of rows.
 */
#ifndef TOLLFREE_FILE_QUALS_H
#define TOLLFREE_FILE_QUALS_H

#include "nodes/params.h"
#include "nodes/primnodes.h"

#include "base/columns.h"
#include "base/core.h"

/* What a condition may refer to. */
typedef struct QualContext
{
	const FileColumns *columns;
	Index		relid;			/* varno of the table's columns */
	FileEncoding encoding;
	ParamListInfo params;		/* values of $1, ...; NULL if not known */
	bool		is_estimated;	/* has the planner estimated the condition? */
} QualContext;

/* A value that is known when the scan begins. */
typedef struct KnownValue
{
	Oid			type;
	Datum		value;
	bool		isnull;
} KnownValue;

extern bool quals_find_column(const QualContext *context, Expr *expr,
							  int *column);
extern bool quals_find_value(const QualContext *context, Expr *expr,
							 KnownValue *known);
extern bool quals_is_predictable(Oid function);
extern FilterNode *quals_translate(const QualContext *context, Expr *qual);
extern FilterNode *quals_push(const QualContext *context, List *quals,
							  int *npushed);

#endif							/* TOLLFREE_FILE_QUALS_H */
