/*
 * validator.h
 *	  Which options are ours.
 */
#ifndef TOLLFREE_FILE_VALIDATOR_H
#define TOLLFREE_FILE_VALIDATOR_H

#include "nodes/pg_list.h"

extern const char *option_find_ours(List *options);
extern const char *option_find_of_columns(Oid relid);

#endif							/* TOLLFREE_FILE_VALIDATOR_H */
