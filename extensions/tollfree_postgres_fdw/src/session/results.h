/*
 * results.h
 *	  Reading the answers to a batch of a session, reporting errors.
 */
#ifndef TOLLFREE_FDW_RESULTS_H
#define TOLLFREE_FDW_RESULTS_H

#include "session/state.h"

extern const char *results_value(const PGresult *res);
extern int64 results_bytes(const PGresult *res);
extern PGresult *results_next(Session *session);
extern bool results_are_ready(Session *session);
extern bool results_read_leading(Session *session, bool may_replace);
extern void results_read_questions(Session *session);
extern void results_finish(Session *session);
extern void results_drain(Session *session);
extern void results_forget_description(Session *session);
extern const Oid *results_described_types(const Session *session,
										  const char *statement, int ntypes);
extern void results_report(Session *session, int elevel, PGresult *res,
						   const char *sql);

/* error.c: errors of the remote server, and of the connection to it */
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
extern void error_receive_notices(Session *session);
extern RemoteError error_read(Session *session, PGresult *res);
extern void error_report(Session *session, int elevel, RemoteError *error,
						 const char *sql);
extern void error_raise_kept(Session *session);

#endif							/* TOLLFREE_FDW_RESULTS_H */
