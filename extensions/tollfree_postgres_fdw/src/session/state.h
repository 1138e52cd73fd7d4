/*
 * state.h
 *	  The state of a session on a remote server.
 *
 * A session is made of parts, and each part is written by the files named
 * beside it; who else needs to know reads it.
 */
#ifndef TOLLFREE_FDW_STATE_H
#define TOLLFREE_FDW_STATE_H

#include "foreign/foreign.h"
#include "libpq-fe.h"
#include "storage/latch.h"
#include "utils/hsearch.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "session/statement.h"
#include "sql/command.h"

/* Options of the server and mapping; connection.c and sessions.c write it. */
typedef struct SessionOptions
{
	uint32		server_hash;	/* of their syscache entries */
	uint32		mapping_hash;
	bool		keep;			/* keep_connections */
	bool		parallel_commit;
	bool		parallel_abort;
	bool		read_committed;
	int			fast_paths;		/* that the server's allow; fastpath.h */
	int			statement_cache_size;	/* the same */
	bool		is_outdated;	/* changed since: to be closed when the
								 * transaction ends */
} SessionOptions;

/* What the remote server is like; connection.c and questions.c write it. */
typedef struct RemoteTraits
{
	bool		has_statement_timeout;	/* or may have one */
	bool		is_serializable;	/* may transactions be so by default? */
	bool		can_check_writes;	/* may it be asked what has been written? */
	bool		hides_relations;	/* is nobody told what they are? */
	bool		same_encoding;	/* do both databases store texts in one? */
	long		round_trip;		/* the shortest one seen, in ms */
} RemoteTraits;

/* What waiting needs; waitset.c writes it. */
typedef struct SessionWait
{
	WaitEventSet *set;			/* or NULL */
	uint32		events;			/* what the set's socket waits for; 0 while it
								 * is not complete */
} SessionWait;

/*
 * The remote transaction.  Depths count it and its savepoints, 0 being none:
 *
 *	local_depth		where local commands have brought it, as if everything
 *					had been sent at once
 *	remote_depth	what the remote server has been seen to be in
 *	kept_depth		<= remote_depth; deeper savepoints are to be released
 *
 * The next batch begins with RELEASE, START TRANSACTION and SAVEPOINTs, as
 * needed to make all three equal.  session.c, results.c and the files in xact/
 * write it.
 */
typedef struct RemoteTransaction
{
	int			local_depth;
	int			remote_depth;
	int			kept_depth;
	int			failed_depth;	/* remote_depth at the last error, or 0 */
	struct RemoteError *kept_error; /* for whoever uses the session next, or
									 * NULL if there is no more to tell of it */
	int			kept_level;		/* whose rollback makes up for that error; 0
								 * if there is none */
	bool		commit_failed;	/* one that nobody waited for */
	bool		has_written;	/* for sure, so that it need not be asked */
	bool		may_have_written;
	bool		truncated;		/* has it locked out other sessions? */
	uint64		starts;			/* of remote transactions, ever */
	uint64		rollbacks;		/* the same */
	uint32		users;			/* executor nodes and such, in this one */
} RemoteTransaction;

/* What one result, or what ends the batch, stands for */
typedef enum PartKind
{
	PART_COMMIT,				/* a COMMIT that nobody waited for */
	PART_ROLLBACK,
	PART_RELEASE,
	PART_START,
	PART_SAVEPOINT,
	PART_CLEANUP,				/* CLOSE, DEALLOCATE */
	PART_PREPARE,				/* of a statement that is kept */
	PART_DESCRIBE,				/* of which types are its parameters? */
	PART_COMMAND,				/* what the caller sent; he gets the results */
	PART_WRITE_CHECK,			/* has the transaction written? */

	/* questions that are no part of the user's transaction; questions.c's */
	PART_ASIDE,					/* what goes with one */
	PART_WRITE_QUESTION,		/* may it be asked what has been written? */
	PART_TIMEOUT_QUESTION,		/* how long may a command take? */
	PART_ISOLATION_QUESTION,	/* how isolated are transactions by default? */
	PART_RELATION_QUESTION,		/* is a relation plain? */

	PART_SYNC
} PartKind;

/* Is it of a question that is no part of the user's transaction? */
static inline bool
part_is_apart(PartKind kind)
{
	return kind >= PART_ASIDE && kind < PART_SYNC;
}

