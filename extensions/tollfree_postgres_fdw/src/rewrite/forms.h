/*
 * forms.h
 *	  Expressions that postgres_fdw has no words for, in other words.
 */
#ifndef TOLLFREE_FDW_FORMS_H
#define TOLLFREE_FDW_FORMS_H

#include "nodes/primnodes.h"

/* What decides whether times in a zone may be sent, see remotes.c */
typedef struct ZoneRules
{
	Oid			userid;			/* who executes the query */
	Oid			serverid;
	bool		may_send;		/* any, if the servers have its rules? */
	bool		may_ask;		/* and if that is not known? */
} ZoneRules;

/* What forms an expression may be given, and where what they are made of is noted */
typedef struct FormRules
{
	Oid			serverid;		/* of the tables that it is on */
	ZoneRules	zones;
	bool		may_read_texts; /* casts of texts to other types? */
	bool		may_count;		/* what counts characters of other values than
								 * columns? */
	bool		same_collations;	/* has the remote database those of this
									 * one? */
	bool		other_encoding; /* is its encoding known to be another one? */
	List	  **values;			/* of the query, for values.c */
	List	  **types;			/* for types.c; NULL if none are replaced */
} FormRules;

extern bool forms_is_node(const Node *node);
extern Node *forms_replace(Node *expr);

#endif							/* TOLLFREE_FDW_FORMS_H */
