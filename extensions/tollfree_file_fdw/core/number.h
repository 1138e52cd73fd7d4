/*
 * number.h
 *	  Numbers as people write them: 1.234,56 €.
 */
#ifndef CORE_NUMBER_H
#define CORE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Most characters that may stand around a number */
#define NUMBER_AROUND_MAX 32

/* Bytes of a character */
typedef struct NumberCharacter
{
	const char *bytes;
	uint32_t	length;			/* 0: there is none */
} NumberCharacter;

/*
 * The form of a column's numbers:
 *
 *		[around] [+-] [around] digits [decimal digits] [e[+-]digits] [around]
 *
 * The digits in front of the decimal separator may be in groups of three, all but the
 * first with a separator before them; blanks may be where something around the number
 * may be.
 */
typedef struct NumberForm
{
	char decimal;
	NumberCharacter thousands;
	NumberCharacter around[NUMBER_AROUND_MAX];	/* any of them, any times */
	int			naround;
} NumberForm;

/*
 * Writes a number of that form as PostgreSQL reads it: no digit is changed.  Returns its
 * bytes, for which there must be room for length, or 0 if it is of another form.
 */
extern uint32_t number_write_plain(const NumberForm *form,
								   const unsigned char *bytes, uint32_t length,
								   unsigned char *to);

/* Has it a digit, so that it should be of the form?  NaN has none. */
extern bool number_has_digit(const unsigned char *bytes, uint32_t length);

#endif							/* CORE_NUMBER_H */
