/*
 * test_members.c
 *	  Texts in many members that say how long they are: read from any place, by
 *	  pieces, with every bit wrong.
 *
 * Codecs whose library the build lacks are left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/stream.h"
#include "core/test/file.h"
#include "core/test/memory.h"
#include "core/test/stored.h"
#include "core/test/tap.h"

#define MEMORY ((size_t) 64 << 20)
#define TEXT_MAX 4096
#define FILE_MAX (16 * TEXT_MAX)

/* A text, and the file that it is compressed to. */
typedef struct Sample
{
	const Codec *codec;
	size_t		length;
	size_t		size;
	unsigned char text[TEXT_MAX];
	unsigned char file[FILE_MAX];
} Sample;

/* What a way to read it comes to. */
typedef struct Outcome
{
	bool		is_sound;
	size_t		length;
	unsigned char text[2 * TEXT_MAX];
} Outcome;

static Sample sample;
static Outcome whole;
static Outcome pieces;

static unsigned char *
write_member(unsigned char *to, const Codec *codec, const void *bytes,
			 size_t length)
{
	return codec == &gzip_codec ? stored_write_sized(to, bytes, length) :
		stored_write_frame(to, bytes, length);
}

/* Makes random text, cut into members anywhere; some are empty. */
static void
make_sample(TestRandom *random, const Codec *codec, unsigned longest)
{
	unsigned char *to = sample.file;
	size_t		total = 1 + test_random_below(random, TEXT_MAX - 1);

	sample.codec = codec;
	for (size_t i = 0; i < total; i++)
		sample.text[i] = (unsigned char) test_random(random);

	for (sample.length = 0; sample.length < total;)
	{
		size_t		part = test_random_below(random, longest + 1);

		if (part > total - sample.length)
			part = total - sample.length;
		to = write_member(to, codec, sample.text +sample.length, part);
		sample.length += part;
		if (to + 2 * longest + 200 > sample.file + FILE_MAX)
			break;
	}
	if (test_random_below(random, 2) == 0)
		to = write_member(to, codec, "", 0);
	sample.size = (size_t) (to - sample.file);
}

static void
open_sample(Source *source, Stream *stream, const Allocator *allocator)
{
	int			fd = test_file(sample.file, sample.size);

	if (source_open(source, fd) != SOURCE_OK ||
		!stream_open(stream, sample.codec, source, MEMORY, allocator))
		abort();
}

/* Reads up to some offset; false at a fault. */
static bool
read_up_to(Stream *stream, Outcome *outcome, int64_t to, size_t piece)
{
	size_t		got = 1;

	while ((int64_t) outcome->length < to && got > 0)
	{
		size_t		length = (size_t) (to - (int64_t) outcome->length);

		if (stream_read(stream, outcome->text +outcome->length,
						length < piece ? length : piece,
						(int64_t) outcome->length, &got) != SOURCE_OK)
			return false;
		outcome->length += got;
	}
	return true;
}

/* Reads all of it, without a map. */
static void
read_whole(void)
{
	TestMemory	memory;
	Allocator	allocator = test_memory_allocator(&memory);
	Source		source;
	Stream		stream;

	open_sample(&source, &stream, &allocator);
	whole.length = 0;
	whole.is_sound = read_up_to(&stream, &whole, sizeof(whole.text), 100);
	stream_close(&stream);
	close(source.fd);
}

/* Reads one byte behind a piece, or to the end, as it is done to check the piece. */
static bool
read_piece(const MemberMap *map, size_t place, size_t piece)
{
	TestMemory	memory;
	Allocator	allocator = test_memory_allocator(&memory);
	int64_t		end = members_text_length(map);
	int64_t		to = map->places[place + 1].text +1;
	bool		is_sound;
	Source		source;
	Stream		stream;

	open_sample(&source, &stream, &allocator);
	stream_use_map(&stream, map);
	pieces.length = (size_t) map->places[place].text;
	is_sound = read_up_to(&stream, &pieces, to < end ? to : end, piece);
	/* An empty piece at the end has no byte to be read. */
	if (is_sound && map->places[place].text == end)
	{
		unsigned char byte;
		size_t		got;

		is_sound = stream_read(&stream, &byte, 1, end, &got) == SOURCE_OK && got == 0;
	}
	stream_close(&stream);
	close(source.fd);
	TEST_EQUAL(memory.held, 0, "all memory is given back");
	return is_sound;
}

