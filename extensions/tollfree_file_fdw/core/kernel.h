/*
 * kernel.h
 *	  The loops over every byte of a file, one set for each instruction set.
 *
 * scalar.c processes a byte at a time, and is the reference.  The others are
 * one algorithm (simd/structure.h) over a few operations on 64 bytes.  All
 * have the same results.
 */
#ifndef CORE_KERNEL_H
#define CORE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dialect.h"

#define KERNEL_BLOCK	64		/* bytes that are processed together */

/*
 * Bytes that must be readable, with any content, before and after the input of
 * a kernel or converter.
 */
#define KERNEL_PADDING	64

typedef enum StructureMode
{
	STRUCTURE_TEXT,				/* a backslash protects the next byte */
	STRUCTURE_CSV,				/* a quote toggles */
	STRUCTURE_CSV_ESCAPE,		/* ESCAPE is not QUOTE: in quotes it protects
								 * the next byte from being one */
	STRUCTURE_LINES				/* each line end ends a record; no kernel
								 * knows it */
} StructureMode;

/* The rules for records and fields of a dialect, once the line end is known. */
typedef struct StructureRules
{
	StructureMode mode;
	unsigned char delimiter;
	unsigned char quote;
	unsigned char escape;
	unsigned char line_end;		/* the first, or only, byte of a line end */
	unsigned char other_end;	/* the other one of CR and NL */
	bool		paired;			/* a line ends in line_end, other_end */
} StructureRules;

/* Kinds of bytes that a scan has seen. */
#define SEEN_BACKSLASH	0x01
#define SEEN_QUOTE		0x02	/* CSV only */
#define SEEN_HIGH		0x04	/* bytes above 0x7F */
#define SEEN_ZERO		0x08
#define SEEN_ENCLOSED	0x10	/* a line_end that is quoted or escaped */

/*
 * The structure of some bytes that begin with a record.
 *
 *		a b | c \n d | e f \n g |		bytes, two records and a part
 *		0 1 2 3 4  5 6 7 8 9  10 11
 *
 *		positions	2 4 6 9 11			delimiters and line ends
 *		ends		1 3					where in positions the line ends are
 *
 * The caller owns both arrays, of max_positions and max_records plus
 * KERNEL_BLOCK entries, since whole blocks are written.  A scan stops after
 * the block that reaches either maximum, at the end of the bytes, or before a
 * line end that violates the rules.
 *
 * With paired line ends a position is that of the first byte.  The second has
 * been checked, except after the line end at which the scan stopped.
 */
typedef struct Structure
{
	uint32_t   *positions;
	uint32_t   *ends;
	uint32_t	max_positions;
	uint32_t	max_records;

	uint32_t	npositions;
	uint32_t	nrecords;
	size_t		scanned;		/* bytes scanned */
	unsigned	seen;			/* SEEN_ bits */
	bool		odd_line_end;	/* a line end that violates the rules follows,
								 * in the record after the last */
} Structure;

/* Initializes it as empty. */
static inline void
structure_begin(Structure *structure)
{
	structure->npositions = 0;
	structure->nrecords = 0;
	structure->scanned = 0;
	structure->seen = 0;
	structure->odd_line_end = false;
}

static inline bool
structure_is_full(const Structure *structure)
{
	return structure->npositions >= structure->max_positions ||
		structure->nrecords >= structure->max_records;
}

/* What quotes and escapes have led to: how the next byte is met. */
typedef struct QuoteState
{
	bool		in_quotes;
	bool		escaped;		/* only in quotes */
} QuoteState;

/*
 * Counts of a range of a file, which may begin anywhere.  With an escape of its
 * own a quote's effect depends on what is before it.  So there are two states
 * behind the bytes: by begun_in_quotes, which begin as those before.
 */
typedef struct StructureCount
{
	uint64_t	quotes;			/* not in STRUCTURE_CSV_ESCAPE */
	uint64_t	line_ends;		/* bytes that are line_end; in text format,
								 * not the escaped ones */
	QuoteState	behind[2];		/* [begun_in_quotes]; in STRUCTURE_CSV_ESCAPE */
} StructureCount;

/* Initializes it; escaped: is the first byte, if it is in quotes? */
static inline void
structure_count_begin(StructureCount *count, bool escaped)
{
	count->quotes = 0;
	count->line_ends = 0;
	count->behind[false] = (QuoteState)
	{
		false, false
	};
	count->behind[true] = (QuoteState)
	{
		true, escaped
	};
}

typedef struct Kernel
{
	const char *name;

	/* Finds the structure of bytes, which begin with a record. */
	void		(*find_structure) (const StructureRules *rules,
								   const unsigned char *bytes, size_t length,
								   Structure *structure);

	/*
	 * Adds the counts of the bytes, the first of which is not escaped in text
	 * format.
	 */
	void		(*count_structure) (const StructureRules *rules,
									const unsigned char *bytes, size_t length,
									StructureCount *count);

	/*
	 * Returns the length of the prefix that is whole, valid UTF-8 without
	 * zero.
	 */
	size_t		(*check_utf8) (const unsigned char *bytes, size_t length);
} Kernel;

/*
 * Returns a kernel that runs here: the named one ("scalar", "avx2", "avx512",
 * "neon"), NULL if this processor or build lacks it, or for "auto" the best.
 */
extern const Kernel *kernel_find(const char *name);

/* Returns the n-th kernel that runs here, scalar first, or NULL after the last. */
extern const Kernel *kernel_at(int n);

/* Returns the rules of a dialect; line_end is LINE_END_NL or LINE_END_CRNL. */
extern StructureRules structure_rules(const Dialect *dialect,
									  LineEnd line_end);

#endif							/* CORE_KERNEL_H */
