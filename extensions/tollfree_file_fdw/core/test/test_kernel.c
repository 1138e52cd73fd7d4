/*
 * test_kernel.c
 *	  Every kernel against the scalar one: random bytes of the kinds that
 *	  matter, every length and alignment around blocks, all rules; and the
 *	  scalar one against what it is to find in a few texts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/simd/kernels.h"
#include "core/test/tap.h"

#define ROUNDS			3000
#define LENGTH_MAX		700
#define POSITIONS		(LENGTH_MAX + KERNEL_BLOCK)

/* Room for the structure of LENGTH_MAX bytes. */
typedef struct Room
{
	uint32_t	positions[POSITIONS + KERNEL_BLOCK];
	uint32_t	ends[POSITIONS + KERNEL_BLOCK];
	Structure	structure;
} Room;

static unsigned char memory[LENGTH_MAX + 4 * KERNEL_PADDING];

static const char *const alphabets[] = {
	"abc,\n",
	"a,\"\n",
	"ab,\"\\\n\r",
	"\"\\",
	"aaaaaaaaaaaa\"\",\\\n",
	"a,\\\n",
	"a,\r\n",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,\n\"\\\r\200",
	"a\303\251,\n"
};

static void
room_reset(Room *room, uint32_t max_positions, uint32_t max_records)
{
	memset(room, 0, sizeof(*room));
	room->structure.positions = room->positions;
	room->structure.ends = room->ends;
	room->structure.max_positions = max_positions;
	room->structure.max_records = max_records;
}

static bool
rooms_agree(const Room *a, const Room *b)
{
	const Structure *x = &a->structure;
	const Structure *y = &b->structure;

	return x->npositions == y->npositions && x->nrecords == y->nrecords &&
		x->scanned == y->scanned && x->seen == y->seen &&
		x->odd_line_end == y->odd_line_end &&
		memcmp(a->positions, b->positions,
			   x->npositions * sizeof(uint32_t)) == 0 &&
		memcmp(a->ends, b->ends, x->nrecords * sizeof(uint32_t)) == 0;
}

static StructureRules
random_rules(TestRandom *random)
{
	bool		nl = test_random_below(random, 2) == 0;
	StructureRules rules = {
		.mode = (StructureMode) test_random_below(random, 3),
		.delimiter = ',',
		.quote = '"',
		.escape = '\\',
		.line_end = nl ? '\n' : '\r',
		.other_end = nl ? '\r' : '\n'
	};

	if (rules.mode != STRUCTURE_CSV_ESCAPE)
		rules.escape = rules.quote;
	rules.paired = !nl && test_random_below(random, 2) == 0;
	return rules;
}

/*
 * Fills in bytes, and other ones around them.  Half of the texts end their
 * lines as the rules say, so that scans get far.
 */
static void
random_bytes(TestRandom *random, const StructureRules *rules,
			 unsigned char *bytes, size_t length)
{
	const char *alphabet = alphabets[test_random_below(random,
													   sizeof(alphabets) / sizeof(alphabets[0]))];
	size_t		letters = strlen(alphabet);
	bool		proper = test_random_below(random, 2) == 0;

	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = (unsigned char) test_random(random);
	for (size_t i = 0; i < length; i++)
	{
		bytes[i] = (unsigned char) alphabet[test_random_below(random, (unsigned) letters)];
		if (!proper || (bytes[i] != '\n' && bytes[i] != '\r'))
			continue;
		bytes[i] = rules->line_end;
		if (rules->paired && i + 1 < length)
			bytes[++i] = rules->other_end;
	}
}

static bool
structures_agree(const Kernel *kernel, const StructureRules *rules,
				 const unsigned char *bytes, size_t length, uint32_t max_positions,
				 uint32_t max_records)
{
	static Room expected;
	static Room got;

	room_reset(&expected, max_positions, max_records);
	room_reset(&got, max_positions, max_records);
	scalar_kernel.find_structure(rules, bytes, length, &expected.structure);
	kernel->find_structure(rules, bytes, length, &got.structure);
	return rooms_agree(&expected, &got);
}

