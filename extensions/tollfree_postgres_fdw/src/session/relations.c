/*
 * relations.c
 *	  Which remote relations are plain, as far as a session knows.
 *
 * A relation is plain if reading it runs no user's code: it is a table or a
 * materialized view, has no row security, and has no children, which could be
 * foreign tables.  The remote server is asked once for each relation, after
 * the COMMIT of a query that reads it.  Answers are kept by foreign table, as
 * long as the connection lasts and the foreign table's definition is
 * unchanged: a new definition may name another relation.
 *
 * questions.c asks, and scan/autocommit.c says what an answer is used for.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "session/relations.h"
#include "sql/deparse.h"

#define RELATIONS_EXPECTED 16

typedef enum RelationKind
{
	RELATION_UNKNOWN,			/* asked about, not answered */
	RELATION_PLAIN,
	RELATION_OTHER
} RelationKind;

typedef struct KnownRelation
{
	Oid			relid;			/* the foreign table; the key */
	RelationKind kind;
} KnownRelation;

/* Are all these relations known to be plain? */
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

/* Makes an empty table, which lives until its owner destroys it. */
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
 * The relations that have to be asked about to know all of them, as
 * RelationQuestions in this context.  None if one is known not to be plain.
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

/* Is a relation to be asked about, and not answered yet? */
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
 * Forgets one foreign table's relation, or all relations if the OID is
 * invalid.  This may happen while questions are being collected: looking up
 * names accepts invalidation messages.
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
