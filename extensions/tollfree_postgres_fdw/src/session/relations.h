/*
 * relations.h
 *	  Which remote relations are plain, as far as a session knows.
 */
#ifndef TOLLFREE_FDW_RELATIONS_H
#define TOLLFREE_FDW_RELATIONS_H

#include "nodes/pg_list.h"
#include "utils/hsearch.h"

/* A remote relation to ask about */
typedef struct RelationQuestion
{
	Oid			relid;			/* the foreign table */
	const char *names[2];		/* remote schema and relation */
} RelationQuestion;

extern bool relations_are_plain(HTAB *known, List *relids);
extern List *relations_to_ask(HTAB **known, List *relids);
extern bool relations_are_asked(HTAB *known, Oid relid);
extern void relations_answer(HTAB *known, Oid relid, bool is_plain);
extern void relations_forget(HTAB *known, Oid relid);

#endif							/* TOLLFREE_FDW_RELATIONS_H */
