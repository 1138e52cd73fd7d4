/*
 * json_string.h
 *	  The strings of JSON texts (RFC 8259).
 */
#ifndef CORE_JSON_STRING_H
#define CORE_JSON_STRING_H

#include <stdbool.h>
#include <stddef.h>

#include "core/json_reader.h"

/*
 * Passes over a string whose opening quote is the first byte.  Returns the length up
 * to and including the closing quote; where there is a fault, 0, and *fault_at is its
 * place.  Adds to *seen what there is in it.
 */
extern size_t json_string_length(const unsigned char *bytes, size_t length,
								 unsigned *seen, JsonFault *fault,
								 size_t *fault_at);

/*
 * Writes the characters of a string, without its quotes, in UTF-8 to to, which has
 * room for as many bytes.  Returns how many they are; *fault is JSON_NO_TEXT if an
 * escape is no character that a text can have: zero, or half a surrogate pair.
 */
extern size_t json_string_decode(const unsigned char *bytes, size_t length,
								 unsigned char *to, JsonFault *fault);

#endif							/* CORE_JSON_STRING_H */
