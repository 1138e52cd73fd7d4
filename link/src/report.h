/*
 * report.h
 *		The link's counts as JSON.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "relay.h"

extern void report_stats(FILE *stream, const Relay *relay);
extern void report_connections(FILE *stream, const Relay *relay);

#endif							/* REPORT_H */
