/*
 * state.h
 *	  The state of a session on a remote server.
 *
 * A Session consists of parts.  The comment above each part names the files
 * that write it; all others only read it. connection.c also resets parts when
 * a connection begins or ends.
 */
#ifndef TOLLFREE_FDW_STATE_H
#define TOLLFREE_FDW_STATE_H

#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "libpq-fe.h"
#include "storage/latch.h"
#include "utils/hsearch.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "session/statement.h"
#include "sql/command.h"

/* Options of server and mapping.  Written by connection.c and sessions.c. */
typedef struct SessionOptions
{
	uint32		server_hash;	/* of their syscache entries */
	uint32		mapping_hash;
	bool		keep;			/* keep_connections */
	bool		parallel_commit;
	bool		parallel_abort;
	bool		read_committed;
	int			fast_paths;		/* by the server's options; fastpath.h */
	int			statement_cache_size;	/* by the option, not the setting */
	char		server_name[NAMEDATALEN];	/* when it was connected, for
											 * DEBUG1 */
	bool		is_outdated;	/* options changed since; to be closed when
								 * the transaction ends */
} SessionOptions;

/*
 * What the remote server is like.  Written by connection.c and questions.c,
 * round_trip by scan/cursor.c, too.
 */
typedef struct RemoteTraits
{
	bool		has_statement_timeout;	/* or this is not known */
	bool		is_serializable;	/* by default, or this is not known */
	bool		can_check_writes;	/* does it answer whether a transaction
									 * has written? */
	bool		hides_relations;	/* does it refuse to say what relations
									 * are? */
	bool		same_encoding;	/* do both databases have the same encoding? */
	long		round_trip;		/* the shortest one seen, in ms */
} RemoteTraits;

/* The session's wait event set.  Written by wait.c. */
typedef struct SessionWait
{
	WaitEventSet *set;			/* or NULL */
	uint32		events;			/* that the set waits for at the socket; 0
								 * while the set is incomplete */
} SessionWait;

/*
 * The remote transaction.  A depth counts transaction levels: 0 is no
 * transaction, 1 a transaction without savepoints.
 *
 *	local_depth		the depth that local commands call for, sent or not
 *	remote_depth	the depth that the remote server has confirmed
 *	kept_depth		<= remote_depth; deeper savepoints are to be released
 *
 * The next batch begins with the RELEASE, START TRANSACTION and SAVEPOINTs
 * that make all three equal.  Written by session.c, results.c, pending.c,
 * error.c, questions.c and the files in xact/; truncated by modify/truncate.c.
 */
typedef struct RemoteTransaction
{
	int			local_depth;
	int			remote_depth;
	int			kept_depth;
	int			failed_depth;	/* remote_depth at the last error, or 0 */
	struct RemoteError *kept_error; /* of an outer level, raised again by each
									 * use of the session; NULL if there is no
									 * message */
	int			kept_level;		/* the level that must be rolled back to clear
								 * that error; 0 if there is none */
	bool		commit_failed;	/* a COMMIT that was not waited for */
	bool		has_written;	/* known for sure; no write check is needed */
	bool		may_have_written;
	bool		truncated;		/* a table, which locks out other sessions */
	uint64		starts;			/* of remote transactions, since the session
								 * was made */
	uint64		rollbacks;		/* of transactions and savepoints, likewise */
	uint32		users;			/* callers that got the session in this
								 * transaction */
} RemoteTransaction;

/* What an expected answer belongs to */
typedef enum PartKind
{
	PART_COMMIT,				/* a COMMIT that is not waited for */
	PART_ROLLBACK,
	PART_RELEASE,
	PART_START,
	PART_SAVEPOINT,
	PART_CLEANUP,				/* CLOSE, DEALLOCATE, session setup; the
								 * answer tells nothing */
	PART_PREPARE,				/* of a cached statement */
	PART_DESCRIBE,				/* of a prepared statement: the types of its
								 * parameters */
	PART_COMMAND,				/* the caller's; the caller gets its results */
	PART_WRITE_CHECK,			/* has the transaction written? */

	/* questions.c's own, not part of the user's transaction */
	PART_QUESTION_CONTROL,		/* what a question needs: START, SET, PREPARE,
								 * ROLLBACK */
	PART_WRITE_QUESTION,		/* does the write check work? */
	PART_TIMEOUT_QUESTION,		/* what is statement_timeout? */
	PART_ISOLATION_QUESTION,	/* what is the default isolation level? */
	PART_RELATION_QUESTION,		/* is a relation plain? */

	PART_SYNC
} PartKind;

/* Is it part of a question, not of the user's transaction? */
static inline bool
part_is_apart(PartKind kind)
{
	return kind >= PART_QUESTION_CONTROL && kind < PART_SYNC;
}

typedef struct BatchPart
{
	PartKind	kind;
	int			depth;			/* of the remote transaction after it */
	const char *sql;			/* for messages, or NULL; in the batch's
								 * context */
	const char *prepares;		/* the caller's statement that it prepares or
								 * describes, or NULL; same context */
	CachedStatement *statement; /* that it prepares, describes or executes, or
								 * NULL */
	Oid			relid;			/* the foreign table that is asked about */
} BatchPart;

