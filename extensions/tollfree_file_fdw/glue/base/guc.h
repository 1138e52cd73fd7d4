/*
 * guc.h
 *	  Settings.
 */
#ifndef TOLLFREE_FILE_GUC_H
#define TOLLFREE_FILE_GUC_H

#include "base/core.h"

/* What a scan must make use of, or else it is an error. */
typedef enum RequiredPath
{
	REQUIRE_NOTHING,
	REQUIRE_SCAN,
	REQUIRE_FILTER,
	REQUIRE_AGGREGATE,
	REQUIRE_PARALLEL,
	REQUIRE_RECORD_INDEX,
	REQUIRE_COLUMN_CACHE,
	REQUIRE_JOIN_FILTER
} RequiredPath;

/* What is kept of files: of none, of those whose options say so, of all others, too. */
typedef enum KeepSetting
{
	KEEP_NONE,
	KEEP_CHOSEN,
	KEEP_ALL
} KeepSetting;

extern int	setting_column_cache;	/* a KeepSetting */
extern int	setting_column_cache_size;	/* kB */
extern int	setting_compressed_memory;	/* kB */
extern bool setting_fast_scan;
extern bool setting_join_filters;
extern bool setting_parallel_scan;
extern int	setting_parallel_chunk_size;	/* kB */
extern bool setting_push_aggregates;
extern bool setting_push_filters;
extern int	setting_record_index;	/* a KeepSetting */
extern int	setting_record_index_age;	/* ms */
extern int	setting_record_index_size;	/* kB */
extern bool setting_sample_blocks;
extern int	setting_segment_size;	/* kB */
extern int	setting_debug_require;	/* a RequiredPath */

extern const Kernel *setting_kernel(void);
extern void settings_define(void);

#endif							/* TOLLFREE_FILE_GUC_H */
