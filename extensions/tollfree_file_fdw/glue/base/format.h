/*
 * format.h
 *	  Which files core/ can read, by their options.
 */
#ifndef TOLLFREE_FILE_FORMAT_H
#define TOLLFREE_FILE_FORMAT_H

#include "commands/copy.h"

#include "base/core.h"
#include "base/options.h"

/* The options of a file as core/ wants to know them. */
typedef struct FileLayout
{
	Dialect		dialect;
	const JsonField *json;		/* JSON Lines: of each field; else NULL */
	int			header;			/* records before the first row */
	bool		header_matches; /* must the header name the columns? */
	int			encoding;		/* which the dialect's follows from */
} FileLayout;

extern int	format_encoding(const FileOptions *options);
extern const char *format_unsupported(const FileOptions *options,
									  FileLayout *layout);
extern bool format_is_divisible(const FileLayout *layout);

#endif							/* TOLLFREE_FILE_FORMAT_H */
