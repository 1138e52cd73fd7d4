/*
 * state.h
 *	  The state of a session on a remote server.
 *
 * Each part of a Session has an owner: the one file that writes it, named in the
 * comment above its struct.  To all other files the part is const, so an
 * assignment there does not compile; they call the owner.  The owner writes
 * through session_own.  tools/who-writes prints who writes which field, and fails
 * (make lint) if that is not as the comments say.
 */
#ifndef TOLLFREE_FDW_STATE_H
#define TOLLFREE_FDW_STATE_H

#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "pgtime.h"
#include "storage/latch.h"
#include "utils/hsearch.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "base/libpq.h"
#include "base/options.h"
#include "session/statement.h"
#include "sql/command.h"

/* Options of server and mapping.  Written by connection.c. */
typedef struct SessionOptions
{
	uint32		server_hash;	/* of their syscache entries */
	uint32		mapping_hash;
	bool		keep;			/* keep_connections */
	bool		parallel_commit;
	bool		parallel_abort;
	bool		read_committed;
	bool		claims_collations;
	int			fast_paths;		/* by the server's options; fastpath.h */
	int			statement_cache_size;	/* by the option, not the setting */
	PoolMode	pool_mode;		/* by the option */
	bool		is_pooled;		/* may each transaction get another server
								 * connection?  Then nothing is left on one */
	char		server_name[NAMEDATALEN];	/* when it was connected, for
											 * DEBUG1 */
	bool		is_outdated;	/* options changed since; to be closed when
								 * the transaction ends */
} SessionOptions;

/* Time zones that a session knows, at most */
#define ZONES_KNOWN 8

/* What is known of a time zone of the session's user.  Written by facts.c. */
typedef struct ZoneFact
{
	const pg_tz *zone;			/* PostgreSQL keeps one for each name */
	bool		is_same;		/* has the remote server its rules? */
} ZoneFact;

/*
 * What the remote server is like.  Written by facts.c.  Above session/,
 * questions.h and session.h have functions for what need not be known yet.
 */
typedef struct RemoteTraits
{
	int			unanswered;		/* questions sent about what follows */
	bool		has_statement_timeout;	/* true if not known */
	bool		is_serializable;	/* by default; true if not known */
	bool		asked_all;		/* have all of them been sent? */
	bool		can_check_writes;	/* does it answer the write check? */
	bool		knows_arrays;	/* has the next question been answered? */
	bool		takes_arrays;	/* may the user call unnest, and is
								 * array_nulls on? */
	bool		hides_relations;	/* has it refused to say what they are? */
	bool		lost_statements;	/* prepared ones; the next connection
									 * prepares none */
	bool		same_encoding;	/* as the local database */
	bool		knows_collations;	/* is the next field set? */
	bool		same_collations;	/* as the local database */
	char	   *collations;		/* of the remote one, as locale.c has them;
								 * NULL if not asked, or refused */
	char	   *believed;		/* those that plans may rely on, or NULL; it
								 * outlives the connection */
	long		round_trip;		/* the shortest one seen, in ms */
	const pg_tz *asked_zone;	/* that the last question was about */
	List	   *relied_zones;	/* pg_tz, on which the transaction relies, in
								 * TopTransactionContext */
	bool		relies_on_version;	/* does it on the same major version? */
	bool		relies_on_encoding; /* or on the same encoding? */
	uint32		nzones;			/* known so far; the first ones are forgotten */
	ZoneFact	zones[ZONES_KNOWN];
} RemoteTraits;

/* The session's wait event set, and limits of waiting.  Written by wait.c. */
typedef struct SessionWait
{
	WaitEventSet *set;			/* or NULL */
	uint32		events;			/* at the socket; 0 if it is incomplete */
	TimestampTz deadline;		/* of the clean-up after an error, or 0 */
	bool		timed_out;		/* the deadline has passed */
	TimestampTz cancel_again;	/* when to send another cancel request, or 0 */
	int			cancel_pause;	/* ms between cancel requests */
} SessionWait;

/* May commands be executed, as far as this side knows? */
typedef enum SessionPhase
{
	PHASE_IDLE,					/* commands are executed */
	PHASE_ENDING,				/* COMMIT or a rollback is under way */
	PHASE_BROKEN				/* the remote state is not known: the
								 * connection is to be closed */
} SessionPhase;

