/*
 * guc.h
 *	  Settings.
 */
#ifndef TOLLFREE_FDW_GUC_H
#define TOLLFREE_FDW_GUC_H

extern bool setting_direct_results;
extern bool setting_unawaited_commit;
extern bool setting_read_ahead;
extern bool setting_binary_results;
extern bool setting_pipelined_writes;
extern bool setting_array_inserts;

extern void settings_define(void);

#endif							/* TOLLFREE_FDW_GUC_H */
