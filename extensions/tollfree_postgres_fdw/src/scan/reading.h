/*
 * reading.h
 *	  How much of a scan its query reads.
 */
#ifndef TOLLFREE_FDW_READING_H
#define TOLLFREE_FDW_READING_H

#include "nodes/execnodes.h"

typedef enum ScanReading
{
	READS_SOME,					/* it may stop anywhere */
	READS_REST,					/* all, if it reads a second row */
	READS_ALL
} ScanReading;

extern ScanReading reading_of_scan(const ForeignScanState *node);

#endif							/* TOLLFREE_FDW_READING_H */
