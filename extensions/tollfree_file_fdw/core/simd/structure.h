/*
 * structure.h
 *	  The kernels' algorithms, over a vocabulary of five operations.
 *
 * A template: each instruction set's file defines the vocabulary
 *
 *		SimdBlock						KERNEL_BLOCK bytes
 *		simd_load(bytes)				loads them, from any address
 *		simd_equals(block, c)			a mask: which bytes are c
 *		simd_at_least(block, c)			which are c or above, unsigned
 *		simd_prefix_xor(mask)			bit i: is the number of bits 0..i odd?
 *		simd_store_positions(to, mask, base)
 *										base + i for every bit i, in order; may
 *										write KERNEL_BLOCK entries
 *
 * and includes this file, which makes simd_kernel_functions of it.  A mask has
 * the first byte's bit lowest.
 */

/* State carried from block to block. */
typedef struct SimdCarry
{
	uint64_t	in_quotes;		/* all ones or all zeros */
	uint64_t	escaped;		/* is the first byte escaped?  0 or 1 */
	uint64_t	in_line_end;	/* is it the second of a pair?  0 or 1 */
} SimdCarry;

/* Masks of one block. */
typedef struct SimdMasks
{
	uint64_t	delimiters;		/* protected ones as well, as the next two */
	uint64_t	line_ends;
	uint64_t	other_ends;
	uint64_t	backslashes;
	uint64_t	quotes;
	uint64_t	escapes;		/* STRUCTURE_CSV_ESCAPE */
	uint64_t	high;
	uint64_t	zeros;
} SimdMasks;

static inline uint64_t
simd_valid(size_t length)
{
	return length >= KERNEL_BLOCK ?
		~(uint64_t) 0 : ((uint64_t) 1 << length) - 1;
}

static ALWAYS_INLINE
SimdMasks
simd_masks(StructureMode mode, const StructureRules *rules,
		   const unsigned char *bytes, uint64_t valid)
{
	SimdBlock	block = simd_load(bytes);
	SimdMasks	masks = {
		.delimiters = simd_equals(block, rules->delimiter) & valid,
		.line_ends = simd_equals(block, rules->line_end) & valid,
		.other_ends = simd_equals(block, rules->other_end) & valid,
		.backslashes = simd_equals(block, '\\') & valid,
		.quotes = mode == STRUCTURE_TEXT ? 0 :
		simd_equals(block, rules->quote) & valid,
		.escapes = mode != STRUCTURE_CSV_ESCAPE ? 0 :
		simd_equals(block, rules->escape) & valid,
		.high = simd_at_least(block, 0x80) & valid,
		.zeros = simd_equals(block, 0) & valid
	};

	return masks;
}

/*
 * Returns which bytes follow a backslash that is not escaped itself.  There
 * are few, so they are handled one by one.
 */
static inline uint64_t
simd_escaped(uint64_t backslashes, SimdCarry *carry)
{
	uint64_t	escaped = carry->escaped;

	backslashes &= ~escaped;
	carry->escaped = 0;
	while (backslashes != 0)
	{
		uint64_t	first = backslashes & -backslashes;

		escaped |= first << 1;
		carry->escaped = first >> 63;
		backslashes &= ~(first | first << 1);
	}
	return escaped;
}

/*
 * Returns which quotes begin or end quoted bytes, where an escape in quotes
 * protects the next byte.  Few blocks have escapes, so these are handled one by
 * one with the quotes.
 */
static inline uint64_t
simd_toggles(const SimdMasks *masks, SimdCarry *carry)
{
	uint64_t	toggles = 0;
	uint64_t	escaped = carry->escaped;
	bool		in_quotes = carry->in_quotes != 0;

	carry->escaped = 0;
	for (uint64_t rest = masks->quotes | masks->escapes; rest != 0;
		 rest &= rest - 1)
	{
		uint64_t	first = rest & -rest;

		if ((first & escaped) != 0)
			continue;
		if ((first & masks->quotes) != 0)
		{
			toggles |= first;
			in_quotes = !in_quotes;
		}
		else if (in_quotes)
		{
			escaped = first << 1;
			carry->escaped = first >> 63;
		}
	}
	return toggles;
}

/* Returns which bytes are protected, so plain data. */
static ALWAYS_INLINE
uint64_t
simd_protected(StructureMode mode, const SimdMasks *masks, SimdCarry *carry)
{
	uint64_t	toggles = masks->quotes;
	uint64_t	in_quotes;

	if (mode == STRUCTURE_TEXT)
		return (masks->backslashes | carry->escaped) == 0 ? 0 :
			simd_escaped(masks->backslashes, carry);
	if (mode == STRUCTURE_CSV_ESCAPE && (masks->escapes | carry->escaped) != 0)
		toggles = simd_toggles(masks, carry);
	in_quotes = simd_prefix_xor(toggles) ^ carry->in_quotes;
	carry->in_quotes = (uint64_t) ((int64_t) in_quotes >> 63);
	return in_quotes;
}

