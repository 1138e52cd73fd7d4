/*
 * random.c
 *		Uniform random integers that a seed repeats.
 *
 * The generator is SplitMix64 (Steele, Lea and Flood, 2014): a counter with an
 * odd step, passed through a mixing function.  Keys drawn to spread over a
 * table need no more.
 */
#include "random.h"

#define RANDOM_STEP		UINT64_C(0x9e3779b97f4a7c15)

/* Returns 64 random bits. */
static uint64_t
random_bits(RandomState *state)
{
	uint64_t	bits = state->counter += RANDOM_STEP;

	bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
	return bits ^ (bits >> 31);
}

/*
 * Starts one of the streams of a seed.  Each begins at a mixed point, because
 * neighbouring counters would give neighbouring streams the same values.
 */
void
random_seed(RandomState *state, uint64_t seed, uint64_t stream)
{
	state->counter = seed;
	state->counter = random_bits(state) + stream;
	state->counter = random_bits(state);
}

/*
 * Returns an integer between the bounds, both included.  Bits from the part of
 * the range that would make the low values likelier are drawn again.
 */
int64_t
random_between(RandomState *state, int64_t low, int64_t high)
{
	uint64_t	range = (uint64_t) (high - low) + 1;
	uint64_t	uneven = -range % range;	/* 2^64 modulo range */
	uint64_t	bits;

	do
		bits = random_bits(state);
	while (bits < uneven);
	return low + (int64_t) (bits % range);
}
