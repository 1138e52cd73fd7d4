/*
 * statement.c
 *	  Statements kept prepared on the remote server: the statement cache.
 *
 * postgres_fdw writes constants into its SQL, so many texts never come again;
 * sql/parameterize.c makes parameters of some constants.  A text is therefore
 * prepared when it is seen for the second time.  Of texts seen once only hashes
 * are kept, in a table without chains; a text whose hash another one overwrites
 * is prepared one execution later.  The least recently used statement is dropped
 * when there are more than the option and the setting allow.
 *
 * A prepared statement can become stale.  Once a table has been altered, the
 * remote server may refuse the statement ("cached plan must not change result
 * type"), and the error would end the remote transaction.  So a statement is
 * reused only if one of these holds:
 *
 * - It was prepared or executed in this lock epoch (state.h).  Since then the
 *   remote transaction holds locks that keep its tables from being altered.
 * - It can be repeated.  The remote transaction begins with it, so an error
 *   loses nothing but time, and a change can lead to nothing but an error.
 * - It returns no rows whose type could change.  And the types of its
 *   parameters are given, or make no difference.  Then the remote server makes
 *   a new plan by itself.
 *
 * Otherwise its text is parsed for one execution.  When the text comes again
 * in the same epoch it is prepared anew.
 *
 * An INSERT leaves the types of its parameters to the remote server, which takes
 * those of the columns and reads each value by the column's own input function.
 * If a column is altered meanwhile, a cached INSERT still reads the value as the
 * old type, and casts it by assignment to the new one.  An INSERT that is parsed
 * now reads the value as the new type at once.  Both must store the same,
 * whatever the new type is.  That is so for a null, and for the few types in
 * is_stored_alike: their casts by assignment give what reading the text gives, or
 * an error, after which the statement is prepared anew.  It is not so for
 * char(n), whose cast strips blanks, or numeric, whose cast to an integer rounds.
 * One difference is left: if a column of integers becomes one of an OID alias
 * type, such as regclass, reading refuses a negative number, and the cast
 * accepts it.
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "base/settings.h"
#include "session/statement.h"

#define SIGHTINGS 1024			/* hashes of texts seen once; a power of two */

struct StatementCache
{
	MemoryContext context;		/* of all of it */
	HTAB	   *table;			/* of CachedStatement */
	dlist_head	recent;			/* all statements, the last used first */
	const char *prefix;			/* of all names */
	int			size;			/* statements at most */
	uint32		names;			/* given so far */
	List	  **dropped;		/* names of statements to be deallocated */
	uint32		sightings[SIGHTINGS];
};

/* Makes an empty cache; the list of dropped names is in TopMemoryContext. */
StatementCache *
statement_create_cache(int size, const char *prefix, List **dropped)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext,
												  "tollfree_postgres_fdw statements",
												  ALLOCSET_DEFAULT_SIZES);
	StatementCache *cache = MemoryContextAllocZero(context,
												   sizeof(StatementCache));
	HASHCTL		control = {
		.keysize = sizeof(uint32),.entrysize = sizeof(CachedStatement),
		.hcxt = context
	};

	cache->table = hash_create("tollfree_postgres_fdw statements",
							   STATEMENT_CACHE_SIZE_DEFAULT, &control,
							   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	cache->context = context;
	cache->dropped = dropped;
	cache->size = size;
	cache->prefix = prefix;
	dlist_init(&cache->recent);
	return cache;
}

/* Drops the cache, which may be NULL; the connection is gone. */
void
statement_drop_cache(StatementCache *cache)
{
	if (cache != NULL)
		MemoryContextDelete(cache->context);
}

/* Forgets a statement.  If it is prepared, its name is noted for DEALLOCATE. */
void
statement_forget(StatementCache *cache, CachedStatement *statement)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	if (statement->is_prepared)
		*cache->dropped = lappend(*cache->dropped, pstrdup(statement->name));
	dlist_delete(&statement->node);
	pfree(statement->sql);
	if (statement->types != NULL)
		pfree(statement->types);
	hash_search(cache->table, &statement->hash, HASH_REMOVE, NULL);
	MemoryContextSwitchTo(old);
}

/* The remote server has prepared a statement, in this lock epoch. */
void
statement_note_prepared(CachedStatement *statement, uint64 epoch)
{
	statement->is_prepared = true;
	statement->safe_epoch = epoch;
}

/* Keeps the types of a statement's parameters, from its description. */
void
statement_note_types(StatementCache *cache, CachedStatement *statement,
					 const PGresult *res)
{
	int			ntypes = PQnparams(res);

	Assert(statement->types == NULL);
	statement->types = MemoryContextAllocZero(cache->context,
											  Max(ntypes, 1) * sizeof(Oid));
	statement->ntypes = ntypes;
	for (int i = 0; i < ntypes; i++)
		statement->types[i] = PQparamtype(res, i);
}

/*
 * A statement has been executed.  That shows that it is not stale in this lock
 * epoch, unless the remote server chose its parameter types.
 */
void
statement_note_success(CachedStatement *statement, uint64 epoch)
{
	if (statement->types == NULL)
		statement->safe_epoch = epoch;
}

/* A statement has failed. */
void
statement_note_error(CachedStatement *statement, int sqlstate)
{
	statement->is_doubtful = statement->types != NULL;
	if (sqlstate == ERRCODE_UNDEFINED_PSTATEMENT)
		statement->is_prepared = false;
}

