/*
 * pipeline.h
 *	  Rows that are written without waiting for each.
 */
#ifndef TOLLFREE_FDW_PIPELINE_H
#define TOLLFREE_FDW_PIPELINE_H

#include "nodes/execnodes.h"

#include "session/session.h"

typedef struct WritePipeline WritePipeline;

extern void pipeline_finish_run(struct QueryDesc *queryDesc);

extern WritePipeline *pipeline_create(Session *session, EState *estate,
									  uint64 *count, SessionUsage *usage);
extern const Session *pipeline_session(const WritePipeline *pipeline);
extern MemoryContext pipeline_context(const WritePipeline *pipeline);
extern void pipeline_hold(WritePipeline *pipeline);
extern void pipeline_append(WritePipeline *pipeline,
							const RemoteCommand *commands, int ncommands,
							int nrows);
extern void pipeline_send_if_due(WritePipeline *pipeline);
extern void pipeline_finish(WritePipeline *pipeline);
extern void pipeline_finish_execution(const EState *estate);

#endif							/* TOLLFREE_FDW_PIPELINE_H */
