/*
 * tap.h
 *	  Unit tests that speak TAP, for prove.
 *
 *		TEST_OK(condition, "what holds");
 *		TEST_EQUAL(got, expected, "what is equal");
 *		return test_done();
 *
 * A failed test prints where it stands and goes on.
 */
#ifndef CORE_TEST_TAP_H
#define CORE_TEST_TAP_H

#include <stdbool.h>
#include <stdint.h>

#define TEST_OK(condition, ...) \
	test_ok((condition), #condition, __FILE__, __LINE__, __VA_ARGS__)
#define TEST_EQUAL(got, expected, ...) \
	test_equal((int64_t) (got), (int64_t) (expected), #got, __FILE__, \
			   __LINE__, __VA_ARGS__)

/* Returns whether the condition holds, so that a caller may say more. */
extern bool test_ok(bool condition, const char *text, const char *file,
					int line, const char *format,...)
			__attribute__((format(printf, 5, 6)));
extern bool test_equal(int64_t got, int64_t expected, const char *text,
					   const char *file, int line, const char *format,...)
			__attribute__((format(printf, 6, 7)));

/* Says that something is not tested, and why. */
extern void test_skip(const char *reason);

/* Prints the plan; returns the program's exit status. */
extern int	test_done(void);

/* A generator of the same numbers for the same seed, on every machine. */
typedef struct TestRandom
{
	uint64_t	state;
} TestRandom;

extern uint64_t test_random(TestRandom *random);

/* Returns a number from 0 to below - 1. */
extern unsigned test_random_below(TestRandom *random, unsigned below);

#endif							/* CORE_TEST_TAP_H */
