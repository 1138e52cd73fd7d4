/*
 * json_records.c
 *	  Lines of JSON as records of plain fields, for a scan.
 */
#include <string.h>

#include "core/filescan_state.h"
#include "core/json_records.h"

/* Bytes of fields that a batch ends at, so that many wide columns are no danger. */
#define BATCH_BYTES		((size_t) 8 << 20)

/* Longest record, bytes: positions have 32 bits. */
#define RECORD_BYTES	((size_t) 1 << 30)

/* A line in the window */
typedef struct JsonLine
{
	const unsigned char *bytes;
	size_t		length;			/* bytes, without the line end */
} JsonLine;

/* What a search has found so far */
typedef struct JsonFinds
{
	int			nrecords;
	size_t		length;			/* of the lines, bytes */
	uint32_t	lines;
	HandoverReason reason;		/* why the next line is not taken */
	bool		no_memory;
} JsonFinds;

bool
json_records_open(FileScan *scan, const FileScanOptions *options)
{
	size_t		size = (size_t) scan->nfields * sizeof(JsonField);
	JsonRecords *json = allocator_new(&scan->allocator, sizeof(JsonRecords));
	JsonField  *fields = allocator_new(&scan->allocator, size);
	bool		done = false;

	if (json != NULL)
	{
		memset(json, 0, sizeof(*json));
		json->ends = json->ends_memory + 1;
		json->lines = json->lines_memory + 1;
		scan->json = json;
	}
	if (json != NULL && fields != NULL)
	{
		memcpy(fields, options->json_fields, size);
		for (int i = 0; i < scan->nfields; i++)
			fields[i].is_wanted = false;
		for (int i = 0; i < options->ncolumns; i++)
			fields[options->columns[i].field].is_wanted = true;
		done = json_reader_open(&json->reader, &scan->allocator, fields,
								scan->nfields);
	}
	allocator_free(&scan->allocator, fields, size);
	return done;
}

void
json_records_close(FileScan *scan)
{
	JsonRecords *json = scan->json;

	if (json == NULL)
		return;
	if (json->reader.nfields > 0)
		json_reader_close(&json->reader);
	allocator_free(&scan->allocator, json->memory, json->room);
	allocator_free(&scan->allocator, json, sizeof(JsonRecords));
	scan->json = NULL;
}

/* Makes room for so many bytes behind those that there are. */
static bool
json_make_room(FileScan *scan, size_t more)
{
	JsonRecords *json = scan->json;
	size_t		needed = json->length + more + 2 * KERNEL_PADDING;
	size_t		room = json->room;
	unsigned char *memory;

	if (needed <= room)
		return true;
	while (room < needed)
		room = room == 0 ? SCAN_BLOCK_FIRST : 2 * room;
	memory = scan->allocator.resize(scan->allocator.context, json->memory,
									json->room, room);
	if (memory == NULL)
		return false;
	json->memory = memory;
	json->room = room;
	return true;
}

/* Returns how many bytes the record of the line that has been read may need. */
static size_t
json_record_room(const FileScan *scan)
{
	const JsonReader *reader = &scan->json->reader;
	size_t		room = 0;

	for (int i = 0; i < scan->nfields; i++)
		room += JSON_NULL_STRING_LENGTH + 1 +
			(reader->fields[i].is_wanted && !json_field_is_null(reader, i) ?
			 json_field_room(reader, i) : 0);
	return room;
}

/* Adds a field, of which there is room, and its position. */
static JsonFault
json_add_field(JsonRecords *json, int field, uint32_t *position)
{
	const JsonReader *reader = &json->reader;
	unsigned char *bytes = json->memory + KERNEL_PADDING;
	JsonFault	fault = JSON_SOUND;

	if (!reader->fields[field].is_wanted)
		;
	else if (json_field_is_null(reader, field))
		bytes[json->length++] = JSON_NULL_STRING[0];
	else
		json->length += json_field_write(reader, field, bytes + json->length,
										 &fault);
	*position = (uint32_t) json->length;
	bytes[json->length++] = '\n';
	return fault;
}

/*
 * May the line's bytes be used?  A scan whose server has another encoding leaves all
 * but ASCII to COPY's parser.
 */
static bool
json_is_encoded(const FileScan *scan, const JsonLine *line)
{
	unsigned	seen = scan->json->reader.seen;

	if (scan->dialect.encoding == FILE_ENCODING_ASCII)
		return (seen & (JSON_SEEN_HIGH | JSON_SEEN_UNICODE)) == 0;
	return (seen & JSON_SEEN_HIGH) == 0 ||
		scan->kernel->check_utf8(line->bytes, line->length) == line->length;
}

