/*
 * command.h
 *	  A command for a remote server.
 */
#ifndef TOLLFREE_FDW_COMMAND_H
#define TOLLFREE_FDW_COMMAND_H

#include "nodes/pg_list.h"

/* What is known of a command; all false or empty is the cautious answer. */
typedef struct CommandHints
{
	bool		is_cacheable;	/* may it be kept prepared? */
	bool		returns_nothing;	/* no row */
	bool		in_pieces;		/* are its rows read as they arrive? */
	bool		syncs;			/* does what follows it not depend on it? */
	const Oid  *printed_types;	/* of parameters here, if that is to be
								 * compared with what they are there; or NULL */
	List	   *sole_relids;	/* the foreign tables it reads, if that is all
								 * that the local transaction does in the
								 * session, or NIL */
} CommandHints;

/* One command of a caller; everything in it is his until it is answered. */
typedef struct RemoteCommand
{
	const char *sql;			/* what is sent; unused to execute a statement */
	const char *shown;			/* what an error names as the remote command */
	const char *statement;		/* name of a prepared statement, or NULL */
	bool		prepare;		/* prepare that statement, not execute it */
	bool		describes;		/* if so, ask for its parameters' types, too;
								 * results_described_types has them */
	int			nparams;
	const char *const *params;	/* NULL for a null */
	const Oid  *types;			/* of parameters; NULL, or 0 for one, leaves
								 * it to the remote server */
	const int  *lengths;		/* of those in binary form, and which they */
	const int  *formats;		/* are; NULL if all are text */
	bool		binary;			/* in which form its rows are to come */
	CommandHints hints;
} RemoteCommand;

#endif							/* TOLLFREE_FDW_COMMAND_H */
