/*
 * pipeline.h
 *	  Rows that are written without waiting for each.
 */
#ifndef TOLLFREE_FDW_PIPELINE_H
#define TOLLFREE_FDW_PIPELINE_H

#include "nodes/execnodes.h"

#include "session.h"

typedef struct WritePipeline WritePipeline;

extern void pipeline_install(void);
extern WritePipeline *pipeline_create(Session *session, EState *estate,
									  uint64 *count);
extern MemoryContext pipeline_context(const WritePipeline *pipeline);
extern void pipeline_add(WritePipeline *pipeline, const RemoteCommand *commands,
						 int ncommands, int nrows);
extern void pipeline_finish(WritePipeline *pipeline);

#endif							/* TOLLFREE_FDW_PIPELINE_H */
