/*
 * chunk.c
 *	  A file cut into ranges that several processes can scan.
 */
#include <string.h>

#include "core/chunk.h"
#include "core/simd/scalar.h"
#include "core/stream.h"

/* A borrowed buffer: bytes with KERNEL_PADDING around them. */
typedef struct ChunkBuffer
{
	unsigned char *bytes;
	size_t		size;
} ChunkBuffer;

static ChunkBuffer
chunk_buffer(void *buffer, size_t size)
{
	ChunkBuffer inner = {
		(unsigned char *) buffer + KERNEL_PADDING, size - 2 * KERNEL_PADDING
	};

	return inner;
}

/* Fills the buffer from offset, up to end; sets *length. */
static SourceStatus
chunk_read(Source *source, ChunkBuffer *buffer, int64_t offset,
		   int64_t end, size_t *length)
{
	size_t		wanted = end - offset < (int64_t) buffer->size ?
		(size_t) (end - offset) : buffer->size;
	SourceStatus status = SOURCE_OK;
	size_t		got;

	for (*length = 0; status == SOURCE_OK && *length < wanted; *length += got)
	{
		status = source_read_text(source, buffer->bytes + *length,
								  wanted - *length, offset + (int64_t) *length,
								  &got);
		if (status == SOURCE_OK && got == 0)
			status = SOURCE_TRUNCATED;
	}
	return status;
}

/* The same, or less: in front of what cannot be decoded. */
static SourceStatus
chunk_read_some(Source *source, ChunkBuffer *buffer, int64_t offset,
				int64_t end, size_t *length)
{
	SourceStatus status = chunk_read(source, buffer, offset, end, length);

	return status == SOURCE_UNDECODABLE && *length > 0 ? SOURCE_OK : status;
}

bool
chunk_needs_count(const Dialect *dialect)
{
	return dialect->format == FILE_FORMAT_CSV;
}

/* May there be an end-of-data marker in such a file? */
static bool
chunk_has_marker(const Dialect *dialect)
{
	switch (dialect->format)
	{
		case FILE_FORMAT_TEXT:
			return true;
		case FILE_FORMAT_CSV:
			return dialect->marker_in_csv;
		case FILE_FORMAT_JSON_LINES:
			break;
	}
	return false;
}

/*------------------------------------------------------------------------
 * The layout
 *------------------------------------------------------------------------
 */

/*
 * Returns where the data of the file end, or -1 if it cannot be read.  All of the
 * last member would have to be decoded for that: a marker in compressed text is
 * found when the last chunk is looked through.
 */
static int64_t
chunk_data_end(Source *source, const Dialect *dialect, LineEnd line_end)
{
	const char *marker = line_end == LINE_END_NL ?
		"\n\\.\n" : "\r\n\\.\r\n";
	int64_t		length = (int64_t) strlen(marker);
	unsigned char last[8];

	if (!chunk_has_marker(dialect) || source->stream != NULL ||
		source->size < length)
		return source_text_end(source);
	if (source_read(source, last, (size_t) length,
					source->size - length) != SOURCE_OK)
		return -1;
	if (memcmp(last, marker, (size_t) length) != 0)
		return source->size;
	return source->size - 2 - (line_end == LINE_END_CRNL ? 2 : 1);
}

/* Returns COPY's lines in the first record minus the line ends in its bytes. */
static int64_t
chunk_correction(const FileScan *scan, const StructureRules *rules)
{
	TextRef		record = filescan_record(scan, 0);
	int64_t		correction = filescan_line(scan, 0) - 1;

	if (rules->mode != STRUCTURE_TEXT)
		for (uint32_t i = 0; i < record.length; i++)
			correction -= record.bytes[i] == rules->line_end;
	return correction;
}

/*
 * Reads the records of the header, up to begin; without a header, the first
 * record.
 */
static bool
chunk_read_first(FileScan *scan, const Dialect *dialect, int header,
				 ChunkLayout *layout)
{
	ScanStatus	status;
	RowBatch   *batch;

	for (int i = 0; i < (header > 0 ? header : 1); i++)
	{
		do
			status = filescan_next(scan, &batch);
		while (status == SCAN_AGAIN);
		if (status != SCAN_HEADER)
			return false;
	}
	layout->line_end = filescan_line_end(scan);
	layout->rules = structure_rules(dialect, layout->line_end);
	layout->correction = header > 0 ? 0 : chunk_correction(scan, &layout->rules);
	layout->begin = header > 0 ? filescan_offset(scan, 1) : 0;
	layout->line = header > 0 ? filescan_line(scan, 0) : 0;
	return true;
}

