/*
 * options.h
 *	  Values of the options of servers, user mappings and foreign tables.
 */
#ifndef TOLLFREE_FDW_OPTIONS_H
#define TOLLFREE_FDW_OPTIONS_H

#include "nodes/pg_list.h"
#include "utils/rel.h"

/* Names and values of options of our own */
#define ANALYZE_SAMPLING "analyze_sampling"
#define COLLATIONS "collations"
#define COMPATIBILITY "compatibility"
#define POOL_MODE "pool_mode"
#define IMPORT_STATS "import_stats"
#define RESTORE_STATS "restore_stats"	/* the same in betas of PostgreSQL 19 */
#define REMOTE_ISOLATION "remote_isolation"
#define STATEMENT_CACHE_SIZE "statement_cache_size"
#define COLLATIONS_SAME "same"
#define COMPATIBILITY_STOCK "stock"
#define POOL_MODE_SESSION "session"
#define POOL_MODE_TRANSACTION "transaction"
#define READ_COMMITTED "read committed"

/* What may be between this server and the remote one */
typedef enum PoolMode
{
	POOL_UNKNOWN,				/* each connection finds out */
	POOL_SESSION,				/* a session keeps its server connection */
	POOL_TRANSACTION			/* it gets another for each transaction */
} PoolMode;

/* Which rows ANALYZE samples; analyze.c describes them. */
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
extern bool option_is_import(const char *name);
extern const char *option_find_import(List *options);
extern bool option_imports_statistics(Oid relid);
extern int	option_batch_size(Relation rel);
extern double option_cost(Oid server, const char *name, double otherwise);
extern bool option_find_sampling(const char *name, SamplingMethod *method);
extern SamplingMethod option_sampling_method(Relation rel);
extern const char *option_sampling_name(SamplingMethod method);
extern bool option_is_libpq(const char *name);
extern bool option_reads_committed(List *server_options);
extern bool option_is_compatible(List *server_options);
extern bool option_claims_collations(List *server_options);
extern PoolMode option_pool_mode(List *server_options);
extern int	option_statement_cache_size(List *server_options);

#endif							/* TOLLFREE_FDW_OPTIONS_H */
