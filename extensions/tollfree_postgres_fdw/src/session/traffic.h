/*
 * traffic.h
 *	  The bytes that a TCP connection has carried.
 */
#ifndef TOLLFREE_FDW_TRAFFIC_H
#define TOLLFREE_FDW_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

extern bool traffic_count(int socket, int64_t *received, int64_t *sent);

#endif							/* TOLLFREE_FDW_TRAFFIC_H */
