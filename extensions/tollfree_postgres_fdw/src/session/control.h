/*
 * control.h
 *	  Commands of our own, sent together with the caller's.
 */
#ifndef TOLLFREE_FDW_CONTROL_H
#define TOLLFREE_FDW_CONTROL_H

#include "session/state.h"

extern void control_prepare(Session *session, PartKind kind, const char *what,
							const char *sql);
extern void control_add(Session *session, PartKind kind, int depth,
						const char *what, const char *sql);
extern void control_add_settings(Session *session, int depth);
extern void control_add_preparations(Session *session);
extern void control_add_transaction(Session *session, int depth);
extern void control_add_commit(Session *session, PartKind kind);
extern void control_add_cleanup(Session *session);

#endif							/* TOLLFREE_FDW_CONTROL_H */
