/*
 * codec_xz.c
 *	  xz, by liblzma.
 */
#include "core/codec.h"

static bool
xz_begins(const unsigned char *bytes, size_t length)
{
	return codec_agrees(bytes, length, "\xfd" "7zXZ", 6);
}

#ifdef HAVE_LIBLZMA
#include <stdlib.h>

#include <lzma.h>

typedef struct XzState
{
	lzma_stream stream;
	size_t		memory;			/* bytes, at most */
} XzState;

static void *
xz_open(size_t memory)
{
	const		lzma_stream empty = LZMA_STREAM_INIT;
	XzState    *state = malloc(sizeof(XzState));

	if (state == NULL)
		return NULL;
	state->stream = empty;
	state->memory = memory;
	return state;
}

static CodecStatus
xz_begin(void *any)
{
	XzState    *state = any;

	return lzma_stream_decoder(&state->stream, state->memory, 0) == LZMA_OK ?
		CODEC_OK : CODEC_NO_MEMORY;
}

static CodecStatus
xz_decode(void *any, CodecBytes *bytes)
{
	lzma_stream *stream = &((XzState *) any)->stream;
	lzma_ret	result;

	stream->next_in = bytes->in;
	stream->avail_in = bytes->in_left;
	stream->next_out = bytes->out;
	stream->avail_out = bytes->out_left;
	result = lzma_code(stream, LZMA_RUN);
	bytes->in = stream->next_in;
	bytes->in_left = stream->avail_in;
	bytes->out = stream->next_out;
	bytes->out_left = stream->avail_out;
	switch (result)
	{
		case LZMA_STREAM_END:
			return CODEC_MEMBER_END;
		case LZMA_OK:
		case LZMA_BUF_ERROR:	/* nothing could be done, for now */
			return CODEC_OK;
		case LZMA_MEM_ERROR:
			return CODEC_NO_MEMORY;
		case LZMA_MEMLIMIT_ERROR:
			return CODEC_TOO_LARGE;
		default:
			return CODEC_CORRUPT;
	}
}

static void
xz_close(void *any)
{
	lzma_end(&((XzState *) any)->stream);
	free(any);
}
#endif

const Codec xz_codec = {
	.name = "xz",
	.suffix = ".xz",
	.package = "liblzma-dev",
	.may_be_padded = true,
	.begins = xz_begins,
#ifdef HAVE_LIBLZMA
	.open = xz_open,
	.begin = xz_begin,
	.decode = xz_decode,
	.close = xz_close
#endif
};
