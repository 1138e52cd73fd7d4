/*
 * relations.c
 *	  What a session knows of the remote relations that it reads.
 *
 * A relation is plain if reading it runs nobody's code: a table or a
 * materialized view, without row security, and without children, which could
 * be foreign tables.  The remote server is asked once for each, behind the
 * transaction of a query that reads it.  The answers are kept by foreign table, as long as the
 * connection and the foreign table's definition last: under another name it
 * would be another relation.
 *
 * Asking is questions.c's business, and what an answer is good for autocommit.c's.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "session/relations.h"
#include "sql/deparse.h"

#define RELATIONS_EXPECTED 16

typedef enum RelationKind
{
	RELATION_UNKNOWN,			/* asked for, but not answered */
	RELATION_PLAIN,
	RELATION_OTHER
} RelationKind;

typedef struct KnownRelation
{
	Oid			relid;			/* the foreign table; the key */
	RelationKind kind;
} KnownRelation;

/* Are all of them known to be plain? */
bool
relations_are_plain(HTAB *known, List *relids)
{
	ListCell   *cell;

	if (known == NULL)
		return false;
	foreach(cell, relids)
	{
		Oid			relid = lfirst_oid(cell);
		KnownRelation *relation = hash_search(known, &relid, HASH_FIND, NULL);

		if (relation == NULL || relation->kind != RELATION_PLAIN)
			return false;
	}
	return true;
}

/* An empty table, which lives until its owner destroys it. */
static HTAB *
make_table(void)
{
	HASHCTL		control = {0};

	control.keysize = sizeof(Oid);
	control.entrysize = sizeof(KnownRelation);
	control.hcxt = TopMemoryContext;
	return hash_create("tollfree_postgres_fdw relations", RELATIONS_EXPECTED,
					   &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/*
 * What has to be asked to know them all, as RelationQuestions in this context.
 * If one is known not to be plain nothing has.
 */
List *
relations_to_ask(HTAB **known, List *relids)
{
	List	   *questions = NIL;
	ListCell   *cell;

	if (*known == NULL && relids != NIL)
		*known = make_table();
	foreach(cell, relids)
	{
		Oid			relid = lfirst_oid(cell);
		RelationQuestion *question;
		KnownRelation *relation;
		bool		found;

		relation = hash_search(*known, &relid, HASH_ENTER, &found);
		if (!found)
			relation->kind = RELATION_UNKNOWN;
		if (relation->kind == RELATION_OTHER)
			return NIL;
		if (relation->kind == RELATION_PLAIN)
			continue;
		question = palloc(sizeof(RelationQuestion));
		question->relid = relid;
		deparse_table_name(relid, &question->names[0], &question->names[1]);
		questions = lappend(questions, question);
	}
	return questions;
}

/* Has a relation been asked for, and not been answered? */
bool
relations_are_asked(HTAB *known, Oid relid)
{
	KnownRelation *relation = NULL;

	if (known != NULL)
		relation = hash_search(known, &relid, HASH_FIND, NULL);
	return relation != NULL && relation->kind == RELATION_UNKNOWN;
}

/* Keeps an answer, unless the foreign table has been altered meanwhile. */
void
relations_answer(HTAB *known, Oid relid, bool is_plain)
{
	KnownRelation *relation = NULL;

	if (known != NULL)
		relation = hash_search(known, &relid, HASH_FIND, NULL);
	if (relation != NULL)
		relation->kind = is_plain ? RELATION_PLAIN : RELATION_OTHER;
}

/*
 * Forgets the relation of one foreign table, or of all if there is none.  It
 * happens while questions are put together: looking up names may find them
 * changed.
 */
void
relations_forget(HTAB *known, Oid relid)
{
	HASH_SEQ_STATUS status;
	KnownRelation *relation;

	if (known == NULL)
		return;
	if (OidIsValid(relid))
	{
		(void) hash_search(known, &relid, HASH_REMOVE, NULL);
		return;
	}
	hash_seq_init(&status, known);
	while ((relation = hash_seq_search(&status)) != NULL)
		(void) hash_search(known, &relation->relid, HASH_REMOVE, NULL);
}
