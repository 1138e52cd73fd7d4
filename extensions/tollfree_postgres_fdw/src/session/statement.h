/*
 * statement.h
 *	  Statements kept prepared on the remote server: the statement cache.
 */
#ifndef TOLLFREE_FDW_STATEMENT_H
#define TOLLFREE_FDW_STATEMENT_H

#include "lib/ilist.h"

#include "base/libpq.h"
#include "sql/command.h"

#define STATEMENT_NAME_SIZE 32	/* bytes, with the final zero */

/*
 * Names of prepared statements begin with a random number of the connection.
 * Behind a pooler, which may hand a session the server connection of another one,
 * a name is then unknown, and never that of another statement.
 */
#define STATEMENT_PREFIX_LENGTH (sizeof("tollfree_12345678_") - 1)

/* How a command is to be executed */
typedef enum StatementUse
{
	STATEMENT_ONCE,				/* parsed for this execution only */
	STATEMENT_PREPARE,			/* prepared in the batch that executes it */
	STATEMENT_REUSE				/* executed; prepared before */
} StatementUse;

/* Written by statement.c. */
typedef struct CachedStatement
{
	uint32		hash;			/* of the text; the key */
	char	   *sql;
	char		name[STATEMENT_NAME_SIZE];
	bool		is_prepared;	/* has the remote server said so? */
	uint64		safe_epoch;		/* lock epoch in which it is not stale, or 0 */
	uint64		once_epoch;		/* lock epoch in which its text was last
								 * parsed for one execution, or 0 */
	bool		is_doubtful;	/* failed, and its types were chosen by the
								 * remote server; to be prepared anew */
	int			ntypes;
	Oid		   *types;			/* of its parameters, chosen by the remote
								 * server; NULL if they were given */
	dlist_node	node;			/* in the list, by last use */
} CachedStatement;

typedef struct StatementCache StatementCache;

/* How cacheable commands were executed */
typedef struct StatementCounters
{
	int64		hits;
	int64		misses;
	int64		evictions;
} StatementCounters;

extern StatementCache *statement_create_cache(int size, const char *prefix,
											  List **dropped);
extern void statement_drop_cache(StatementCache *cache);
extern StatementUse statement_choose(StatementCache *cache,
									 const RemoteCommand *command,
									 uint64 epoch, bool starts,
									 StatementCounters *counters,
									 CachedStatement **statement);
extern void statement_note_prepared(CachedStatement *statement, uint64 epoch);
extern void statement_note_types(StatementCache *cache,
								 CachedStatement *statement,
								 const PGresult *res);
extern void statement_note_success(CachedStatement *statement, uint64 epoch);
extern void statement_note_error(CachedStatement *statement, int sqlstate);
extern void statement_forget(StatementCache *cache, CachedStatement *statement);

#endif							/* TOLLFREE_FDW_STATEMENT_H */
