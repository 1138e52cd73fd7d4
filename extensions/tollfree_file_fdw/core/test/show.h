/*
 * show.h
 *	  A scan as one line of text:
 *
 *		1:a|NULL 2:b|?12x end
 *
 * that is, line number, fields, "?" before a value to be asked for, and how the
 * scan ended: "end", or "handover REASON at OFFSET line LINE".
 */
#ifndef CORE_TEST_SHOW_H
#define CORE_TEST_SHOW_H

#include "core/filescan.h"

/* Begins as zeros; the line ends in a zero byte, but may have others. */
typedef struct Shown
{
	char	   *line;
	size_t		length;
	size_t		size;
} Shown;

/* Adds all that is still to come; returns whether it ends well. */
extern bool show_scan(Shown *shown, FileScan *scan);

extern void show_reset(Shown *shown);
extern void show_free(Shown *shown);

#endif							/* CORE_TEST_SHOW_H */
