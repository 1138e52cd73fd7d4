/*
 * error.h
 *	  Errors of the remote server, and of the connection to it.
 */
#ifndef TOLLFREE_FDW_ERROR_H
#define TOLLFREE_FDW_ERROR_H

#include "session/state.h"

/* The fields of an error of the remote server */
typedef struct RemoteError
{
	int			sqlstate;
	char	   *primary;
	char	   *detail;
	char	   *hint;
	char	   *context;
	char	   *sql;			/* the command, if the error is kept; or NULL */
} RemoteError;

extern int	error_sqlstate(const PGresult *res);
extern bool error_is_fatal(const PGresult *res);
extern void error_note_fatal(Session *session, const PGresult *res);
extern void error_forget_fatal(Session *session);
extern void error_receive_notices(Session *session);
extern RemoteError error_read(Session *session, PGresult *res);
extern void error_report(Session *session, int elevel, RemoteError *error,
						 const char *sql);
extern void error_raise_kept(Session *session);

#endif							/* TOLLFREE_FDW_ERROR_H */
