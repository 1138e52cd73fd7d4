/*
 * rowstore.h
 *	  Received rows, not yet converted, in memory or in a temporary file.
 */
#ifndef TOLLFREE_FDW_ROWSTORE_H
#define TOLLFREE_FDW_ROWSTORE_H

#include "utils/resowner.h"

#include "base/libpq.h"

typedef struct RowStore RowStore;

extern RowStore *rowstore_create(MemoryContext context, ResourceOwner owner,
								 int kilobytes);
extern void rowstore_put(RowStore *store, const PGresult *res, int row);
extern PGresult *rowstore_get(RowStore *store);
extern bool rowstore_has_ended(const RowStore *store);
extern bool rowstore_is_on_disk(const RowStore *store);
extern void rowstore_rescan(RowStore *store);
extern int	rowstore_mark(RowStore *store);
extern void rowstore_go_to(RowStore *store, int mark);
extern void rowstore_free(RowStore *store);

#endif							/* TOLLFREE_FDW_ROWSTORE_H */