/* Where each line end ends a record, nothing has to be looked at. */
static bool
chunk_layout_lines(const Source *source, const Dialect *dialect,
				   ChunkLayout *layout)
{
	*layout = (ChunkLayout)
	{
		.rules = structure_rules(dialect, LINE_END_NL),
			.line_end = LINE_END_NL,
			.end = source->size
	};
	return source->size > 0;
}

bool
chunk_layout(Source *source, const Dialect *dialect, int header,
			 const Allocator *allocator, ChunkLayout *layout)
{
	/*
	 * The first record is read as a header, which may have any number of
	 * fields.
	 */
	FileScanOptions options = {
		.dialect = dialect,
		.kernel = &scalar_kernel,
		.nfields = 1,
		.header = header > 0 ? header : 1,
		.block_size = SCAN_REACH,
		.max_record = SCAN_BLOCK_MAX,
		.check_interrupts = source->check_interrupts,
		.source = source->stream == NULL ? NULL : source,
		.allocator = *allocator
	};
	SourceStatus status;
	FileScan   *scan;
	bool		known;

	if (dialect->format == FILE_FORMAT_JSON_LINES)
		return chunk_layout_lines(source, dialect, layout);
	scan = filescan_open(&options, source->fd, &status);
	if (scan == NULL)
		return false;
	known = chunk_read_first(scan, dialect, header, layout);
	source->bytes_read = filescan_source(scan)->bytes_read +
		(options.source == NULL ? source->bytes_read : 0);
	filescan_close(scan);
	if (!known)
		return false;
	layout->end = chunk_data_end(source, dialect, layout->line_end);
	return layout->end >= layout->begin;
}

/*------------------------------------------------------------------------
 * Is the byte at an offset escaped?
 *------------------------------------------------------------------------
 */

/*
 * Sets *escaped: is there an odd number of escapes before offset?  Bytes
 * before begin do not count.  In CSV format it is escaped only if it is in
 * quotes; then so is each escape of the run.
 */
static SourceStatus
chunk_is_escaped(Source *source, const ChunkLayout *layout,
				 ChunkBuffer *buffer, int64_t offset, bool *escaped)
{
	const StructureRules *rules = &layout->rules;
	unsigned char escape = rules->mode == STRUCTURE_TEXT ? '\\' : rules->escape;
	int64_t		escapes = 0;
	int64_t		end = offset;

	*escaped = false;
	if (rules->mode == STRUCTURE_CSV || rules->mode == STRUCTURE_LINES)
		return SOURCE_OK;
	while (end > layout->begin)
	{
		int64_t		from = end - (int64_t) buffer->size;
		size_t		length;
		size_t		i;
		SourceStatus status;

		if (from < layout->begin)
			from = layout->begin;

		/*
		 * A long run of escapes is rare: a few bytes nearly always suffice.
		 */
		if (escapes == 0 && end - from > KERNEL_BLOCK)
			from = end - KERNEL_BLOCK;
		status = chunk_read(source, buffer, from, end, &length);
		if (status != SOURCE_OK)
			return status;
		for (i = length; i > 0 && buffer->bytes[i - 1] == escape; i--)
			escapes++;
		if (i > 0)
			break;
		end = from;
	}
	*escaped = escapes % 2 == 1;
	return SOURCE_OK;
}

/*------------------------------------------------------------------------
 * Counting
 *------------------------------------------------------------------------
 */

/* Adds the counts of bytes; where only line ends count, no kernel is needed. */
static void
chunk_add_count(const Kernel *kernel, const StructureRules *rules,
				const unsigned char *bytes, size_t length,
				StructureCount *count)
{
	const unsigned char *end = bytes + length;

	if (rules->mode != STRUCTURE_LINES)
	{
		kernel->count_structure(rules, bytes, length, count);
		return;
	}
	while ((bytes = memchr(bytes, rules->line_end, (size_t) (end - bytes))) != NULL)
	{
		count->line_ends++;
		bytes++;
	}
}

SourceStatus
chunk_look_before(Source *source, const ChunkLayout *layout, void *memory,
				  size_t size, FileChunk *chunk)
{
	ChunkBuffer buffer = chunk_buffer(memory, size);

	return chunk_is_escaped(source, layout, &buffer, chunk->from,
							&chunk->escaped);
}

