/*
 * sniff.h
 *	  The dialect of a text file, and what its columns hold, found from its bytes.
 *
 * The file is looked at in pieces: all of it, or its beginning, middle and end.  The
 * dialect is that by which most records of the beginning have the same number of
 * fields, two at least.  What does not depend on the beginning is the same whatever
 * the order of the records.
 */
#ifndef CORE_SNIFF_H
#define CORE_SNIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dialect.h"
#include "core/value_kind.h"

/* As many as a table can have */
#define SNIFF_COLUMNS_MAX	1600

/* Strings that may stand for null, beside an empty field */
#define SNIFF_NULLS	7

/* A part of a file that begins with a line; the bytes are the caller's. */
typedef struct SniffPiece
{
	const unsigned char *bytes;
	size_t		length;
	bool		at_end;			/* does the file end with it? */
} SniffPiece;

typedef struct SniffColumn
{
	ValueKind	kind;			/* of all values that stand for no null */
	bool		has_empty;		/* are there empty fields without quotes? */
	unsigned int nulls;			/* bits of the strings that occur */
	const unsigned char *name;	/* in the header, perhaps with quotes doubled */
	size_t		name_length;	/* bytes */
	bool		is_json;		/* JSON Lines: is it an object or array
								 * anywhere? */
} SniffColumn;

/* What was found. */
typedef struct Sniff
{
	FileFormat	format;
	unsigned char delimiter;
	unsigned char quote;
	unsigned char escape;
	LineEnd		line_end;		/* of the first record */
	bool		has_mixed_ends; /* do lines end otherwise, too? */
	bool		has_header;
	const char *null;			/* the string that stands for null */
	int64_t		skip_lines;		/* before the first record */
	uint64_t	ncomments;		/* lines that begin with # */
	uint64_t	nblank;			/* empty lines */
	uint64_t	nrecords;		/* with the header */
	uint64_t	nshort;			/* of them with fewer fields than there are
								 * columns */
	uint64_t	nlong;			/* or more */
	uint64_t	nbroken;		/* JSON Lines: lines that are no object */
	bool		has_more_columns;	/* JSON Lines: there are more members than
									 * a table can have columns */
	double		agreement;		/* part of the beginning's records that have
								 * as many */
	size_t		ncolumns;
	SniffColumn columns[SNIFF_COLUMNS_MAX];
} Sniff;

/*
 * Looks at the pieces, the first of which is the beginning without a byte order mark;
 * false if there is no record, or one of more fields than a table can have columns.
 */
extern bool sniff_pieces(Sniff *sniff, const SniffPiece *pieces, size_t npieces);

#endif							/* CORE_SNIFF_H */
