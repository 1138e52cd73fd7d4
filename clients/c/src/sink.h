/*
 * sink.h
 *		Where the cells of a result go: read, printed, or checked.
 *
 * A client passes each row cell by cell, or as a line of COPY's text format.
 * The execution, not the client, determines what is done with it.
 */
#ifndef SINK_H
#define SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum SinkMode
{
	SINK_READ,					/* look at each cell, keep nothing */
	SINK_PRINT,					/* write each row to the output */
	SINK_CHECK					/* add each row to the checksum */
} SinkMode;

typedef struct Sink
{
	SinkMode	mode;
	uint64_t	rows;
	uint64_t	touched;		/* makes sure that cells are read */
	uint64_t	bytes;			/* of the rows' text; SINK_CHECK only */
	uint32_t	checksum;		/* sum of the rows' CRC-32; SINK_CHECK only */
	uint32_t	row_crc;		/* of the row so far */
	bool		row_begun;
	FILE	   *output;			/* SINK_PRINT only */
} Sink;

extern void sink_put_cell(Sink *sink, const char *value, size_t length);
extern void sink_put_line(Sink *sink, const char *line, size_t length);
extern void sink_end_row(Sink *sink);

/* Are cells needed as text, not in the form received? */
static inline bool
sink_wants_text(const Sink *sink)
{
	return sink->mode != SINK_READ;
}

/* Takes a cell's text; a NULL pointer is a null value. */
static inline void
sink_cell(Sink *sink, const char *value, size_t length)
{
	if (sink->mode != SINK_READ)
		sink_put_cell(sink, value, length);
	else if (length > 0)
		sink->touched += length + (unsigned char) value[length - 1];
}

#endif							/* SINK_H */
