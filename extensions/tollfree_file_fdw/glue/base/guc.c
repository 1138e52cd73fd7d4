/*
 * guc.c
 *	  Settings: an off switch for each fast path, and a way to insist on one.
 */
#include "postgres.h"

#include <limits.h>

#include "utils/guc.h"

#include "base/guc.h"

/* All in kB */
#define DEBUG_PARALLEL_CHUNK_SIZE_DEFAULT 4096
#define DEBUG_PARALLEL_CHUNK_SIZE_MIN 1
#define DEBUG_PARALLEL_CHUNK_SIZE_MAX (1024 * 1024)

#define RECORD_INDEX_SIZE_DEFAULT (1024 * 1024)
#define RECORD_INDEX_SIZE_MIN 0
#define RECORD_INDEX_SIZE_MAX MAX_KILOBYTES

#define COLUMN_CACHE_SIZE_DEFAULT (4 * 1024 * 1024)
#define COLUMN_CACHE_SIZE_MIN 0
#define COLUMN_CACHE_SIZE_MAX MAX_KILOBYTES

#define COMPRESSED_MEMORY_DEFAULT (256 * 1024)
#define COMPRESSED_MEMORY_MIN (16 * 1024)
#define COMPRESSED_MEMORY_MAX (1024 * 1024)

#define DEBUG_SEGMENT_SIZE_DEFAULT (16 * 1024)
#define DEBUG_SEGMENT_SIZE_MIN 1
#define DEBUG_SEGMENT_SIZE_MAX (1024 * 1024)

/* In ms */
#define RECORD_INDEX_AGE_DEFAULT 2000
#define RECORD_INDEX_AGE_MIN 0
#define RECORD_INDEX_AGE_MAX (24 * 60 * 60 * 1000)

int			setting_column_cache = KEEP_CHOSEN;
int			setting_column_cache_size = COLUMN_CACHE_SIZE_DEFAULT;
int			setting_compressed_memory = COMPRESSED_MEMORY_DEFAULT;
bool		setting_fast_scan = true;
bool		setting_join_filters = true;
bool		setting_parallel_scan = true;
int			setting_parallel_chunk_size = DEBUG_PARALLEL_CHUNK_SIZE_DEFAULT;
bool		setting_push_aggregates = true;
bool		setting_push_filters = true;
int			setting_record_index = KEEP_CHOSEN;
int			setting_record_index_age = RECORD_INDEX_AGE_DEFAULT;
int			setting_record_index_size = RECORD_INDEX_SIZE_DEFAULT;
bool		setting_sample_blocks = true;
int			setting_segment_size = DEBUG_SEGMENT_SIZE_DEFAULT;
int			setting_debug_require = REQUIRE_NOTHING;

static const struct config_enum_entry required_paths[] = {
	{"none", REQUIRE_NOTHING, false},
	{"scan", REQUIRE_SCAN, false},
	{"filter", REQUIRE_FILTER, false},
	{"aggregate", REQUIRE_AGGREGATE, false},
	{"parallel", REQUIRE_PARALLEL, false},
	{"record_index", REQUIRE_RECORD_INDEX, false},
	{"column_cache", REQUIRE_COLUMN_CACHE, false},
	{"join_filter", REQUIRE_JOIN_FILTER, false},
	{NULL, 0, false}
};

/* As a Boolean setting's, and one more */
static const struct config_enum_entry keep_settings[] = {
	{"off", KEEP_NONE, false},
	{"auto", KEEP_CHOSEN, false},
	{"on", KEEP_ALL, false},
	{"false", KEEP_NONE, true},
	{"no", KEEP_NONE, true},
	{"0", KEEP_NONE, true},
	{"true", KEEP_ALL, true},
	{"yes", KEEP_ALL, true},
	{"1", KEEP_ALL, true},
	{NULL, 0, false}
};

static const struct config_enum_entry kernels[] = {
	{"auto", 0, false},
	{"scalar", 1, false},
	{"avx2", 2, false},
	{"avx512", 3, false},
	{"neon", 4, false},
	{NULL, 0, false}
};

static int	kernel = 0;			/* index in kernels */

/* Settings that are on or off, as they are by default */
static const struct
{
	const char *name;
	bool	   *setting;
	const char *description;
	const char *more;			/* or NULL */
}			switches[] = {

	{"tollfree_file_fdw.fast_scan", &setting_fast_scan,
	"Reads files with the wrapper's own parser where possible.", NULL},
	{"tollfree_file_fdw.join_filters", &setting_join_filters,
	"Drops rows in the scan that a hash join above would drop.", NULL},
	{"tollfree_file_fdw.parallel_scan", &setting_parallel_scan,
	"Enables parallel scans of one file.", NULL},
	{"tollfree_file_fdw.push_aggregates", &setting_push_aggregates,
	"Computes aggregates on batches of rows where possible.", NULL},
	{"tollfree_file_fdw.push_filters", &setting_push_filters,
	"Evaluates conditions on batches of rows where possible.", NULL},
	{"tollfree_file_fdw.sample_blocks", &setting_sample_blocks,
	"Has ANALYZE read random blocks of a file where possible.", NULL}
};

