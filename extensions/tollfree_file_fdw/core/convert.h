/*
 * convert.h
 *	  Converts fields of many records to the values of one column.
 */
#ifndef CORE_CONVERT_H
#define CORE_CONVERT_H

#include "core/field.h"

/*
 * Fills the vector, whose spec and memory are set and whose nulls and
 * unresolved are empty, with its field of those records, of all if rows is
 * NULL.  Returns false when there is no memory.
 */
extern bool convert_column(const RecordFields *records,
						   const FieldRules *rules, Arena *arena,
						   const RowBitmap *rows, ColumnVector *vector);

#endif							/* CORE_CONVERT_H */
