/*
 * random_file.h
 *	  Files that are nearly valid, and the dialects that they are nearly valid
 *	  in.
 */
#ifndef CORE_TEST_RANDOM_FILE_H
#define CORE_TEST_RANDOM_FILE_H

#include "core/batch.h"
#include "core/dialect.h"
#include "core/test/tap.h"

#define RANDOM_COLUMNS	4		/* text, int4, numeric(6,2), date */

typedef struct RandomFile
{
	Dialect		dialect;
	LineEnd		line_end;
	int			header;			/* records before the rows */
	ColumnSpec	columns[RANDOM_COLUMNS];
	unsigned char *bytes;
	size_t		length;
	size_t		size;
} RandomFile;

/*
 * Makes another file of about length bytes.  wild: it may have mistakes, of
 * which any can end a scan; else it has none.  The struct begins as zeros.
 */
extern void random_file_make(RandomFile *file, TestRandom *random,
							 size_t length, bool wild);

extern void random_file_free(RandomFile *file);

#endif							/* CORE_TEST_RANDOM_FILE_H */
