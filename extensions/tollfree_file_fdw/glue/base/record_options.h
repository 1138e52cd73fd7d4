/*
 * record_options.h
 *	  Options of foreign tables about records that COPY refuses, or takes for rows.
 */
#ifndef TOLLFREE_FILE_RECORD_OPTIONS_H
#define TOLLFREE_FILE_RECORD_OPTIONS_H

#include "nodes/parsenodes.h"

#include "core/policy.h"

#define OPTION_BYTE_ORDER_MARK "byte_order_mark"
#define OPTION_SKIP_LINES "skip_lines"
#define OPTION_COMMENT "comment"
#define OPTION_BLANK_LINES "blank_lines"
#define OPTION_MISSING_FIELDS "missing_fields"
#define OPTION_EXTRA_FIELDS "extra_fields"
#define OPTION_SKIP_LAST_LINES "skip_last_lines"
#define OPTION_QUOTE_BLANKS "quote_blanks"
#define OPTION_NULL_STRINGS "null_strings"

extern bool record_option_is(const char *name);
extern void record_option_read(RecordPolicy *policy, const char *name,
							   const char *value);

#endif							/* TOLLFREE_FILE_RECORD_OPTIONS_H */