SourceStatus
chunk_count(Source *source, const Kernel *kernel,
			const ChunkLayout *layout, void *memory, size_t size,
			FileChunk *chunk)
{
	ChunkBuffer buffer = chunk_buffer(memory, size);
	int64_t		offset = chunk->from;
	SourceStatus looked = chunk_look_before(source, layout, memory, size,
											chunk);

	if (looked != SOURCE_OK)
		return looked;
	structure_count_begin(&chunk->count, chunk->escaped);
	while (offset < chunk->to)
	{
		bool		escaped = false;
		size_t		length;
		SourceStatus status = SOURCE_OK;

		if (layout->rules.mode == STRUCTURE_TEXT)
			status = chunk_is_escaped(source, layout, &buffer, offset,
									  &escaped);
		if (status == SOURCE_OK)
			status = chunk_read(source, &buffer, offset, chunk->to, &length);
		if (status != SOURCE_OK)
			return status;
		memset(buffer.bytes + length, 0, KERNEL_PADDING);
		chunk_add_count(kernel, &layout->rules, buffer.bytes + escaped,
						length - escaped, &chunk->count);
		offset += (int64_t) length;
	}
	return SOURCE_OK;
}

void
chunk_count_bytes(const Kernel *kernel, const ChunkLayout *layout,
				  const unsigned char *bytes, FileChunk *chunk)
{
	structure_count_begin(&chunk->count, chunk->escaped);
	kernel->count_structure(&layout->rules, bytes,
							(size_t) (chunk->to - chunk->from), &chunk->count);
}

void
chunk_resolve(const ChunkLayout *layout, ChunkState *state, FileChunk *chunk)
{
	chunk->in_quotes = state->in_quotes;
	chunk->line = state->line +
		(chunk->from > layout->begin ? layout->correction : 0);
	if (layout->rules.mode == STRUCTURE_CSV_ESCAPE)
		state->in_quotes = chunk->count.behind[state->in_quotes].in_quotes;
	else
		state->in_quotes ^= chunk->count.quotes % 2 == 1;
	state->line += (int64_t) chunk->count.line_ends;
}

/*------------------------------------------------------------------------
 * End-of-data markers
 *------------------------------------------------------------------------
 */

/* Are there a backslash, which is not escaped itself, and a dot? */
static bool
chunk_may_end_text(const unsigned char *bytes, const unsigned char *end)
{
	while (bytes < end &&
		   (bytes = memchr(bytes, '\\', (size_t) (end - bytes))) != NULL)
	{
		if (bytes + 1 < end && bytes[1] == '.')
			return true;
		bytes += 2;
	}
	return false;
}

/*
 * Are there a backslash and a dot at the start of a line, within quotes or
 * not?
 */
static bool
chunk_may_end_csv(unsigned char before, const unsigned char *bytes,
				  const unsigned char *end)
{
	const unsigned char *at = bytes;

	while ((at = memchr(at, '\\', (size_t) (end - at))) != NULL)
	{
		unsigned char previous = at == bytes ? before : at[-1];

		at++;
		if (at < end && *at == '.' && (previous == '\n' || previous == '\r'))
			return true;
	}
	return false;
}

bool
chunk_may_end(const Dialect *dialect, unsigned char before,
			  const unsigned char *bytes, size_t length)
{
	if (!chunk_has_marker(dialect))
		return false;
	if (dialect->format == FILE_FORMAT_TEXT)
		return chunk_may_end_text(bytes, bytes + length);
	return chunk_may_end_csv(before, bytes, bytes + length);
}

/*------------------------------------------------------------------------
 * Finding the first record
 *------------------------------------------------------------------------
 */

/* A search for the first record that begins at or after from. */
typedef struct RecordSearch
{
	const ChunkLayout *layout;
	int64_t		from;
	int64_t		at;				/* offset of the next byte to examine */
	ScalarState state;			/* before that byte */
	int64_t		lines;			/* line ends found, at or after from */
} RecordSearch;

/* Examines bytes; returns whether at is now the start of the record. */
static bool
chunk_search(RecordSearch *search, const unsigned char *bytes, size_t length)
{
	const StructureRules *rules = &search->layout->rules;

	for (size_t i = 0; i < length; i++)
	{
		bool		is_data = scalar_protects(rules, bytes[i], &search->state);

		search->at++;
		if (bytes[i] != rules->line_end)
			continue;
		if (search->at > search->from &&
			(!is_data || rules->mode != STRUCTURE_TEXT))
			search->lines++;
		if (is_data)
			continue;
		search->at += rules->paired;
		return true;
	}
	return false;
}

/*
 * Moves the start of the search back over bytes in front of the chunk, in whose
 * state nothing changes before the chunk, as after a quote: behind that no line end
 * begins.
 */
static SourceStatus
chunk_search_back(Source *source, ChunkBuffer *buffer, const FileChunk *chunk,
				  RecordSearch *search)
{
	const ChunkLayout *layout = search->layout;
	size_t		length;
	SourceStatus status = chunk_read(source, buffer, search->at, chunk->from,
									 &length);

	for (size_t i = 0; status == SOURCE_OK && i < length; i++)
		if (buffer->bytes[i] == layout->rules.quote)
			search->at = chunk->from - (int64_t) (length - i - 1);
	if (status != SOURCE_OK || !chunk->in_quotes)
		return status;
	return chunk_is_escaped(source, layout, buffer, search->at,
							&search->state.escaped);
}

