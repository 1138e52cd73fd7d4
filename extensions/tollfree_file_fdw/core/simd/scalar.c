/*
 * scalar.c
 *	  The scalar kernel, a byte at a time: the reference of all kernels.
 *
 * The rules are those by which COPY FROM finds the end of a line; its rules
 * for fields within the line are equivalent.
 */
#include <string.h>

#include "core/simd/scalar.h"

static inline unsigned
scalar_seen(const StructureRules *rules, unsigned char c)
{
	if (c == '\0')
		return SEEN_ZERO;
	if (c >= 0x80)
		return SEEN_HIGH;
	if (c == '\\')
		return SEEN_BACKSLASH;
	if (rules->mode != STRUCTURE_TEXT && c == rules->quote)
		return SEEN_QUOTE;
	return 0;
}

/* Removes the last record, whose line end turned out to be incomplete. */
static void
scalar_retract_record(Structure *structure)
{
	structure->nrecords--;
	structure->npositions--;
}

ScalarClasses
scalar_classes(const StructureRules *rules)
{
	ScalarClasses classes = {0};

	memset(classes.is_special + 0x80, true, 0x80);
	classes.is_special['\0'] = true;
	classes.is_special['\\'] = true;
	classes.is_special[rules->delimiter] = true;
	classes.is_special[rules->line_end] = true;
	classes.is_special[rules->other_end] = true;
	if (rules->mode != STRUCTURE_TEXT)
		classes.is_special[rules->quote] = true;
	if (rules->mode == STRUCTURE_CSV_ESCAPE)
		classes.is_special[rules->escape] = true;
	return classes;
}

bool
scalar_add_structure(const StructureRules *rules,
					 const ScalarClasses *classes,
					 const unsigned char *bytes, size_t from, size_t to,
					 ScalarState *state, Structure *structure)
{
	for (size_t i = from; i < to; i++)
	{
		unsigned char c = bytes[i];
		bool		is_data;

		/*
		 * A plain byte matters only after the first byte of a paired line
		 * end.
		 */
		if (!classes->is_special[c] && !state->escaped && !state->in_line_end)
			continue;

		structure->seen |= scalar_seen(rules, c);
		structure->scanned = i;
		if (state->in_line_end)
		{
			state->in_line_end = false;
			if (c == rules->other_end)
				continue;
			scalar_retract_record(structure);
			structure->odd_line_end = true;
			return false;
		}

		is_data = scalar_protects(rules, c, state);
		if (is_data)
		{
			if (c == rules->line_end)
				structure->seen |= SEEN_ENCLOSED;
		}
		else if (c == rules->line_end)
		{
			structure->ends[structure->nrecords++] = structure->npositions;
			structure->positions[structure->npositions++] = (uint32_t) i;
			state->in_line_end = rules->paired;
		}
		else if (c == rules->other_end)
		{
			structure->odd_line_end = true;
			return false;
		}
		else if (c == rules->delimiter)
			structure->positions[structure->npositions++] = (uint32_t) i;
	}
	structure->scanned = to;
	return true;
}

LineEnd
scalar_first_line_end(const Dialect *dialect, const unsigned char *bytes,
					  size_t length, bool at_end)
{
	StructureRules rules = structure_rules(dialect, LINE_END_NL);
	ScalarState state = {0};

	for (size_t i = 0; i < length; i++)
	{
		unsigned char c = bytes[i];

		if (scalar_protects(&rules, c, &state))
			continue;
		if (c == '\n')
			return LINE_END_NL;
		if (c != '\r')
			continue;
		if (i + 1 < length)
			return bytes[i + 1] == '\n' ? LINE_END_CRNL : LINE_END_CR;
		return at_end ? LINE_END_CR : LINE_END_UNKNOWN;
	}
	return at_end ? LINE_END_NL : LINE_END_UNKNOWN;
}

