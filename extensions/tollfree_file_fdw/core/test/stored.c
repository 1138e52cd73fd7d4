/*
 * stored.c
 *	  gzip and zstd as a test can write them without a library: blocks that are
 *	  stored.
 *
 *		header	| last? length ~length bytes | ... | CRC-32, length
 *		10		| 1		2	   2			 |	   | 4		 4
 */
#include <string.h>

#include "core/test/stored.h"

#define HEADER_SIZE	10
#define TRAILER_SIZE	8
#define EXTRA_SIZE	8
#define BLOCK_HEAD	5
#define BLOCK_MAX	0xffff

static const unsigned char header[HEADER_SIZE] = {0x1f, 0x8b, 8};

static unsigned char *
put(unsigned char *to, uint32_t value, int nbytes)
{
	for (int i = 0; i < nbytes; i++)
		*to++ = (unsigned char) (value >> (8 * i));
	return to;
}

static uint32_t
crc_of(const unsigned char *bytes, size_t length)
{
	uint32_t	crc = UINT32_MAX;

	for (size_t i = 0; i < length; i++)
	{
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
	}
	return ~crc;
}

size_t
stored_size(size_t length)
{
	return HEADER_SIZE + length + (length / BLOCK_MAX + 1) * BLOCK_HEAD + TRAILER_SIZE;
}

/* Writes what is behind a member's header. */
static unsigned char *
put_blocks(unsigned char *to, const void *bytes, size_t length)
{
	const unsigned char *from = bytes;
	size_t		left = length;

	for (;;)
	{
		size_t		part = left < BLOCK_MAX ? left : BLOCK_MAX;

		*to++ = left < BLOCK_MAX;
		to = put(to, (uint32_t) part, 2);
		to = put(to, ~(uint32_t) part, 2);
		memcpy(to, from, part);
		to += part;
		from += part;
		left -= part;
		if (part < BLOCK_MAX)
			break;
	}
	to = put(to, crc_of(bytes, length), 4);
	return put(to, (uint32_t) length, 4);
}

unsigned char *
stored_write(unsigned char *to, const void *bytes, size_t length)
{
	memcpy(to, header, HEADER_SIZE);
	return put_blocks(to + HEADER_SIZE, bytes, length);
}

unsigned char *
stored_write_sized(unsigned char *to, const void *bytes, size_t length)
{
	unsigned char *extra = to + HEADER_SIZE;
	unsigned char *end = put_blocks(extra + EXTRA_SIZE, bytes, length);

	memcpy(to, header, HEADER_SIZE);
	to[3] = 4;					/* there is an extra field */
	memcpy(extra, "\x06\x00" "BC" "\x02\x00", EXTRA_SIZE - 2);
	put(extra + EXTRA_SIZE - 2, (uint32_t) (end - to - 1), 2);
	return end;
}

unsigned char *
stored_write_frame(unsigned char *to, const void *bytes, size_t length)
{
	const unsigned char *from = bytes;
	size_t		first = length / 2;

	memcpy(to, "\x28\xb5\x2f\xfd\xa0", 5);
	to = put(to + 5, (uint32_t) length, 4);
	to = put(to, (uint32_t) first << 3, 3);
	memcpy(to, from, first);
	to = put(to + first, (uint32_t) (length - first) << 3 | 1, 3);
	memcpy(to, from + first, length - first);
	return to + length - first;
}
