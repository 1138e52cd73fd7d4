/*
 * core.h
 *	  core/ and vector/ as glue/ sees them.
 *
 * They know nothing of PostgreSQL, and chose some names that it has as well.
 */
#ifndef TOLLFREE_FILE_CORE_H
#define TOLLFREE_FILE_CORE_H

#define ScanOptions FileScanOptions
#define COMPARE_EQ FILTER_EQ
#define COMPARE_NE FILTER_NE
#define COMPARE_LT FILTER_LT
#define COMPARE_LE FILTER_LE
#define COMPARE_GT FILTER_GT
#define COMPARE_GE FILTER_GE

#include "core/chunk.h"
#include "core/filescan.h"
#include "vector/aggregate.h"
#include "vector/filter.h"

#undef ScanOptions
#undef COMPARE_EQ
#undef COMPARE_NE
#undef COMPARE_LT
#undef COMPARE_LE
#undef COMPARE_GT
#undef COMPARE_GE

#endif							/* TOLLFREE_FILE_CORE_H */
