/*
 * inspect.h
 *	  Checks of records before their fields may be used.
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
	unsigned	seen;			/* a superset of the bytes in them */
	bool		last_is_closed; /* the last one's line end is not the file's */
} Records;

typedef struct Inspection
{
	int			nrecords;		/* number of leading records that pass */
	HandoverReason reason;		/* why the next one fails, or HANDOVER_NONE */
	bool		is_end;			/* the next is the end-of-data marker */
} Inspection;

extern Inspection inspect_records(const Dialect *dialect,
								  const Kernel *kernel,
								  const Records *records);

#endif							/* CORE_INSPECT_H */
