/*
 * batch.h
 *	  Building and sending the batches of a session.
 */
#ifndef TOLLFREE_FDW_BATCH_H
#define TOLLFREE_FDW_BATCH_H

#include "session/state.h"

/* The part whose answer is read next; NULL if all have been answered. */
static inline const BatchPart *
batch_part(const Session *session)
{
	const Batch *batch = &session->batch;

	return batch->part < batch->nparts ? &batch->parts[batch->part] : NULL;
}

extern void batch_create(Session *session);
extern void batch_free(Session *session);
extern void batch_forget(Session *session);
extern bool batch_is_in_flight(const Session *session);
extern bool batch_is_committing(const Session *session);
extern void batch_begin(Session *session, bool append);
extern void batch_queue(Session *session, PartKind kind, int depth,
						const RemoteCommand *command);
extern void batch_ask_relation(Session *session, const RemoteCommand *command,
							   Oid relid, uint32 number);
extern void batch_add(Session *session, PartKind kind, int depth,
					  const char *sql);
extern void batch_add_deallocate(Session *session, const char *statement);
extern void batch_add_beginning(Session *session);
extern void batch_add_command(Session *session, const RemoteCommand *command);
extern void batch_add_cached(Session *session, const RemoteCommand *command,
							 CachedStatement *statement, bool prepares);
extern void batch_add_sync(Session *session);
extern bool batch_send(Session *session);

/* Reading its answers */
extern void batch_advance(Session *session);
extern void batch_abandon(Session *session);
extern void batch_note_commit(Session *session);
extern void batch_leave_commit(Session *session);
extern void batch_release_level(Session *session, int level);
extern void batch_keep_result(Session *session, PGresult *res);
extern PGresult *batch_take_result(Session *session);

#endif							/* TOLLFREE_FDW_BATCH_H */
