/*
 * inline.h
 *	  For functions that are steps of a loop over all rows or bytes, where a call
 *	  would cost more than what they do.
 */
#ifndef CORE_INLINE_H
#define CORE_INLINE_H

#define ALWAYS_INLINE	inline __attribute__((always_inline))
#define NEVER_INLINE	__attribute__((noinline))

#endif							/* CORE_INLINE_H */