/* The kernel that is set. */
const Kernel *
setting_kernel(void)
{
	return kernel_find(kernels[kernel].name);
}

/* Refuses a kernel that does not run here. */
static bool
check_kernel(int *newval, void **extra, GucSource source)
{
	if (kernel_find(kernels[*newval].name) != NULL)
		return true;
	GUC_check_errdetail("This processor or this build does not support the kernel \"%s\".",
						kernels[*newval].name);
	GUC_check_errhint("\"auto\" selects the best supported kernel.");
	return false;
}

/* When the library is loaded. */
void
settings_define(void)
{
	for (int i = 0; i < lengthof(switches); i++)
		DefineCustomBoolVariable(switches[i].name, switches[i].description,
								 switches[i].more, switches[i].setting,
								 *switches[i].setting, PGC_USERSET, 0,
								 NULL, NULL, NULL);
	DefineCustomEnumVariable("tollfree_file_fdw.column_cache",
							 "Caches the converted columns of files, and reads these instead of their text.",
							 "With \"auto\", of tables whose option, or whose server's, says so. "
							 "The file's record index is kept and used as well.",
							 &setting_column_cache, KEEP_CHOSEN, keep_settings,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("tollfree_file_fdw.record_index",
							 "Keeps an index of files' records, and reads only the blocks that a query needs.",
							 "With \"auto\", of tables whose option, or whose server's, says so.",
							 &setting_record_index, KEEP_CHOSEN, keep_settings,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("tollfree_file_fdw.column_cache_size",
							"Sets the disk space for the cached columns of all databases.",
							"Segments with the fewest uses for their size are removed first.",
							&setting_column_cache_size,
							COLUMN_CACHE_SIZE_DEFAULT,
							COLUMN_CACHE_SIZE_MIN, COLUMN_CACHE_SIZE_MAX,
							PGC_SUSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("tollfree_file_fdw.compressed_memory",
							"Sets how long a record of a compressed file may be, and how much memory decompressing may take.",
							"A longer record, or one that needs more, is an error.",
							&setting_compressed_memory,
							COMPRESSED_MEMORY_DEFAULT,
							COMPRESSED_MEMORY_MIN, COMPRESSED_MEMORY_MAX,
							PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("tollfree_file_fdw.record_index_size",
							"Sets the disk space for the record indexes of all databases.",
							"The oldest indexes are removed first.",
							&setting_record_index_size,
							RECORD_INDEX_SIZE_DEFAULT,
							RECORD_INDEX_SIZE_MIN, RECORD_INDEX_SIZE_MAX,
							PGC_SUSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomEnumVariable("tollfree_file_fdw.debug_kernel",
							 "Selects the instruction set that files are scanned with.",
							 NULL, &kernel, 0, kernels,
							 PGC_USERSET, GUC_NOT_IN_SAMPLE,
							 check_kernel, NULL, NULL);
	DefineCustomIntVariable("tollfree_file_fdw.debug_parallel_chunk_size",
							"Sets the size of the chunks of a file in a parallel scan.",
							NULL, &setting_parallel_chunk_size,
							DEBUG_PARALLEL_CHUNK_SIZE_DEFAULT,
							DEBUG_PARALLEL_CHUNK_SIZE_MIN, DEBUG_PARALLEL_CHUNK_SIZE_MAX,
							PGC_USERSET, GUC_NOT_IN_SAMPLE | GUC_UNIT_KB,
							NULL, NULL, NULL);
	DefineCustomIntVariable("tollfree_file_fdw.debug_record_index_age",
							"Sets how long a file must be unchanged before it is indexed.",
							NULL, &setting_record_index_age,
							RECORD_INDEX_AGE_DEFAULT,
							RECORD_INDEX_AGE_MIN, RECORD_INDEX_AGE_MAX,
							PGC_SUSET, GUC_NOT_IN_SAMPLE | GUC_UNIT_MS,
							NULL, NULL, NULL);
	DefineCustomIntVariable("tollfree_file_fdw.debug_segment_size",
							"Sets how much of a file one segment covers.",
							NULL, &setting_segment_size,
							DEBUG_SEGMENT_SIZE_DEFAULT,
							DEBUG_SEGMENT_SIZE_MIN, DEBUG_SEGMENT_SIZE_MAX,
							PGC_SUSET, GUC_NOT_IN_SAMPLE | GUC_UNIT_KB,
							NULL, NULL, NULL);
	DefineCustomEnumVariable("tollfree_file_fdw.debug_require",
							 "Raises an error in scans that do not take this fast path.",
							 NULL, &setting_debug_require, REQUIRE_NOTHING,
							 required_paths, PGC_USERSET, GUC_NOT_IN_SAMPLE,
							 NULL, NULL, NULL);
	MarkGUCPrefixReserved("tollfree_file_fdw");
}
