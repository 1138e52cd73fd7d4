/*
 * clean.h
 *	  Records as COPY takes them: what a policy reads otherwise is made plain.
 *
 * For what COPY's own parser has to read of such a file.  A byte at a time: this is
 * the slow path.
 */
#ifndef CORE_CLEAN_H
#define CORE_CLEAN_H

#include "core/field.h"

/* The first record of some bytes. */
typedef struct CleanRecord
{
	size_t		length;			/* bytes, with its line end; 0 if it has no
								 * end among them */
	size_t		line_end;		/* bytes of that */
	size_t		nfields;
	size_t		cut;			/* where the fields wanted end */
	bool		is_marker;		/* is it an end-of-data marker, or may be one? */
	bool		is_open;		/* does it end within quotes? */
	size_t		dangling;		/* bytes at the file's end that mean nothing:
								 * a backslash */
} CleanRecord;

/*
 * Finds the first record, which should have nfields; at_end says that the bytes are the
 * file's last.  The line end may be unknown: then each style ends it.
 */
extern CleanRecord clean_find_record(const Dialect *dialect, LineEnd line_end,
									 size_t nfields,
									 const unsigned char *bytes, size_t length,
									 bool at_end);

/* Returns how many bytes that record has when it is made plain. */
extern size_t clean_length(const Dialect *dialect, const CleanRecord *record,
						   size_t nfields);

/* Writes them. */
extern void clean_write(const Dialect *dialect, const CleanRecord *record,
						size_t nfields, const unsigned char *bytes,
						unsigned char *to);

/* Returns how many bytes a record may have when its fields are made plain, too. */
extern size_t clean_fields_room(const Dialect *dialect, size_t length,
								size_t nfields);

/*
 * Writes a record, without its line end, whose fields are as COPY takes them: null
 * strings are the dialect's, and no blanks are around quotes.  Of nspecs columns it is
 * known how they take them; others, a header's, have no options.  Returns its bytes.
 */
extern size_t clean_fields(const Dialect *dialect, const ColumnSpec *specs,
						   size_t nspecs, const unsigned char *bytes,
						   size_t length, unsigned char *to);

/* Does the record lack fields that it may lack?  Has it more than are read? */
static inline bool
clean_is_short(const Dialect *dialect, const CleanRecord *record,
			   size_t nfields)
{
	return dialect->policy.pad_missing && record->nfields < nfields &&
		!record->is_marker && !record->is_open;
}

static inline bool
clean_is_long(const Dialect *dialect, const CleanRecord *record,
			  size_t nfields)
{
	return dialect->policy.cut_extra && record->nfields > nfields &&
		!record->is_open;
}

#endif							/* CORE_CLEAN_H */