static void
scalar_find_structure(const StructureRules *rules, const unsigned char *bytes,
					  size_t length, Structure *structure)
{
	const ScalarClasses classes = scalar_classes(rules);
	ScalarState state = {0};
	size_t		to;

	structure_begin(structure);
	for (size_t from = 0; from < length; from = to)
	{
		to = length - from > KERNEL_BLOCK ? from + KERNEL_BLOCK : length;
		if (structure_is_full(structure) ||
			!scalar_add_structure(rules, &classes, bytes, from, to, &state,
								  structure))
			return;
	}
}

void
scalar_pass_quotes(const StructureRules *rules, const unsigned char *bytes,
				   size_t length, QuoteState *state)
{
	ScalarState passed = {
		.in_quotes = state->in_quotes,.escaped = state->escaped
	};

	for (size_t i = 0; i < length; i++)
		(void) scalar_protects(rules, bytes[i], &passed);
	state->in_quotes = passed.in_quotes;
	state->escaped = passed.escaped;
}

static void
scalar_count_structure(const StructureRules *rules, const unsigned char *bytes,
					   size_t length, StructureCount *count)
{
	bool		escaped = false;
	bool		has_quotes = rules->mode == STRUCTURE_CSV;

	for (size_t i = 0; i < length; i++)
	{
		unsigned char c = bytes[i];

		count->quotes += has_quotes && c == rules->quote;
		if (c == rules->line_end && !escaped)
			count->line_ends++;
		escaped = rules->mode == STRUCTURE_TEXT && c == '\\' && !escaped;
	}
	if (rules->mode == STRUCTURE_CSV_ESCAPE)
		for (int i = 0; i < 2; i++)
			scalar_pass_quotes(rules, bytes, length, &count->behind[i]);
}

/* Returns the length of the plain ASCII prefix, eight bytes at a time. */
static size_t
scalar_skip_ascii(const unsigned char *bytes, size_t length)
{
	const uint64_t high = 0x8080808080808080;
	const uint64_t low = 0x0101010101010101;
	size_t		i = 0;

	for (; i + 8 <= length; i += 8)
	{
		uint64_t	word;

		memcpy(&word, bytes + i, 8);
		/* A zero byte borrows, which sets its high bit. */
		if (((word | (word - low)) & high) != 0)
			break;
	}
	while (i < length && bytes[i] != '\0' && bytes[i] < 0x80)
		i++;
	return i;
}

/*
 * Returns the length of the valid character at the front, which is not ASCII,
 * or 0.  Overlong forms, surrogates and what is beyond U+10FFFF are invalid.
 */
static size_t
scalar_utf8_length(const unsigned char *bytes, size_t length)
{
	unsigned char first = bytes[0];
	unsigned char low = 0x80;
	unsigned char high = 0xBF;
	size_t		n;

	if (first >= 0xC2 && first <= 0xDF)
		n = 2;
	else if (first >= 0xE0 && first <= 0xEF)
		n = 3;
	else if (first >= 0xF0 && first <= 0xF4)
		n = 4;
	else
		return 0;

	if (first == 0xE0)
		low = 0xA0;
	else if (first == 0xED)
		high = 0x9F;
	else if (first == 0xF0)
		low = 0x90;
	else if (first == 0xF4)
		high = 0x8F;

	if (length < n || bytes[1] < low || bytes[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((bytes[i] & 0xC0) != 0x80)
			return 0;
	return n;
}

size_t
scalar_check_utf8(const unsigned char *bytes, size_t length)
{
	size_t		i = 0;

	for (;;)
	{
		size_t		n;

		i += scalar_skip_ascii(bytes + i, length - i);
		if (i == length)
			return i;
		n = scalar_utf8_length(bytes + i, length - i);
		if (n == 0)
			return i;
		i += n;
	}
}

const Kernel scalar_kernel = {
	.name = "scalar",
	.find_structure = scalar_find_structure,
	.count_structure = scalar_count_structure,
	.check_utf8 = scalar_check_utf8
};
