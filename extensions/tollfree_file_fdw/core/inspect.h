/*
 * inspect.h
 *	  What is to be known of records before their fields may be used.
 */
#ifndef CORE_INSPECT_H
#define CORE_INSPECT_H

#include "core/filescan.h"
#include "core/kernel.h"

/* Records as the kernel found them. */
typedef struct Records
{
	const unsigned char *bytes; /* of the first */
	const uint32_t *positions;
	const uint32_t *ends;
	int			nrecords;
	int			nfields;		/* that each must have, 0 for any number */
	uint32_t	line_end_length;
	unsigned	seen;			/* a superset of what is in them */
	bool		last_is_closed; /* the last one's line end is not the file's */
} Records;

typedef struct Inspection
{
	int			nrecords;		/* how many, from the first, are good */
	HandoverReason reason;		/* why the next is not, or HANDOVER_NONE */
	bool		is_end;			/* the next is the end-of-data marker */
} Inspection;

extern Inspection inspect_records(const Dialect *dialect,
								  const Kernel *kernel,
								  const Records *records);

#endif							/* CORE_INSPECT_H */
