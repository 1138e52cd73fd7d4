/*
 * inspect.c
 *	  Checks of records before their fields may be used.
 *
 * Each check finds the first record that fails it; the earliest of these
 * counts, as COPY reads one record after the other.  A check for bytes that
 * the kernel has not seen is skipped.
 */
#include <string.h>

#include "core/escape.h"
#include "core/inspect.h"

/* Returns the offset of a record; for nrecords, the end of the last one. */
static size_t
inspect_begin(const Records *records, int record)
{
	return record == 0 ? 0 :
		(size_t) records->positions[records->ends[record - 1]] +
		records->line_end_length;
}

static size_t
inspect_length(const Records *records, int record)
{
	return records->positions[records->ends[record]] -
		inspect_begin(records, record);
}

/* Returns the record of the byte at offset. */
static int
inspect_record_at(const Records *records, size_t offset)
{
	int			low = 0;
	int			high = records->nrecords;

	while (high - low > 1)
	{
		int			middle = low + (high - low) / 2;

		if (inspect_begin(records, middle) <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Records that a record fails a check, unless an earlier one does. */
static void
inspect_reject(Inspection *inspection, int record, HandoverReason reason,
			   bool is_end)
{
	if (record >= inspection->nrecords)
		return;
	inspection->nrecords = record;
	inspection->reason = reason;
	inspection->is_end = is_end;
}

/* The encoding of all bytes, also of unused fields. */
static void
inspect_encoding(const Dialect *dialect, const Kernel *kernel,
				 const Records *records, Inspection *inspection)
{
	size_t		length = inspect_begin(records, records->nrecords);
	size_t		valid = length;

	if (dialect->encoding != FILE_ENCODING_SINGLE_BYTE)
		valid = kernel->check_utf8(records->bytes, length);
	else if (memchr(records->bytes, '\0', length) != NULL)
		valid = (size_t) ((const unsigned char *)
						  memchr(records->bytes, '\0', length) -
						  records->bytes);
	if (dialect->encoding == FILE_ENCODING_ASCII)
		for (size_t i = 0; i < valid; i++)
			if (records->bytes[i] >= 0x80)
				valid = i;
	if (valid < length)
		inspect_reject(inspection, inspect_record_at(records, valid),
					   HANDOVER_ENCODING, false);
}

/* Is the record only a marker, with its own line end? */
static bool
inspect_is_marker(const Records *records, int record)
{
	const unsigned char *bytes = records->bytes +
		inspect_begin(records, record);

	return inspect_length(records, record) == 2 &&
		bytes[0] == '\\' && bytes[1] == '.' &&
		!(records->last_is_closed && record == records->nrecords - 1);
}

/*
 * Returns the defect of the escape at p, in text format.  An octal or
 * hexadecimal escape may be zero or part of a character.
 */
static HandoverReason
inspect_escape(const unsigned char *p, size_t length)
{
	unsigned char value = '\0';
	size_t		n = escape_read(p, length, &value);

	if (p[1] == '.')
		return HANDOVER_MARKER;
	if ((n > 2 || (p[1] >= '0' && p[1] <= '7')) &&
		(value == '\0' || value >= 0x80))
		return HANDOVER_ESCAPE;
	return HANDOVER_NONE;
}

/* Every escape of a file in text format, in all fields. */
static void
inspect_escapes(const Records *records, Inspection *inspection)
{
	const unsigned char *p = records->bytes;
	const unsigned char *end = p + inspect_begin(records, records->nrecords);

	/* A record cannot end in a backslash, so a byte follows each. */
	while ((p = memchr(p, '\\', (size_t) (end - p))) != NULL)
	{
		HandoverReason reason = inspect_escape(p, (size_t) (end - p));

		if (reason != HANDOVER_NONE)
		{
			int			record = inspect_record_at(records,
												   (size_t) (p - records->bytes));

			inspect_reject(inspection, record, reason,
						   inspect_is_marker(records, record));
			return;
		}
		p += 2;
	}
}

/* Lines \.  of a CSV file; with more bytes on the line it is data. */
static void
inspect_csv_markers(const Records *records, Inspection *inspection)
{
	for (int record = 0; record < inspection->nrecords; record++)
	{
		const unsigned char *bytes = records->bytes +
			inspect_begin(records, record);

		if (inspect_length(records, record) == 2 &&
			bytes[0] == '\\' && bytes[1] == '.')
			inspect_reject(inspection, record, HANDOVER_MARKER,
						   inspect_is_marker(records, record));
	}
}

static void
inspect_fields(const Records *records, Inspection *inspection)
{
	uint32_t	nfields = (uint32_t) records->nfields;

	for (int record = 0; record < inspection->nrecords; record++)
		if (records->ends[record] != ((uint32_t) record + 1) * nfields - 1)
			inspect_reject(inspection, record, HANDOVER_FIELDS, false);
}

Inspection
inspect_records(const Dialect *dialect, const Kernel *kernel,
				const Records *records)
{
	Inspection	inspection = {records->nrecords, HANDOVER_NONE, false};

	if ((records->seen & (SEEN_HIGH | SEEN_ZERO)) != 0)
		inspect_encoding(dialect, kernel, records, &inspection);
	if ((records->seen & SEEN_BACKSLASH) != 0)
	{
		if (dialect->format == FILE_FORMAT_TEXT)
			inspect_escapes(records, &inspection);
		else if (dialect->marker_in_csv)
			inspect_csv_markers(records, &inspection);
	}
	if (records->nfields > 0)
		inspect_fields(records, &inspection);
	return inspection;
}