static bool
counts_agree(const Kernel *kernel, const StructureRules *rules,
			 const unsigned char *bytes, size_t length)
{
	StructureCount expected = {1, 2, {{false, false}, {true, true}}};
	StructureCount got = expected;

	scalar_kernel.count_structure(rules, bytes, length, &expected);
	kernel->count_structure(rules, bytes, length, &got);
	return expected.quotes == got.quotes &&
		expected.line_ends == got.line_ends &&
		memcmp(expected.behind, got.behind, sizeof(got.behind)) == 0;
}

static void
test_structure(const Kernel *kernel)
{
	TestRandom	random = {2};
	int			structures = 0;
	int			counts = 0;

	for (int round = 0; round < ROUNDS; round++)
	{
		StructureRules rules = random_rules(&random);
		size_t		length = test_random_below(&random, LENGTH_MAX + 1);
		unsigned char *bytes = memory + KERNEL_PADDING +
			test_random_below(&random, KERNEL_PADDING);
		uint32_t	max_positions = POSITIONS;
		uint32_t	max_records = POSITIONS;

		if (test_random_below(&random, 3) == 0)
		{
			max_positions = test_random_below(&random, 50) + 1;
			max_records = test_random_below(&random, 20) + 1;
		}
		random_bytes(&random, &rules, bytes, length);
		structures += structures_agree(kernel, &rules, bytes, length,
									   max_positions, max_records);
		counts += counts_agree(kernel, &rules, bytes, length);
	}
	TEST_EQUAL(structures, ROUNDS, "%s: structure", kernel->name);
	TEST_EQUAL(counts, ROUNDS, "%s: counts", kernel->name);
}

/* Each kind of event at each place of three blocks. */
static void
test_every_place(const Kernel *kernel)
{
	static const char *const events[] = {
		",", "\n", "\r\n", "\r", "\"", "\"\"", "\\\n", "\\\\\n", "\\,", "\\",
		"\\\\\\", "\",\n\"", "\"\\\"", "\"\\\\\"\n", "\\\"", "\"\\,\"", "\303\251", "\342\202\254", "\360\237\230\200", "\303"
	};
	TestRandom	random = {3};
	unsigned char *bytes = memory + KERNEL_PADDING;
	size_t		length = 3 * KERNEL_BLOCK;
	int			cases = 0;
	int			agreed = 0;

	for (size_t event = 0; event < sizeof(events) / sizeof(events[0]); event++)
		for (size_t place = 0; place < length; place++)
			for (int rule = 0; rule < 8; rule++)
			{
				StructureRules rules = random_rules(&random);
				size_t		n = strlen(events[event]);

				memset(memory, 'x', sizeof(memory));
				memcpy(bytes + place, events[event], n);
				bytes[length - 2] = '\n';
				cases++;
				agreed += structures_agree(kernel, &rules, bytes, length,
										   POSITIONS, POSITIONS) &&
					counts_agree(kernel, &rules, bytes, length) &&
					kernel->check_utf8(bytes, length) ==
					scalar_kernel.check_utf8(bytes, length);
			}
	TEST_EQUAL(agreed, cases, "%s: every place", kernel->name);
}

/*------------------------------------------------------------------------
 * UTF-8
 *------------------------------------------------------------------------
 */

/* Reads a character by the definition: decode, then look at the number. */
static size_t
slow_utf8_length(const unsigned char *bytes, size_t length)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t		n = bytes[0] < 0x80 ? 1 : bytes[0] >= 0xF0 ? 4 :
		bytes[0] >= 0xE0 ? 3 : 2;
	uint32_t	number = bytes[0] & (n == 1 ? 0x7F : 0x7F >> n);

	if (bytes[0] == 0 || bytes[0] >= 0xF8 || (bytes[0] & 0xC0) == 0x80 ||
		n > length)
		return 0;
	for (size_t i = 1; i < n; i++)
	{
		if ((bytes[i] & 0xC0) != 0x80)
			return 0;
		number = number << 6 | (bytes[i] & 0x3F);
	}
	return number < least[n] || number > 0x10FFFF ||
		(number >= 0xD800 && number <= 0xDFFF) ? 0 : n;
}

