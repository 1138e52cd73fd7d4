/*
 * stream.c
 *	  The text of a compressed file, read forward.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "core/stream.h"

/* Behind the input, for libraries that look at some bytes more, bytes */
#define STREAM_PADDING	16

/* Goes to the file's beginning. */
static void
stream_rewind(Stream *stream)
{
	stream->at = 0;
	stream->next = stream->input;
	stream->left = 0;
	stream->is_inside = stream->may_hold = stream->is_padded = false;
	stream->nmembers = 0;
	stream->position = 0;
	stream->status = SOURCE_OK;
	stream->fault = STREAM_SOUND;
}

bool
stream_open(Stream *stream, const Codec *codec, const Source *source,
			size_t memory, const Allocator *allocator)
{
	assert(codec_is_built(codec));
	memset(stream, 0, sizeof(*stream));
	stream->allocator = *allocator;
	stream->codec = codec;
	stream->source = *source;
	stream->source.stream = NULL;
	stream->source.bytes_read = 0;
	stream->end = INT64_MAX;
	stream->input_size = STREAM_INPUT;
	if (source->size < (int64_t) STREAM_INPUT)
		stream->input_size = source->size < CODEC_HEAD_MAX ?
			CODEC_HEAD_MAX : (size_t) source->size;
	stream->input = allocator_new(allocator, stream->input_size + STREAM_PADDING);
	if (stream->input == NULL)
		return false;
	memset(stream->input, 0, stream->input_size + STREAM_PADDING);
	stream_rewind(stream);
	stream->state = codec->open(memory);
	if (stream->state == NULL)
		stream_close(stream);
	return stream->state != NULL;
}

void
stream_close(Stream *stream)
{
	if (stream->state != NULL)
		stream->codec->close(stream->state);
	stream->state = NULL;
	if (stream->input != NULL)
		allocator_free(&stream->allocator, stream->input,
					   stream->input_size + STREAM_PADDING);
	stream->input = NULL;
}

/* Notes a fault at the next byte of the input. */
static SourceStatus
stream_fail(Stream *stream, StreamFault fault)
{
	stream->fault = fault;
	stream->fault_at = stream->at - (int64_t) stream->left;
	return SOURCE_UNDECODABLE;
}

static SourceStatus
stream_codec_status(Stream *stream, CodecStatus status)
{
	switch (status)
	{
		case CODEC_OK:
		case CODEC_MEMBER_END:
			break;
		case CODEC_CORRUPT:
			return stream_fail(stream, STREAM_CORRUPT);
		case CODEC_TOO_LARGE:
			return stream_fail(stream, STREAM_TOO_LARGE);
		case CODEC_NO_MEMORY:
			return stream_fail(stream, STREAM_NO_MEMORY);
	}
	return SOURCE_OK;
}

/* Has so many bytes of the file in the input, or all that are left. */
static SourceStatus
stream_fill(Stream *stream, size_t wanted)
{
	SourceStatus status;
	int64_t		length = stream->source.size - stream->at;

	if (stream->left >= wanted || length == 0)
		return SOURCE_OK;
	memmove(stream->input, stream->next, stream->left);
	stream->next = stream->input;
	if (length > (int64_t) (stream->input_size - stream->left))
		length = (int64_t) (stream->input_size - stream->left);
	status = source_read(&stream->source, stream->input + stream->left,
						 (size_t) length, stream->at);
	if (status != SOURCE_OK)
		return status;
	stream->at += length;
	stream->left += (size_t) length;
	return SOURCE_OK;
}

/* Passes over zeros behind a member; false if something else is next. */
static bool
stream_skip_zeros(Stream *stream)
{
	size_t		before = stream->left;

	if (stream->nmembers == 0)
		return false;
	while (stream->left > 0 && *stream->next == 0)
	{
		stream->next++;
		stream->left--;
	}
	stream->is_padded |= stream->left < before;
	return stream->left < before;
}

