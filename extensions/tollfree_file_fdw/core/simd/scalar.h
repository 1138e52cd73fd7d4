/*
 * scalar.h
 *	  The scalar kernel, a byte at a time: the reference of all kernels.
 */
#ifndef CORE_SIMD_SCALAR_H
#define CORE_SIMD_SCALAR_H

#include "core/kernel.h"

/* State before the next byte. */
typedef struct ScalarState
{
	bool		in_quotes;
	bool		escaped;		/* the next byte is protected by the last */
	bool		in_line_end;	/* the last was the first of a pair */
} ScalarState;

/*
 * Applies one byte's effect on quotes and escapes.  Returns whether the byte
 * is protected, so plain data.
 */
static inline bool
scalar_protects(const StructureRules *rules, unsigned char c,
				ScalarState *state)
{
	bool		was_escaped = state->escaped;

	switch (rules->mode)
	{
		case STRUCTURE_TEXT:
			state->escaped = c == '\\' && !was_escaped;
			return was_escaped || c == '\\';

		case STRUCTURE_CSV:
			if (c == rules->quote)
				state->in_quotes = !state->in_quotes;
			return state->in_quotes || c == rules->quote;

		case STRUCTURE_CSV_ESCAPE:
			if (c == rules->escape)
				state->escaped = state->in_quotes && !was_escaped;
			else
			{
				if (c == rules->quote && !was_escaped)
					state->in_quotes = !state->in_quotes;
				state->escaped = false;
			}
			return state->in_quotes || c == rules->quote;

		case STRUCTURE_LINES:
			break;
	}
	return false;
}

/* Which bytes are special, by the rules. */
typedef struct ScalarClasses
{
	bool		is_special[256];
} ScalarClasses;

extern ScalarClasses scalar_classes(const StructureRules *rules);

/*
 * Adds the structure of bytes [from, to).  Returns false, with odd_line_end
 * set and scanned at its place, at a line end that violates the rules.
 */
extern bool scalar_add_structure(const StructureRules *rules,
								 const ScalarClasses *classes,
								 const unsigned char *bytes, size_t from,
								 size_t to, ScalarState *state,
								 Structure *structure);

/* Moves a state of STRUCTURE_CSV_ESCAPE on, over bytes. */
extern void scalar_pass_quotes(const StructureRules *rules,
							   const unsigned char *bytes, size_t length,
							   QuoteState *state);

/*
 * Returns the style of the first line end in bytes, which begin with the first
 * record of a file.  at_end: there are no more bytes, so a line without an end
 * is one of LINE_END_NL; else it, and a CR at the very end, are
 * LINE_END_UNKNOWN.
 */
extern LineEnd scalar_first_line_end(const Dialect *dialect,
									 const unsigned char *bytes,
									 size_t length, bool at_end);

/* Returns the length of the prefix that is whole, valid UTF-8 without zero. */
extern size_t scalar_check_utf8(const unsigned char *bytes, size_t length);

extern const Kernel scalar_kernel;

#endif							/* CORE_SIMD_SCALAR_H */
