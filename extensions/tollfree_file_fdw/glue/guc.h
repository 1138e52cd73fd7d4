/*
 * guc.h
 *	  Settings.
 */
#ifndef TOLLFREE_FILE_GUC_H
#define TOLLFREE_FILE_GUC_H

/* What a scan must make use of, or else it is an error. */
typedef enum RequiredPath
{
	REQUIRE_NOTHING,
	REQUIRE_SCAN,
	REQUIRE_FILTER,
	REQUIRE_AGGREGATE,
	REQUIRE_PARALLEL
} RequiredPath;

extern bool setting_fast_scan;
extern int	setting_debug_require;	/* a RequiredPath */

extern void settings_define(void);

#endif							/* TOLLFREE_FILE_GUC_H */
