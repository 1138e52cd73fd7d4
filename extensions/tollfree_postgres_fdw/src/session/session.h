/*
 * session.h
 *	  A session on a remote server: executing commands in it.
 */
#ifndef TOLLFREE_FDW_SESSION_H
#define TOLLFREE_FDW_SESSION_H

#include "session/state.h"

extern void session_check_usable(Session *session);
extern void session_send(Session *session, const RemoteCommand *commands,
						 int ncommands, bool only_reads);
extern void session_send_ahead(Session *session, const RemoteCommand *commands,
							   int ncommands, bool only_reads);
extern void session_await_front(Session *session);
extern PGresult *session_execute(Session *session,
								 const RemoteCommand *commands,
								 int ncommands, bool only_reads);
extern PGresult *session_ask(Session *session, const char *sql);
extern PGresult *session_result(Session *session);
extern void session_end_command(Session *session, const char *sql);
extern void session_finish_command(Session *session, const char *sql);
extern void session_deallocate_later(Session *session, const char *name);

#endif							/* TOLLFREE_FDW_SESSION_H */
