/*
 * places.c
 *	  Locates the records of a batch, their lines and their fields.
 */
#include <string.h>

#include "core/filescan_state.h"
#include "core/json_records.h"
#include "core/stream.h"

uint32_t
filescan_record_begin(const FileScan *scan, int row)
{
	const RecordFields *records = &scan->records;

	if (scan->json != NULL)
		return scan->json->ends[row - 1];
	return records->positions[(ptrdiff_t) row * records->nfields - 1] +
		records->line_end_length;
}

static uint32_t
filescan_record_end(const FileScan *scan, int row)
{
	const RecordFields *records = &scan->records;

	return records->positions[(ptrdiff_t) (row + 1) * records->nfields - 1];
}

bool
filescan_is_first(const FileScan *scan)
{
	return scan->window.offset + (int64_t) scan->window.begin ==
		scan->first_offset;
}

/*
 * Returns the number of line ends between quotes in a record, which COPY
 * counts.  In the first record, whose style is not known yet, CR counts as
 * one.
 */
static int64_t
filescan_enclosed_lines(const FileScan *scan, int row)
{
	unsigned char line_end = row == 0 && filescan_is_first(scan) ?
		'\r' : scan->rules.line_end;
	const unsigned char *bytes = scan->records.bytes;
	uint32_t	end = filescan_record_end(scan, row);
	int64_t		lines = 0;

	for (uint32_t i = filescan_record_begin(scan, row); i < end; i++)
		lines += bytes[i] == line_end;
	return lines;
}

/* May there be line ends between quotes in this batch? */
static bool
filescan_has_enclosed(const FileScan *scan)
{
	return scan->dialect.format == FILE_FORMAT_CSV &&
		((scan->structure.seen & SEEN_ENCLOSED) != 0 ||
		 filescan_is_first(scan));
}

int64_t
filescan_lines(const FileScan *scan, int nrows)
{
	int64_t		lines = scan->line + nrows;

	if (scan->json != NULL)
		return scan->line + scan->json->lines[nrows - 1];
	if (filescan_has_enclosed(scan))
		for (int row = 0; row < nrows; row++)
			lines += filescan_enclosed_lines(scan, row);
	return lines;
}

int64_t
filescan_lines_before(const FileScan *scan)
{
	return scan->line;
}

int64_t
filescan_line(const FileScan *scan, int row)
{
	return filescan_lines(scan, row + 1);
}

int64_t
filescan_offset(const FileScan *scan, int row)
{
	return scan->window.offset + (int64_t) scan->window.begin +
		filescan_record_begin(scan, row);
}

TextRef
filescan_record(const FileScan *scan, int row)
{
	uint32_t	begin = filescan_record_begin(scan, row);
	TextRef		record = {
		scan->records.bytes + begin,
		filescan_record_end(scan, row) - begin
	};

	return record;
}

int
filescan_nfields(const FileScan *scan)
{
	return scan->records.nfields;
}

FieldRef
filescan_field(FileScan *scan, int row, int field, const ColumnSpec *spec,
			   bool *no_memory)
{
	FieldValue	value = field < scan->records.nfields ?
		field_value(&scan->field_rules, field_at(&scan->records, row, field),
					spec, &scan->arena) :
		field_missing(&scan->field_rules, spec);
	FieldRef	field_ref = {value.bytes, value.length, value.is_null};

	if (value.no_memory)
		*no_memory = true;
	return field_ref;
}

PolicyCounts
filescan_counts(const FileScan *scan)
{
	return scan->counts;
}

void
filescan_forget_counts(FileScan *scan)
{
	memset(&scan->counts, 0, sizeof(scan->counts));
}

LineEnd
filescan_line_end(const FileScan *scan)
{
	return scan->line_end;
}

const unsigned char *
filescan_window(const FileScan *scan, int64_t *offset, size_t *length)
{
	const Window *window = &scan->window;
	int64_t		end = window->offset + (int64_t) window->filled;

	*offset = window->offset;
	/* Without the line end that may have been appended */
	if (end > source_text_end(&scan->source))
		end = source_text_end(&scan->source);
	*length = end > *offset ? (size_t) (end - *offset) : 0;
	return window->bytes;
}

const unsigned char *
filescan_unread(const FileScan *scan, int64_t *offset, size_t *length)
{
	const unsigned char *bytes = filescan_window(scan, offset, length);
	size_t		begin = scan->window.begin;

	*offset += (int64_t) begin;
	*length = *length > begin ? *length - begin : 0;
	return bytes + begin;
}

const Handover *
filescan_handover(const FileScan *scan)
{
	return &scan->handover;
}

Source *
filescan_source(FileScan *scan)
{
	return &scan->source;
}
