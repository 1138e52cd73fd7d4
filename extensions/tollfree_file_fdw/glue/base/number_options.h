/*
 * number_options.h
 *	  Options of columns about numbers as people write them.
 */
#ifndef TOLLFREE_FILE_NUMBER_OPTIONS_H
#define TOLLFREE_FILE_NUMBER_OPTIONS_H

#include "catalog/pg_attribute.h"
#include "nodes/pg_list.h"

#include "core/number.h"

#define OPTION_DECIMAL_SEPARATOR "decimal_separator"
#define OPTION_THOUSANDS_SEPARATOR "thousands_separator"
#define OPTION_STRIP "strip"

extern bool number_option_is(const char *name);
extern void number_option_read(NumberForm *form, const char *name,
							   const char *value);
extern void number_options_check(const NumberForm *form);
extern const NumberForm *number_options_form(Form_pg_attribute attribute,
											 List *options);

#endif							/* TOLLFREE_FILE_NUMBER_OPTIONS_H */
