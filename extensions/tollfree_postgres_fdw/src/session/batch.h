/*
 * batch.h
 *	  Building and sending the batches of a session.
 */
#ifndef TOLLFREE_FDW_BATCH_H
#define TOLLFREE_FDW_BATCH_H

#include "session/state.h"

/* The part whose answer is read next; NULL if all have been answered. */
static inline BatchPart *
batch_part(const Session *session)
{
	const Batch *batch = &session->batch;

	return batch->part < batch->nparts ? &batch->parts[batch->part] : NULL;
}

extern bool batch_is_in_flight(const Session *session);
extern bool batch_is_committing(const Session *session);
extern void batch_begin(Session *session, bool append);
extern BatchPart *batch_queue(Session *session, PartKind kind, int depth,
							  const RemoteCommand *command);
extern void batch_add(Session *session, PartKind kind, int depth,
					  const char *sql);
extern void batch_add_deallocate(Session *session, const char *statement);
extern void batch_add_beginning(Session *session);
extern void batch_add_command(Session *session, const RemoteCommand *command);
extern void batch_add_cached(Session *session, const RemoteCommand *command,
							 CachedStatement *statement, bool prepares);
extern void batch_add_sync(Session *session);
extern bool batch_send(Session *session);

/* control.c: commands of our own, sent together with the caller's */
extern void control_prepare(Session *session, PartKind kind, const char *what,
							const char *sql);
extern void control_add(Session *session, PartKind kind, int depth,
						const char *what, const char *sql);
extern void control_add_preparations(Session *session);
extern void control_add_transaction(Session *session, int depth);
extern void control_add_commit(Session *session, PartKind kind);
extern void control_add_cleanup(Session *session);

#endif							/* TOLLFREE_FDW_BATCH_H */
