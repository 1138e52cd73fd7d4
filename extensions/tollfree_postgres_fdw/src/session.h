/*
 * session.h
 *	  A session on a remote server, and the flights that it makes.
 */
#ifndef TOLLFREE_FDW_SESSION_H
#define TOLLFREE_FDW_SESSION_H

#include "foreign/foreign.h"
#include "libpq-fe.h"
#include "storage/latch.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "relations.h"
#include "statement.h"

/* What one result, or what ends the flight, stands for */
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

typedef struct Part
{
	PartKind	kind;
	int			depth;			/* of the remote transaction once it is done */
	const char *sql;			/* for messages; in flight_context, or NULL */
	const char *prepares;		/* a statement of the caller's, or NULL; in
								 * flight_context */
	CachedStatement *statement; /* that it prepares or executes, or NULL */
	Oid			relid;			/* the foreign table that is asked about */
} Part;

/* One command of a caller; everything in it is his for as long as it flies. */
typedef struct RemoteCommand
{
	const char *sql;			/* what is sent; unused to execute a statement */
	const char *shown;			/* what an error names as the remote command */
	const char *statement;		/* name of a prepared statement, or NULL */
	bool		prepare;		/* prepare that statement, not execute it */
	bool		is_cacheable;	/* may it be kept prepared? */
	bool		is_short;		/* if so, may its constants be parameters? */
	bool		returns_nothing;	/* no row */
	bool		in_pieces;		/* are its rows read as they arrive? */
	bool		syncs;			/* does what follows it not depend on it? */
	int			nparams;
	const char *const *params;	/* NULL for a null */
	const Oid  *types;			/* of parameters; NULL, or 0 for one, leaves
								 * it to the remote server */
	const Oid  *printed_types;	/* of which they are here, if that is to be
								 * compared with what they are there; or NULL */
	const int  *lengths;		/* of those in binary form, and which they */
	const int  *formats;		/* are; NULL if all are text */
	bool		binary;			/* in which form its rows are to come */
	List	   *sole_relids;	/* what it reads, if that is all that the
								 * local transaction does in the session, or
								 * NIL */
} RemoteCommand;

/*
 * The session of one user mapping, for the life of the backend.  Depths count
 * the transaction and its savepoints, 0 being none:
 *
 *	xact_depth		where local commands have brought it, as if everything
 *					had been sent at once
 *	remote_depth	what the remote server has been seen to be in
 *	kept_depth		<= remote_depth; deeper savepoints are to be released
 *
 * The next flight begins with RELEASE, START TRANSACTION and SAVEPOINTs, as
 * needed to make all three equal.
 */
typedef struct Session
{
	Oid			mapping;
	PGconn	   *conn;			/* NULL when not connected */

	Oid			server;
	Oid			user;			/* who asked for it first in this transaction,
								 * or last before it, by this mapping */
	uint32		server_hash;
	uint32		mapping_hash;
	bool		keep;			/* keep_connections */
	bool		parallel_commit;
	bool		parallel_abort;
	bool		read_committed;
	bool		same_encoding;	/* do both databases store texts in one? */
	bool		invalidated;	/* to be closed when the transaction ends */

	bool		is_set_up;		/* is it connected, with its settings made? */
	bool		is_timed;		/* may it have a remote statement_timeout? */
	bool		is_serializable;	/* may transactions be so by default? */
	bool		can_check_writes;	/* may it be asked what has been written? */
	bool		hides_relations;	/* is nobody told what they are? */
	bool		hides_arrays;	/* is it of no use to ask for arrays? */
	long		round_trip;		/* the shortest one seen, in ms */

	WaitEventSet *wait_set;		/* or NULL; waitset.c's */
	uint32		wait_events;	/* what the set's socket waits for; 0 while it
								 * is not complete */

	int			xact_depth;
	int			remote_depth;
	int			kept_depth;
	int			failed_depth;	/* remote_depth at the last error, or 0 */
	bool		half_done;		/* nobody knows what state it is in */
	struct RemoteError *kept_error; /* for whoever uses it next, or NULL if
									 * there is no more to tell of it */
	int			kept_level;		/* whose rollback makes up for that error; 0
								 * if there is none */
	bool		is_settling;	/* is this being found out? landing.c's */
	bool		is_stale;		/* a COMMIT that nobody waited for has failed */
	bool		has_written;	/* for sure, so that it need not be asked */
	bool		may_have_written;
	bool		truncated;		/* has it locked out other sessions? */
	uint64		aborts;			/* counts rollbacks */
	uint64		starts;			/* counts transactions */
	uint32		users;			/* executor nodes and such, in this one */

	MemoryContext flight_context;
	Part	   *parts;			/* the flight's; those before part are done */
	int			nparts;
	int			part;
	int			parts_size;
	TimestampTz deadline;		/* of a flight that cleans up, or 0 */
	bool		timed_out;		/* it has passed */
	TimestampTz cancel_again;	/* when its flight is to be cancelled once
								 * more, or 0 */
	int			cancel_pause;	/* ms between the last two times */
	PGresult   *result;			/* of session_execute, until it returns */
	int			flight_level;	/* local transaction level that sent it */
	ResourceOwner flight_owner; /* of the execution that did */
	bool		joins_flight;	/* may the next one be sent behind it? */

	void		(*absorb) (void *arg);	/* reads what is in the air for arg */
	void	   *absorb_arg;
	void		(*flush) (void *arg);	/* sends what arg holds back */
	void	   *flush_arg;
	int			flush_level;	/* local transaction level that it belongs to */

	const RemoteCommand *ahead; /* behind a front not yet awaited, or NULL */
	int			nahead;
	bool		ahead_reads;	/* only_reads of these */

	StatementCache *cache;		/* as long as it is connected */
	StatementCounters cached;
	HTAB	   *relations;		/* what is known of them, or NULL */
	List	   *unasked;		/* RelationQuestions, in TopTransactionContext */
	const RemoteCommand *repeatable;	/* in the air, if it could be repeated */
	bool		repeats_reads;	/* its only_reads */

	List	   *portals;		/* open cursors, in TopMemoryContext */
	List	   *deallocates;	/* statements to drop */
	List	   *statements;		/* statements that exist */
	uint32		cursors;		/* names given in this transaction */
	uint32		names;			/* names of statements ever given */
	int64		connects;		/* connections made */
	int64		flights;		/* flights that somebody waited for */
	int64		rows;			/* received */
	int64		unawaited_commits;
	int64		autocommit_scans;
} Session;

