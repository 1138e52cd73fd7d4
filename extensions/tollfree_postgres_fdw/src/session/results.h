/*
 * results.h
 *	  Reading the answers to a batch of a session, reporting errors.
 */
#ifndef TOLLFREE_FDW_RESULTS_H
#define TOLLFREE_FDW_RESULTS_H

#include "session/error.h"
#include "session/result.h"
#include "session/state.h"

/* How the reading of the leading answers ended */
typedef enum LeadingAnswers
{
	LEADING_READ,				/* all are read */
	LEADING_LOST,				/* the connection is, and a remote transaction
								 * with it: reading on raises the error */
	LEADING_REPLACE				/* the connection cannot be used, but nothing
								 * is lost with it */
} LeadingAnswers;

extern int64 results_bytes(const PGresult *res);
extern PGresult *results_next(Session *session);
extern bool results_are_ready(Session *session);
extern LeadingAnswers results_read_leading(Session *session, bool may_replace);
extern void results_read_questions(Session *session);
extern void results_finish(Session *session);
extern void results_skip(Session *session);
extern void results_drain(Session *session);
extern void results_report(Session *session, int elevel, PGresult *res,
						   const char *sql);

#endif							/* TOLLFREE_FDW_RESULTS_H */
