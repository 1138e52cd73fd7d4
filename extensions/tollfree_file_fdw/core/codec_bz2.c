/*
 * codec_bz2.c
 *	  bzip2, by libbz2.
 */
#include "core/codec.h"

static bool
bz2_begins(const unsigned char *bytes, size_t length)
{
	return codec_agrees(bytes, length, "BZh", 3);
}

#ifdef HAVE_BZLIB
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <bzlib.h>

/* The library's state is begun anew for each member. */
typedef struct Bz2State
{
	bz_stream	stream;
	bool		is_begun;
} Bz2State;

static void *
bz2_open(size_t memory)
{
	(void) memory;				/* it needs some 4 MB */
	return calloc(1, sizeof(Bz2State));
}

static void
bz2_end(Bz2State *state)
{
	if (state->is_begun)
		BZ2_bzDecompressEnd(&state->stream);
	state->is_begun = false;
}

static CodecStatus
bz2_begin(void *any)
{
	Bz2State   *state = any;

	bz2_end(state);
	state->is_begun = BZ2_bzDecompressInit(&state->stream, 0, 0) == BZ_OK;
	return state->is_begun ? CODEC_OK : CODEC_NO_MEMORY;
}

static unsigned int
bz2_limit(size_t length)
{
	return length < INT_MAX ? (unsigned int) length : INT_MAX;
}

static CodecStatus
bz2_decode(void *any, CodecBytes *bytes)
{
	bz_stream  *stream = &((Bz2State *) any)->stream;
	unsigned int in = bz2_limit(bytes->in_left);
	unsigned int out = bz2_limit(bytes->out_left);
	int			result;

	stream->next_in = (char *) bytes->in;
	stream->avail_in = in;
	stream->next_out = (char *) bytes->out;
	stream->avail_out = out;
	result = BZ2_bzDecompress(stream);
	bytes->in += in - stream->avail_in;
	bytes->in_left -= in - stream->avail_in;
	bytes->out += out - stream->avail_out;
	bytes->out_left -= out - stream->avail_out;
	switch (result)
	{
		case BZ_STREAM_END:
			return CODEC_MEMBER_END;
		case BZ_OK:
			return CODEC_OK;
		case BZ_MEM_ERROR:
			return CODEC_NO_MEMORY;
		default:
			return CODEC_CORRUPT;
	}
}

static void
bz2_close(void *state)
{
	bz2_end(state);
	free(state);
}
#endif

const Codec bz2_codec = {
	.name = "bz2",
	.suffix = ".bz2",
	.package = "libbz2-dev",
	.begins = bz2_begins,
#ifdef HAVE_BZLIB
	.open = bz2_open,
	.begin = bz2_begin,
	.decode = bz2_decode,
	.close = bz2_close
#endif
};
