/*
 * pipeline.c
 *	  Rows that are written without waiting for each.
 *
 * The commands that write a statement's rows are held back until there are
 * PIPELINE_BYTES of them, and then sent in one batch.  Up to PIPELINE_BATCHES
 * are in flight, so that a link with a long round trip is kept full; answers
 * are read when they have come, and waited for only before one more would be too
 * many.  The remote server executes the commands one by one in the order they
 * were given in, and none after one that fails: the transaction that they are in
 * is aborted then.
 *
 * So that nobody can tell the difference, what is held back is sent, and its
 * answers are read,
 *
 *	- before anything else is sent in the session: a scan, whoever asks for
 *	  it, sees the rows before it (session->pending.flush); in a subtransaction that has
 *	  begun meanwhile, before that takes part in the session (pending.c);
 *	- when the executor has run the statement, before it counts the rows or
 *	  fires triggers at the end (run.c).  A row that the remote server
 *	  skipped is then taken off the count.
 *
 * If a row cannot be computed the statement ends with that error, also where
 * the remote server has refused, or would refuse, one before it.
 *
 * modify.c decides which statements can be written like this.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "modify/pipeline.h"
#include "session/error.h"
#include "session/results.h"
#include "session/session.h"
#include "session/sessions.h"
#include "session/state.h"
#include "session/usage.h"
#include "sql/command.h"

#define PIPELINE_BYTES (512 * 1024)
#define PIPELINE_BLOCK (64 * 1024)	/* of memory, of which bytes are counted */
#define PIPELINE_BATCHES 8
#define PIPELINE_COMMANDS 4096
#define PIPELINE_COMMANDS_FIRST 16
#define PIPELINE_APPENDED 2		/* at a time, at most */

/* Commands in flight, at most: for each there is something in memory here */
#define PIPELINE_ANSWERS (2 * PIPELINE_COMMANDS)

/*
 * The longest time between two batches, in us, if there are rows: the remote
 * transaction would be idle for as long as all of them take to compute.
 */
#define PIPELINE_PATIENCE 2000000

typedef struct CommandBuffer
{
	int			count;
	int			size;			/* PIPELINE_COMMANDS at most */
	RemoteCommand *commands;
	int		   *nrows;			/* that each writes if none is skipped */
	MemoryContext context;		/* of their parameters, until they are sent */
} CommandBuffer;

/* A command in flight */
typedef struct AwaitedAnswer
{
	const char *shown;			/* what an error names as the command */
	int			nrows;			/* that it writes if none is skipped */
	bool		writes;			/* or does it prepare? */
	bool		ends_batch;		/* is it the last of its batch? */
} AwaitedAnswer;

struct WritePipeline
{
	Session    *session;
	EState	   *estate;
	uint64	   *count;			/* of rows written; those skipped come off */
	SessionUsage *usage;		/* by all of it, whoever has it sent */
	PipelineCompleter complete;
	void	   *complete_arg;
	bool		is_holding;		/* is there something to send? */
	instr_time	sent;			/* when it last sent, or first had, rows */
	CommandBuffer held;
	AwaitedAnswer *answers;		/* to come, in their order */
	int			answer;			/* the next one */
	int			nanswers;
	int			answers_size;
	int			nbatches;		/* in flight */
};

/* Makes an empty buffer in this context. */
static CommandBuffer
make_buffer(void)
{
	CommandBuffer buffer = {.size = PIPELINE_COMMANDS_FIRST};

	buffer.commands = palloc(buffer.size * sizeof(RemoteCommand));
	buffer.nrows = palloc(buffer.size * sizeof(int));
	buffer.context = AllocSetContextCreate(CurrentMemoryContext,
										   "tollfree_postgres_fdw pipeline",
										   0, ALLOCSET_DEFAULT_INITSIZE,
										   PIPELINE_BLOCK);
	return buffer;
}

/*
 * Makes a pipeline, which lasts as long as the execution.  Rows are counted when
 * they are added; the count is put right when answers are read.  What it does
 * in the session is added to the usage.
 */
WritePipeline *
pipeline_create(Session *session, EState *estate, uint64 *count,
				SessionUsage *usage, PipelineCompleter complete, void *arg)
{
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	WritePipeline *pipeline = palloc0(sizeof(WritePipeline));

	pipeline->session = session;
	pipeline->estate = estate;
	pipeline->count = count;
	pipeline->usage = usage;
	pipeline->complete = complete;
	pipeline->complete_arg = arg;
	pipeline->held = make_buffer();
	pipeline->answers_size = PIPELINE_COMMANDS_FIRST;
	pipeline->answers = palloc(pipeline->answers_size * sizeof(AwaitedAnswer));
	MemoryContextSwitchTo(old);
	return pipeline;
}

