/*
 * foresight.h
 *	  Answers that are asked for before the local query asks for them.
 */
#ifndef TOLLFREE_FDW_FORESIGHT_H
#define TOLLFREE_FDW_FORESIGHT_H

#include "session.h"

extern void foresight_open(Session *session, const RemoteCommand *command);
extern bool foresight_may_learn(const Session *session,
								const RemoteCommand *command);
extern void foresight_learn(const Session *session, CachedStatement *opening,
							const RemoteCommand *command,
							const CachedStatement *follower);
extern const char *foresight_choose(Session *session,
									const RemoteCommand *command,
									CachedStatement *opening,
									CachedStatement *follower);
extern PGresult *foresight_accept(Session *session, PGresult *res);
extern PGresult *foresight_take(Session *session,
								const RemoteCommand *command);
extern void foresight_forget(Session *session);

#endif							/* TOLLFREE_FDW_FORESIGHT_H */