static size_t
slow_check_utf8(const unsigned char *bytes, size_t length)
{
	size_t		i = 0;

	while (i < length)
	{
		size_t		n = slow_utf8_length(bytes + i, length - i);

		if (n == 0)
			break;
		i += n;
	}
	return i;
}

/* Every two bytes, and every three and four at the corners of the rules. */
static void
test_utf8_corners(const Kernel *kernel)
{
	static const unsigned char corners[] = {
		0x00, 0x01, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2,
		0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF
	};
	const unsigned n = sizeof(corners);
	unsigned char *bytes = memory + KERNEL_PADDING;
	unsigned	agreed = 0;

	for (unsigned i = 0; i < n * n * n * n; i++)
	{
		/* Around the border of two blocks, each time elsewhere. */
		unsigned char *at = bytes + KERNEL_BLOCK - 4 + i % 5;
		size_t		length = (size_t) (at - bytes) + 4 + i % 3;

		memset(bytes, 'x', 3 * KERNEL_BLOCK);
		at[0] = corners[i % n];
		at[1] = corners[i / n % n];
		at[2] = corners[i / n / n % n];
		at[3] = corners[i / n / n / n];
		agreed += kernel->check_utf8(bytes, length) == slow_check_utf8(bytes, length);
	}
	TEST_EQUAL(agreed, n * n * n * n, "%s: UTF-8 at the corners", kernel->name);
}

/* Valid characters with a few bytes changed. */
static void
test_utf8_random(const Kernel *kernel)
{
	static const char *const characters[] = {
		"a", "\303\251", "\342\202\254", "\360\237\230\200", "\355\237\277",
		"\356\200\200", "\340\240\200", "\364\217\277\277"
	};
	TestRandom	random = {4};
	int			agreed = 0;

	for (int round = 0; round < ROUNDS; round++)
	{
		unsigned char *bytes = memory + KERNEL_PADDING;
		unsigned	kinds = test_random_below(&random, 2) == 0 ? 8 : 2;
		size_t		length = 0;

		while (length < 300)
		{
			const char *character = characters[test_random_below(&random, kinds)];

			memcpy(bytes + length, character, strlen(character));
			length += strlen(character);
		}
		length -= test_random_below(&random, 5);
		if (test_random_below(&random, 2) == 0)
			bytes[test_random_below(&random, (unsigned) length)] =
				(unsigned char) test_random(&random);
		agreed += kernel->check_utf8(bytes, length) == slow_check_utf8(bytes, length);
	}
	TEST_EQUAL(agreed, ROUNDS, "%s: UTF-8 with changed bytes", kernel->name);
}

/*------------------------------------------------------------------------
 * Choosing
 *------------------------------------------------------------------------
 */

static void
test_choice(void)
{
	const Kernel *last = NULL;

	TEST_OK(kernel_at(0) == &scalar_kernel, "the scalar kernel is there");
	for (int n = 0; kernel_at(n) != NULL; n++)
	{
		last = kernel_at(n);
		TEST_OK(kernel_find(last->name) == last, "%s is found", last->name);
	}
	TEST_OK(kernel_find("auto") == last, "auto is %s", last->name);
	TEST_OK(kernel_find("mmx") == NULL, "mmx is not found");
#ifndef KERNEL_NEON
	test_skip("neon: this processor is no Arm");
#endif
	if (kernel_find("avx2") == NULL)
		test_skip("avx2: this processor has it not");
	if (kernel_find("avx512") == NULL)
		test_skip("avx512: this processor has it not, or lacks VBMI2");
}

int
main(void)
{
	const Kernel *kernel;

	test_choice();
	for (int n = 0; (kernel = kernel_at(n)) != NULL; n++)
	{
		test_structure(kernel);
		test_every_place(kernel);
		test_utf8_corners(kernel);
		test_utf8_random(kernel);
	}
	return test_done();
}
