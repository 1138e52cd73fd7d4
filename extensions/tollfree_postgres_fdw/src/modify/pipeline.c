/*
 * pipeline.c
 *	  Rows that are written without waiting for each.
 *
 * The commands that write a statement's rows are buffered until they take
 * PIPELINE_BYTES, and then sent in one batch.  Up to PIPELINE_BATCHES batches
 * are in flight, so that a link with a long round trip is kept busy.  Answers
 * are read when they have arrived, and awaited if PIPELINE_BATCHES are in
 * flight.  The remote server executes the commands in the order in which they
 * were added, and none after one that fails, which aborts the transaction.
 *
 * The effect is the same as if each row were awaited.  For that the buffered
 * commands are sent and all answers are read
 *
 *	- before anything else is sent in the session, so that a scan sees the rows
 *	  written before it (session/reader.c);
 *	- before a subtransaction that has begun meanwhile uses the session
 *	  (pending.c); and
 *	- when the executor has run the statement, before it reports the number of
 *	  rows or fires AFTER triggers (run.c).  Rows that the remote server skipped
 *	  are then subtracted from that number.
 *
 * Rows of several servers may fail.  The error is that of the first one.
 *
 * If computing a row fails, the statement ends with that error, even if the
 * remote server has refused, or would refuse, an earlier row.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "modify/pipeline.h"
#include "session/pending.h"
#include "session/reader.h"
#include "session/results.h"
#include "session/session.h"

#define PIPELINE_BYTES (512 * 1024) /* of parameters in a batch */
#define PIPELINE_BLOCK (64 * 1024)	/* memory block of the buffer; the blocks'
									 * bytes are counted */
#define PIPELINE_BATCHES 8		/* in flight, at most */
#define PIPELINE_COMMANDS 4096	/* in a batch, at most */
#define PIPELINE_COMMANDS_FIRST 16	/* initial size of a buffer */
#define PIPELINE_APPENDED 2		/* commands that a call appends, at most */

/* Commands in flight, at most: each takes memory here */
#define PIPELINE_ANSWERS (2 * PIPELINE_COMMANDS)

/*
 * The longest time between two batches, in us, if there are rows.  The remote
 * transaction is idle while rows are computed, and may have
 * idle_in_transaction_session_timeout.
 */
#define PIPELINE_MAX_DELAY 2000000

/* The answer to a command */
typedef struct AwaitedAnswer
{
	const char *shown;			/* the command's text in errors */
	int			nrows;			/* rows that it writes unless the remote
								 * server skips some */
	uint64		number;			/* number of the execution, over all pipelines */
	bool		ends_batch;		/* is it the last of its batch? */
} AwaitedAnswer;

struct WritePipeline
{
	Session    *session;
	EState	   *estate;
	uint64	   *count;			/* rows written; skipped ones are subtracted */
	SessionUsage *usage;		/* of all commands, whatever has caused their
								 * sending */
	bool		is_holding;		/* is there something to send? */
	uint64		first_held;		/* number of the first execution held */
	instr_time	sent;			/* when it last sent, or first had, rows */
	RemoteCommand *held;		/* commands to be sent */
	int			nheld;
	int			held_size;		/* PIPELINE_COMMANDS at most */
	MemoryContext held_context; /* of their parameters */
	AwaitedAnswer *answers;		/* to the commands in flight, then to those
								 * held, in their order */
	int			answer;			/* the next one to be read */
	int			nanswers;
	int			answers_size;
	int			nbatches;		/* batches in flight */
};

/* Executions that have been appended to any pipeline */
static uint64 executions = 0;

static void read_before(Session *session, const EState *estate, uint64 number);
static void flush_pipeline(void *arg);

/*
 * Makes a pipeline, in this context, which lasts as long as the execution.
 * The caller counts rows when they are added; reading the answers subtracts
 * skipped ones.  Its round trips, rows and bytes are added to the usage.
 */
