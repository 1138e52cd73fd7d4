/*
 * json_columns.h
 *	  Columns of a table of JSON Lines files: where their values are in a line.
 */
#ifndef TOLLFREE_FILE_JSON_COLUMNS_H
#define TOLLFREE_FILE_JSON_COLUMNS_H

#include "access/tupdesc.h"
#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"

#include "base/core.h"

/* Of a column */
#define OPTION_PATH "path"
#define OPTION_REST "rest"

extern bool json_option_is(const char *name);
extern void json_option_check(const char *name, const char *value);
extern const char *json_default_path(const char *column);
extern void json_column_refuse(Form_pg_attribute attribute, List *options);
extern JsonField *json_columns_read(Oid relid, TupleDesc desc,
									const Bitmapset *computed);

#endif							/* TOLLFREE_FILE_JSON_COLUMNS_H */
