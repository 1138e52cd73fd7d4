/*
 * clock.h
 *		The probe's one clock: monotonic nanoseconds.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S	INT64_C(1000000000)

/* Returns the time since an arbitrary start, in nanoseconds. */
static inline int64_t
clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

#endif							/* CLOCK_H */
