/*
 * convert.h
 *	  Fields of many records into the values of one column.
 */
#ifndef CORE_CONVERT_H
#define CORE_CONVERT_H

#include "core/field.h"

/*
 * Fills the vector, whose spec and memory are set, with its field of all
 * records.  Returns false when there is no memory.
 */
extern bool convert_column(const RecordFields *records,
						   const FieldRules *rules, Arena *arena,
						   ColumnVector *vector);

#endif							/* CORE_CONVERT_H */
