/*
 * option_hint.h
 *	  A hint to an option of a wrapper whose name is misspelt.
 */
#ifndef TOLLFREE_OPTION_HINT_H
#define TOLLFREE_OPTION_HINT_H

/* What a stock wrapper's validator checks, and what it does not know */
typedef struct OptionHint
{
	Datum		options;		/* the text[] that it checks */
	const char *const *names;	/* of the wrapper's own options */
	int			nnames;
	const char *stock_name;		/* one of the stock wrapper's that is like one
								 * of these, so that it has a hint of its own;
								 * or NULL */
} OptionHint;

/* An error context callback; its argument is an OptionHint. */
extern void option_hint(void *arg);

#endif							/* TOLLFREE_OPTION_HINT_H */
