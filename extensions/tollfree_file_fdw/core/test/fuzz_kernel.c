/*
 * fuzz_kernel.c
 *	  A fuzz target: every kernel's structure, counts and UTF-8 check of any
 *	  bytes, under rules chosen by the first, have to be the scalar kernel's.
 */
#include <stdlib.h>
#include <string.h>

#include "core/simd/kernels.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BYTES_MAX		4096

static uint32_t positions[2][BYTES_MAX + KERNEL_BLOCK];
static uint32_t ends[2][BYTES_MAX + KERNEL_BLOCK];

static StructureRules
rules_of(uint8_t bits)
{
	bool		nl = (bits & 4) != 0;
	StructureRules rules = {
		.mode = (StructureMode) ((bits & 3) % 3),
		.delimiter = ',',
		.quote = '"',
		.escape = '\\',
		.line_end = nl ? '\n' : '\r',
		.other_end = nl ? '\r' : '\n',
		.paired = !nl && (bits & 8) != 0
	};

	return rules;
}

static Structure
find(const Kernel *kernel, const StructureRules *rules,
	 const unsigned char *bytes, size_t length, int which)
{
	Structure	structure = {
		.positions = positions[which],
		.ends = ends[which],
		.max_positions = BYTES_MAX,
		.max_records = BYTES_MAX
	};

	kernel->find_structure(rules, bytes, length, &structure);
	return structure;
}

static void
compare(const Kernel *kernel, const StructureRules *rules,
		const unsigned char *bytes, size_t length)
{
	Structure	a = find(&scalar_kernel, rules, bytes, length, 0);
	Structure	b = find(kernel, rules, bytes, length, 1);
	StructureCount x;
	StructureCount y;

	structure_count_begin(&x, length % 2 == 1);
	y = x;
	scalar_kernel.count_structure(rules, bytes, length, &x);
	kernel->count_structure(rules, bytes, length, &y);
	if (a.npositions != b.npositions || a.nrecords != b.nrecords ||
		a.scanned != b.scanned || a.seen != b.seen ||
		a.odd_line_end != b.odd_line_end ||
		memcmp(positions[0], positions[1], a.npositions * 4) != 0 ||
		memcmp(ends[0], ends[1], a.nrecords * 4) != 0 ||
		x.quotes != y.quotes || x.line_ends != y.line_ends ||
		memcmp(x.behind, y.behind, sizeof(x.behind)) != 0 ||
		scalar_check_utf8(bytes, length) != kernel->check_utf8(bytes, length))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	StructureRules rules;
	unsigned char *memory;

	if (size < 1 || size > BYTES_MAX)
		return 0;
	rules = rules_of(data[0]);

	/* Exactly the padding that is promised, for the address sanitizer. */
	memory = malloc(size - 1 + 2 * KERNEL_PADDING);
	memset(memory, data[0], size - 1 + 2 * KERNEL_PADDING);
	memcpy(memory + KERNEL_PADDING, data + 1, size - 1);
	for (int n = 1; kernel_at(n) != NULL; n++)
		compare(kernel_at(n), &rules, memory + KERNEL_PADDING, size - 1);
	free(memory);
	return 0;
}
