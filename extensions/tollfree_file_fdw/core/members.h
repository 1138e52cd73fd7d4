/*
 * members.h
 *	  Where the members of a compressed file begin, in the file and in its text.
 *
 *		file	|  m0  |   m1   | m2 |     m3     |
 *		text	| 0 .. 900 .... 2000 .. 2400 ........ 4000 |
 *		places	  0,0			  2000			 4000, the end
 *
 * Some formats say how long a member and its text are without being decoded:
 * BGZF, and frames of zstd and lz4 that have the length of their text.  Where all
 * members of a file say so, its text can be read from any of these places, also
 * by several processes.
 *
 * What a member says may be wrong.  stream.c compares it with what is decoded.
 */
#ifndef CORE_MEMBERS_H
#define CORE_MEMBERS_H

#include "core/allocator.h"
#include "core/codec.h"
#include "core/source.h"

/* Where a member begins. */
typedef struct MemberPlace
{
	int64_t text;				/* offset in the text */
	int64_t		file;			/* offset in the file */
} MemberPlace;

/*
 * Places, at least some distance of text apart: a few members may lie between
 * two.  The first is 0, 0; behind the last are the ends of text and file.
 */
typedef struct MemberMap
{
	MemberPlace *places;		/* nplaces + 1 */
	size_t		nplaces;
	size_t		room;
} MemberMap;

typedef enum MembersStatus
{
	MEMBERS_FOUND,
	MEMBERS_UNKNOWN,			/* a member does not say how long it is, has
								 * too long a text, or is no member */
	MEMBERS_NO_MEMORY
} MembersStatus;

/*
 * May the file's members be found?  Looks at the first that has text: is another
 * one behind it?
 */
extern bool members_may_be_found(const Codec *codec, Source *source);

/*
 * Finds all members of a file: places at least so many bytes of text apart.  The
 * map is freed by the caller, if they are found.
 */
extern MembersStatus members_find(MemberMap *map, const Codec *codec,
								  Source *source, int64_t apart,
								  const Allocator *allocator);

extern void members_free(MemberMap *map, const Allocator *allocator);

/* The last place that is not behind an offset in the text. */
extern size_t members_before(const MemberMap *map, int64_t offset);

/* How far two places are apart at most, bytes of text. */
extern int64_t members_longest(const MemberMap *map);

/* How long the text is, bytes. */
static inline int64_t
members_text_length(const MemberMap *map)
{
	return map->places[map->nplaces].text;
}

#endif							/* CORE_MEMBERS_H */
