/*
 * members.c
 *	  Where the members of a compressed file begin, in the file and in its text.
 */
#include <string.h>

#include "core/members.h"

#define PLACES_FIRST 64

/* Reads what the member at an offset says of itself; false if it is not enough. */
static bool
members_measure(const Codec *codec, Source *source, int64_t at,
				MemberExtent *extent)
{
	unsigned char head[CODEC_HEAD_MAX] = {0};
	int64_t		left = source->size - at;
	size_t		length = left < CODEC_HEAD_MAX ? (size_t) left : CODEC_HEAD_MAX;

	return codec->measure != NULL &&
		source_read(source, head, length, at) == SOURCE_OK &&
		codec->begins(head, length) &&
		codec->measure(source, at, head, length, extent) &&
		extent->length > 0 && extent->length <= left &&
		extent->text_length <= CODEC_TEXT_MAX;
}

bool
members_may_be_found(const Codec *codec, Source *source)
{
	MemberExtent extent = {0};
	int64_t		at = 0;

	while (at < source->size && extent.text_length == 0)
	{
		if (!members_measure(codec, source, at, &extent))
			return false;
		at += extent.length;
	}
	return at < source->size;
}

/* Adds a place; false without memory. */
static bool
members_add(MemberMap *map, const MemberPlace *place, const Allocator *allocator)
{
	if (map->nplaces == map->room)
	{
		size_t		room = map->room == 0 ? PLACES_FIRST : 2 * map->room;
		MemberPlace *places = allocator->resize(allocator->context, map->places,
												map->room * sizeof(MemberPlace),
												room * sizeof(MemberPlace));

		if (places == NULL)
			return false;
		map->places = places;
		map->room = room;
	}
	map->places[map->nplaces++] = *place;
	return true;
}

/* Adds the places of all members, and the ends. */
static MembersStatus
members_add_all(MemberMap *map, const Codec *codec, Source *source,
				int64_t apart, const Allocator *allocator)
{
	MemberPlace at = {0};
	MemberExtent extent;

	while (at.file < source->size)
	{
		if ((map->nplaces == 0 ||
			 at.text -map->places[map->nplaces - 1].text >=apart) &&
			!members_add(map, &at, allocator))
			return MEMBERS_NO_MEMORY;
		if (!members_measure(codec, source, at.file, &extent))
			return MEMBERS_UNKNOWN;
		at.file += extent.length;
		at.text +=(int64_t) extent.text_length;
	}
	if (map->nplaces == 0)
		return MEMBERS_UNKNOWN;
	if (!members_add(map, &at, allocator))
		return MEMBERS_NO_MEMORY;
	map->nplaces--;
	return MEMBERS_FOUND;
}

MembersStatus
members_find(MemberMap *map, const Codec *codec, Source *source,
			 int64_t apart, const Allocator *allocator)
{
	MembersStatus status;

	memset(map, 0, sizeof(*map));
	status = members_add_all(map, codec, source, apart, allocator);
	if (status != MEMBERS_FOUND)
		members_free(map, allocator);
	return status;
}

void
members_free(MemberMap *map, const Allocator *allocator)
{
	allocator_free(allocator, map->places, map->room * sizeof(MemberPlace));
	memset(map, 0, sizeof(*map));
}

int64_t
members_longest(const MemberMap *map)
{
	int64_t		longest = 0;

	for (size_t i = 0; i < map->nplaces; i++)
	{
		int64_t		length = map->places[i + 1].text -map->places[i].text;

		if (length > longest)
			longest = length;
	}
	return longest;
}

size_t
members_before(const MemberMap *map, int64_t offset)
{
	size_t		low = 0;
	size_t		high = map->nplaces - 1;

	while (low < high)
	{
		size_t		middle = high - (high - low) / 2;

		if (map->places[middle].text <=offset)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}
