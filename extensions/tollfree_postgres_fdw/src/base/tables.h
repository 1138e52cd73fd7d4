/*
 * tables.h
 *	  Options of foreign tables that each planning reads.
 */
#ifndef TOLLFREE_FDW_TABLES_H
#define TOLLFREE_FDW_TABLES_H

/* What the options of a foreign table and its server say */
typedef struct TableOptions
{
	Oid			relid;			/* the hash table's key */
	int			fast_paths;		/* that are allowed; fastpath.h */
	bool		remote_estimates;	/* use_remote_estimate */
} TableOptions;

extern TableOptions tables_options(Oid relid);
extern bool tables_server_has_extensions(Oid serverid);

/* The fast paths that its options allow */
static inline int
tables_fast_paths(Oid relid)
{
	return tables_options(relid).fast_paths;
}

/* Do estimates of this table come from the remote server? */
static inline bool
tables_asks_for_estimates(Oid relid)
{
	return tables_options(relid).remote_estimates;
}

#endif							/* TOLLFREE_FDW_TABLES_H */