typedef struct BatchPart
{
	PartKind	kind;
	int			depth;			/* of the remote transaction once it is done */
	const char *sql;			/* for messages; in the batch's context, or
								 * NULL */
	const char *prepares;		/* a statement of the caller's, or which it
								 * describes, or NULL; the same */
	CachedStatement *statement; /* that it prepares or executes, or NULL */
	Oid			relid;			/* the foreign table that is asked about */
} BatchPart;

/*
 * What is sent without waiting for an answer in between.  batch.c and results.c
 * write it, the deadline and the cancellations wait.c and the files in xact/.
 */
typedef struct Batch
{
	MemoryContext context;		/* until the next batch */
	BatchPart  *parts;			/* those before part have been answered */
	int			nparts;
	int			part;
	int			size;			/* room for parts */
	int			level;			/* local transaction level that sent it */
	ResourceOwner owner;		/* of the execution that did */
	bool		is_appended;	/* may the next one be sent behind it? */
	PGresult   *result;			/* of session_execute, until it returns */
	TimestampTz deadline;		/* of a batch that cleans up, or 0 */
	bool		timed_out;		/* it has passed */
	TimestampTz cancel_again;	/* when it is to be cancelled once more, or 0 */
	int			cancel_pause;	/* ms between the last two times */
} Batch;

/* What somebody has yet to read or send; pending.c's and session.c's */
typedef struct PendingWork
{
	void		(*drain) (void *arg);	/* reads what is in flight for arg */
	void	   *drain_arg;
	void		(*flush) (void *arg);	/* sends what arg holds back */
	void	   *flush_arg;
	int			flush_level;	/* local transaction level that it belongs to */
	bool		is_settling;	/* is all of this being done with? */

	const RemoteCommand *ahead; /* behind a front not yet awaited, or NULL */
	int			nahead;
	bool		only_reads;		/* of these */
} PendingWork;

/* Statements on the remote server; session.c and results.c write it. */
typedef struct PreparedStatements
{
	StatementCache *cache;		/* as long as it is connected */
	const RemoteCommand *repeatable;	/* in flight, if it could be repeated */
	bool		only_reads;		/* of it */
	List	   *own;			/* names of those that an execution prepared */
	List	   *unused;			/* names of those to be dropped */
	uint32		names;			/* ever given */
	char		described[NAMEDATALEN]; /* the one described last, or "" */
	Oid		   *described_types;	/* of its parameters; in TopMemoryContext */
	int			ndescribed;
} PreparedStatements;

/* What is known of remote relations; questions.c writes it. */
typedef struct RelationFacts
{
	HTAB	   *relations;		/* or NULL; relations.c's */
	List	   *unasked;		/* RelationQuestions, in TopTransactionContext */
} RelationFacts;

/* Cursors on the remote server; portals.c writes it. */
typedef struct RemoteCursors
{
	List	   *open;			/* in TopMemoryContext */
	uint32		names;			/* given in this transaction */
} RemoteCursors;

/* What the session has done since it was made */
typedef struct SessionCounters
{
	int64		connects;		/* connections made */
	int64		round_trips;	/* that somebody waited for */
	int64		rows;			/* received */
	int64		unawaited_commits;
	int64		autocommit_scans;
	StatementCounters statements;
} SessionCounters;

/* The session of one user mapping, for the life of the backend */
typedef struct Session
{
	Oid			mapping;
	Oid			server;
	Oid			user;			/* who asked for it first in this transaction,
								 * or last before it, by this mapping */
	PGconn	   *conn;			/* NULL when not connected */
	bool		is_set_up;		/* is it connected, with its settings made? */
	bool		unusable;		/* nobody knows what state it is in */

	SessionOptions options;
	RemoteTraits remote;
	SessionWait wait;
	RemoteTransaction xact;
	Batch		batch;
	PendingWork pending;
	PreparedStatements prepared;
	RelationFacts facts;
	RemoteCursors cursors;
	SessionCounters counters;
} Session;

/*
 * The lock epoch: it advances with each start of a remote transaction and with
 * each rollback.  Within one the remote transaction only takes locks.
 */
static inline uint64
session_lock_epoch(const Session *session)
{
	return session->xact.starts + session->xact.rollbacks;
}

#endif							/* TOLLFREE_FDW_STATE_H */