/* Where the parameters of the next command must be. */
MemoryContext
pipeline_context(const WritePipeline *pipeline)
{
	return pipeline->held.context;
}

/*
 * Of so many rows that a command was to write, how many were skipped?  Where
 * one row here is several there it counts as one.
 */
static int
count_skipped(PGresult *res, int nrows)
{
	int			written = atoi(PQcmdTuples(res));

	return nrows - (nrows == 1 ? Min(written, 1) : written);
}

/* Reads the next answer, and takes rows that were skipped off the count. */
static void
read_answer(WritePipeline *pipeline)
{
	Session    *session = pipeline->session;
	AwaitedAnswer *answer = &pipeline->answers[pipeline->answer];
	PGresult   *res = session_result(session);

	if (PQresultStatus(res) != PGRES_COMMAND_OK)
		results_report(session, ERROR, res, answer->shown);
	if (answer->writes)
		*pipeline->count -= count_skipped(res, answer->nrows);
	PQclear(res);

	res = session_result(session);
	if (res != NULL || PQstatus(session->conn) == CONNECTION_BAD)
		results_report(session, ERROR, res, answer->shown);
	pipeline->answer++;
	pipeline->nbatches -= answer->ends_batch;
}

/* Reads the answers to all that is in flight. */
static void
drain_pipeline(void *arg)
{
	WritePipeline *pipeline = arg;
	Session    *session = pipeline->session;

	session->pending.drain = NULL;
	session->pending.drain_arg = NULL;
	usage_start(session, pipeline->usage);
	while (pipeline->answer < pipeline->nanswers)
		read_answer(pipeline);
	pipeline->answer = pipeline->nanswers = 0;
	results_finish(session);
	usage_stop(session, pipeline->usage);
}

/* Is there an answer to wait for? */
static bool
is_in_flight(const WritePipeline *pipeline)
{
	return pipeline->session->pending.drain == drain_pipeline &&
		pipeline->session->pending.drain_arg == pipeline;
}

/*
 * Notes that answers to what is held back will come, behind those of before;
 * what has been read is forgotten.
 */
static void
expect_answers(WritePipeline *pipeline)
{
	const CommandBuffer *held = &pipeline->held;
	int			left = pipeline->nanswers - pipeline->answer;

	memmove(pipeline->answers, pipeline->answers + pipeline->answer,
			left * sizeof(AwaitedAnswer));
	pipeline->answer = 0;
	pipeline->nanswers = left;
	if (pipeline->answers_size < left + held->count)
	{
		pipeline->answers_size = Max(2 * pipeline->answers_size,
									 left + held->count);
		pipeline->answers = repalloc(pipeline->answers,
									 pipeline->answers_size *
									 sizeof(AwaitedAnswer));
	}
	for (int i = 0; i < held->count; i++)
		pipeline->answers[pipeline->nanswers++] = (AwaitedAnswer)
	{
		.shown = held->commands[i].shown,.nrows = held->nrows[i],
			.writes = !held->commands[i].prepare,
			.ends_batch = i == held->count - 1
	};
	pipeline->nbatches++;
}

/* Would what is held back be too much, with what is in flight? */
static bool
is_full(const WritePipeline *pipeline)
{
	return pipeline->nbatches >= PIPELINE_BATCHES ||
		pipeline->nanswers - pipeline->answer + pipeline->held.count >
		PIPELINE_ANSWERS;
}

/*
 * Reads answers that have come, and waits for as many as are needed to make room
 * for a batch.
 */
static void
make_way(WritePipeline *pipeline)
{
	Session    *session = pipeline->session;

	usage_start(session, pipeline->usage);
	while (pipeline->answer < pipeline->nanswers &&
		   results_are_ready(session))
		read_answer(pipeline);
	if (is_full(pipeline))
		session->counters.round_trips++;
	while (is_full(pipeline))
		read_answer(pipeline);
	usage_stop(session, pipeline->usage);
}

/* Sends what is held back, behind what is in flight. */
static void
send_held(WritePipeline *pipeline)
{
	Session    *session = pipeline->session;
	CommandBuffer *held = &pipeline->held;

	session->pending.flush = NULL;
	session->pending.flush_arg = NULL;
	pipeline->is_holding = false;
	pipeline->complete(pipeline, pipeline->complete_arg);
	if (is_in_flight(pipeline))
		make_way(pipeline);

	usage_start(session, pipeline->usage);
	session->batch.is_appended = is_in_flight(pipeline) && pipeline->nbatches > 0;
	session_send(session, held->commands, held->count, false);
	usage_stop(session, pipeline->usage);
	expect_answers(pipeline);
	held->count = 0;
	MemoryContextReset(held->context);
	INSTR_TIME_SET_CURRENT(pipeline->sent);
	session->pending.drain = drain_pipeline;
	session->pending.drain_arg = pipeline;
}