WritePipeline *
pipeline_create(Session *session, EState *estate, uint64 *count,
				SessionUsage *usage)
{
	WritePipeline *pipeline = palloc0(sizeof(WritePipeline));

	pipeline->session = session;
	pipeline->estate = estate;
	pipeline->count = count;
	pipeline->usage = usage;
	pipeline->held_size = pipeline->answers_size = PIPELINE_COMMANDS_FIRST;
	pipeline->held = palloc(pipeline->held_size * sizeof(RemoteCommand));
	pipeline->answers = palloc(pipeline->answers_size * sizeof(AwaitedAnswer));
	pipeline->held_context =
		AllocSetContextCreate(CurrentMemoryContext,
							  "tollfree_postgres_fdw pipeline",
							  0, ALLOCSET_DEFAULT_INITSIZE, PIPELINE_BLOCK);
	return pipeline;
}

/* Its session. */
const Session *
pipeline_session(const WritePipeline *pipeline)
{
	return pipeline->session;
}

/* The context for the parameters of the next command. */
MemoryContext
pipeline_context(const WritePipeline *pipeline)
{
	return pipeline->held_context;
}

/*
 * The number of a command's nrows rows that were skipped.  A single local row
 * may be several remote ones; they count as one.  A preparation has none.
 */
static int
count_skipped(PGresult *res, int nrows)
{
	int			written = atoi(PQcmdTuples(res));

	return nrows - (nrows == 1 ? Min(written, 1) : written);
}

/*
 * Raises the error of an execution, or that of an earlier one in another
 * session: the one that would have been raised if each had been awaited.
 */
static void
report_failure(const WritePipeline *pipeline, const AwaitedAnswer *answer,
			   PGresult *res)
{
	PG_TRY();
	{
		ListCell   *cell;

		foreach(cell, sessions_all())
		{
			if (lfirst(cell) != pipeline->session)
				read_before(lfirst(cell), pipeline->estate, answer->number);
		}
	}
	PG_CATCH();
	{
		PQclear(res);
		PG_RE_THROW();
	}
	PG_END_TRY();
	results_report(pipeline->session, ERROR, res, answer->shown);
}

/* Reads the next answer, and subtracts rows that were skipped. */
static void
read_answer(WritePipeline *pipeline)
{
	Session    *session = pipeline->session;
	AwaitedAnswer *answer = &pipeline->answers[pipeline->answer];
	PGresult   *res = session_result(session);

	if (PQresultStatus(res) != PGRES_COMMAND_OK)
		report_failure(pipeline, answer, res);
	*pipeline->count -= count_skipped(res, answer->nrows);
	PQclear(res);
	session_end_command(session, answer->shown);
	pipeline->answer++;
	pipeline->nbatches -= answer->ends_batch;
}

/* The number of outstanding answers. */
static int
count_in_flight(const WritePipeline *pipeline)
{
	return pipeline->nanswers - pipeline->answer - pipeline->nheld;
}

/* PendingWork's drain for a pipeline: reads all answers in flight. */
static void
drain_pipeline(void *arg)
{
	WritePipeline *pipeline = arg;
	Session    *session = pipeline->session;

	reader_release(session);
	usage_start(session, pipeline->usage);
	while (count_in_flight(pipeline) > 0)
		read_answer(pipeline);
	results_finish(session);
	usage_stop(session, pipeline->usage);
}

/* Is something in flight for the pipeline? */
static bool
is_in_flight(const WritePipeline *pipeline)
{
	return reader_by(pipeline->session, drain_pipeline) == pipeline;
}

/* Must answers be read before the buffered commands may be sent? */
static bool
is_full(const WritePipeline *pipeline)
{
	return pipeline->nbatches >= PIPELINE_BATCHES ||
		pipeline->nanswers - pipeline->answer > PIPELINE_ANSWERS;
}

/*
 * Reads the answers that have arrived, and waits for more if the pipeline is
 * full.
 */
