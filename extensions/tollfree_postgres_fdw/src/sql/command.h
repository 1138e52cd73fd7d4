/*
 * command.h
 *	  A command for a remote server.
 */
#ifndef TOLLFREE_FDW_COMMAND_H
#define TOLLFREE_FDW_COMMAND_H

#include "nodes/pg_list.h"

/* Properties of a command; false, NULL or NIL is always safe. */
typedef struct CommandHints
{
	bool		is_cacheable;	/* may it be kept prepared? */
	bool		returns_nothing;	/* does it return no rows? */
	bool		in_pieces;		/* are its rows read as they arrive? */
	bool		syncs;			/* is it independent of later commands? Then a
								 * Sync follows it. */
	const Oid  *printed_types;	/* local types of its parameters, to be
								 * compared with the remote ones; or NULL */
	List	   *sole_relids;	/* the foreign tables that it reads, if it is
								 * the only command of the local transaction
								 * in the session; or NIL */
} CommandHints;

/*
 * A command that a caller has sent.  All that it points to is the caller's,
 * and must last until the command has been answered.
 */
typedef struct RemoteCommand
{
	const char *sql;			/* text to be sent; unused if a prepared
								 * statement is executed */
	const char *shown;			/* the remote command's text in errors */
	const char *statement;		/* name of a prepared statement, or NULL */
	bool		prepare;		/* prepare that statement, not execute it */
	bool		describes;		/* when preparing: describe the parameters'
								 * types, for prepared_types */
	int			nparams;
	const char *const *params;	/* NULL for a null */
	const Oid  *types;			/* of parameters; 0 lets the remote server
								 * choose, NULL means 0 for all */
	const int  *lengths;		/* of parameters in binary format */
	const int  *formats;		/* 1 for a parameter in binary format; NULL if
								 * all are text */
	bool		binary;			/* are rows requested in binary format? */
	CommandHints hints;
} RemoteCommand;

#endif							/* TOLLFREE_FDW_COMMAND_H */
