/*
 * validator.h
 *	  Which options an object of the wrapper may have.
 */
#ifndef TOLLFREE_FDW_VALIDATOR_H
#define TOLLFREE_FDW_VALIDATOR_H

extern bool validator_is_stock(const char *name, const char *value);
extern void validator_check_stock(const char *name, const char *value,
								  Oid catalog);

#endif							/* TOLLFREE_FDW_VALIDATOR_H */
