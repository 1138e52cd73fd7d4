/*
 * method.h
 *	  How a scan asks for its rows.
 */
#ifndef TOLLFREE_FDW_METHOD_H
#define TOLLFREE_FDW_METHOD_H

#include "scan/scan_state.h"

extern bool method_may_prefetch(const ForeignScanState *node,
								const ScanPlan *scan, const Session *session);
extern bool method_is_small(const ScanPlan *scan);
extern FetchMethod method_choose(const ForeignScanState *node,
								 const RemoteScanState *scan);
extern FetchMethod method_explain(const ForeignScanState *node,
								  const ScanPlan *plan);

#endif							/* TOLLFREE_FDW_METHOD_H */
