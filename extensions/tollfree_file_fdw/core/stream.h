/*
 * stream.h
 *	  The text of a compressed file, read forward.
 *
 *		pread -> input -> codec -> the caller's buffer
 *
 *		|<---------- the file ---------->|
 *		| member | member | zeros        |
 *					   ^ at: what has been read of it
 *
 * Where a member ends, another one may begin, or the file ends.  Zeros behind
 * the last one are no data.  Anything else is a fault, as is a member that the
 * file does not have whole: what was decoded of it is returned before.
 *
 * Reading at another place than the next one decodes from the beginning, or
 * on up to there.  With a map of members it decodes from the last place before;
 * then it is a fault, too, if the text between two places is not as long as they
 * say, and nothing of a text is returned as the end of it unless all of the file
 * behind is sound.
 */
#ifndef CORE_STREAM_H
#define CORE_STREAM_H

#include "core/allocator.h"
#include "core/codec.h"
#include "core/members.h"
#include "core/source.h"

/* Read at once of a compressed file, bytes */
#define STREAM_INPUT	((size_t) 256 << 10)

typedef enum StreamFault
{
	STREAM_SOUND,
	STREAM_FOREIGN,				/* the file does not begin as such files do */
	STREAM_CORRUPT,
	STREAM_CUT,					/* the file ends before its last member does */
	STREAM_TRAILING,			/* something else is behind a member */
	STREAM_TOO_LARGE,			/* more memory is needed than may be taken */
	STREAM_NO_MEMORY
} StreamFault;

typedef struct Stream
{
	Allocator	allocator;
	const Codec *codec;
	void	   *state;			/* the codec's */
	Source		source;			/* the compressed file */
	int64_t		at;				/* offset of the next byte of it to read */
	unsigned char *input;
	size_t		input_size;
	const unsigned char *next;	/* of the input: what is to be decoded */
	size_t		left;
	bool		is_inside;		/* of a member? */
	bool		may_hold;		/* may the codec have text left to return? */
	bool		is_padded;		/* have zeros been passed over? */
	int64_t		nmembers;		/* that have been begun */
	int64_t		member_from;	/* offset in the text of the present one's */
	uint64_t	member_length;	/* of its text, or CODEC_LENGTH_UNKNOWN */
	const MemberMap *map;		/* NULL: where members begin is not known */
	size_t		place;			/* of the map: the last that has been passed */
	bool		is_over;		/* has the file been read to its end? */

	/* Text that somebody else has decoded; its length is 0 if there is none. */
	const unsigned char *known;
	int64_t		known_from;		/* its offset */
	size_t		known_length;	/* bytes */

	int64_t		position;		/* offset in the text of what is read next */
	int64_t		end;			/* the text's length, or INT64_MAX while it is
								 * unknown */
	SourceStatus status;		/* of the last read that failed */
	StreamFault fault;			/* if that is SOURCE_UNDECODABLE */
	int64_t		fault_at;		/* its offset in the file */
} Stream;

/*
 * Opens the text of a file that has been opened; the source is copied.  The
 * codec takes about so much memory at most.  False without memory.
 *
 * What the library takes is malloc's: the stream has to be closed whatever
 * happens, also if check_interrupts does not return.
 */
extern bool stream_open(Stream *stream, const Codec *codec, const Source *source,
						size_t memory, const Allocator *allocator);

/*
 * Has a stream know where members begin: the map lasts as long as the stream.  With
 * NULL it forgets that, and the end of the text.
 */
extern void stream_use_map(Stream *stream, const MemberMap *map);

/*
 * Reads up to length bytes of the text, from offset; fewer at its end only, or
 * before a fault, which the next call reports.
 */
extern SourceStatus stream_read(Stream *stream, void *buffer, size_t length,
								int64_t offset, size_t *got);

/* May be called again. */
extern void stream_close(Stream *stream);

/*
 * Reads up to length bytes of a source's text, from offset: the file's own
 * bytes, up to the size that it had, or its stream's.
 */
extern SourceStatus source_read_text(Source *source, void *buffer, size_t length,
									 int64_t offset, size_t *got);

/* The text's length, or INT64_MAX while it is unknown. */
static inline int64_t
source_text_end(const Source *source)
{
	return source->stream == NULL ? source->size : source->stream->end;
}

#endif							/* CORE_STREAM_H */
