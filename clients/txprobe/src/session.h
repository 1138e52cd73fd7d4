/*
 * session.h
 *		One connection, and transactions run and checked on it.
 */
#ifndef SESSION_H
#define SESSION_H

#include <libpq-fe.h>
#include <stdint.h>

#include "script.h"

#define SESSION_NOTICE		256

typedef enum SessionProtocol
{
	PROTOCOL_SIMPLE,
	PROTOCOL_EXTENDED,
	PROTOCOL_PREPARED
} SessionProtocol;

typedef struct Session
{
	PGconn	   *conn;
	const Script *script;
	SessionProtocol protocol;
	bool		prepared;		/* the statements are, in PROTOCOL_PREPARED */
	uint64_t	retries;		/* transactions rolled back and run again */
	uint64_t	rows;			/* read and checked, retried attempts excluded */
	char		notice[SESSION_NOTICE]; /* the server's last, or empty */
} Session;

extern void session_open(Session *session, const char *conninfo);
extern void session_run(Session *session, const ScriptValues *values);
extern void session_close(Session *session);

#endif							/* SESSION_H */
