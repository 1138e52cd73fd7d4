/*
 * field.h
 *	  One field: its place, whether it is null, its decoded bytes.
 */
#ifndef CORE_FIELD_H
#define CORE_FIELD_H

#include "core/arena.h"
#include "core/batch.h"
#include "core/dialect.h"

/*
 * Records that all have nfields fields.  Field f of record r ends at
 *
 *		positions[r * nfields + f]
 *
 * and begins after the position before that one, which for the first field is
 * a line end, of line_end_length bytes.  positions[-1] is the line end before
 * the first record.
 */
typedef struct RecordFields
{
	const unsigned char *bytes;
	const uint32_t *positions;
	int			nrecords;
	int			nfields;
	uint32_t	line_end_length;	/* bytes: 1 or 2 */
} RecordFields;

/* How the bytes of a field are decoded. */
typedef struct FieldRules
{
	const Dialect *dialect;
	uint64_t	null_word;		/* the null string's first 8 bytes */
	uint64_t	null_mask;
	bool		has_nulls;		/* are there further null strings? */
	bool		has_quotes;		/* CSV: may there be quotes in these records? */
	bool		has_escapes;	/* text: may there be backslashes? */
} FieldRules;

/* Bytes of a field as in the file. */
typedef struct RawField
{
	const unsigned char *bytes;
	uint32_t	length;
} RawField;

static inline RawField
field_at(const RecordFields *records, int record, int field)
{
	const uint32_t *end = records->positions +
		(size_t) record * records->nfields + field;
	uint32_t	begin = end[-1] + (field == 0 ? records->line_end_length : 1);
	RawField	raw = {records->bytes + begin, *end - begin};

	return raw;
}

extern FieldRules field_rules(const Dialect *dialect);

/* Is it one of the policy's null strings? */
extern bool field_is_further_null(const Dialect *dialect, RawField raw);

/* The field without blanks around its quotes, if these are left out. */
extern RawField field_trim(const Dialect *dialect, RawField raw);

/* Is it the null string, undecoded?  Reads up to 8 bytes from its first. */
static inline bool
field_is_null_string(const FieldRules *rules, RawField raw)
{
	uint64_t	word;

	if (rules->has_nulls && field_is_further_null(rules->dialect, raw))
		return true;
	if (raw.length != rules->dialect->null_length)
		return false;
	memcpy(&word, raw.bytes, sizeof(word));
	return (word & rules->null_mask) == rules->null_word &&
		(raw.length <= sizeof(word) ||
		 memcmp(raw.bytes, rules->dialect->null, raw.length) == 0);
}

/* Has the field quotes or escapes that are not part of its value? */
static inline bool
field_is_encoded(const FieldRules *rules, RawField raw)
{
	if (rules->has_quotes)
		return memchr(raw.bytes, rules->dialect->quote, raw.length) != NULL;
	return rules->has_escapes && memchr(raw.bytes, '\\', raw.length) != NULL;
}

/*
 * Copies a CSV field without its quotes and escapes to to, which has room for
 * raw.length bytes; returns how many there are.
 */
extern uint32_t field_unquote(const Dialect *dialect, RawField raw,
							  unsigned char *to);

/* The bytes that COPY passes to the input function, or null. */
typedef struct FieldValue
{
	const unsigned char *bytes; /* in the file's bytes or the arena */
	uint32_t	length;
	bool		is_null;
	bool		no_memory;
} FieldValue;

/*
 * Returns the value of a field, without quotes and escapes, for a column with
 * that specification's force_null and force_not_null.
 */
extern FieldValue field_value(const FieldRules *rules, RawField raw,
							  const ColumnSpec *spec, Arena *arena);

/* A field that a record lacks, where that may be: as if the null string were there. */
extern FieldValue field_missing(const FieldRules *rules,
								const ColumnSpec *spec);

#endif							/* CORE_FIELD_H */
