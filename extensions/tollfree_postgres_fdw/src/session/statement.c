/*
 * statement.c
 *	  Statements that a session keeps prepared on its remote server.
 *
 * postgres_fdw writes constants into its SQL, so many texts never come again
 * (parameterize.c makes parameters of some).  A text is therefore prepared when it
 * is seen a second time.  Of those seen
 * once only the hashes are kept, in a table without chains: another text may
 * take the place of one that waits, which is then prepared a little later.
 * Prepared ones are kept in the order of their last use, and dropped from the
 * far end when there are more than the setting allows.
 *
 * What is prepared can become stale.  Once a table has been altered the remote
 * server may refuse the statement ("cached plan must not change result type"),
 * and an error ends the remote transaction.  So a statement is reused only if
 *
 *	- it was prepared or executed in this lock epoch: the locks that
 *	  the remote transaction holds since then keep its tables from being altered;
 *	  or
 *	- it could be repeated: the remote transaction begins with it, and an error
 *	  loses nothing but time, and is all that a change leads to; or
 *	- it has no result whose type could change, and its parameters are of types
 *	  that it says, or that make no difference (paramtypes.c): then the remote
 *	  server makes a new plan by itself.
 *
 * Otherwise it is parsed once more, and prepared anew when it comes again in
 * the same epoch.
 *
 * The lock epoch is the session's.  It advances with each start of a remote
 * transaction and with each rollback, which releases locks.
 *
 * Sending, and learning what became of it, is session.c's and batch.c's
 * business.
 */
#include "postgres.h"

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
	dlist_head	recent;			/* all of them, the last used first */
	int			size;			/* statements at most */
	uint32		names;			/* given so far */
	List	  **dropped;		/* names to be deallocated */
	uint32		sightings[SIGHTINGS];
};

/*
 * An empty cache of so many statements, which lives until it is dropped.  The names of forgotten
 * statements are appended to a list in TopMemoryContext.
 */
StatementCache *
statement_create_cache(int size, List **dropped)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext,
												  "tollfree_postgres_fdw statements",
												  ALLOCSET_DEFAULT_SIZES);
	StatementCache *cache = MemoryContextAllocZero(context,
												   sizeof(StatementCache));
	HASHCTL		control = {0};

	control.keysize = sizeof(uint32);
	control.entrysize = sizeof(CachedStatement);
	control.hcxt = context;
	cache->table = hash_create("tollfree_postgres_fdw statements",
							   STATEMENT_CACHE_SIZE_DEFAULT, &control,
							   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	cache->context = context;
	cache->dropped = dropped;
	cache->size = size;
	dlist_init(&cache->recent);
	return cache;
}

/* The key of a text. */
static uint32
hash_text(const char *sql)
{
	return hash_bytes((const unsigned char *) sql, strlen(sql));
}

/* Forgets all statements; the connection that knew them is gone. */
void
statement_drop_cache(StatementCache *cache)
{
	if (cache != NULL)
		MemoryContextDelete(cache->context);
}

/* Forgets a statement, which the remote server has to be told if it knows it. */
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

/* The statement of a text, or NULL if it is not in the cache. */
const CachedStatement *
statement_find(StatementCache *cache, const char *sql)
{
	uint32		hash = hash_text(sql);
	CachedStatement *statement = hash_search(cache->table, &hash, HASH_FIND,
											 NULL);

	return statement != NULL && strcmp(statement->sql, sql) == 0 ?
		statement : NULL;
}

/* Makes room for the types of a new statement's parameters. */
void
statement_make_types(StatementCache *cache, CachedStatement *statement,
					 int ntypes)
{
	Assert(statement->types == NULL);
	statement->types = MemoryContextAllocZero(cache->context,
											  Max(ntypes, 1) * sizeof(Oid));
	statement->ntypes = ntypes;
}

/* Is this the second time that the text is seen, as far as is remembered? */
static bool
is_repeated(StatementCache *cache, uint32 hash)
{
	uint32	   *sighting = &cache->sightings[hash % SIGHTINGS];
	bool		repeated = *sighting == hash;

	*sighting = repeated ? 0 : hash;
	return repeated;
}

/* How many statements are kept: as many as option and setting allow. */
static int
size_limit(const StatementCache *cache)
{
	return Min(cache->size, setting_statement_cache_size);
}

/* Makes room for as many statements as are kept, less some. */
static void
evict(StatementCache *cache, int less, StatementCounters *counters)
{
	while (hash_get_num_entries(cache->table) >
		   Max(size_limit(cache) - less, 0))
	{
		statement_forget(cache, dlist_tail_element(CachedStatement, node,
												   &cache->recent));
		counters->evictions++;
	}
}

/* A statement that is yet to be prepared. */
static CachedStatement *
add_statement(StatementCache *cache, const char *sql, uint32 hash)
{
	bool		found;
	CachedStatement *statement;
	char	   *text = MemoryContextStrdup(cache->context, sql);

	/* From here on nothing fails that would leave an entry half made. */
	statement = hash_search(cache->table, &hash, HASH_ENTER, &found);
	Assert(!found);
	statement->sql = text;

	snprintf(statement->name, STATEMENT_NAME_SIZE, "tollfree_s%u",
			 ++cache->names);
	statement->is_prepared = statement->is_doubtful = false;
	statement->types = NULL;
	statement->safe_epoch = statement->once_epoch = 0;
	dlist_push_head(&cache->recent, &statement->node);
	return statement;
}

/*
 * How to execute a statement that is in the cache.  One that was to be
 * prepared, but never was, or that is in doubt, or that comes again where it
 * cannot be reused, is replaced under another name.
 */
static StatementUse
choose_known(StatementCache *cache, CachedStatement **statement,
			 const char *sql, uint64 epoch, bool is_safe)
{
	CachedStatement *known = *statement;
	uint32		hash = known->hash;

	dlist_move_head(&cache->recent, &known->node);
	if (known->is_prepared && !known->is_doubtful)
	{
		if (is_safe || known->safe_epoch == epoch)
			return STATEMENT_REUSE;
		if (known->once_epoch != epoch)
		{
			known->once_epoch = epoch;
			return STATEMENT_ONCE;
		}
	}
	statement_forget(cache, known);
	*statement = add_statement(cache, sql, hash);
	return STATEMENT_PREPARE;
}

/*
 * Says how to execute a command, and with which statement, NULL for once.
 * is_safe tells that it does no harm if the statement has become stale.
 */
StatementUse
statement_choose(StatementCache *cache, const char *sql, uint64 epoch,
				 bool is_safe, StatementCounters *counters,
				 CachedStatement **statement)
{
	uint32		hash = hash_text(sql);
	StatementUse use = STATEMENT_ONCE;

	evict(cache, 0, counters);
	*statement = NULL;
	if (size_limit(cache) == 0)
		return use;

	*statement = hash_search(cache->table, &hash, HASH_FIND, NULL);
	if (*statement != NULL && strcmp((*statement)->sql, sql) == 0)
		use = choose_known(cache, statement, sql, epoch, is_safe);
	else if (*statement == NULL && is_repeated(cache, hash))
	{
		evict(cache, 1, counters);
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
