/*
 * codec_lz4.c
 *	  lz4: frames, also skippable ones, by liblz4.
 *
 * What `lz4 -l` writes, the format before frames, is not read.
 */
#include "core/codec.h"

#define SKIPPABLE_MASK	0xf0

static bool
lz4_begins(const unsigned char *bytes, size_t length)
{
	return codec_agrees(bytes, length, "\x04\x22\x4d\x18", 4) ||
		((bytes[0] & SKIPPABLE_MASK) == 0x50 &&
		 codec_agrees(bytes + 1, length - 1, "\x2a\x4d\x18", 3));
}

#ifdef HAVE_LIBLZ4
#include <lz4frame.h>

static void *
lz4_open(size_t memory)
{
	LZ4F_dctx  *context;

	(void) memory;				/* it needs some 8 MB */
	return LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) ?
		NULL : context;
}

static CodecStatus
lz4_begin(void *state)
{
	LZ4F_resetDecompressionContext(state);
	return CODEC_OK;
}

static CodecStatus
lz4_decode(void *state, CodecBytes *bytes)
{
	size_t		in = bytes->in_left;
	size_t		out = bytes->out_left;
	size_t		result = LZ4F_decompress(state, bytes->out, &out, bytes->in, &in,
										 NULL);

	if (LZ4F_isError(result))
		return CODEC_CORRUPT;
	bytes->in += in;
	bytes->in_left -= in;
	bytes->out += out;
	bytes->out_left -= out;
	return result == 0 ? CODEC_MEMBER_END : CODEC_OK;
}

static void
lz4_close(void *state)
{
	LZ4F_freeDecompressionContext(state);
}
#endif

const Codec lz4_codec = {
	.name = "lz4",
	.suffix = ".lz4",
	.package = "liblz4-dev",
	.begins = lz4_begins,
#ifdef HAVE_LIBLZ4
	.open = lz4_open,
	.begin = lz4_begin,
	.decode = lz4_decode,
	.close = lz4_close
#endif
};