/*
 * Commands sent together, without waiting for answers in between.  Written by
 * batch.c and results.c; is_commit, deadline and cancellations by wait.c and xact/,
 * result by session.c, is_appended by session.c and
 * modify/pipeline.c.
 */
typedef struct Batch
{
	MemoryContext context;		/* until the next batch */
	BatchPart  *parts;			/* parts[0 .. part - 1] have been answered */
	int			nparts;
	int			part;
	int			size;			/* room for parts */
	StringInfoData log;			/* what is put into it, for DEBUG1, in its
								 * context; data is NULL if nothing is */
	int			level;			/* local transaction level that sent it */
	ResourceOwner owner;		/* of the execution that sent it */
	bool		is_commit;		/* at the end of the local transaction */
	bool		is_appended;	/* may the next batch be sent before this one
								 * is answered? */
	PGresult   *result;			/* of session_execute or session_ask, until
								 * they return */
	TimestampTz deadline;		/* for the clean-up after an error, or 0 */
	bool		timed_out;		/* the deadline has passed */
	TimestampTz cancel_again;	/* when to send another cancel request, or 0 */
	int			cancel_pause;	/* ms between cancel requests */
} Batch;

/*
 * Answers that are not read yet, and commands that are not sent yet.  Written
 * by pending.c, session.c, xact/, and the callers that set drain and flush.
 */
typedef struct PendingWork
{
	void		(*drain) (void *arg);	/* receives arg's answers that are in
										 * flight */
	void	   *drain_arg;
	void		(*flush) (void *arg);	/* sends arg's buffered commands */
	void	   *flush_arg;
	int			flush_level;	/* local transaction level of the buffered
								 * commands */
	bool		is_settling;	/* is pending_settle running? */

	const RemoteCommand *ahead; /* sent, but the leading answers (results.c)
								 * are not read yet; or NULL */
	int			nahead;
} PendingWork;

/*
 * Prepared statements on the remote server.  Written by session.c, results.c,
 * batch.c, control.c, pending.c and transaction.c; names by modify/.
 */
typedef struct PreparedStatements
{
	StatementCache *cache;		/* for the life of the connection */
	const RemoteCommand *repeatable;	/* the command in flight that may be
										 * sent again if its cached statement
										 * is stale, or NULL */
	bool		only_reads;		/* as passed with the last batch */
	List	   *own;			/* names of statements that callers have
								 * prepared */
	List	   *unused;			/* names of statements to be dropped */
	uint32		tag;			/* of the connection, in all names */
	uint32		names;			/* given so far */
	char		described[NAMEDATALEN]; /* name of the caller's statement
										 * described last, or "" */
	Oid		   *described_types;	/* of its parameters; in TopMemoryContext */
	int			ndescribed;
} PreparedStatements;

/*
 * What is known of remote relations.  Written by questions.c; unasked by
 * transaction.c, too.
 */
typedef struct RelationFacts
{
	HTAB	   *relations;		/* questions.c's; or NULL */
	List	   *unasked;		/* RelationQuestions, in TopTransactionContext */
} RelationFacts;

/*
 * Cursors on the remote server.  Written by portals.c; names by scan/cursor.c
 * and transaction.c.
 */
typedef struct RemoteCursors
{
	List	   *open;			/* in TopMemoryContext */
	uint32		names;			/* given in this transaction */
} RemoteCursors;

/* What the session has done since it was made; each is an int64 */
typedef struct SessionCounters
{
	int64		connects;		/* connections made */
	int64		reconnects;		/* of these, in place of one that was lost
								 * with nothing in it */
	int64		round_trips;	/* that were waited for */
	int64		rows;			/* received */
	int64		bytes_received; /* over TCP; as of when it was last added */
	int64		bytes_sent;		/* the same */
	int64		unawaited_commits;
	int64		autocommit_scans;
	int64		repeats;		/* of commands whose kept statement was stale */
	int64		spills;			/* results that went to a temporary file */
	int64		errors;			/* of the caller's commands, remotely */
	StatementCounters statements;
} SessionCounters;

/*
 * What of that has been added to the counters of all backends;
 * shared_counters.c writes it.
 */
typedef struct AddedCounters
{
	SessionCounters counters;
	int64		received;		/* bytes of the present connection */
	int64		sent;			/* the same */
	int			entry;			/* where it was added, most likely */
} AddedCounters;

/* The session of one user mapping; sessions.c frees it once that is gone. */
typedef struct Session
{
	Oid			mapping;
	Oid			server;
	Oid			user;			/* the user who first got it in this
								 * transaction, or else who got it last; uses
								 * this mapping */
	Oid			mapping_user;	/* whose mapping it is; InvalidOid for public */
	PGconn	   *conn;			/* NULL when not connected */
	bool		is_set_up;		/* connected, and its settings made */
	bool		unusable;		/* the remote state is not known; set during
								 * COMMIT and rollback, and left set if they
								 * fail */

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
	AddedCounters added;
} Session;

/*
 * The lock epoch.  It advances with each start of a remote transaction and
 * with each rollback.  Within one epoch the remote transaction releases no
 * locks.
 */
static inline uint64
session_lock_epoch(const Session *session)
{
	return session->xact.starts + session->xact.rollbacks;
}

#endif							/* TOLLFREE_FDW_STATE_H */