/* Reads it by its map, each piece for itself; false if it has none. */
static bool
read_pieces(int64_t apart, size_t piece)
{
	TestMemory	memory;
	Allocator	allocator = test_memory_allocator(&memory);
	int			fd = test_file(sample.file, sample.size);
	Source		source;
	MemberMap	map;
	MembersStatus status;

	if (source_open(&source, fd) != SOURCE_OK)
		abort();
	status = members_find(&map, sample.codec, &source, apart, &allocator);
	close(fd);
	if (status != MEMBERS_FOUND || members_text_length(&map) > TEXT_MAX)
	{
		if (status == MEMBERS_FOUND)
			members_free(&map, &allocator);
		return false;
	}
	pieces.is_sound = true;
	TEST_OK(members_longest(&map) <= members_text_length(&map) &&
			members_longest(&map) * (int64_t) map.nplaces >= members_text_length(&map),
			"how far places are apart");
	for (size_t i = 0; i < map.nplaces && pieces.is_sound; i++)
		pieces.is_sound = read_piece(&map, i, piece);
	pieces.length = (size_t) members_text_length(&map);
	members_free(&map, &allocator);
	TEST_EQUAL(memory.held, 0, "the map's memory is given back");
	return true;
}

static void
test_random_samples(const Codec *codec)
{
	TestRandom	random = {3};

	for (int i = 0; i < 300; i++)
	{
		int64_t		apart = 1 + test_random_below(&random, 1000);
		size_t		piece = 1 + test_random_below(&random, 2000);

		make_sample(&random, codec, test_random_below(&random, 10) == 0 ? 4000 : 200);
		if (!TEST_OK(read_pieces(apart, piece), "%s: sample %d: a map", codec->name, i))
			continue;
		TEST_OK(pieces.is_sound && pieces.length == sample.length &&
				memcmp(pieces.text, sample.text, sample.length) == 0,
				"%s: sample %d by pieces", codec->name, i);
	}
}

/*
 * With wrong bits: where there is a map, either a piece is at fault, or all of them
 * are what the whole is.
 */
static void
test_wrong_samples(const Codec *codec)
{
	TestRandom	random = {4};
	int			nmaps = 0;

	for (int i = 0; i < 6000; i++)
	{
		int64_t		apart = 1 + test_random_below(&random, 100);
		unsigned	n = test_random_below(&random, 2);

		if (i % 20 == 0)
			make_sample(&random, codec, 60);
		for (unsigned k = 0; k <= n; k++)
			sample.file[test_random_below(&random, (unsigned) sample.size)] ^=
				(unsigned char) (1 << test_random_below(&random, 8));
		if (!read_pieces(apart, 64))
			continue;
		nmaps++;
		if (!pieces.is_sound)
			continue;
		read_whole();
		TEST_OK(whole.is_sound && whole.length == pieces.length &&
				memcmp(whole.text, pieces.text, pieces.length) == 0,
				"%s: wrong bits, %d", codec->name, i);
	}
	TEST_OK(nmaps > 100, "%s: %d maps of wrong files", codec->name, nmaps);
}

/* A member of BGZF, whose text is shorter or longer than it says. */
static void
test_lies(void)
{
	unsigned char *to = stored_write_sized(sample.file, "abcdef", 6);

	sample.codec = &gzip_codec;
	sample.size = (size_t) (stored_write_sized(to, "ghi", 3) - sample.file);
	for (int length = 0; length < 20; length++)
	{
		to[-4] = (unsigned char) length;
		TEST_OK(read_pieces(1, 5) && pieces.is_sound == (length == 6),
				"a text of 6 bytes that says %d", length);
	}
}

static void
test_unknown(void)
{
	sample.codec = &gzip_codec;
	sample.size = (size_t) (stored_write(sample.file, "abc", 3) - sample.file);
	TEST_OK(!read_pieces(1, 5), "gzip's own members do not say how long they are");
	sample.size = (size_t) (stored_write_sized(sample.file, "abc", 3) - sample.file);
	sample.file[sample.size++] = 0;
	TEST_OK(!read_pieces(1, 5), "a zero behind the last member");
	sample.size -= 2;
	TEST_OK(!read_pieces(1, 5), "the last member is cut");
}

int
main(void)
{
	const Codec *codecs[] = {&gzip_codec, &zstd_codec};

	for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++)
	{
		if (!codec_is_built(codecs[i]))
		{
			test_skip(codecs[i]->package);
			continue;
		}
		test_random_samples(codecs[i]);
		test_wrong_samples(codecs[i]);
	}
	if (codec_is_built(&gzip_codec))
	{
		test_lies();
		test_unknown();
	}
	return test_done();
}