/* Has the text been seen once before?  If so, that is forgotten. */
static bool
is_repeated(StatementCache *cache, uint32 hash)
{
	uint32	   *sighting = &cache->sightings[hash % SIGHTINGS];
	bool		repeated = *sighting == hash;

	*sighting = repeated ? 0 : hash;
	return repeated;
}

/* How many statements may be cached, by the option and the setting. */
static int
size_limit(const StatementCache *cache)
{
	return Min(cache->size, setting_statement_cache_size);
}

/* Evicts statements until there are at most the limit, less some. */
static void
statement_evict(StatementCache *cache, int less, StatementCounters *counters)
{
	while (hash_get_num_entries(cache->table) >
		   Max(size_limit(cache) - less, 0))
	{
		statement_forget(cache, dlist_tail_element(CachedStatement, node,
												   &cache->recent));
		counters->evictions++;
	}
}

/* Adds a statement that is not prepared yet. */
static CachedStatement *
add_statement(StatementCache *cache, const char *sql, uint32 hash)
{
	bool		found;
	CachedStatement *statement;
	char	   *text = MemoryContextStrdup(cache->context, sql);

	/* Nothing below can fail and leave an incomplete entry. */
	statement = hash_search(cache->table, &hash, HASH_ENTER, &found);
	Assert(!found);
	statement->sql = text;

	snprintf(statement->name, STATEMENT_NAME_SIZE, "%ss%u", cache->prefix,
			 ++cache->names);
	statement->is_prepared = statement->is_doubtful = false;
	statement->types = NULL;
	statement->safe_epoch = statement->once_epoch = 0;
	dlist_push_head(&cache->recent, &statement->node);
	return statement;
}

/*
 * Is a value, printed here as one type, stored alike by a cached INSERT that
 * reads it as the remote type, and by one that is parsed now?
 */
static bool
is_stored_alike(Oid remote, Oid printed, const char *value)
{
	switch (remote)
	{
		case TEXTOID:
		case VARCHAROID:
			return true;
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case UUIDOID:
		case TIDOID:
			return printed == remote;
		case DATEOID:
		case TIMESTAMPOID:
			/* An infinite timestamp is cast to a time that is null. */
			return printed == remote && isdigit((unsigned char) value[0]);
		default:
			return false;
	}
}

/*
 * Does it do no harm if a statement is stale?  With starts it can be repeated.  A
 * stale INSERT does not fail, so the types of its parameters are checked.
 */
static bool
is_safe_if_stale(const CachedStatement *statement, const RemoteCommand *command,
				 bool starts)
{
	const Oid  *printed = command->hints.printed_types;

	if (printed == NULL)
		return starts || command->hints.returns_nothing;
	if (!command->hints.returns_nothing || statement->types == NULL ||
		statement->ntypes != command->nparams)
		return false;
	for (int i = 0; i < command->nparams; i++)
	{
		if (command->params[i] != NULL &&
			!is_stored_alike(statement->types[i], printed[i],
							 command->params[i]))
			return false;
	}
	return true;
}

/*
 * Decides how to execute a text that is in the cache.  Its statement is replaced,
 * under another name, if its preparation never succeeded, if it has failed since,
 * or if its text has already been parsed for one execution in this epoch.
 */
static StatementUse
choose_known(StatementCache *cache, CachedStatement **statement,
			 const RemoteCommand *command, uint64 epoch, bool starts)
{
	CachedStatement *known = *statement;
	uint32		hash = known->hash;

	dlist_move_head(&cache->recent, &known->node);
	if (known->is_prepared && !known->is_doubtful)
	{
		if (known->safe_epoch == epoch ||
			is_safe_if_stale(known, command, starts))
			return STATEMENT_REUSE;
		if (known->once_epoch != epoch)
		{
			known->once_epoch = epoch;
			return STATEMENT_ONCE;
		}
	}
	statement_forget(cache, known);
	*statement = add_statement(cache, command->sql, hash);
	return STATEMENT_PREPARE;
}

/*
 * Decides how to execute a command, and by which statement; that is NULL for
 * STATEMENT_ONCE.  starts says that the remote transaction begins with it.
 */
StatementUse
statement_choose(StatementCache *cache, const RemoteCommand *command,
				 uint64 epoch, bool starts, StatementCounters *counters,
				 CachedStatement **statement)
{
	const char *sql = command->sql;
	uint32		hash = hash_bytes((const unsigned char *) sql, strlen(sql));
	StatementUse use = STATEMENT_ONCE;

	statement_evict(cache, 0, counters);
	*statement = NULL;
	if (size_limit(cache) == 0)
		return use;

	*statement = hash_search(cache->table, &hash, HASH_FIND, NULL);
	if (*statement != NULL && strcmp((*statement)->sql, sql) == 0)
		use = choose_known(cache, statement, command, epoch, starts);
	else if (*statement == NULL && is_repeated(cache, hash))
	{
		statement_evict(cache, 1, counters);
		*statement = add_statement(cache, sql, hash);
		use = STATEMENT_PREPARE;
	}

	if (use == STATEMENT_ONCE)
		*statement = NULL;
	if (use == STATEMENT_REUSE)
		counters->hits++;
	else
		counters->misses++;
	return use;
}
