/*
 * json_sniff.h
 *	  The members of the objects of a JSON Lines file, and what they hold.
 */
#ifndef CORE_JSON_SNIFF_H
#define CORE_JSON_SNIFF_H

#include "core/allocator.h"
#include "core/sniff.h"

/*
 * Looks at the pieces of a file; false if its first line that is not blank is no JSON
 * object, or without memory.  Each member is a column, in the order in which they are met;
 * its name is the key between the quotes, as it is written.
 */
extern bool json_sniff_pieces(Sniff *sniff, const SniffPiece *pieces,
							  size_t npieces, const Allocator *allocator);

#endif							/* CORE_JSON_SNIFF_H */
