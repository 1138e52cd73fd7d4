/*
 * random.h
 *		Uniform random integers that a seed repeats.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

typedef struct RandomState
{
	uint64_t	counter;
} RandomState;

extern void random_seed(RandomState *state, uint64_t seed, uint64_t stream);
extern int64_t random_between(RandomState *state, int64_t low, int64_t high);

#endif							/* RANDOM_H */
