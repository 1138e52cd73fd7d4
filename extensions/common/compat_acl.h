/*
 * compat_acl.h
 *	  Who may do what with servers and wrappers, on every supported major.
 */
#ifndef TOLLFREE_COMPAT_ACL_H
#define TOLLFREE_COMPAT_ACL_H

#include "catalog/pg_foreign_data_wrapper.h"
#include "catalog/pg_foreign_server.h"
#include "miscadmin.h"
#include "utils/acl.h"

/* Does the current user own the server? */
static inline bool
compat_owns_server(Oid serverid)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(ForeignServerRelationId, serverid, GetUserId());
#else
	return pg_foreign_server_ownercheck(serverid, GetUserId());
#endif
}

/* May the current user make servers of the wrapper? */
static inline bool
compat_may_use_wrapper(Oid fdwid)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ForeignDataWrapperRelationId, fdwid, GetUserId(),
						   ACL_USAGE) == ACLCHECK_OK;
#else
	return pg_foreign_data_wrapper_aclcheck(fdwid, GetUserId(),
											ACL_USAGE) == ACLCHECK_OK;
#endif
}

#endif							/* TOLLFREE_COMPAT_ACL_H */