/* Adds a block's positions, and its line ends to the records'. */
static ALWAYS_INLINE
void
simd_add_positions(uint64_t structural, uint64_t line_ends, size_t from,
				   Structure *structure)
{
	uint32_t	before = structure->npositions;

	simd_store_positions(structure->positions + before, structural,
						 (uint32_t) from);
	structure->npositions += (uint32_t) __builtin_popcountll(structural);
	while (line_ends != 0)
	{
		uint64_t	below = (line_ends & -line_ends) - 1;

		structure->ends[structure->nrecords++] = before +
			(uint32_t) __builtin_popcountll(structural & below);
		line_ends &= line_ends - 1;
	}
}

static inline unsigned
simd_seen(const SimdMasks *seen)
{
	return (seen->backslashes != 0 ? SEEN_BACKSLASH : 0) |
		(seen->quotes != 0 ? SEEN_QUOTE : 0) |
		(seen->high != 0 ? SEEN_HIGH : 0) |
		(seen->zeros != 0 ? SEEN_ZERO : 0);
}

/* A line end in the block violates the rules: the scalar kernel finds which. */
static NEVER_INLINE
void
simd_end_oddly(const StructureRules *rules, const unsigned char *bytes,
			   size_t from, size_t length, const SimdCarry *carry,
			   Structure *structure)
{
	const ScalarClasses classes = scalar_classes(rules);
	ScalarState state = {
		.in_quotes = carry->in_quotes != 0,
		.escaped = carry->escaped != 0,
		.in_line_end = carry->in_line_end != 0
	};
	size_t		to = length - from > KERNEL_BLOCK ?
		from + KERNEL_BLOCK : length;

	scalar_add_structure(rules, &classes, bytes, from, to, &state, structure);
}

static ALWAYS_INLINE
void
simd_find_in_mode(StructureMode mode, bool paired,
				  const StructureRules *rules, const unsigned char *bytes,
				  size_t length, Structure *structure)
{
	const StructureRules copy = *rules;
	SimdCarry	carry = {0};
	SimdMasks	seen = {0};
	uint64_t	enclosed = 0;
	size_t		from;

	structure_begin(structure);
	for (from = 0; from < length && !structure_is_full(structure);
		 from += KERNEL_BLOCK)
	{
		SimdCarry	before = carry;
		uint64_t	valid = simd_valid(length - from);
		SimdMasks	masks = simd_masks(mode, &copy, bytes + from, valid);
		uint64_t	protected = simd_protected(mode, &masks, &carry);
		uint64_t	line_ends = masks.line_ends & ~protected;
		uint64_t	other_ends = masks.other_ends & ~protected;
		uint64_t	expected = 0;

		if (paired)
		{
			expected = (line_ends << 1 | carry.in_line_end) & valid;
			carry.in_line_end = line_ends >> 63;
		}
		if (other_ends != expected)
		{
			structure->seen = simd_seen(&seen) |
				(enclosed != 0 ? SEEN_ENCLOSED : 0);
			simd_end_oddly(rules, bytes, from, length, &before, structure);
			return;
		}
		seen.backslashes |= masks.backslashes;
		seen.quotes |= masks.quotes;
		seen.high |= masks.high;
		seen.zeros |= masks.zeros;
		enclosed |= masks.line_ends & protected;
		simd_add_positions((masks.delimiters & ~protected) | line_ends,
						   line_ends, from, structure);
	}
	structure->seen = simd_seen(&seen) | (enclosed != 0 ? SEEN_ENCLOSED : 0);
	structure->scanned = from < length ? from : length;
}

static ALWAYS_INLINE
void
simd_find_paired(StructureMode mode, const StructureRules *rules,
				 const unsigned char *bytes, size_t length,
				 Structure *structure)
{
	if (rules->paired)
		simd_find_in_mode(mode, true, rules, bytes, length, structure);
	else
		simd_find_in_mode(mode, false, rules, bytes, length, structure);
}

static void
simd_find_structure(const StructureRules *rules, const unsigned char *bytes,
					size_t length, Structure *structure)
{
	switch (rules->mode)
	{
		case STRUCTURE_TEXT:
			simd_find_paired(STRUCTURE_TEXT, rules, bytes, length, structure);
			break;
		case STRUCTURE_CSV:
			simd_find_paired(STRUCTURE_CSV, rules, bytes, length, structure);
			break;
		case STRUCTURE_CSV_ESCAPE:
			simd_find_paired(STRUCTURE_CSV_ESCAPE, rules, bytes, length,
							 structure);
			break;
		case STRUCTURE_LINES:
			/* Such files are not read by their structure. */
			break;
	}
}

/* Moves a state on over whole blocks. */
static void
simd_pass_quotes(const StructureRules *rules, const unsigned char *bytes,
				 size_t length, QuoteState *state)
{
	SimdCarry	carry = {
		.in_quotes = state->in_quotes ? ~(uint64_t) 0 : 0,
		.escaped = state->escaped
	};

	for (size_t from = 0; from < length; from += KERNEL_BLOCK)
	{
		SimdBlock	block = simd_load(bytes + from);
		const SimdMasks masks = {
			.quotes = simd_equals(block, rules->quote),
			.escapes = simd_equals(block, rules->escape)
		};

		(void) simd_protected(STRUCTURE_CSV_ESCAPE, &masks, &carry);
	}
	state->in_quotes = carry.in_quotes != 0;
	state->escaped = carry.escaped != 0;
}

