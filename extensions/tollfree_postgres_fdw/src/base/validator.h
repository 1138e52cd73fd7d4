/*
 * validator.h
 *	  The validator of the wrapper: options and their values.
 */
#ifndef TOLLFREE_FDW_VALIDATOR_H
#define TOLLFREE_FDW_VALIDATOR_H

extern bool validator_is_stock(const char *name, const char *value);

#endif							/* TOLLFREE_FDW_VALIDATOR_H */
