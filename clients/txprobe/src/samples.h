/*
 * samples.h
 *		Raw latencies and their statistics.
 */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stddef.h>
#include <stdint.h>

typedef struct Samples
{
	int64_t    *ns;
	size_t		count;
	size_t		capacity;
} Samples;

extern void samples_add(Samples *samples, int64_t ns);
extern void samples_append(Samples *samples, const Samples *other);
extern void samples_sort(Samples *samples);
extern void samples_free(Samples *samples);

extern double samples_mean_ns(const Samples *samples);
extern double samples_stddev_ns(const Samples *samples);
extern int64_t samples_percentile_ns(const Samples *samples, int per_mille);

#endif							/* SAMPLES_H */
