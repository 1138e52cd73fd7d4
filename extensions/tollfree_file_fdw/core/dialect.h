/*
 * dialect.h
 *	  The format of a file: COPY's options, without PostgreSQL.
 */
#ifndef CORE_DIALECT_H
#define CORE_DIALECT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/policy.h"

typedef enum FileFormat
{
	FILE_FORMAT_TEXT,
	FILE_FORMAT_CSV,
	FILE_FORMAT_JSON_LINES		/* each line is a JSON object; of the dialect
								 * only encoding and null count, and the null
								 * string is what no text has: see
								 * json_records.h */
} FileFormat;

/* How bytes above 0x7F are checked; a zero byte is never valid. */
typedef enum FileEncoding
{
	FILE_ENCODING_UTF8,			/* checked as PostgreSQL checks UTF8 */
	FILE_ENCODING_SINGLE_BYTE,	/* each byte is a character, all are valid */
	FILE_ENCODING_ASCII			/* such bytes are left to COPY's parser */
} FileEncoding;

/* The line end of the first record, which the whole file must have. */
typedef enum LineEnd
{
	LINE_END_UNKNOWN,			/* nothing read yet, or one line without end */
	LINE_END_NL,
	LINE_END_CR,				/* left to COPY's parser */
	LINE_END_CRNL
} LineEnd;

/* The bytes that null points to are the caller's and must outlive the scan. */
typedef struct Dialect
{
	FileFormat	format;
	FileEncoding encoding;
	unsigned char delimiter;
	unsigned char quote;		/* CSV only, as the next */
	unsigned char escape;
	bool		marker_in_csv;	/* does a line \. end a CSV file too? (up to
								 * PostgreSQL 17) */
	const char *null;			/* the null string, never NULL */
	size_t		null_length;	/* bytes */
	RecordPolicy policy;		/* what is read otherwise than COPY does */
} Dialect;

/*
 * Returns NULL if core/ reads this dialect, else the reason: a few words for
 * EXPLAIN, such as "delimiter may be a digit of an escape".
 */
extern const char *dialect_unsupported(const Dialect *dialect);

#endif							/* CORE_DIALECT_H */