/*
 * The remote transaction.  A depth counts transaction levels: 0 is no
 * transaction, 1 a transaction without savepoints.
 *
 *	local_depth		the depth that local commands call for, sent or not
 *	remote_depth	the depth that the remote server has confirmed
 *	kept_depth		how much of both is kept: deeper remote savepoints, of local
 *					levels that have ended, are to be released
 *
 * The next batch begins with the RELEASE, START TRANSACTION and SAVEPOINTs
 * that make all three equal.  From PostgreSQL 19 on it also makes the remote
 * transaction read-only where the local one is:
 *
 *	read_only_level	the outermost local level that is; 0 if none is
 *	read_only_depth	the outermost remote one, if not deeper than remote_depth
 *
 * Written by remote_xact.c.
 */
typedef struct RemoteTransaction
{
	SessionPhase phase;
	int			local_depth;
	int			remote_depth;
	int			kept_depth;
	int			read_only_level;
	int			read_only_depth;
	int			failed_depth;	/* remote_depth at the last error, or 0 */
	const struct RemoteError *kept_error;	/* of an outer level, raised by
											 * each use of the session; NULL
											 * if it has no text */
	int			kept_level;		/* the level whose rollback clears that error;
								 * 0 if there is none */
	bool		commit_failed;	/* a COMMIT that was not waited for */
	bool		has_written;	/* or may have, by a command: no write check
								 * is needed */
	bool		may_have_written;
	bool		truncated;		/* a table, which locks out other sessions */
	uint64		lock_epoch;		/* advances with each start and each rollback;
								 * within one no lock is released */
	uint32		users;			/* times it was got in this transaction */
} RemoteTransaction;

/* What an expected answer belongs to */
typedef enum PartKind
{
	PART_COMMIT,				/* a COMMIT that is not waited for */
	PART_ROLLBACK,
	PART_RELEASE,
	PART_START,
	PART_SAVEPOINT,
	PART_READ_ONLY,				/* SET TRANSACTION READ ONLY */
	PART_CLEANUP,				/* CLOSE, DEALLOCATE, settings */
	PART_PREPARE,				/* of a cached statement */
	PART_DESCRIBE,				/* the types of a statement's parameters */
	PART_COMMAND,				/* the caller's, who gets its results */
	PART_WRITE_CHECK,			/* has the transaction written? */

	/* questions.c's own, not part of the user's transaction */
	PART_QUESTION_CONTROL,		/* the commands around a question */
	PART_WRITE_QUESTION,		/* does the write check work? */
	PART_TIMEOUT_QUESTION,		/* what is statement_timeout? */
	PART_ISOLATION_QUESTION,	/* what is the default isolation level? */
	PART_ARRAYS_QUESTION,		/* may keys and rows be sent as arrays? */
	PART_ZONE_QUESTION,			/* has it the rules of a time zone? */
	PART_COLLATIONS_QUESTION,	/* what are the database's collations? */
	PART_RELATION_QUESTION,		/* is a relation plain? */

	PART_SYNC
} PartKind;

/* Does it belong to a question, not to the user's transaction? */
static inline bool
part_is_apart(PartKind kind)
{
	return kind >= PART_QUESTION_CONTROL && kind < PART_SYNC;
}

/* An expected answer.  Written by batch.c. */
typedef struct BatchPart
{
	PartKind	kind;
	int			depth;			/* of the remote transaction after it */
	const char *sql;			/* for messages, or NULL; of the batch */
	const char *prepares;		/* the caller's statement that it prepares or
								 * describes, or NULL; of the batch */
	CachedStatement *statement; /* that it is about, or NULL */
	Oid			relid;			/* the foreign table of a question */
	uint32		relation_number;	/* of what is known of it; facts.c */
} BatchPart;

/*
 * Commands sent together, without waiting for answers in between.  Written by
 * batch.c.
 */
typedef struct Batch
{
	MemoryContext context;		/* until the next batch */
	const BatchPart *parts;		/* parts[0 .. part - 1] have been answered */
	int			nparts;
	int			part;
	int			size;			/* room for parts */
	StringInfoData log;			/* its commands, for DEBUG1; data may be NULL */
	int			level;			/* local transaction level that sent it */
	ResourceOwner owner;		/* of the execution that sent it */
	bool		is_commit;		/* at the end of the local transaction */
	PGresult   *result;			/* of session_execute or session_ask, until
								 * they return */
} Batch;

/* A deferred callback: act(arg) is to be called, unless act is NULL */
typedef struct PendingAction
{
	void		(*act) (void *arg);
	void	   *arg;
} PendingAction;

