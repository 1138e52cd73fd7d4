/*
 * file.h
 *	  A file that is open: COPY's state, and what the file was.
 */
#ifndef TOLLFREE_FILE_FILE_H
#define TOLLFREE_FILE_FILE_H

#include "commands/copyfrom_internal.h"
#include "lib/ilist.h"
#include "utils/rel.h"

#include "core.h"
#include "options.h"

/* Lives in a memory context of its own, until file_close. */
typedef struct OpenFile
{
	CopyFromState copy;			/* it has the file open, or the program */
	bool		is_regular;		/* is it a regular file of a known size?  Only
								 * then the next two are used. */
	Source		source;			/* what it was when it was opened */
	int64		next;			/* offset of what COPY's parser is given next */
	SubTransactionId owner;		/* that it is closed with */
	bool		is_lost;		/* has it been closed with that? */
	dlist_node	node;			/* in the list of those that are open */
	MemoryContext context;
	MemoryContextCallback forget;
} OpenFile;

extern OpenFile *file_open(Relation rel, const FileOptions *options);
extern void file_close(OpenFile *file);

#endif							/* TOLLFREE_FILE_FILE_H */