static void
await_room(WritePipeline *pipeline)
{
	Session    *session = pipeline->session;

	usage_start(session, pipeline->usage);
	while (count_in_flight(pipeline) > 0 && results_are_ready(session))
		read_answer(pipeline);
	if (is_full(pipeline))
		session->counters.round_trips++;
	while (is_full(pipeline))
		read_answer(pipeline);
	usage_stop(session, pipeline->usage);
}

/* Sends the buffered commands, after those in flight. */
static void
send_held(WritePipeline *pipeline)
{
	Session    *session = pipeline->session;

	reader_release_held(session);
	pipeline->is_holding = false;
	if (is_in_flight(pipeline))
		await_room(pipeline);

	usage_start(session, pipeline->usage);
	reader_append(session, is_in_flight(pipeline) && pipeline->nbatches > 0);
	session_send(session, pipeline->held, pipeline->nheld, false);
	usage_stop(session, pipeline->usage);
	Assert(pipeline->nheld > 0);
	pipeline->answers[pipeline->nanswers - 1].ends_batch = true;
	pipeline->nbatches++;
	pipeline->nheld = 0;
	MemoryContextReset(pipeline->held_context);
	INSTR_TIME_SET_CURRENT(pipeline->sent);
	reader_claim(session, drain_pipeline, pipeline);
}

/*
 * Has the session send the buffered commands of this execution's pipeline, and
 * reads the answers of executions before that number.
 */
static void
read_before(Session *session, const EState *estate, uint64 number)
{
	WritePipeline *pipeline = reader_holder_by(session, flush_pipeline);

	if (pipeline != NULL && pipeline->estate == estate && pipeline->first_held < number)
		send_held(pipeline);
	pipeline = reader_by(session, drain_pipeline);
	if (pipeline == NULL || pipeline->estate != estate)
		return;
	while (count_in_flight(pipeline) > 0 &&
		   pipeline->answers[pipeline->answer].number < number)
		read_answer(pipeline);
}

/* PendingWork's flush: sends the buffered commands, and reads all answers. */
static void
flush_pipeline(void *arg)
{
	send_held(arg);
	drain_pipeline(arg);
}

/*
 * Raises an ERROR if the session has discarded buffered rows.  It does so only
 * at a rollback, after which the statement must not continue.
 */
static void
check_not_discarded(const WritePipeline *pipeline)
{
	if (pipeline->is_holding && !reader_holds(pipeline->session, pipeline))
		elog(ERROR, "rows to be written were discarded");
}

/*
 * Registers the pipeline as the session's pending work.  The buffered commands
 * of another pipeline are sent first.
 */
void
pipeline_hold(WritePipeline *pipeline)
{
	Session    *session = pipeline->session;

	if (reader_holds(session, pipeline))
		return;
	error_raise_kept(session);
	pending_flush(session);
	check_not_discarded(pipeline);
	pipeline->is_holding = true;
	pipeline->first_held = executions;
	reader_hold(session, flush_pipeline, pipeline,
				GetCurrentTransactionNestLevel());
}

/*
 * Makes room for PIPELINE_APPENDED commands and their answers; forgets the
 * answers that have been read.
 */
static void
make_room(WritePipeline *pipeline)
{
	if (pipeline->nheld + PIPELINE_APPENDED > pipeline->held_size)
	{
		pipeline->held_size *= 2;
		pipeline->held = repalloc(pipeline->held, pipeline->held_size *
								  sizeof(RemoteCommand));
	}
	if (pipeline->nanswers + PIPELINE_APPENDED <= pipeline->answers_size)
		return;
	pipeline->nanswers -= pipeline->answer;
	memmove(pipeline->answers, pipeline->answers + pipeline->answer,
			pipeline->nanswers * sizeof(AwaitedAnswer));
	pipeline->answer = 0;
	if (pipeline->nanswers <= pipeline->answers_size / 2)
		return;
	pipeline->answers_size *= 2;
	pipeline->answers = repalloc(pipeline->answers, pipeline->answers_size *
								 sizeof(AwaitedAnswer));
}

