/*
 * guc.h
 *	  Settings.
 */
#ifndef TOLLFREE_FDW_GUC_H
#define TOLLFREE_FDW_GUC_H

#define CLEANUP_TIMEOUT_DEFAULT 30000	/* ms */
#define CLEANUP_TIMEOUT_MIN 1
#define CLEANUP_TIMEOUT_MAX 3600000

extern bool setting_direct_results;
extern bool setting_unawaited_commit;
extern int	setting_cleanup_timeout;
extern bool setting_read_ahead;
extern bool setting_binary_results;
extern bool setting_pipelined_writes;

extern void settings_define(void);

#endif							/* TOLLFREE_FDW_GUC_H */
