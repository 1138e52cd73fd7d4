/*
 * codec_zstd.c
 *	  zstd: frames, also skippable ones, by libzstd.
 */
#include "core/codec.h"

#define SKIPPABLE_MASK	0xf0

/* A frame's shortest header, with a checksum behind it or a skippable one's */
#define ZSTD_HEAD_MIN	8
#define ZSTD_BLOCK_HEAD 3

static bool
zstd_begins(const unsigned char *bytes, size_t length)
{
	const unsigned char skippable[] = {bytes[0] & SKIPPABLE_MASK, 0x2a, 0x4d, 0x18};

	return codec_agrees(bytes, length, "\x28\xb5\x2f\xfd", 4) ||
		(skippable[0] == 0x50 &&
		 codec_agrees(bytes + 1, length - 1, skippable + 1, 3));
}

#ifdef HAVE_LIBZSTD
#include <zstd.h>
#include <zstd_errors.h>

/* The longest window, by its logarithm, that fits into that memory */
static int
zstd_window_log(size_t memory)
{
	const		ZSTD_bounds bounds = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
	int			log = bounds.lowerBound;

	while (log < bounds.upperBound && ((size_t) 2 << log) <= memory)
		log++;
	return log;
}

static void *
zstd_open(size_t memory)
{
	ZSTD_DStream *stream = ZSTD_createDStream();

	if (stream != NULL)
		ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax,
							   zstd_window_log(memory));
	return stream;
}

static CodecStatus
zstd_begin(void *state)
{
	return ZSTD_isError(ZSTD_DCtx_reset(state, ZSTD_reset_session_only)) ?
		CODEC_NO_MEMORY : CODEC_OK;
}

static uint64_t
zstd_text_length(const unsigned char *bytes, size_t length)
{
	unsigned long long result = ZSTD_getFrameContentSize(bytes, length);

	/* Decoding says what is wrong with it. */
	return result == ZSTD_CONTENTSIZE_UNKNOWN ||
		result == ZSTD_CONTENTSIZE_ERROR ? CODEC_LENGTH_UNKNOWN : result;
}

/* How long a frame's header is: what its second part begins with says so. */
static int64_t
zstd_head_length(unsigned char descriptor)
{
	static const int dictionary[] = {0, 1, 2, 4};
	static const int content[] = {0, 2, 4, 8};
	bool		is_single = descriptor & 0x20;

	return 5 + !is_single + dictionary[descriptor & 3] +
		(is_single && descriptor >> 6 == 0 ? 1 : content[descriptor >> 6]);
}

/* How long a block is, with its head; 0 if there is none such. */
static int64_t
zstd_block_length(const unsigned char *head)
{
	int64_t		length = (int64_t) (codec_number(head, ZSTD_BLOCK_HEAD) >> 3);

	switch (head[0] >> 1 & 3)
	{
		case 0:					/* stored */
		case 2:					/* compressed */
			return ZSTD_BLOCK_HEAD + length;
		case 1:					/* one byte, many times */
			return ZSTD_BLOCK_HEAD + 1;
		default:
			return 0;
	}
}

/* A frame is a header, blocks, each with its length, and maybe a checksum. */
static bool
zstd_measure(Source *source, int64_t at, const unsigned char *head,
			 size_t length, MemberExtent *extent)
{
	unsigned char block[ZSTD_BLOCK_HEAD] = {0};
	int64_t		end = at;

	if (length < ZSTD_HEAD_MIN)
		return false;
	extent->text_length = 0;
	extent->length = 8 + (int64_t) codec_number(head + 4, 4);
	if (codec_number(head, 4) != ZSTD_MAGICNUMBER)
		return true;
	extent->text_length = zstd_text_length(head, length);
	if (extent->text_length > CODEC_TEXT_MAX)
		return false;
	end += zstd_head_length(head[4]);
	while (!(block[0] & 1))
	{
		if (source->size - end < ZSTD_BLOCK_HEAD ||
			source_read(source, block, ZSTD_BLOCK_HEAD, end) != SOURCE_OK ||
			zstd_block_length(block) == 0)
			return false;
		end += zstd_block_length(block);
	}
	extent->length = end - at + (head[4] & 4);
	return true;
}

static CodecStatus
zstd_failure(size_t result)
{
	switch (ZSTD_getErrorCode(result))
	{
		case ZSTD_error_frameParameter_windowTooLarge:
			return CODEC_TOO_LARGE;
		case ZSTD_error_memory_allocation:
			return CODEC_NO_MEMORY;
		default:
			return CODEC_CORRUPT;
	}
}

static CodecStatus
zstd_decode(void *state, CodecBytes *bytes)
{
	ZSTD_inBuffer in = {bytes->in, bytes->in_left, 0};
	ZSTD_outBuffer out = {bytes->out, bytes->out_left, 0};
	size_t		result = ZSTD_decompressStream(state, &out, &in);

	if (ZSTD_isError(result))
		return zstd_failure(result);
	bytes->in += in.pos;
	bytes->in_left -= in.pos;
	bytes->out += out.pos;
	bytes->out_left -= out.pos;
	return result == 0 ? CODEC_MEMBER_END : CODEC_OK;
}

static void
zstd_close(void *state)
{
	ZSTD_freeDStream(state);
}
#endif

const Codec zstd_codec = {
	.name = "zstd",
	.suffix = ".zst",
	.package = "libzstd-dev",
	.begins = zstd_begins,
#ifdef HAVE_LIBZSTD
	.open = zstd_open,
	.begin = zstd_begin,
	.text_length = zstd_text_length,
	.measure = zstd_measure,
	.decode = zstd_decode,
	.close = zstd_close
#endif
};
