/*
 * show.c
 *	  A scan as one line of text.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/test/show.h"

static void
show_reserve(Shown *shown, size_t more)
{
	if (shown->length + more <= shown->size)
		return;
	shown->size = (shown->length + more) * 2;
	shown->line = realloc(shown->line, shown->size);
	if (shown->line == NULL)
		abort();
}

void
show_reset(Shown *shown)
{
	show_reserve(shown, 1);
	shown->length = 0;
	shown->line[0] = '\0';
}

void
show_free(Shown *shown)
{
	free(shown->line);
	memset(shown, 0, sizeof(*shown));
}

static void
show_bytes(Shown *shown, const unsigned char *bytes, size_t length)
{
	show_reserve(shown, length + 1);
	if (length > 0)
		memcpy(shown->line + shown->length, bytes, length);
	shown->length += length;
	shown->line[shown->length] = '\0';
}

static void
__attribute__((format(printf, 2, 3)))
show(Shown *shown, const char *format,...)
{
	va_list		arguments;
	int			n;

	va_start(arguments, format);
	n = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	show_reserve(shown, (size_t) n + 1);
	va_start(arguments, format);
	vsnprintf(shown->line + shown->length, (size_t) n + 1, format, arguments);
	va_end(arguments);
	shown->length += (size_t) n;
}

static void
show_field(Shown *shown, FileScan *scan, int row, const ColumnSpec *spec)
{
	bool		no_memory = false;
	FieldRef	field = filescan_field(scan, row, spec->field, spec, &no_memory);

	show_bytes(shown, field.bytes, field.length);
}

static void
show_value(Shown *shown, FileScan *scan, const ColumnVector *vector, int row)
{
	if (bitmap_has(&vector->nulls, row))
		show(shown, "NULL");
	else if (bitmap_has(&vector->unresolved, row))
	{
		show(shown, "?");
		show_field(shown, scan, row, vector->spec);
	}
	else if (column_type_is_integer(vector->spec->type))
		show(shown, "%lld", (long long) vector->values.integers[row]);
	else if (column_type_is_float(vector->spec->type))
		show(shown, "%.17g", vector->values.floats[row]);
	else if (column_type_is_text(vector->spec->type))
		show_bytes(shown, vector->values.texts[row].bytes,
				   vector->values.texts[row].length);
	else if (vector->spec->type == COLUMN_OTHER)
		show_field(shown, scan, row, vector->spec);
	else
		for (int i = 0; i < 16; i++)
			show(shown, "%02x", vector->values.uuids[row].bytes[i]);
}

static void
show_batch(Shown *shown, FileScan *scan, const RowBatch *batch)
{
	for (int row = 0; row < batch->nrows; row++)
	{
		show(shown, "%lld:", (long long) filescan_line(scan, row));
		for (int i = 0; i < batch->ncolumns; i++)
		{
			if (i > 0)
				show(shown, "|");
			show_value(shown, scan, &batch->columns[i], row);
		}
		show(shown, " ");
	}
}

static void
show_header(Shown *shown, FileScan *scan)
{
	show(shown, "header ");
	for (int i = 0; i < filescan_nfields(scan); i++)
	{
		ColumnSpec	spec = {.field = i,.type = COLUMN_TEXT};

		if (i > 0)
			show(shown, "|");
		show_field(shown, scan, 0, &spec);
	}
	show(shown, " ");
}

static void
show_end(Shown *shown, const FileScan *scan, ScanStatus status)
{
	const Handover *handover = filescan_handover(scan);

	if (status == SCAN_END)
		show(shown, "end");
	else if (status == SCAN_HANDOVER)
		show(shown, "handover %d at %lld line %lld", (int) handover->reason,
			 (long long) handover->offset, (long long) handover->line);
	else
		show(shown, "status %d", (int) status);
}

bool
show_scan(Shown *shown, FileScan *scan)
{
	RowBatch   *batch;
	ScanStatus	status;

	for (;;)
	{
		status = filescan_next(scan, &batch);
		if (status == SCAN_BATCH)
			show_batch(shown, scan, batch);
		else if (status == SCAN_HEADER)
			show_header(shown, scan);
		else if (status != SCAN_AGAIN)
			break;
	}
	show_end(shown, scan, status);
	return status == SCAN_END;
}
