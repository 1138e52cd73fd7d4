/*
 * import.h
 *	  The callback of IMPORT FOREIGN SCHEMA, named as in FdwRoutine.
 */
#ifndef TOLLFREE_FILE_IMPORT_H
#define TOLLFREE_FILE_IMPORT_H

#include "foreign/fdwapi.h"

extern List *tollfreeImportForeignSchema(ImportForeignSchemaStmt *stmt, Oid serverOid);

#endif							/* TOLLFREE_FILE_IMPORT_H */
