/*
 * policy.h
 *	  What is read of a file that COPY refuses, or takes for a row.
 *
 * All zeros: nothing.  Lines are left out before the structure of a record is looked
 * at, so quotes in them mean nothing.
 */
#ifndef CORE_POLICY_H
#define CORE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct RecordPolicy
{
	bool		skip_mark;		/* is a byte order mark of UTF-8 left out? */
	int64_t		skip_lines;		/* that are left out at the beginning */
	const char *comment;		/* lines that begin with it are left out; NULL
								 * for none */
	size_t		comment_length; /* bytes */
	bool		skip_blank;		/* are empty lines left out? */
	bool		pad_missing;	/* are missing fields the null string? */
	bool		cut_extra;		/* are extra fields left out? */
} RecordPolicy;

/* How often it has mattered. */
typedef struct PolicyCounts
{
	uint64_t	lines;			/* left out */
	uint64_t	short_records;	/* with missing fields */
	uint64_t	long_records;	/* with extra fields */
} PolicyCounts;

static inline bool
policy_skips_lines(const RecordPolicy *policy)
{
	return policy->skip_mark || policy->skip_lines > 0 ||
		policy->comment != NULL || policy->skip_blank;
}

static inline bool
policy_is_ragged(const RecordPolicy *policy)
{
	return policy->pad_missing || policy->cut_extra;
}

/* Is anything read otherwise than COPY reads it? */
static inline bool
policy_is_active(const RecordPolicy *policy)
{
	return policy_skips_lines(policy) || policy_is_ragged(policy);
}

static inline void
policy_add_counts(PolicyCounts *sum, const PolicyCounts *counts)
{
	sum->lines += counts->lines;
	sum->short_records += counts->short_records;
	sum->long_records += counts->long_records;
}

#endif							/* CORE_POLICY_H */
