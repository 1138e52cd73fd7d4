/*
 * landing.h
 *	  What a session has in the air, or holds back, when a subtransaction begins.
 */
#ifndef TOLLFREE_FDW_LANDING_H
#define TOLLFREE_FDW_LANDING_H

extern void landing_read_all(void);

#endif							/* TOLLFREE_FDW_LANDING_H */
