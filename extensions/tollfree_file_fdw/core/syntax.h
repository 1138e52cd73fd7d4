/*
 * syntax.h
 *	  Values of types that core/ does not hold, and that are valid all the same.
 *
 * PostgreSQL's input function takes each value that is found valid here, in every
 * major and whatever the session's settings.  Of others, invalid or only unusual,
 * nothing is known.
 */
#ifndef CORE_SYNTAX_H
#define CORE_SYNTAX_H

#include "core/batch.h"

/* [+-]digits[.digits] in a numeric of that precision and scale; 0 for no limit */
extern bool syntax_numeric(const unsigned char *bytes, uint32_t length,
						   int precision, int scale);

/* [YEARS year[s]] [MONS mon[s]] [DAYS day[s]] [HH:MM:SS[.digits]], not empty */
extern bool syntax_interval(const unsigned char *bytes, uint32_t length);

/* An address of IPv4, perhaps with a netmask: 192.168.1.17/24 */
extern bool syntax_inet(const unsigned char *bytes, uint32_t length);

/*
 * Valid as json and jsonb.  Escapes \u of characters beyond ASCII are known to be
 * valid only in UTF8.
 */
extern bool syntax_json(const unsigned char *bytes, uint32_t length,
						bool is_utf8);

/* One of these labels */
extern bool syntax_label(const unsigned char *bytes, uint32_t length,
						 const TextRef *labels, int nlabels);

#endif							/* CORE_SYNTAX_H */
