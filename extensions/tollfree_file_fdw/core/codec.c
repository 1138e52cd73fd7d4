/*
 * codec.c
 *	  The ways in which a file may be compressed.
 */
#include <string.h>
#include <strings.h>

#include "core/codec.h"

static const Codec *const codecs[COMPRESSION_KINDS] = {
	[COMPRESSION_GZIP] = &gzip_codec,
	[COMPRESSION_ZSTD] = &zstd_codec,
	[COMPRESSION_LZ4] = &lz4_codec,
	[COMPRESSION_BZ2] = &bz2_codec,
	[COMPRESSION_XZ] = &xz_codec
};

const Codec *
codec_of(FileCompression compression)
{
	return codecs[compression];
}

bool
codec_is_built(const Codec *codec)
{
	return codec->open != NULL;
}

FileCompression
codec_by_suffix(const char *filename)
{
	size_t		length = strlen(filename);

	for (int i = COMPRESSION_NONE + 1; i < COMPRESSION_KINDS; i++)
	{
		size_t		n = strlen(codecs[i]->suffix);

		if (length > n &&
			strcasecmp(filename + length - n, codecs[i]->suffix) == 0)
			return (FileCompression) i;
	}
	return COMPRESSION_NONE;
}

uint64_t
codec_number(const unsigned char *bytes, int length)
{
	uint64_t	number = 0;

	while (length-- > 0)
		number = number << 8 | bytes[length];
	return number;
}

bool
codec_agrees(const unsigned char *bytes, size_t length, const void *magic,
			 size_t magic_length)
{
	return memcmp(bytes, magic,
				  length < magic_length ? length : magic_length) == 0;
}
