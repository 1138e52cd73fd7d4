/*
 * filescan_state.h
 *	  The struct FileScan, for the files that implement it: filescan.c opens
 *	  and closes it, places.c locates rows and fields, records.c reads.
 */
#ifndef CORE_FILESCAN_STATE_H
#define CORE_FILESCAN_STATE_H

#include "core/arena.h"
#include "core/field.h"
#include "core/filescan.h"
#include "core/skip.h"
#include "core/window.h"

struct FileScan
{
	Allocator	allocator;
	Dialect		dialect;
	const Kernel *kernel;
	Source		source;
	Window		window;
	size_t		max_record;
	int			nfields;
	int			header;			/* records before the first row */

	ScanRange	range;
	LineEnd		line_end;		/* LINE_END_UNKNOWN before the first record */
	StructureRules rules;		/* once it is known */
	int			header_due;		/* how many of them are next */
	ScanStatus	final;			/* the final status, or SCAN_AGAIN */
	Handover	handover;

	size_t		block_size;		/* of the window, once it has grown */
	uint32_t	rows_first;		/* of the first batch, at most */
	uint32_t	rows_passed;	/* returned so far, up to BATCH_ROWS */
	uint32_t	rows_promised;	/* that may be alike: of a batch, at most */
	uint32_t	rows_room;		/* capacity of the arrays below */
	Structure	structure;
	uint32_t   *positions_memory;
	size_t		positions_size; /* bytes, as the next */
	size_t		ends_size;

	int64_t		first_offset;	/* of the file's first record, when it is met */
	LineSkip	skip;
	PolicyCounts counts;
	struct JsonRecords *json;	/* of JSON Lines; else NULL */

	int64_t		line;			/* lines before the batch */
	RecordFields records;		/* of the batch */
	FieldRules	field_rules;
	Arena		arena;

	int			ncolumns;
	ColumnSpec *specs;
	RowBatch	batch;
};

/*
 * Sets the maximum of rows of the next batch, and allocates them; false
 * without memory.  The last batch becomes invalid.
 */
extern bool filescan_grow(FileScan *scan);

/* Returns where a record of the batch begins, counted from the first. */
extern uint32_t filescan_record_begin(const FileScan *scan, int row);

/* Is the first record in the window the first of the file? */
extern bool filescan_is_first(const FileScan *scan);

/* Returns the lines up to and including a number of rows of the batch. */
extern int64_t filescan_lines(const FileScan *scan, int nrows);

#endif							/* CORE_FILESCAN_STATE_H */
