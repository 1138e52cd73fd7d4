/*
 * value_kind.h
 *	  Which type texts may be values of.
 */
#ifndef CORE_VALUE_KIND_H
#define CORE_VALUE_KIND_H

#include <stddef.h>

/* From the first that says nothing to the last that takes everything. */
typedef enum ValueKind
{
	KIND_NONE,					/* no value */
	KIND_BOOL,
	KIND_INT4,
	KIND_INT8,
	KIND_NUMERIC,
	KIND_DATE,
	KIND_TIMESTAMP,
	KIND_TIMESTAMPTZ,
	KIND_UUID,
	KIND_TEXT
} ValueKind;

/*
 * The narrowest kind whose type takes a text without losing anything of it: 007 is a
 * text, and so are dates that another order of day and month would change.
 */
extern ValueKind kind_of(const unsigned char *bytes, size_t length);

/* The narrowest kind of which values of both are. */
extern ValueKind kind_join(ValueKind a, ValueKind b);

#endif							/* CORE_VALUE_KIND_H */