/*
 * What a session did for an executor node, shown by EXPLAIN: the difference
 * between its counters before and after
 */
typedef struct SessionUsage
{
	int64		flights;
	int64		hits;			/* of the statement cache */
} SessionUsage;

/* From here on what the session does is done for the node. */
static inline void
session_start_usage(const Session *session, SessionUsage *usage)
{
	usage->flights -= session->flights;
	usage->hits -= session->cached.hits;
}

/* From here on it is not. */
static inline void
session_stop_usage(const Session *session, SessionUsage *usage)
{
	usage->flights += session->flights;
	usage->hits += session->cached.hits;
}

/* lifetime.c */
extern void session_connect(Session *session, UserMapping *user);
extern void session_disconnect(Session *session);

/* session.c */
extern uint64 session_lock_epoch(const Session *session);
extern void session_check_usable(Session *session);
extern void session_send(Session *session, const RemoteCommand *commands,
						 int ncommands, bool only_reads);
extern void session_send_ahead(Session *session, const RemoteCommand *commands,
							   int ncommands, bool only_reads);
extern void session_await_front(Session *session);
extern PGresult *session_execute(Session *session,
								 const RemoteCommand *commands,
								 int ncommands, bool only_reads);
extern PGresult *session_result(Session *session);
extern void session_forget_readers(Session *session);
extern void session_deallocate_later(Session *session, const char *name);

/* answers.c */
extern bool session_is_ready(Session *session);
extern void session_finish(Session *session);
extern int	session_sqlstate(const PGresult *res);
extern bool session_is_true(const PGresult *res);
extern void session_raise_kept(Session *session);
extern void session_report(Session *session, int elevel, PGresult *res,
						   const char *sql);

/* flight.c */
extern bool session_is_flying(const Session *session);
extern bool session_is_committing(const Session *session);

/* statistics.c */
extern void session_explain_usage(const SessionUsage *usage,
								  struct ExplainState *es);

/*
 * What follows is for these files and transaction.c.
 */

/* From this version on the remote server can be asked what it has done. */
#define SESSION_CHECK_VERSION 130000

/* own.c */
extern void session_add_preparations(Session *session);
extern void session_add_transaction(Session *session, int depth);
extern void session_add_commit(Session *session, PartKind kind);
extern void session_add_cleanup(Session *session);

/* waitset.c */
extern void session_make_room(const char *server);
extern void session_free_wait_set(Session *session);
extern bool session_spare_descriptor(void);
extern bool session_can_wait(const Session *session);
extern bool session_await_events(Session *session, uint32 events,
								 long timeout);

/* flight.c */
extern const char *session_cancel(Session *session);
extern bool session_wait(Session *session, uint32 events);
extern void session_begin_flight(Session *session);
extern void session_add(Session *session, PartKind kind, int depth,
						const char *sql);
extern void session_add_statement(Session *session, PartKind kind, int depth,
								  const char *statement, const char *sql);
extern void session_add_prepare(Session *session, PartKind kind,
								const char *statement, const char *sql);
extern void session_add_deallocate(Session *session, const char *statement);
extern void session_add_beginning(Session *session);
extern void session_add_command(Session *session,
								const RemoteCommand *command);
extern void session_add_cached(Session *session, const RemoteCommand *command,
							   CachedStatement *statement, bool prepares);
extern void session_add_question(Session *session, const char *sql,
								 const RelationQuestion *question);
extern void session_add_sync(Session *session);
extern bool session_launch(Session *session);

/* answers.c */
extern PGresult *session_next_result(Session *session);
extern bool session_read_front(Session *session, bool may_replace);
extern void session_drain(Session *session);

#endif							/* TOLLFREE_FDW_SESSION_H */