/* Sends what is held back, and reads all answers. */
static void
flush_pipeline(void *arg)
{
	send_held(arg);
	drain_pipeline(arg);
}

/* Whatever made the session forget the rows has rolled them back. */
static void
check_not_discarded(const WritePipeline *pipeline)
{
	if (pipeline->is_holding && pipeline->session->pending.flush_arg != pipeline)
		elog(ERROR, "rows to be written were discarded");
}

/*
 * There is something to send from here on.  What another pipeline holds back
 * goes first.
 */
void
pipeline_hold(WritePipeline *pipeline)
{
	Session    *session = pipeline->session;

	if (session->pending.flush_arg == pipeline)
		return;
	error_raise_kept(session);
	if (session->pending.flush != NULL)
		session->pending.flush(session->pending.flush_arg);
	check_not_discarded(pipeline);
	pipeline->is_holding = true;
	session->pending.flush = flush_pipeline;
	session->pending.flush_arg = pipeline;
	session->pending.flush_level = GetCurrentTransactionNestLevel();
}

/* Makes room for the commands of one more execution: most have but one. */
static void
make_room(CommandBuffer *buffer)
{
	if (buffer->count + PIPELINE_APPENDED <= buffer->size)
		return;
	buffer->size *= 2;
	buffer->commands = repalloc(buffer->commands,
								buffer->size * sizeof(RemoteCommand));
	buffer->nrows = repalloc(buffer->nrows, buffer->size * sizeof(int));
}

/*
 * Appends the commands of one execution, at most PIPELINE_APPENDED.  Their
 * parameters are in pipeline_context, and their texts last as long as the
 * pipeline.
 */
void
pipeline_append(WritePipeline *pipeline, const RemoteCommand *commands,
				int ncommands, int nrows)
{
	CommandBuffer *held = &pipeline->held;

	make_room(held);
	for (int i = 0; i < ncommands; i++)
	{
		held->commands[held->count] = commands[i];
		held->nrows[held->count] = commands[i].prepare ? 0 : nrows;
		held->count++;
	}
}

/* Has nothing been sent for so long that the remote server may lose patience? */
static bool
is_overdue(WritePipeline *pipeline)
{
	instr_time	since;

	INSTR_TIME_SET_CURRENT(since);
	if (INSTR_TIME_IS_ZERO(pipeline->sent))
		pipeline->sent = since;
	INSTR_TIME_SUBTRACT(since, pipeline->sent);
	return INSTR_TIME_GET_MICROSEC(since) >= PIPELINE_PATIENCE;
}

/*
 * A row has been added: sends what is held back if that is enough, with these
 * bytes of others, or has been for long.
 */
void
pipeline_send_if_due(WritePipeline *pipeline, Size bytes)
{
	CommandBuffer *held = &pipeline->held;

	bytes += MemoryContextMemAllocated(held->context, false);
	if (bytes >= PIPELINE_BYTES ||
		held->count + 2 * PIPELINE_APPENDED > PIPELINE_COMMANDS ||
		is_overdue(pipeline))
		send_held(pipeline);
}

/* Sends what is held back, and reads all answers, if there is anything. */
void
pipeline_finish(WritePipeline *pipeline)
{
	check_not_discarded(pipeline);
	if (pipeline->session->pending.flush_arg == pipeline)
		flush_pipeline(pipeline);
	if (is_in_flight(pipeline))
		drain_pipeline(pipeline);
}

/* The pipeline of an execution that has something in a session, or NULL. */
static WritePipeline *
find_pipeline(const Session *session, const EState *estate)
{
	WritePipeline *pipeline = NULL;

	if (session->pending.flush == flush_pipeline)
		pipeline = session->pending.flush_arg;
	else if (session->pending.drain == drain_pipeline)
		pipeline = session->pending.drain_arg;
	return pipeline != NULL && pipeline->estate == estate ? pipeline : NULL;
}

/*
 * Finishes the pipelines of an execution, in all sessions.  One that a
 * subtransaction had sent may have left its error.
 */
static void
finish_execution(const EState *estate)
{
	ListCell   *cell;

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
 * Finishes the pipelines of a statement that has been run.  The time and the
 * rows belong to its run, for those who measure it.
 */
void
pipeline_finish_run(QueryDesc *queryDesc)
{
	EState	   *estate = queryDesc->estate;
	uint64		processed = estate->es_processed;

	if (queryDesc->totaltime != NULL)
		InstrStartNode(queryDesc->totaltime);
	finish_execution(estate);
	compat_correct_total(estate, estate->es_processed - processed);
	if (queryDesc->totaltime != NULL)
		InstrStopNode(queryDesc->totaltime, 0);
}
