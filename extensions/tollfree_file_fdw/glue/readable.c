/*
 * readable.c
 *	  The foreign tables that functions of ours are given.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "foreign/fdwapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/rel.h"

#include "plan/callbacks.h"
#include "readable.h"

/* Opens a foreign table of ours that the current user may read; else an ERROR. */
Relation
readable_open(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);

	if (rel->rd_rel->relkind != RELKIND_FOREIGN_TABLE ||
		GetFdwRoutineByRelId(relid)->BeginForeignScan !=
		tollfreeBeginForeignScan)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a foreign table of tollfree_file_fdw",
						RelationGetRelationName(rel))));
	if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_TABLE,
					   RelationGetRelationName(rel));
	return rel;
}
