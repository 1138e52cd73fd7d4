/*
 * pipeline.c
 *	  Rows that are written without waiting for each.
 *
 * The commands that write a statement's rows are held back until there are
 * PIPELINE_BYTES of them, and then sent in one flight, whose answers are read
 * when the next flight is full: the remote server writes one while the other is
 * put together.  It executes them one by one in the order they were given in,
 * and none after one that fails.
 *
 * So that nobody can tell the difference, what is held back is sent, and its
 * answers are read,
 *
 *	- before anything else is sent in the session: a scan, whoever asks for
 *	  it, sees the rows before it (session->flush);
 *	- before a subtransaction begins (transaction.c);
 *	- when the executor has run the statement, before it counts the rows or
 *	  fires triggers at the end (ExecutorRun_hook).  A row that the remote server
 *	  skipped is then taken off the count.
 *
 * modify.c decides which statements can be written like this.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "utils/memutils.h"

#include "cache.h"
#include "compat.h"
#include "pipeline.h"

#define PIPELINE_BYTES (512 * 1024)
#define PIPELINE_COMMANDS 4096
#define PIPELINE_ADDED 2		/* at a time, at most */

typedef struct CommandBuffer
{
	int			count;
	RemoteCommand *commands;	/* PIPELINE_COMMANDS of them */
	int		   *nrows;			/* that each writes if none is skipped */
	MemoryContext context;		/* of their parameters, until they are sent */
} CommandBuffer;

struct WritePipeline
{
	Session    *session;
	EState	   *estate;
	uint64	   *count;			/* of rows written; those skipped come off */
	CommandBuffer held;
	CommandBuffer flying;		/* what answers will come to */
};

static ExecutorRun_hook_type next_run_hook = NULL;

/* Makes an empty buffer in this context. */
static CommandBuffer
make_buffer(void)
{
	CommandBuffer buffer = {0};

	buffer.commands = palloc(PIPELINE_COMMANDS * sizeof(RemoteCommand));
	buffer.nrows = palloc(PIPELINE_COMMANDS * sizeof(int));
	buffer.context = AllocSetContextCreate(CurrentMemoryContext,
										   "tollfree_postgres_fdw pipeline",
										   ALLOCSET_DEFAULT_SIZES);
	return buffer;
}

/*
 * Makes a pipeline, which lasts as long as the execution.  Rows are counted when
 * they are added; the count is put right when answers are read.
 */
WritePipeline *
pipeline_create(Session *session, EState *estate, uint64 *count)
{
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	WritePipeline *pipeline = palloc0(sizeof(WritePipeline));

	pipeline->session = session;
	pipeline->estate = estate;
	pipeline->count = count;
	pipeline->held = make_buffer();
	pipeline->flying = make_buffer();
	MemoryContextSwitchTo(old);
	return pipeline;
}

/* Where the parameters of the next command must be. */
MemoryContext
pipeline_context(const WritePipeline *pipeline)
{
	return pipeline->held.context;
}

/* Reads the answers to one command; how many rows it skipped. */
static int
read_command(Session *session, const RemoteCommand *command, int nrows)
{
	PGresult   *res = session_result(session);
	int			skipped = 0;

	if (PQresultStatus(res) != PGRES_COMMAND_OK)
		session_report(session, ERROR, res, command->shown);
	if (command->prepare)
		session_note_prepared(session, command->statement);
	else
		skipped = nrows - atoi(PQcmdTuples(res));
	PQclear(res);

	res = session_result(session);
	if (res != NULL || PQstatus(session->conn) == CONNECTION_BAD)
		session_report(session, ERROR, res, command->shown);
	return skipped;
}

/* Reads the answers to what is in the air. */
static void
land(void *arg)
{
	WritePipeline *pipeline = arg;
	CommandBuffer *flying = &pipeline->flying;
	Session    *session = pipeline->session;

	session->absorb = NULL;
	session->absorb_arg = NULL;
	for (int i = 0; i < flying->count; i++)
		*pipeline->count -= read_command(session, &flying->commands[i],
										 flying->nrows[i]);
	flying->count = 0;
	session_finish(session);
}

/* Is there an answer to wait for? */
static bool
is_in_air(const WritePipeline *pipeline)
{
	return pipeline->session->absorb == land &&
		pipeline->session->absorb_arg == pipeline;
}

/* Sends what is held back, once the answers to what was sent are read. */
static void
launch(WritePipeline *pipeline)
{
	Session    *session = pipeline->session;
	CommandBuffer buffer;

	session->flush = NULL;
	session->flush_arg = NULL;
	if (is_in_air(pipeline))
		land(pipeline);
	buffer = pipeline->flying;
	pipeline->flying = pipeline->held;
	pipeline->held = buffer;

	session_send(session, pipeline->flying.commands, pipeline->flying.count,
				 false);
	MemoryContextReset(pipeline->flying.context);
	session->absorb = land;
	session->absorb_arg = pipeline;
}

/* Sends what is held back, and reads all answers. */
static void
flush(void *arg)
{
	launch(arg);
	land(arg);
}

/*
 * Adds the commands of one execution, at most PIPELINE_ADDED.  Their parameters
 * are in pipeline_context, and their texts last as long as the pipeline.  What
 * another pipeline holds back goes first.
 */
void
pipeline_add(WritePipeline *pipeline, const RemoteCommand *commands,
			 int ncommands, int nrows)
{
	Session    *session = pipeline->session;
	CommandBuffer *held = &pipeline->held;

	if (session->flush != NULL && session->flush_arg != pipeline)
		session->flush(session->flush_arg);
	/* Whatever made the session forget them has rolled them back. */
	if (held->count > 0 && session->flush_arg != pipeline)
		elog(ERROR, "rows to be written were discarded");

	for (int i = 0; i < ncommands; i++)
	{
		held->commands[held->count] = commands[i];
		held->nrows[held->count] = commands[i].prepare ? 0 : nrows;
		held->count++;
	}
	session->flush = flush;
	session->flush_arg = pipeline;
	if (held->count + PIPELINE_ADDED > PIPELINE_COMMANDS ||
		MemoryContextMemAllocated(held->context, false) >= PIPELINE_BYTES)
		launch(pipeline);
}

/* Sends what is held back, and reads all answers, if there is anything. */
void
pipeline_finish(WritePipeline *pipeline)
{
	if (pipeline->session->flush_arg == pipeline)
		flush(pipeline);
	if (is_in_air(pipeline))
		land(pipeline);
}

/* Finishes the pipelines of an execution, in all sessions. */
static void
finish_execution(const EState *estate)
{
	ListCell   *cell;

	foreach(cell, cache_sessions())
	{
		Session    *session = lfirst(cell);

		if (session->flush == flush &&
			((WritePipeline *) session->flush_arg)->estate == estate)
			flush(session->flush_arg);
		if (session->absorb == land &&
			((WritePipeline *) session->absorb_arg)->estate == estate)
			land(session->absorb_arg);
	}
}

/* Runs a statement to the end of what was written. */
static void
run(COMPAT_EXECUTOR_RUN_PARAMS)
{
	if (next_run_hook != NULL)
		next_run_hook(COMPAT_EXECUTOR_RUN_ARGS);
	else
		standard_ExecutorRun(COMPAT_EXECUTOR_RUN_ARGS);
	finish_execution(queryDesc->estate);
}

/* When the library is loaded. */
void
pipeline_install(void)
{
	next_run_hook = ExecutorRun_hook;
	ExecutorRun_hook = run;
}