/*
 * Appends the commands of one execution, at most PIPELINE_APPENDED, which
 * write nrows rows.  Their parameters last until the batch is sent, as those
 * in pipeline_context do, and their texts as long as the pipeline.
 */
void
pipeline_append(WritePipeline *pipeline, const RemoteCommand *commands,
				int ncommands, int nrows)
{
	make_room(pipeline);
	executions++;
	for (int i = 0; i < ncommands; i++)
	{
		pipeline->held[pipeline->nheld++] = commands[i];
		pipeline->answers[pipeline->nanswers++] = (AwaitedAnswer)
		{
			.shown = commands[i].shown,
				.nrows = commands[i].prepare ? 0 : nrows,
				.number = executions
		};
	}
}

/* Has nothing been sent for PIPELINE_MAX_DELAY? */
static bool
is_overdue(WritePipeline *pipeline)
{
	instr_time	since;

	INSTR_TIME_SET_CURRENT(since);
	if (INSTR_TIME_IS_ZERO(pipeline->sent))
		pipeline->sent = since;
	INSTR_TIME_SUBTRACT(since, pipeline->sent);
	return INSTR_TIME_GET_MICROSEC(since) >= PIPELINE_MAX_DELAY;
}

/*
 * Called after a command has been added.  Sends a batch if it is large enough,
 * or if none has been sent for PIPELINE_MAX_DELAY.
 */
void
pipeline_send_if_due(WritePipeline *pipeline)
{
	if (MemoryContextMemAllocated(pipeline->held_context, false) >= PIPELINE_BYTES ||
		pipeline->nheld + 2 * PIPELINE_APPENDED > PIPELINE_COMMANDS ||
		is_overdue(pipeline))
		send_held(pipeline);
}

/* Sends all buffered commands, and reads all answers. */
void
pipeline_finish(WritePipeline *pipeline)
{
	check_not_discarded(pipeline);
	if (reader_holds(pipeline->session, pipeline))
		flush_pipeline(pipeline);
	if (is_in_flight(pipeline))
		drain_pipeline(pipeline);
}

/* The pipeline of an execution that is pending in a session, or NULL. */
static WritePipeline *
find_pipeline(const Session *session, const EState *estate)
{
	WritePipeline *pipeline = reader_holder_by(session, flush_pipeline);

	if (pipeline == NULL)
		pipeline = reader_by(session, drain_pipeline);
	return pipeline != NULL && pipeline->estate == estate ? pipeline : NULL;
}

/* Sends the buffered commands of an execution's pipelines, in all sessions. */
static void
send_execution(const EState *estate)
{
	ListCell   *cell;

	foreach(cell, sessions_all())
	{
		const Session *session = lfirst(cell);
		WritePipeline *pipeline = reader_holder_by(session, flush_pipeline);

		if (pipeline != NULL && session->xact.kept_level == 0 &&
			pipeline->estate == estate)
			send_held(pipeline);
	}
}

/*
 * Finishes the pipelines of an execution, in all sessions, which work at the
 * same time.  If a subtransaction has flushed one of them, an error may have
 * been kept for this level: it is raised.
 */
void
pipeline_finish_execution(const EState *estate)
{
	ListCell   *cell;

	send_execution(estate);
	foreach(cell, sessions_all())
	{
		Session    *session = lfirst(cell);
		WritePipeline *pipeline;

		if (session->xact.kept_level == GetCurrentTransactionNestLevel())
			error_raise_kept(session);
		while ((pipeline = find_pipeline(session, estate)) != NULL)
			pipeline_finish(pipeline);
	}
}

/*
 * Finishes the pipelines of a statement after ExecutorRun.  Time and rows are
 * added to those of the run, for auto_explain and the like.
 */
void
pipeline_finish_run(QueryDesc *queryDesc)
{
	EState	   *estate = queryDesc->estate;
	uint64		processed = estate->es_processed;

	compat_start_timing(queryDesc);
	pipeline_finish_execution(estate);
	compat_correct_total(estate, estate->es_processed - processed);
	compat_stop_timing(queryDesc);
}