/* Begins the next member, or finds the end of the text. */
static SourceStatus
stream_begin_member(Stream *stream)
{
	SourceStatus status = stream_fill(stream, CODEC_HEAD_MAX);

	if (status != SOURCE_OK)
		return status;
	if (stream->left == 0)
	{
		if (stream->nmembers == 0)
			return stream_fail(stream, STREAM_CUT);
		stream->end = stream->position;
		return SOURCE_OK;
	}
	if (stream_skip_zeros(stream))
		return SOURCE_OK;
	if (!stream->codec->begins(stream->next, stream->left) ||
		(stream->is_padded && !stream->codec->may_be_padded))
		return stream_fail(stream, stream->nmembers == 0 ?
						   STREAM_FOREIGN : STREAM_TRAILING);
	stream->nmembers++;
	stream->is_inside = true;
	stream->is_padded = stream->may_hold = false;
	stream->member_from = stream->position;
	stream->member_length = stream->codec->text_length == NULL ?
		CODEC_LENGTH_UNKNOWN :
		stream->codec->text_length(stream->next, stream->left);
	return stream_codec_status(stream, stream->codec->begin(stream->state));
}

/*
 * The present member ends.  libzstd compares its length only where the last
 * block is not empty, or where it has all of the member at once.
 */
static CodecStatus
stream_end_member(Stream *stream)
{
	stream->is_inside = false;
	return stream->member_length == CODEC_LENGTH_UNKNOWN ||
		stream->member_length == (uint64_t) (stream->position - stream->member_from) ?
		CODEC_MEMBER_END : CODEC_CORRUPT;
}

/* Decodes more of the present member. */
static SourceStatus
stream_decode(Stream *stream, unsigned char **out, size_t *room)
{
	CodecBytes	bytes = {.out = *out,.out_left = *room};
	SourceStatus status = SOURCE_OK;
	CodecStatus result;
	size_t		in_before;

	if (!stream->may_hold)
		status = stream_fill(stream, 1);
	if (status != SOURCE_OK)
		return status;
	if (stream->left == 0 && !stream->may_hold)
		return stream_fail(stream, STREAM_CUT);
	in_before = stream->left;
	bytes.in = stream->next;
	bytes.in_left = stream->left;
	result = stream->codec->decode(stream->state, &bytes);
	stream->next = bytes.in;
	stream->left = bytes.in_left;
	stream->may_hold = bytes.out_left == 0;
	stream->position += (int64_t) (*room - bytes.out_left);
	if (result == CODEC_MEMBER_END)
		result = stream_end_member(stream);
	/* Whoever takes nothing and returns nothing never will. */
	else if (result == CODEC_OK && in_before > 0 &&
			 bytes.in_left == in_before && bytes.out_left == *room)
		result = CODEC_CORRUPT;
	*out = bytes.out;
	*room = bytes.out_left;
	return stream_codec_status(stream, result);
}

/* Reads the next bytes. */
static SourceStatus
stream_read_next(Stream *stream, unsigned char *out, size_t length, size_t *got)
{
	size_t		room = length;

	while (stream->status == SOURCE_OK && room > 0 &&
		   stream->position < stream->end)
		stream->status = stream->is_inside ?
			stream_decode(stream, &out, &room) : stream_begin_member(stream);
	*got = length - room;
	return *got > 0 ? SOURCE_OK : stream->status;
}

SourceStatus
stream_read(Stream *stream, void *buffer, size_t length, int64_t offset,
			size_t *got)
{
	SourceStatus status = SOURCE_OK;

	*got = 0;
	if (offset < stream->position)
		stream_rewind(stream);
	while (status == SOURCE_OK && stream->position < offset &&
		   stream->position < stream->end)
	{
		int64_t		missing = offset - stream->position;

		status = stream_read_next(stream, buffer, missing < (int64_t) length ?
								  (size_t) missing : length, got);
	}
	*got = 0;
	return status != SOURCE_OK ? status :
		stream_read_next(stream, buffer, length, got);
}

SourceStatus
source_read_text(Source *source, void *buffer, size_t length, int64_t offset,
				 size_t *got)
{
	Stream	   *stream = source->stream;
	SourceStatus status;
	int64_t		before;

	if (stream == NULL)
	{
		if ((int64_t) length > source->size - offset)
			length = (size_t) (source->size - offset);
		*got = length;
		return source_read(source, buffer, length, offset);
	}
	before = stream->source.bytes_read;
	status = stream_read(stream, buffer, length, offset, got);
	source->error = stream->source.error;
	source->bytes_read += stream->source.bytes_read - before;
	source->bytes_decoded += (int64_t) *got;
	return status;
}
