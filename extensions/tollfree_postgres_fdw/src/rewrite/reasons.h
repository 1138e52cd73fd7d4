/*
 * reasons.h
 *	  Why an expression is not sent to the remote server.
 */
#ifndef TOLLFREE_FDW_REASONS_H
#define TOLLFREE_FDW_REASONS_H

#include "nodes/pg_list.h"
#include "nodes/plannodes.h"

#include "rewrite/forms.h"

/* A foreign scan, as far as it decides what is sent */
typedef struct ReasonScan
{
	Bitmapset  *relids;			/* tables that it reads */
	List	   *extensions;		/* names, of the server's option */
	bool		is_on;			/* are other forms sent? */
	Oid			serverid;
	ZoneRules	zones;
	bool		may_read_texts; /* has the server the local major version, or
								 * is that not known? */
	bool		same_collations;	/* is it known that there are the same? */
	bool		has_other_encoding; /* has the remote database another one? */
} ReasonScan;

extern ReasonScan reasons_scan(const ForeignScan *plan,
							   const PlannedStmt *stmt);
extern const char *reasons_condition(const ReasonScan *scan, Node *condition);
extern const char *reasons_value(const ReasonScan *scan, Node *expr,
								 bool is_group);

#endif							/* TOLLFREE_FDW_REASONS_H */
