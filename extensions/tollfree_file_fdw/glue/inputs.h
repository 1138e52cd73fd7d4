/*
 * inputs.h
 *	  What the input functions of columns may do.
 */
#ifndef TOLLFREE_FILE_INPUTS_H
#define TOLLFREE_FILE_INPUTS_H

extern bool inputs_are_parallel_safe(Oid relid, List *names);

#endif							/* TOLLFREE_FILE_INPUTS_H */
