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
	MemberMap  *map;			/* where members begin, if that matters and is
								 * known; or NULL */
	Source		look_source;	/* the same file, for looks at other places
								 * than that which is read */
	Stream		look;			/* the text of that, once it is looked at */
	char	   *held;			/* text that has been decoded already, or NULL */
	int64		held_from;		/* its offset in the text */
	int64		held_length;	/* bytes */
} PackedFile;

extern void packed_refuse_special(const char *filename,
								  FileCompression compression);
extern PackedFile *packed_open(const char *filename, FileCompression compression,
							   Source *source);
extern void packed_close(PackedFile *packed);
extern bool packed_may_have_members(const char *filename,
									FileCompression compression);
extern bool packed_find_members(PackedFile *packed, int64 apart);
extern void packed_use_members(PackedFile *packed, const MemberPlace *places,
							   size_t nplaces);
extern void packed_forget_members(PackedFile *packed);
extern Source *packed_look(PackedFile *packed);
extern void packed_hold(PackedFile *packed, int64 from, const void *bytes,
						size_t length);
extern SourceStatus packed_read(PackedFile *packed, void *buffer, size_t length,
								int64 offset, size_t *got);
extern size_t packed_record_max(void);
extern void packed_check_record(const PackedFile *packed, int64 length);
extern void packed_report(const Stream *stream, const char *filename);

#endif							/* TOLLFREE_FILE_PACKED_H */
