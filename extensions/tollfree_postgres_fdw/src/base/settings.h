/*
 * settings.h
 *	  The settings of the extension, but for those of fastpath.c.
 */
#ifndef TOLLFREE_FDW_SETTINGS_H
#define TOLLFREE_FDW_SETTINGS_H

#define STATEMENT_CACHE_SIZE_DEFAULT 100
#define STATEMENT_CACHE_SIZE_MIN 0
#define STATEMENT_CACHE_SIZE_MAX 10000

/* What debug_require can require */
typedef enum Requirement
{
	REQUIRE_DIRECT,
	REQUIRE_CACHED,
	REQUIRE_UNAWAITED_COMMIT,
	REQUIRE_IMPORT,
	REQUIRE_PIPELINED,
	REQUIRE_ARRAYS,
	REQUIRE_AUTOCOMMIT
} Requirement;

extern int	setting_statement_cache_size;
extern int	setting_cleanup_timeout;

extern void settings_define(void);
extern void settings_require(Requirement what, bool is_met);

#endif							/* TOLLFREE_FDW_SETTINGS_H */
