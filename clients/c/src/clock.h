/*
 * clock.h
 *		The clients' clocks: monotonic time, and the process's processor time.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S	INT64_C(1000000000)
#define NS_PER_US	INT64_C(1000)

/* Returns the time of one of the system's clocks, in nanoseconds. */
static inline int64_t
clock_read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* Returns the time since an arbitrary start, in nanoseconds. */
static inline int64_t
clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* Returns the processor time that the process has used, in nanoseconds. */
static inline int64_t
clock_cpu_ns(void)
{
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

#endif							/* CLOCK_H */