/*
 * Adds the record of a line that has been read.  Returns HANDOVER_NONE if there is one
 * more now.
 */
static HandoverReason
json_add_record(FileScan *scan, int nrecords, const JsonLine *line,
				bool *no_memory)
{
	JsonRecords *json = scan->json;
	uint32_t   *positions = scan->structure.positions +
		(size_t) nrecords * (size_t) scan->nfields;
	size_t		begin = json->length;
	size_t		room;

	if (!json_is_encoded(scan, line))
		return HANDOVER_ENCODING;
	room = json_record_room(scan);
	if (room > RECORD_BYTES)
		return HANDOVER_TOO_LONG;
	*no_memory = !json_make_room(scan, room);
	if (*no_memory)
		return HANDOVER_NONE;
	for (int i = 0; i < scan->nfields; i++)
		if (json_add_field(json, i, &positions[i]) != JSON_SOUND)
		{
			json->length = begin;
			return HANDOVER_JSON;
		}
	return HANDOVER_NONE;
}

/* Returns how many records a batch may have. */
static int
json_most_records(const FileScan *scan)
{
	const Structure *structure = &scan->structure;
	uint32_t	most = structure->max_positions / (uint32_t) scan->nfields;

	return (int) (most < structure->max_records ? most : structure->max_records);
}

/* Finds the line at an offset from the first unread byte; false if it has no end. */
static bool
json_find_line(const Window *window, size_t at, JsonLine *line)
{
	const unsigned char *end;

	line->bytes = window->bytes + window->begin + at;
	end = memchr(line->bytes, '\n', window->filled - window->begin - at);
	line->length = end == NULL ? 0 : (size_t) (end - line->bytes);
	return end != NULL;
}

/*
 * Passes over blank lines that no record follows yet, so that they need not stay in the
 * window.
 */
static void
json_pass_blanks(FileScan *scan, const JsonFinds *finds)
{
	scan->window.begin += finds->length;
	scan->line += finds->lines;
}

/* Sets where the records are. */
static void
json_place_records(FileScan *scan)
{
	scan->line_end = LINE_END_NL;
	scan->structure.positions[-1] = (uint32_t) -1;
	scan->records.positions = scan->structure.positions;
	scan->records.nfields = scan->nfields;
	scan->records.line_end_length = 1;
	scan->structure.seen = 0;
	if (scan->json->memory == NULL)
		return;
	memset(scan->json->memory + KERNEL_PADDING + scan->json->length, 0,
		   KERNEL_PADDING);
	scan->records.bytes = scan->json->memory + KERNEL_PADDING;
}

/*
 * Takes the next line; returns whether the one behind it may be taken, else the finds
 * have the reason.
 */
static bool
json_take_line(FileScan *scan, const JsonLine *line, JsonFinds *finds)
{
	JsonRecords *json = scan->json;
	int64_t		offset = scan->window.offset + (int64_t) scan->window.begin +
		(int64_t) finds->length;
	size_t		mark = offset == 0 ? json_mark_length(line->bytes, line->length) : 0;
	JsonFault	fault = json_reader_read(&json->reader, line->bytes + mark,
										 line->length - mark);

	if (fault == JSON_SOUND)
		finds->reason = json_add_record(scan, finds->nrecords, line,
										&finds->no_memory);
	else if (fault == JSON_NO_MEMORY)
		finds->no_memory = true;
	else if (fault != JSON_BLANK)
		finds->reason = HANDOVER_JSON;
	if (finds->no_memory || finds->reason != HANDOVER_NONE)
		return false;
	finds->length += line->length + 1;
	finds->lines++;
	if (fault == JSON_SOUND)
	{
		json->ends[finds->nrecords] = (uint32_t) finds->length;
		json->lines[finds->nrecords++] = finds->lines;
	}
	return true;
}

int
json_records_find(FileScan *scan, HandoverReason *reason)
{
	JsonRecords *json = scan->json;
	const Window *window = &scan->window;
	int64_t		first = window->offset + (int64_t) window->begin;
	int			most = json_most_records(scan);
	JsonFinds	finds = {.reason = HANDOVER_NONE};
	JsonLine	line;

	json->length = 0;
	json->ends[-1] = json->lines[-1] = 0;
	while (finds.nrecords < most && json->length < BATCH_BYTES &&
		   first + (int64_t) finds.length < scan->range.end &&
		   json_find_line(window, finds.length, &line) &&
		   json_take_line(scan, &line, &finds))
		;
	if (finds.no_memory)
		return JSON_RECORDS_NO_MEMORY;
	json_place_records(scan);
	if (finds.nrecords == 0)
		json_pass_blanks(scan, &finds);
	*reason = finds.reason;
	return finds.nrecords;
}
