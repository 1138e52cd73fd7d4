/*
 * text_word.h
 *	  The first bytes of a text as a number, for comparing many at once.
 */
#ifndef CORE_TEXT_WORD_H
#define CORE_TEXT_WORD_H

#include <stdint.h>
#include <string.h>

#define TEXT_WORD_SIZE	8		/* bytes */

/* Converts to little-endian. */
static inline uint64_t
text_word_order(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap64(word);
#else
	return word;
#endif
}

/*
 * Returns the first eight bytes, the first of them lowest, with zeros behind
 * the last.  Nothing after the text is read: 5 bytes are two overlapping loads
 * of bytes 0-3 and 1-4, 3 bytes are loaded one by one.
 */
static inline uint64_t
text_word(const unsigned char *bytes, uint32_t length)
{
	uint64_t	word;
	uint32_t	low;
	uint32_t	high;

	if (length >= TEXT_WORD_SIZE)
	{
		memcpy(&word, bytes, sizeof(word));
		return text_word_order(word);
	}
	if (length >= sizeof(low))
	{
		memcpy(&low, bytes, sizeof(low));
		memcpy(&high, bytes + length - sizeof(high), sizeof(high));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		low = __builtin_bswap32(low);
		high = __builtin_bswap32(high);
#endif
		return low | (uint64_t) high << (8 * (length - sizeof(high)));
	}
	if (length == 0)
		return 0;
	word = bytes[0];
	if (length > 1)
		word |= (uint64_t) bytes[length / 2] << (8 * (length / 2)) |
			(uint64_t) bytes[length - 1] << (8 * (length - 1));
	return word;
}

#endif							/* CORE_TEXT_WORD_H */