/*
 * Answers that are not read yet, and commands that are not sent yet.  Written
 * by reader.c.
 */
typedef struct PendingWork
{
	PendingAction drain;		/* reads its answers in flight */
	PendingAction flush;		/* sends its buffered commands, and reads the
								 * answers */
	int			flush_level;	/* local transaction level of these commands */
	bool		is_settling;	/* is pending_settle running? */
	bool		may_append;		/* may the next batch be sent before this one
								 * is answered? */

	const RemoteCommand *ahead; /* sent, and the leading answers (results.c)
								 * not read; or NULL */
	int			nahead;
} PendingWork;

/* Prepared statements on the remote server.  Written by prepared.c. */
typedef struct PreparedStatements
{
	StatementCache *cache;
	const RemoteCommand *repeatable;	/* in flight, and to be sent again if
										 * its cached statement is stale; or
										 * NULL */
	bool		only_reads;		/* as passed with the last batch */
	List	   *own;			/* names of callers' statements */
	List	   *unused;			/* names of statements to be dropped */
	char		prefix[STATEMENT_PREFIX_LENGTH + 1];	/* of all names */
	uint32		names;			/* given so far */
	List	   *descriptions;	/* of callers' statements; prepared.c's */
} PreparedStatements;

/* What is known of the remote index that a column may have */
typedef enum IndexFact
{
	INDEX_UNKNOWN,
	INDEX_PRESENT,
	INDEX_ABSENT
} IndexFact;

/* What is known of remote relations.  Written by facts.c. */
typedef struct RelationFacts
{
	HTAB	   *relations;		/* facts.c's; or NULL */
	uint32		numbers;		/* given to entries of that table so far */
	List	   *pending_questions;	/* RelationQuestions, in
									 * TopTransactionContext */
} RelationFacts;

/* Cursors on the remote server.  Written by portals.c. */
typedef struct RemoteCursors
{
	List	   *open;			/* in TopMemoryContext */
	uint32		names;			/* given in this transaction */
} RemoteCursors;

/*
 * What the session has done since it was made; each is an int64.  Whoever does
 * it counts it.
 */
typedef struct SessionCounters
{
	int64		connects;
	int64		reconnects;		/* of these, in place of one lost with nothing
								 * in it */
	int64		round_trips;	/* that were waited for */
	int64		rows;			/* received */
	int64		bytes_received; /* over TCP; as of when it was last added */
	int64		bytes_sent;		/* the same */
	int64		unawaited_commits;
	int64		autocommit_scans;
	int64		repeats;		/* of commands whose statement was stale */
	int64		spills;			/* results that went to a temporary file */
	int64		errors;			/* of the caller's commands, remotely */
	StatementCounters statements;
} SessionCounters;

/* What of that is in the shared counters.  Written by shared_counters.c. */
typedef struct AddedCounters
{
	SessionCounters counters;
	int64		received;		/* bytes of the present connection */
	int64		sent;			/* the same */
	int			entry;			/* where it was added, most likely */
} AddedCounters;

/*
 * The session of one user mapping; sessions.c frees it once that is gone.
 * Written by sessions.c (mapping), connection.c and error.c (fatal).
 */
typedef struct Session
{
	const Oid	mapping;
	const Oid	server;
	const Oid	user;			/* who first got it in this transaction, or
								 * else got it last */
	const Oid	mapping_user;	/* whose mapping it is; InvalidOid for public */
	PGconn	   *const conn;		/* NULL when not connected */
	const bool	is_set_up;		/* connected, and its settings made */
	char	   *const fatal;	/* the error with which the remote server has
								 * ended the session, libpq's; or NULL */

	const SessionOptions options;
	const RemoteTraits remote;
	const SessionWait wait;
	const RemoteTransaction xact;
	const Batch batch;
	const PendingWork pending;
	const PreparedStatements prepared;
	const RelationFacts facts;
	const RemoteCursors cursors;
	SessionCounters counters;
	const AddedCounters added;
} Session;

/*
 * A part of a session, or a field of it, that the caller's file owns.  A session
 * is allocated, never defined, so writing to its const members is allowed.
 */
#define session_own(type, session, part) \
	(StaticAssertExpr(__builtin_types_compatible_p(__typeof__((session)->part), \
												   type), \
					  "the part has another type"), \
	 (type *) &(session)->part)

#endif							/* TOLLFREE_FDW_STATE_H */
