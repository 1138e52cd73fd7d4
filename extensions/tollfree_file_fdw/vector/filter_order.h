/*
 * filter_order.h
 *	  The order of the constants of a list, for who sorts and who searches it.
 */
#ifndef VECTOR_FILTER_ORDER_H
#define VECTOR_FILTER_ORDER_H

#include "core/batch.h"

/* Compares two FilterValues of a type, as bsearch wants it. */
typedef int (*FilterOrder) (const void *a, const void *b);

extern FilterOrder filter_order(ColumnType type);

#endif							/* VECTOR_FILTER_ORDER_H */
