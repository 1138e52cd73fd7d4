/*
 * ctids.h
 *	  The ctids of rows of several remote tables.
 */
#ifndef TOLLFREE_FDW_CTIDS_H
#define TOLLFREE_FDW_CTIDS_H

#include "nodes/execnodes.h"
#include "storage/itemptr.h"

/* The column of a scan that has the ctids of a table to be modified */
typedef struct CtidColumn
{
	AttrNumber	attno;			/* attribute that gets them, 0 if there is
								 * none */
	const EState *estate;
	Index		rtindex;		/* of the table */
	bool		is_used;		/* does the query itself refer to ctids? */
	struct CtidMap *map;		/* NULL until there is an artificial ctid */
} CtidColumn;

extern ItemPointer ctids_read(CtidColumn *column, const char *string);
extern Oid	ctids_resolve(const EState *estate, Index rtindex,
						  ItemPointer ctid);

#endif							/* TOLLFREE_FDW_CTIDS_H */
