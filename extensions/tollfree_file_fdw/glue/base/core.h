/*
 * core.h
 *	  core/ and vector/ as glue/ sees them.
 */
#ifndef TOLLFREE_FILE_CORE_H
#define TOLLFREE_FILE_CORE_H

#include "core/chunk.h"
#include "core/filescan.h"
#include "core/footer.h"
#include "core/index_builder.h"
#include "core/json_records.h"
#include "core/segment.h"
#include "core/stream.h"
#include "vector/aggregate.h"
#include "vector/filter.h"
#include "vector/hash_filter.h"
#include "vector/zones.h"

#endif							/* TOLLFREE_FILE_CORE_H */
