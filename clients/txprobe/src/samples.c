/*
 * samples.c
 *		Raw latencies and their statistics.
 *
 * Every latency is kept, so that a percentile is one of them and not an
 * estimate.  The memory is 8 bytes a transaction.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "samples.h"

#define SAMPLES_CAPACITY_FIRST	1024

/* Makes room for this many more, or ends the program. */
static void
samples_reserve(Samples *samples, size_t more)
{
	size_t		capacity = samples->capacity ? samples->capacity :
		SAMPLES_CAPACITY_FIRST;

	while (capacity < samples->count + more)
		capacity *= 2;
	if (capacity == samples->capacity)
		return;
	samples->ns = reallocarray(samples->ns, capacity, sizeof(*samples->ns));
	if (samples->ns == NULL)
		fail(EXIT_CODE_FAILURE, "out of memory for %zu latencies", capacity);
	samples->capacity = capacity;
}

/* Adds one latency. */
void
samples_add(Samples *samples, int64_t ns)
{
	samples_reserve(samples, 1);
	samples->ns[samples->count++] = ns;
}

/* Adds a copy of all the other latencies. */
void
samples_append(Samples *samples, const Samples *other)
{
	if (other->count == 0)
		return;
	samples_reserve(samples, other->count);
	memcpy(samples->ns + samples->count, other->ns,
		   other->count * sizeof(*other->ns));
	samples->count += other->count;
}

/* Orders two latencies, for qsort. */
static int
samples_compare(const void *a, const void *b)
{
	int64_t		left = *(const int64_t *) a;
	int64_t		right = *(const int64_t *) b;

	return (left > right) - (left < right);
}

/* Sorts the latencies, as samples_percentile_ns needs them. */
void
samples_sort(Samples *samples)
{
	qsort(samples->ns, samples->count, sizeof(*samples->ns), samples_compare);
}

/* Frees the latencies. */
void
samples_free(Samples *samples)
{
	free(samples->ns);
}

/* Returns the arithmetic mean of at least one latency. */
double
samples_mean_ns(const Samples *samples)
{
	double		sum = 0;

	for (size_t i = 0; i < samples->count; i++)
		sum += (double) samples->ns[i];
	return sum / (double) samples->count;
}

/* Returns the standard deviation of the latencies as a whole population. */
double
samples_stddev_ns(const Samples *samples)
{
	double		mean = samples_mean_ns(samples);
	double		sum = 0;

	for (size_t i = 0; i < samples->count; i++)
	{
		double		deviation = (double) samples->ns[i] - mean;

		sum += deviation * deviation;
	}
	return sqrt(sum / (double) samples->count);
}

/*
 * Returns the nearest-rank percentile, given in thousandths; 0 gives the
 * minimum.  The latencies must be sorted and at least one.
 */
int64_t
samples_percentile_ns(const Samples *samples, int per_mille)
{
	size_t		rank = (samples->count * (size_t) per_mille + 999) / 1000;

	return samples->ns[rank > 0 ? rank - 1 : 0];
}
