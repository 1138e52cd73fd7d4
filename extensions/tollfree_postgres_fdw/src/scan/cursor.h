/*
 * cursor.h
 *	  Large results, which come through a cursor.
 */
#ifndef TOLLFREE_FDW_CURSOR_H
#define TOLLFREE_FDW_CURSOR_H

#include "scan/scan_state.h"

extern void cursor_open(RemoteScanState *scan, const RemoteCommand *query);
extern void cursor_forget_rows(RemoteScanState *scan);
extern void cursor_send_more(RemoteScanState *scan);
extern bool cursor_more(RemoteScanState *scan);
extern void cursor_close(RemoteScanState *scan);

#endif							/* TOLLFREE_FDW_CURSOR_H */
