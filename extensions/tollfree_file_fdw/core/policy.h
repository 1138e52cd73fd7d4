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
#include <string.h>

/* Most null strings besides the dialect's own */
#define NULL_STRINGS_MAX 32

/* Further null strings. */
typedef struct NullStrings
{
	int			count;
	const char *strings[NULL_STRINGS_MAX];
	size_t		lengths[NULL_STRINGS_MAX];	/* bytes */
} NullStrings;

typedef struct RecordPolicy
{
	bool		skip_mark;		/* is a byte order mark of UTF-8 left out? */
	int64_t		skip_lines;		/* that are left out at the beginning */
	const char *comment;		/* lines that begin with it are left out; NULL
								 * for none */
	size_t		comment_length; /* bytes */
	bool		skip_blank;		/* are empty lines left out? */
	int64_t		skip_last_lines;	/* that are left out at the end */
	bool		pad_missing;	/* are missing fields the null string? */
	bool		cut_extra;		/* are extra fields left out? */
	bool		skip_quote_blanks;	/* CSV: are blanks around quotes left out? */
	const NullStrings *nulls;	/* or NULL */
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

/* May records that follow each other be no batch? */
static inline bool
policy_divides(const RecordPolicy *policy)
{
	return policy_skips_lines(policy) || policy_is_ragged(policy);
}

/* Is it one of the further null strings? */
static inline bool
policy_has_null(const RecordPolicy *policy, const void *bytes, size_t length)
{
	const NullStrings *nulls = policy->nulls;

	for (int i = 0; nulls != NULL && i < nulls->count; i++)
	{
		if (length == nulls->lengths[i] &&
			memcmp(bytes, nulls->strings[i], length) == 0)
			return true;
	}
	return false;
}

/* Is a field read otherwise? */
static inline bool
policy_changes_fields(const RecordPolicy *policy)
{
	return policy->skip_quote_blanks || policy->nulls != NULL;
}

/* Is anything read otherwise than COPY reads it? */
static inline bool
policy_is_active(const RecordPolicy *policy)
{
	return policy_skips_lines(policy) || policy->skip_last_lines > 0 ||
		policy_is_ragged(policy) || policy_changes_fields(policy);
}

static inline void
policy_add_counts(PolicyCounts *sum, const PolicyCounts *counts)
{
	sum->lines += counts->lines;
	sum->short_records += counts->short_records;
	sum->long_records += counts->long_records;
}

#endif							/* CORE_POLICY_H */
