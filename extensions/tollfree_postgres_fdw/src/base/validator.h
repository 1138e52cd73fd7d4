/*
 * validator.h
 *	  Which options there are, and which values they can have.
 */
#ifndef TOLLFREE_FDW_VALIDATOR_H
#define TOLLFREE_FDW_VALIDATOR_H

extern bool validator_is_stock(const char *name, const char *value);

#endif							/* TOLLFREE_FDW_VALIDATOR_H */
