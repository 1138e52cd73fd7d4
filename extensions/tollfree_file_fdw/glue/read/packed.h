/*
 * packed.h
 *	  A compressed file, as PostgreSQL's memory, settings and errors have it.
 */
#ifndef TOLLFREE_FILE_PACKED_H
#define TOLLFREE_FILE_PACKED_H

#include "base/core.h"

/* Lives as long as the file that it is of. */
typedef struct PackedFile
{
	Stream		stream;
	const char *filename;
	char	   *held;			/* text that has been decoded already, or NULL */
	int64		held_from;		/* its offset in the text */
	int64		held_length;	/* bytes */
} PackedFile;

extern void packed_refuse_special(const char *filename,
								  FileCompression compression);
extern PackedFile *packed_open(const char *filename, FileCompression compression,
							   Source *source);
extern void packed_close(PackedFile *packed);
extern void packed_hold(PackedFile *packed, int64 from, const void *bytes,
						size_t length);
extern SourceStatus packed_read(PackedFile *packed, void *buffer, size_t length,
								int64 offset, size_t *got);
extern size_t packed_record_max(void);
extern void packed_check_record(const PackedFile *packed, int64 length);
extern void packed_report(const Stream *stream, const char *filename);

#endif							/* TOLLFREE_FILE_PACKED_H */
