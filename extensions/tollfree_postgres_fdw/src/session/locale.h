/*
 * locale.h
 *	  The encoding and the collations of a database.
 */
#ifndef TOLLFREE_FDW_LOCALE_H
#define TOLLFREE_FDW_LOCALE_H

extern const char *locale_sql(int version);
extern char *locale_here(void);

#endif							/* TOLLFREE_FDW_LOCALE_H */
