/*
 * json_records.h
 *	  Lines of JSON as records of plain fields, for a scan.
 *
 *		window	{"b": "x", "a": 1}\n  {"a": 2}\n\n{"a": "y\n", "b": null}\n
 *						v
 *		bytes	1|x|  2|0|  y
 *						   |0|		0 is a zero byte: the null string
 *
 * The bytes are found by positions as those of other formats are, and are decoded: what
 * is between the fields is never looked at.  A text has no zero byte, so one alone is
 * null.  A field that is not wanted is empty.
 */
#ifndef CORE_JSON_RECORDS_H
#define CORE_JSON_RECORDS_H

#include "core/filescan.h"
#include "core/json_reader.h"

/* The null string of the dialect */
#define JSON_NULL_STRING		"\0"
#define JSON_NULL_STRING_LENGTH	1

#define JSON_RECORDS_NO_MEMORY	(-1)

typedef struct JsonRecords
{
	JsonReader	reader;
	unsigned char *memory;		/* the bytes, with KERNEL_PADDING on both
								 * sides */
	size_t		room;			/* of that, bytes */
	size_t		length;			/* of the fields, bytes */

	/*
	 * Of each record of the batch, from [-1] on: where it ends in the window,
	 * counted from the first unread byte, and the lines up to there, counted
	 * from the batch's first.  Blank lines belong to the record behind them.
	 */
	uint32_t	ends_memory[1 + BATCH_ROWS];
	uint32_t	lines_memory[1 + BATCH_ROWS];
	uint32_t   *ends;
	uint32_t   *lines;
} JsonRecords;

/* Sets scan->json; false without memory. */
extern bool json_records_open(FileScan *scan, const FileScanOptions *options);

/*
 * Makes records of lines in the window, of those that begin in the range.  Returns how
 * many, or JSON_RECORDS_NO_MEMORY.  If there are none, *reason says why the next line
 * has to be handed over, or is HANDOVER_NONE: it is not all there.
 */
extern int	json_records_find(FileScan *scan, HandoverReason *reason);

/* There may be none. */
extern void json_records_close(FileScan *scan);

#endif							/* CORE_JSON_RECORDS_H */
