/*
 * first.h
 *	  Planning a session's first statement again, by the hooks of the library.
 */
#ifndef TOLLFREE_FDW_FIRST_H
#define TOLLFREE_FDW_FIRST_H

extern void first_install(void);

#endif							/* TOLLFREE_FDW_FIRST_H */
