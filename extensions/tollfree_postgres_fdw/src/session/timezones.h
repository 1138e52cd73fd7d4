/*
 * timezones.h
 *	  The question whether a remote server has the rules of a time zone.
 */
#ifndef TOLLFREE_FDW_TIMEZONES_H
#define TOLLFREE_FDW_TIMEZONES_H

#include "pgtime.h"

extern char *timezones_question(const pg_tz *zone);

#endif							/* TOLLFREE_FDW_TIMEZONES_H */