/* The same over any number of bytes. */
static void
simd_pass_all_quotes(const StructureRules *rules, const unsigned char *bytes,
					 size_t length, QuoteState *state)
{
	size_t		whole = length - length % KERNEL_BLOCK;

	simd_pass_quotes(rules, bytes, whole, state);
	scalar_pass_quotes(rules, bytes + whole, length - whole, state);
}

static void
simd_count_structure(const StructureRules *rules, const unsigned char *bytes,
					 size_t length, StructureCount *count)
{
	SimdCarry	carry = {0};

	for (size_t from = 0; from < length; from += KERNEL_BLOCK)
	{
		SimdMasks	masks = simd_masks(rules->mode, rules, bytes + from,
									   simd_valid(length - from));

		if (rules->mode == STRUCTURE_CSV)
			count->quotes += (uint64_t) __builtin_popcountll(masks.quotes);
		if (rules->mode == STRUCTURE_TEXT)
			masks.line_ends &= ~simd_protected(STRUCTURE_TEXT, &masks, &carry);
		count->line_ends += (uint64_t) __builtin_popcountll(masks.line_ends);
	}
	if (rules->mode == STRUCTURE_CSV_ESCAPE)
		for (int i = 0; i < 2; i++)
			simd_pass_all_quotes(rules, bytes, length, &count->behind[i]);
}

/*
 * UTF-8 by masks: a byte is a continuation exactly when a lead byte before it
 * requires one, and four lead bytes restrict the byte after them.
 */
typedef struct Utf8Carry
{
	uint64_t	continuations;	/* bit i: byte i must be one; bits 0 to 2 */
	uint64_t	after_e0;		/* is the first byte behind an E0?  0 or 1 */
	uint64_t	after_ed;
	uint64_t	after_f0;
	uint64_t	after_f4;
} Utf8Carry;

/* Returns the bytes after those in leads, and carries over the last. */
static inline uint64_t
simd_behind(uint64_t leads, uint64_t *carry)
{
	uint64_t	behind = leads << 1 | *carry;

	*carry = leads >> 63;
	return behind;
}

static inline bool
simd_utf8_block_is_valid(SimdBlock block, uint64_t valid, Utf8Carry *carry)
{
	uint64_t	high = simd_at_least(block, 0x80) & valid;
	uint64_t	leads = simd_at_least(block, 0xC0) & valid;
	uint64_t	leads3 = simd_at_least(block, 0xE0) & valid;
	uint64_t	leads4 = simd_at_least(block, 0xF0) & valid;
	uint64_t	wrong = simd_equals(block, 0) | simd_equals(block, 0xC0) |
		simd_equals(block, 0xC1) | simd_at_least(block, 0xF5);
	uint64_t	from_90 = simd_at_least(block, 0x90);
	uint64_t	from_a0 = simd_at_least(block, 0xA0);
	uint64_t	expected = carry->continuations |
		leads << 1 | leads3 << 2 | leads4 << 3;

	carry->continuations = leads >> 63 | leads3 >> 62 | leads4 >> 61;
	wrong |= (high & ~leads) ^ (expected & valid);
	if ((expected & ~valid) != 0)
		carry->continuations = 1;
	wrong |= simd_behind(simd_equals(block, 0xE0) & valid,
						 &carry->after_e0) & ~from_a0;
	wrong |= simd_behind(simd_equals(block, 0xED) & valid,
						 &carry->after_ed) & from_a0;
	wrong |= simd_behind(simd_equals(block, 0xF0) & valid,
						 &carry->after_f0) & ~from_90;
	wrong |= simd_behind(simd_equals(block, 0xF4) & valid,
						 &carry->after_f4) & from_90;
	return (wrong & valid) == 0;
}

static size_t
simd_check_utf8(const unsigned char *bytes, size_t length)
{
	Utf8Carry	carry = {0};
	size_t		from = 0;

	for (; from < length; from += KERNEL_BLOCK)
	{
		uint64_t	valid = simd_valid(length - from);
		SimdBlock	block = simd_load(bytes + from);

		if ((simd_at_least(block, 0x80) & valid) == 0 &&
			(simd_equals(block, 0) & valid) == 0 && carry.continuations == 0)
			continue;
		if (!simd_utf8_block_is_valid(block, valid, &carry))
			break;
	}
	if (from >= length && carry.continuations == 0)
		return length;

	/* The scalar kernel finds the place, from the last character's start. */
	from = from < length ? from : length;
	if (from > 0)
		from--;
	while (from > 0 && (bytes[from] & 0xC0) == 0x80)
		from--;
	return from + scalar_check_utf8(bytes + from, length - from);
}
