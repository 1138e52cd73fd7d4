/*
 * codec_gzip.c
 *	  gzip, by ISA-L or zlib.
 *
 * BGZF, as bgzip writes it, is gzip in many members.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/codec.h"

/* Behind a member's text: its checksum and its length, 4 bytes each */
#define GZIP_TRAILER_SIZE	8

static bool
gzip_begins(const unsigned char *bytes, size_t length)
{
	return codec_agrees(bytes, length, "\x1f\x8b", 2);
}

#if defined(HAVE_LIBISAL)
#include <isa-l/igzip_lib.h>

/*
 * The longest copy of earlier text.  At a fault ISA-L may have counted one that it has
 * not made: what its bytes are then was never decoded.
 */
#define MATCH_MAX	258

static void *
gzip_open(size_t memory)
{
	(void) memory;				/* it needs some 100 kB */
	return malloc(sizeof(struct inflate_state));
}

static CodecStatus
gzip_begin(void *state)
{
	struct inflate_state *inflate = state;

	isal_inflate_init(inflate);
	inflate->crc_flag = ISAL_GZIP;
	return CODEC_OK;
}

static uint32_t
gzip_limit(size_t length)
{
	return length < INT_MAX ? (uint32_t) length : INT_MAX;
}

static CodecStatus
gzip_decode(void *state, CodecBytes *bytes)
{
	struct inflate_state *inflate = state;
	uint32_t	in = gzip_limit(bytes->in_left);
	uint32_t	out = gzip_limit(bytes->out_left);
	uint32_t	made;
	int			result;

	inflate->next_in = (uint8_t *) bytes->in;
	inflate->avail_in = in;
	inflate->next_out = bytes->out;
	inflate->avail_out = out;
	result = isal_inflate(inflate);

	/* At a fault it may have counted more bytes than there are. */
	if (inflate->avail_in > in)
		inflate->avail_in = 0;
	bytes->in += in - inflate->avail_in;
	bytes->in_left -= in - inflate->avail_in;

	made = out - inflate->avail_out;
	if (result < 0 && result != ISAL_INCORRECT_CHECKSUM)
		made = made > MATCH_MAX ? made - MATCH_MAX : 0;
	bytes->out += made;
	bytes->out_left -= made;
	if (result < 0)
		return CODEC_CORRUPT;
	return inflate->block_state == ISAL_BLOCK_FINISH ?
		CODEC_MEMBER_END : CODEC_OK;
}

static void
gzip_close(void *state)
{
	free(state);
}

#elif defined(HAVE_ZLIB)
#include <zlib.h>

/* With a header and a trailer as gzip's */
#define GZIP_WINDOW_BITS	(16 + MAX_WBITS)

static void *
gzip_open(size_t memory)
{
	z_stream   *stream = calloc(1, sizeof(z_stream));

	(void) memory;				/* it needs some 50 kB */
	if (stream != NULL && inflateInit2(stream, GZIP_WINDOW_BITS) == Z_OK)
		return stream;
	free(stream);
	return NULL;
}

static CodecStatus
gzip_begin(void *state)
{
	return inflateReset(state) == Z_OK ? CODEC_OK : CODEC_NO_MEMORY;
}

static uInt
gzip_limit(size_t length)
{
	return length < INT_MAX ? (uInt) length : INT_MAX;
}

static CodecStatus
gzip_decode(void *state, CodecBytes *bytes)
{
	z_stream   *stream = state;
	uInt		in = gzip_limit(bytes->in_left);
	uInt		out = gzip_limit(bytes->out_left);
	int			result;

	stream->next_in = (Bytef *) bytes->in;
	stream->avail_in = in;
	stream->next_out = bytes->out;
	stream->avail_out = out;
	result = inflate(stream, Z_NO_FLUSH);
	bytes->in = stream->next_in;
	bytes->in_left -= in - stream->avail_in;
	bytes->out = stream->next_out;
	bytes->out_left -= out - stream->avail_out;
	switch (result)
	{
		case Z_STREAM_END:
			return CODEC_MEMBER_END;
		case Z_OK:
		case Z_BUF_ERROR:		/* nothing could be done, for now */
			return CODEC_OK;
		case Z_MEM_ERROR:
			return CODEC_NO_MEMORY;
		default:
			return CODEC_CORRUPT;
	}
}

static void
gzip_close(void *state)
{
	inflateEnd(state);
	free(state);
}
#endif

#if defined(HAVE_LIBISAL) || defined(HAVE_ZLIB)
/*
 * Only BGZF's members say how long they are: by an extra field of the header, the
 * only one, with the length less one.
 */
static bool
gzip_measure(Source *source, int64_t at, const unsigned char *head,
			 size_t length, MemberExtent *extent)
{
	unsigned char text_length[4];

	if (length < CODEC_HEAD_MAX || memcmp(head + 2, "\x08\x04", 2) != 0 ||
		memcmp(head + 10, "\x06\x00" "BC" "\x02\x00", 6) != 0)
		return false;
	extent->length = (int64_t) codec_number(head + 16, 2) + 1;
	if (extent->length < CODEC_HEAD_MAX + GZIP_TRAILER_SIZE ||
		extent->length > source->size - at ||
		source_read(source, text_length, sizeof(text_length),
					at + extent->length - 4) != SOURCE_OK)
		return false;
	extent->text_length = codec_number(text_length, 4);
	return true;
}
#endif

const Codec gzip_codec = {
	.name = "gzip",
	.suffix = ".gz",
	.package = "libisal-dev or zlib1g-dev",
	.begins = gzip_begins,
#if defined(HAVE_LIBISAL) || defined(HAVE_ZLIB)
	.open = gzip_open,
	.begin = gzip_begin,
	.measure = gzip_measure,
	.decode = gzip_decode,
	.close = gzip_close
#endif
};
