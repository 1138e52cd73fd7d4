/*
 * tap.c
 *	  Unit tests that speak TAP, for prove.
 */
#include <stdarg.h>
#include <stdio.h>

#include "core/test/tap.h"

static int	tests;
static int	failures;

static bool
test_report(bool passed, const char *format, va_list arguments)
{
	tests++;
	if (!passed)
		failures++;
	printf("%sok %d - ", passed ? "" : "not ", tests);
	vprintf(format, arguments);
	putchar('\n');
	return passed;
}

bool
test_ok(bool condition, const char *text, const char *file, int line,
		const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	test_report(condition, format, arguments);
	va_end(arguments);
	if (!condition)
		printf("# %s:%d: not so: %s\n", file, line, text);
	return condition;
}

bool
test_equal(int64_t got, int64_t expected, const char *text, const char *file,
		   int line, const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	test_report(got == expected, format, arguments);
	va_end(arguments);
	if (got != expected)
		printf("# %s:%d: %s is %lld, expected %lld\n", file, line, text,
			   (long long) got, (long long) expected);
	return got == expected;
}

void
test_skip(const char *reason)
{
	tests++;
	printf("ok %d # SKIP %s\n", tests, reason);
}

int
test_done(void)
{
	printf("1..%d\n", tests);
	return failures == 0 ? 0 : 1;
}

uint64_t
test_random(TestRandom *random)
{
	uint64_t	z = random->state += 0x9E3779B97F4A7C15;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
	return z ^ (z >> 31);
}

unsigned
test_random_below(TestRandom *random, unsigned below)
{
	return (unsigned) (test_random(random) % below);
}
