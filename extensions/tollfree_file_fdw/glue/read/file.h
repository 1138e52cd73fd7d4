/*
 * file.h
 *	  A file that is open: COPY's state, and what the file was.
 */
#ifndef TOLLFREE_FILE_FILE_H
#define TOLLFREE_FILE_FILE_H

#include "commands/copyfrom_internal.h"
#include "lib/ilist.h"
#include "utils/rel.h"

#include "base/core.h"
#include "base/options.h"
#include "read/packed.h"

/* Lives in a memory context of its own, until file_close. */
typedef struct OpenFile
{
	CopyFromState copy;			/* it has open what is no regular file */
	const char *filename;		/* or the program's command line */
	bool		is_regular;		/* is it a regular file of a known size?  Only
								 * then the next three are used. */
	Source		source;			/* its descriptor, and what it was when it was
								 * opened */
	PackedFile *packed;			/* its text, if it is compressed; or NULL */
	int64		next;			/* offset of what COPY's parser is given next */
	int64		footer_lines;	/* left out at its end */
	struct Cleaner *cleaner;	/* of the bytes that it is given; NULL if it
								 * is given the file's */
	struct JsonFeed *feed;		/* of JSON Lines, what it is given; else NULL */
	bool		is_watched;		/* is it an ERROR if somebody writes to it? */
	ErrorPolicy errors;			/* what becomes of rows with refused values */
	uint64		left_out;		/* rows, for these */
	const NumberForm **forms;	/* of attributes' numbers, as the options' */
	bool		names_table_only;	/* does an error context name no line? */
	SubTransactionId owner;		/* that a program or pipe is closed with */
	bool		is_lost;		/* has it been closed with that? */
	dlist_node	node;			/* in the list of those that are open */
	MemoryContext context;
	MemoryContextCallback forget;
} OpenFile;

/* A file that is read later, see file_open_early */
typedef struct EarlyFile
{
	int			fd;				/* -1 if there is none (any more) */
	MemoryContextCallback close;
} EarlyFile;

extern void file_check_options(Relation rel, const FileOptions *options,
							   int encoding);
extern EarlyFile *file_open_early(const FileOptions *options, int encoding);
extern void file_close_early(void *early);
extern OpenFile *file_open(Relation rel, const FileOptions *options,
						   int encoding, EarlyFile *early);
extern OpenFile *file_feed(OpenFile *file);
extern void file_report_no_memory(const char *filename);
extern void file_report_change(const char *filename, bool is_truncated);
extern void file_close(OpenFile *file);

#endif							/* TOLLFREE_FILE_FILE_H */
