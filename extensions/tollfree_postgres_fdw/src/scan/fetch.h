/*
 * fetch.h
 *	  How the rows of a scan arrive, and where they wait.
 */
#ifndef TOLLFREE_FDW_FETCH_H
#define TOLLFREE_FDW_FETCH_H

#include "scan/scan_state.h"

/* Sending commands, and reading their answers */
extern void fetch_send(RemoteScanState *scan, const RemoteCommand *commands,
					   int ncommands, bool declares);
extern bool fetch_read(RemoteScanState *scan);
extern bool fetch_receive(RemoteScanState *scan);
extern void fetch_drain(RemoteScanState *scan);
extern RemoteScanState *fetch_in_flight(const Session *session);

/* Rows that have been received */
extern bool fetch_has_row(const RemoteScanState *scan);
extern void fetch_next_row(RemoteScanState *scan, TupleTableSlot *slot);
extern bool fetch_next_stored(RemoteScanState *scan, TupleTableSlot *slot);
extern void fetch_clear(RemoteScanState *scan);
extern void fetch_spill(RemoteScanState *scan);
extern void fetch_drop_store(RemoteScanState *scan);

#endif							/* TOLLFREE_FDW_FETCH_H */
