/*
 * keys.h
 *	  The different keys of a batch, as arrays to be sent.
 */
#ifndef TOLLFREE_FDW_KEYS_H
#define TOLLFREE_FDW_KEYS_H

#include "lib/stringinfo.h"
#include "utils/hsearch.h"

typedef struct KeySet
{
	MemoryContext context;		/* of a batch */
	int			nparams;		/* values of a key */
	int			count;			/* different keys */
	HTAB	   *numbers;		/* of the keys, from 1 on; NULL if there are
								 * none */
	StringInfoData packed;		/* buffer for the texts of a key */
	StringInfoData *arrays;		/* an array's text for each parameter */
} KeySet;

extern void keys_begin(KeySet *keys);
extern int	keys_add(KeySet *keys, const char *const *values);
extern void keys_end(KeySet *keys, const char **params);

#endif							/* TOLLFREE_FDW_KEYS_H */
