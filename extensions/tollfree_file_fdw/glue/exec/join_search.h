/*
 * join_search.h
 *	  Which hash joins can tell a scan what rows they drop.
 */
#ifndef TOLLFREE_FILE_JOIN_SEARCH_H
#define TOLLFREE_FILE_JOIN_SEARCH_H

extern void join_search_install(void);

#endif							/* TOLLFREE_FILE_JOIN_SEARCH_H */
