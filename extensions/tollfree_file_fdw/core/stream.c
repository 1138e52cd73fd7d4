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

/* Goes to where a member begins: a place of the map, or 0 without one. */
static void
stream_go(Stream *stream, size_t place)
{
	const MemberPlace start = {0};
	const MemberPlace *to = stream->map == NULL ? &start :
		&stream->map->places[place];

	stream->place = place;
	stream->at = to->file;
	stream->next = stream->input;
	stream->left = 0;
	stream->is_inside = stream->may_hold = stream->is_padded = false;
	stream->is_over = false;
	stream->nmembers = to->file > 0;
	stream->position = to->text;
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
	stream_go(stream, 0);
	stream->state = codec->open(memory);
	if (stream->state == NULL)
		stream_close(stream);
	return stream->state != NULL;
}

void
stream_use_map(Stream *stream, const MemberMap *map)
{
	stream->map = map;
	stream->end = map == NULL ? INT64_MAX : members_text_length(map);
	stream_go(stream, 0);
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

/*
 * Between two members: is the map right?  Passes the next place where that is
 * here.
 */
static bool
stream_is_on_map(Stream *stream)
{
	const MemberPlace *next;
	int64_t		at = stream->at - (int64_t) stream->left;

	if (stream->map == NULL || stream->place == stream->map->nplaces)
		return true;
	next = &stream->map->places[stream->place + 1];
	if (at < next->file)
		return true;
	stream->place++;
	return at == next->file && stream->position == next->text;
}

/* The file ends between two members. */
static SourceStatus
stream_end(Stream *stream)
{
	if (stream->nmembers == 0)
		return stream_fail(stream, STREAM_CUT);
	stream->end = stream->position;
	stream->is_over = true;
	return SOURCE_OK;
}

/* Begins the next member, or finds the end of the text. */
static SourceStatus
stream_begin_member(Stream *stream)
{
	SourceStatus status = stream_fill(stream, CODEC_HEAD_MAX);

	if (status != SOURCE_OK)
		return status;
	if (!stream_is_on_map(stream))
		return stream_fail(stream, STREAM_CORRUPT);
	if (stream->left == 0)
		return stream_end(stream);
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

/* Decodes into that room; *made is set to how much of it has been filled. */
static SourceStatus
stream_decode(Stream *stream, unsigned char *out, size_t room, size_t *made)
{
	CodecBytes	bytes = {.out = out,.out_left = room};
	SourceStatus status = SOURCE_OK;
	CodecStatus result;
	size_t		in_before;

	*made = 0;
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
	*made = room - bytes.out_left;
	stream->position += (int64_t) *made;
	if (result == CODEC_MEMBER_END)
		result = stream_end_member(stream);
	/* Whoever takes nothing and returns nothing never will. */
	else if (result == CODEC_OK && in_before > 0 &&
			 bytes.in_left == in_before && *made == 0)
		result = CODEC_CORRUPT;
	return stream_codec_status(stream, result);
}

/* How much text there may be up to the next place of the map. */
static size_t
stream_limit(const Stream *stream, size_t room)
{
	int64_t		left;

	if (stream->map == NULL)
		return room;
	if (stream->place == stream->map->nplaces)
		return 0;
	left = stream->map->places[stream->place + 1].text -stream->position;
	return left < (int64_t) room ? (size_t) left : room;
}

/* Decodes what has no text left, as a member's checksum; text is a fault. */
static SourceStatus
stream_decode_rest(Stream *stream)
{
	unsigned char byte;
	size_t		made;
	SourceStatus status = stream_decode(stream, &byte, 1, &made);

	stream->position -= (int64_t) made;
	return made > 0 ? stream_fail(stream, STREAM_CORRUPT) : status;
}

/* Decodes more of the present member. */
static SourceStatus
stream_go_on(Stream *stream, unsigned char **out, size_t *room)
{
	size_t		limit = stream_limit(stream, *room);
	size_t		made = 0;
	SourceStatus status;

	if (!stream->is_inside)
		return stream_begin_member(stream);
	if (limit == 0)
		return stream_decode_rest(stream);
	status = stream_decode(stream, *out, limit, &made);
	*out += made;
	*room -= made;
	return status;
}

/*
 * Looks at the rest of the file.  Where the end of the text is known before it is
 * met, whoever has all text asks for no more.
 */
static SourceStatus
stream_read_rest(Stream *stream)
{
	unsigned char *out = NULL;
	size_t		room = 0;

	while (stream->status == SOURCE_OK && !stream->is_over)
		stream->status = stream_go_on(stream, &out, &room);
	return stream->status;
}

/* Reads the next bytes. */
static SourceStatus
stream_read_next(Stream *stream, unsigned char *out, size_t length, size_t *got)
{
	size_t		room = length;

	while (stream->status == SOURCE_OK && room > 0 &&
		   stream->position < stream->end)
		stream->status = stream_go_on(stream, &out, &room);
	*got = length - room;
	if (stream->position == stream->end &&
		stream_read_rest(stream) != SOURCE_OK)
		*got = 0;
	return *got > 0 ? SOURCE_OK : stream->status;
}

/* Copies text that is known; returns how many bytes. */
static size_t
stream_copy_known(const Stream *stream, void *buffer, size_t length,
				  int64_t offset)
{
	int64_t		from = offset - stream->known_from;

	if (from < 0 || from >= (int64_t) stream->known_length)
		return 0;
	if (length > stream->known_length - (size_t) from)
		length = stream->known_length - (size_t) from;
	memcpy(buffer, stream->known + from, length);
	return length;
}

SourceStatus
stream_read(Stream *stream, void *buffer, size_t length, int64_t offset,
			size_t *got)
{
	SourceStatus status = SOURCE_OK;

	size_t		place = stream->map == NULL ? 0 :
		members_before(stream->map, offset);

	*got = stream_copy_known(stream, buffer, length, offset);
	if (*got > 0)
		return SOURCE_OK;
	if (offset < stream->position ||
		(stream->map != NULL &&
		 stream->map->places[place].text >stream->position))
		stream_go(stream, place);
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
