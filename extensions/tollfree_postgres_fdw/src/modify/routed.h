/*
 * routed.h
 *	  Rows that PostgreSQL routes to partitions.
 */
#ifndef TOLLFREE_FDW_ROUTED_H
#define TOLLFREE_FDW_ROUTED_H

#include "nodes/execnodes.h"

#include "modify/pipeline.h"

extern bool triggers_see_rows(const TriggerDesc *triggers);
extern bool routed_quietly(const ModifyTableState *node,
						   const ResultRelInfo *rinfo, int fast_paths);
extern bool routed_shares_server(const ModifyTableState *node,
								 const ResultRelInfo *rinfo);
extern WritePipeline *routed_find_pipeline(const Session *session);
extern void routed_add_pipeline(WritePipeline *pipeline);

#endif							/* TOLLFREE_FDW_ROUTED_H */
