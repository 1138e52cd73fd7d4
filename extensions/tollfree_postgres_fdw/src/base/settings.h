/*
 * settings.h
 *	  The settings of the extension.
 */
#ifndef TOLLFREE_FDW_SETTINGS_H
#define TOLLFREE_FDW_SETTINGS_H

#define STATEMENT_CACHE_SIZE_DEFAULT 100
#define STATEMENT_CACHE_SIZE_MIN 0
#define STATEMENT_CACHE_SIZE_MAX 10000

#define CLEANUP_TIMEOUT_DEFAULT 30000	/* ms */
#define CLEANUP_TIMEOUT_MIN 1
#define CLEANUP_TIMEOUT_MAX 60000

/* What debug_require can require; bits of a set */
#define REQUIRE_DIRECT 1
#define REQUIRE_CACHED 2
#define REQUIRE_UNAWAITED_COMMIT 4
#define REQUIRE_IMPORT 8
#define REQUIRE_PIPELINED 16
#define REQUIRE_ARRAYS 32
#define REQUIRE_AUTOCOMMIT 64

extern bool setting_direct_results;
extern bool setting_unawaited_commit;
extern bool setting_autocommit_scans;
extern int	setting_statement_cache_size;
extern bool setting_constants_as_parameters;
extern int	setting_cleanup_timeout;
extern int	setting_debug_require;
extern bool setting_read_ahead;
extern bool setting_binary_results;
extern bool setting_pipelined_writes;

extern void settings_define(void);
extern void settings_require(int what, bool is_met);

#endif							/* TOLLFREE_FDW_SETTINGS_H */
