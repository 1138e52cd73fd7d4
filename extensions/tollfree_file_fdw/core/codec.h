/*
 * codec.h
 *	  The ways in which a file may be compressed.
 *
 * A compressed file is one or more members (gzip's word; frames of zstd and
 * lz4, streams of bzip2 and xz), one after the other.  A codec decodes one
 * member; stream.c finds where members begin and where the file ends.
 *
 * The libraries are those that the build has found.  Their memory, and so a
 * codec's state, is malloc's: it has to be closed whatever happens.
 */
#ifndef CORE_CODEC_H
#define CORE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/source.h"

typedef enum FileCompression
{
	COMPRESSION_NONE,
	COMPRESSION_GZIP,
	COMPRESSION_ZSTD,
	COMPRESSION_LZ4,
	COMPRESSION_BZ2,
	COMPRESSION_XZ
} FileCompression;

#define COMPRESSION_KINDS	(COMPRESSION_XZ + 1)

/* Of a member's beginning a codec looks at so many bytes at most */
#define CODEC_HEAD_MAX	18
#define CODEC_LENGTH_UNKNOWN	UINT64_MAX

typedef enum CodecStatus
{
	CODEC_OK,					/* more input or more room is needed */
	CODEC_MEMBER_END,			/* all of a member has been decoded, and
								 * checked */
	CODEC_CORRUPT,
	CODEC_TOO_LARGE,			/* it needs more memory than it may take */
	CODEC_NO_MEMORY
} CodecStatus;

/* Advanced by what was taken and made. */
typedef struct CodecBytes
{
	const unsigned char *in;
	size_t		in_left;
	unsigned char *out;
	size_t		out_left;
} CodecBytes;

/* The longest text of a member that is measured, bytes */
#define CODEC_TEXT_MAX	((uint64_t) 64 << 20)

/* What a member says of itself. */
typedef struct MemberExtent
{
	int64_t		length;			/* bytes of the file */
	uint64_t	text_length;	/* bytes of the text */
} MemberExtent;

typedef struct Codec
{
	const char *name;			/* as the option "compression" has it */
	const char *suffix;			/* of files' names */
	const char *package;		/* Debian's, that is built with */
	bool		may_be_padded;	/* may zeros separate members? */

	/* May these first bytes, fewer at the file's end, begin a member? */
	bool		(*begins) (const unsigned char *bytes, size_t length);

	/*
	 * A state that takes about so many bytes of memory at most; NULL without
	 * memory.  The pointer is NULL in a build without the library, as are the
	 * next.
	 */
	void	   *(*open) (size_t memory);

	/* A member begins. */
	CodecStatus (*begin) (void *state);

	/*
	 * The length of a member's text as these first bytes have it, or
	 * CODEC_LENGTH_UNKNOWN.  NULL where the library compares it itself,
	 * always.
	 */
	uint64_t	(*text_length) (const unsigned char *bytes, size_t length);

	/*
	 * Measures the member at an offset of the file, whose first bytes are
	 * given; false if it does not say how long it is, or cannot be read. NULL
	 * if none of them says so.
	 */
	bool		(*measure) (Source *source, int64_t at, const unsigned char *head,
							size_t length, MemberExtent *extent);
	CodecStatus (*decode) (void *state, CodecBytes *bytes);
	void		(*close) (void *state);
} Codec;

extern const Codec gzip_codec;
extern const Codec zstd_codec;
extern const Codec lz4_codec;
extern const Codec bz2_codec;
extern const Codec xz_codec;

/* NULL for COMPRESSION_NONE. */
extern const Codec *codec_of(FileCompression compression);

/* Is the library here that the codec needs? */
extern bool codec_is_built(const Codec *codec);

/* The compression whose suffix the name of a file has, in any case. */
extern FileCompression codec_by_suffix(const char *filename);

/* The number in that many bytes, the lowest first. */
extern uint64_t codec_number(const unsigned char *bytes, int length);

/* Are two runs of bytes the same as far as both reach? */
extern bool codec_agrees(const unsigned char *bytes, size_t length,
						 const void *magic, size_t magic_length);

#endif							/* CORE_CODEC_H */
