/*
 * options.h
 *	  Options of servers, user mappings and foreign tables.
 */
#ifndef TOLLFREE_FDW_OPTIONS_H
#define TOLLFREE_FDW_OPTIONS_H

#include "nodes/pg_list.h"
#include "utils/rel.h"

/* Which rows ANALYZE asks for; analyze.c describes them. */
typedef enum SamplingMethod
{
	SAMPLING_OFF,
	SAMPLING_RANDOM,
	SAMPLING_SYSTEM,
	SAMPLING_BERNOULLI,
	SAMPLING_AUTO,
	SAMPLING_IMPORT
} SamplingMethod;

extern const char *option_find(List *options, const char *name);
extern bool option_is_true(List *options, const char *name, bool otherwise);
extern bool option_of_table_is_true(Oid relid, const char *name,
									bool otherwise);
extern bool option_imports_statistics(Oid relid);
extern int	option_batch_size(Relation rel);
extern double option_cost(Oid server, const char *name, double otherwise);
extern SamplingMethod option_sampling_method(Relation rel);
extern const char *option_sampling_name(SamplingMethod method);
extern bool option_is_libpq(const char *name);
extern bool option_is_stock(const char *name, const char *value);
extern void option_check_stock(const char *name, const char *value, Oid catalog);
extern bool option_reads_committed(List *server_options);
extern bool option_is_compatible(List *server_options);
extern int	option_statement_cache_size(List *server_options);

#endif							/* TOLLFREE_FDW_OPTIONS_H */