/*
 * A record begins after a line end.  So the search starts before the chunk, by
 * the length of a line end, in the state at that place.
 */
static SourceStatus
chunk_search_begin(Source *source, ChunkBuffer *buffer,
				   const FileChunk *chunk, RecordSearch *search)
{
	const ChunkLayout *layout = search->layout;
	size_t		length;
	SourceStatus status;

	search->at = chunk->from - (layout->rules.paired ? 2 : 1);
	if (search->at < layout->begin)
		search->at = layout->begin;
	if (layout->rules.mode == STRUCTURE_TEXT)
		return chunk_is_escaped(source, layout, buffer, search->at,
								&search->state.escaped);
	if (layout->rules.mode == STRUCTURE_LINES)
		return SOURCE_OK;

	search->state.in_quotes = chunk->in_quotes;
	if (layout->rules.mode == STRUCTURE_CSV_ESCAPE)
		return chunk_search_back(source, buffer, chunk, search);
	status = chunk_read(source, buffer, search->at, chunk->from, &length);
	for (size_t i = 0; status == SOURCE_OK && i < length; i++)
		search->state.in_quotes ^= buffer->bytes[i] == layout->rules.quote;
	return status;
}

SourceStatus
chunk_start(Source *source, const ChunkLayout *layout, void *memory,
			size_t size, const FileChunk *chunk, ScanRange *range,
			bool *empty)
{
	ChunkBuffer buffer = chunk_buffer(memory, size);
	RecordSearch search = {.layout = layout,.from = chunk->from};
	bool		found = chunk->from <= layout->begin;
	SourceStatus status = SOURCE_OK;

	if (found)
		search.at = layout->begin;
	else
		status = chunk_search_begin(source, &buffer, chunk, &search);
	while (status == SOURCE_OK && !found && search.at < chunk->to)
	{
		size_t		length;

		status = chunk_read_some(source, &buffer, search.at, layout->end,
								 &length);
		if (status == SOURCE_OK)
			found = chunk_search(&search, buffer.bytes, length);
	}
	range->offset = search.at;
	range->end = chunk->to;
	range->line = chunk->line + search.lines;
	range->line_end = layout->line_end;
	*empty = !found || search.at >= chunk->to;
	return status;
}

/*------------------------------------------------------------------------
 * Behind a chunk
 *------------------------------------------------------------------------
 */

/*
 * May there be a marker in bytes that continue others?  It may begin in those,
 * so their last two bytes are put in front.
 */
static bool
chunk_may_end_on(const Dialect *dialect, const unsigned char *bytes,
				 size_t length, bool escaped)
{
	int			before = dialect->format == FILE_FORMAT_CSV || escaped ? 1 : 0;

	return chunk_may_end(dialect, bytes[-1 - before], bytes - before,
						 length + (size_t) before);
}

/*
 * Decides about the next bytes of the search: sets *may_end if they may hold a
 * marker, in front of where the next record begins.  Returns whether it does begin.
 */
static bool
chunk_decide_behind(RecordSearch *search, const Dialect *dialect,
					unsigned char *bytes, size_t length, bool *may_end)
{
	int64_t		at = search->at;
	bool		escaped = search->state.escaped;
	bool		found = chunk_search(search, bytes, length);

	if (search->at - at < (int64_t) length)
		length = (size_t) (search->at - at);
	*may_end = chunk_may_end_on(dialect, bytes, length, escaped);
	memmove(bytes - 2, bytes + length - 2, 2);
	return found;
}

SourceStatus
chunk_search_behind(Source *source, const Dialect *dialect,
					const ChunkLayout *layout, void *memory, size_t size,
					FileChunk *behind)
{
	ChunkBuffer buffer = chunk_buffer(memory, size);
	RecordSearch search = {.layout = layout,.from = behind->from};
	bool		found = false;
	SourceStatus status;

	behind->may_end = false;
	if (!chunk_has_marker(dialect))
		return SOURCE_OK;
	status = chunk_search_begin(source, &buffer, behind, &search);
	if (status == SOURCE_OK)
		memset(buffer.bytes - 2, search.state.escaped ? '\\' : 0, 2);
	while (status == SOURCE_OK && !found && !behind->may_end &&
		   search.at < behind->to)
	{
		size_t		length;

		status = chunk_read_some(source, &buffer, search.at, behind->to,
								 &length);
		if (status == SOURCE_OK)
			found = chunk_decide_behind(&search, dialect, buffer.bytes, length,
										&behind->may_end);
	}
	if (!found && behind->to < layout->end)
		behind->may_end = true;
	return status;
}
