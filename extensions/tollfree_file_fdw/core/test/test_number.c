/*
 * test_number.c
 *	  Numbers as people write them.
 *
 * Named cases; then numbers that are written in a form from random digits, and bytes put
 * into them at random: a plain number has the digits of what it was made of.
 */
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "core/test/tap.h"

#define RANDOM_NUMBERS	20000
#define NUMBER_LENGTH	64

static const NumberForm german = {
	.decimal = ',',
	.thousands = {".", 1},
	.around = {{"\xE2\x82\xAC", 3}, {"%", 1}},
	.naround = 2
};

static const NumberForm swiss = {.decimal = '.',.thousands = {"\xE2\x80\x99", 3}};

static const NumberForm bare = {.decimal = '.'};

typedef struct NumberCase
{
	const NumberForm *form;
	const char *text;
	const char *expected;		/* empty: another form */
} NumberCase;

static const NumberCase cases[] = {
	{&german, "1.234,56 \xE2\x82\xAC", "1234.56"},
	{&german, "\xE2\x82\xAC -0,5", "-0.5"},
	{&german, "-\xE2\x82\xAC 12.345.678", "-12345678"},
	{&german, " 12 %\t", "12"},
	{&german, "1234567,8e-3", "1234567.8e-3"},
	{&german, ",5", ".5"},
	{&german, "5,", "5."},
	{&german, "1.5", ""},
	{&german, ".123", ""},
	{&german, "1234.567", ""},
	{&german, "1.234.56", ""},
	{&german, "1,234.5", ""},
	{&german, "--1", ""},
	{&german, "1-", ""},
	{&german, "1 2", ""},
	{&german, "1e", ""},
	{&german, "\xE2\x82", ""},
	{&german, "\xE2\x82\xAC", ""},
	{&german, "", ""},
	{&german, ",", ""},
	{&german, "NaN", ""},
	{&swiss, "1\xE2\x80\x99" "000.25", "1000.25"},
	{&swiss, "1\xE2\x80\x99" "00", ""},
	{&bare, "+7", "+7"},
	{&bare, "1,000", ""},
	{&bare, "0x1F", ""}
};

static void
test_case(const NumberCase *test)
{
	unsigned char to[NUMBER_LENGTH];
	uint32_t	length = number_write_plain(test->form,
											(const unsigned char *) test->text,
											(uint32_t) strlen(test->text), to);

	TEST_OK(length == strlen(test->expected) &&
			memcmp(to, test->expected, length) == 0, "\"%s\"", test->text);
}

/* Puts the digits of some bytes together. */
static size_t
take_digits(const unsigned char *bytes, size_t length, char *to)
{
	size_t		n = 0;

	for (size_t i = 0; i < length; i++)
		if (bytes[i] >= '0' && bytes[i] <= '9')
			to[n++] = (char) bytes[i];
	return n;
}

static void
test_digits(TestRandom *random)
{
	static const char alphabet[] = "0123456789...,,-+ %e";
	unsigned char bytes[NUMBER_LENGTH / 2];
	unsigned char plain[NUMBER_LENGTH / 2];
	char		digits[NUMBER_LENGTH];
	char		expected[NUMBER_LENGTH];
	size_t		length = 1 + test_random_below(random, 12);
	uint32_t	n;

	for (size_t i = 0; i < length; i++)
		bytes[i] = (unsigned char) alphabet[test_random_below(random, sizeof(alphabet) - 1)];
	n = number_write_plain(&german, bytes, (uint32_t) length, plain);
	if (n == 0)
		return;
	TEST_OK(n <= length &&
			take_digits(plain, n, digits) == take_digits(bytes, length, expected) &&
			memcmp(digits, expected, take_digits(bytes, length, expected)) == 0,
			"digits of %.*s", (int) length, bytes);
}

int
main(void)
{
	TestRandom	random = {.state = 45};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		test_case(&cases[i]);
	for (int i = 0; i < RANDOM_NUMBERS; i++)
		test_digits(&random);
	TEST_OK(number_has_digit((const unsigned char *) "a1", 2), "a digit");
	TEST_OK(!number_has_digit((const unsigned char *) "NaN", 3), "no digit");
	return test_done();
}
