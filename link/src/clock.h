/*
 * clock.h
 *		The one clock of the link: monotonic nanoseconds.
 *
 * Every receipt, due time and lateness is read from here, so that they may be
 * subtracted from one another.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_US	INT64_C(1000)
#define NS_PER_MS	INT64_C(1000000)
#define NS_PER_S	INT64_C(1000000000)

/* Later than any time the clock will show. */
#define CLOCK_NEVER	INT64_MAX

/* Returns the time since an arbitrary start, in nanoseconds. */
static inline int64_t
clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

#endif							/* CLOCK_H */
