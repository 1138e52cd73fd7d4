/*
 * index_file.h
 *	  Where record indexes are kept: one file for each foreign table.
 */
#ifndef TOLLFREE_FILE_INDEX_FILE_H
#define TOLLFREE_FILE_INDEX_FILE_H

#include "base/core.h"

extern bool index_file_load_header(Oid relid, IndexHeader *header);
extern bool index_file_load_fields(Oid relid, IndexHeader *header,
								   uint32 **fields);
extern bool index_file_load(Oid relid, RecordIndex *index);
extern bool index_file_has_room(const IndexHeader *header, int nmore);
extern bool index_file_store(Oid relid, unsigned char *bytes, size_t length);

#endif							/* TOLLFREE_FILE_INDEX_FILE_H */
