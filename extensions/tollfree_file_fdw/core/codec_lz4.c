/*
 * codec_lz4.c
 *	  lz4: frames, also skippable ones, by liblz4.
 *
 * What `lz4 -l` writes, the format before frames, is not read.
 */
#include "core/codec.h"

#define SKIPPABLE_MASK	0xf0

#define LZ4_MAGIC		0x184d2204

/* The header of a skippable frame, and of one that has the length of its text */
#define SKIPPABLE_HEAD	8
#define LZ4_HEAD		15
#define LZ4_BLOCK_HEAD	4

/* Flags of a header */
#define LZ4_HAS_DICTIONARY	0x01
#define LZ4_CHECKS_TEXT		0x04
#define LZ4_HAS_LENGTH		0x08
#define LZ4_CHECKS_BLOCKS	0x10

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

/*
 * A frame is a header, blocks, each with its length, a zero for the end, and maybe
 * checksums.  The flags say what there is.
 */
static bool
lz4_measure(Source *source, int64_t at, const unsigned char *head,
			size_t length, MemberExtent *extent)
{
	unsigned char block[LZ4_BLOCK_HEAD];
	int64_t		end = at;
	int64_t		block_length;

	if (length < SKIPPABLE_HEAD)
		return false;
	extent->text_length = 0;
	extent->length = 8 + (int64_t) codec_number(head + 4, 4);
	if (codec_number(head, 4) != LZ4_MAGIC)
		return true;
	if (!(head[4] & LZ4_HAS_LENGTH) || length < LZ4_HEAD)
		return false;
	extent->text_length = codec_number(head + 6, 8);
	end += LZ4_HEAD + (head[4] & LZ4_HAS_DICTIONARY ? 4 : 0);
	do
	{
		if (source->size - end < LZ4_BLOCK_HEAD ||
			source_read(source, block, LZ4_BLOCK_HEAD, end) != SOURCE_OK)
			return false;
		block_length = (int64_t) codec_number(block, 4) & INT32_MAX;
		end += LZ4_BLOCK_HEAD + block_length +
			(block_length > 0 && head[4] & LZ4_CHECKS_BLOCKS ? 4 : 0);
	} while (block_length > 0);
	extent->length = end - at + (head[4] & LZ4_CHECKS_TEXT ? 4 : 0);
	return true;
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
	.measure = lz4_measure,
	.decode = lz4_decode,
	.close = lz4_close
#endif
};
