/*
 * number_options.c
 *	  Options of columns about numbers as people write them.
 *
 *	decimal_separator	in place of the point
 *	thousands_separator	between groups of three digits
 *	strip				characters around a number: currencies, percent signs
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "mb/pg_wchar.h"
#include "utils/lsyscache.h"

#include "base/number_options.h"

/* Is it one of these options? */
bool
number_option_is(const char *name)
{
	return strcmp(name, OPTION_DECIMAL_SEPARATOR) == 0 ||
		strcmp(name, OPTION_THOUSANDS_SEPARATOR) == 0 ||
		strcmp(name, OPTION_STRIP) == 0;
}

/* Raises the ERROR of a value that an option cannot have. */
static void
report_value(const char *name, const char *value, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for option \"%s\": \"%s\"", name, value),
			 errhint("%s", hint)));
}

/* May a character be something else than part of a number? */
static bool
may_stand_apart(const char *character)
{
	return strchr("0123456789+-\r\n", *character) == NULL;
}

/* The only character of a value; ERROR if it has another number, or cannot be that. */
static NumberCharacter
read_separator(const char *name, const char *value)
{
	NumberCharacter result = {.bytes = value,.length = strlen(value)};

	if (value[0] == '\0' || pg_mblen(value) != (int) result.length ||
		!may_stand_apart(value) || isalpha((unsigned char) value[0]))
		report_value(name, value,
					 "Set it to one character that is no digit, sign or letter, such as \",\".");
	return result;
}

/* The decimal separator; ERROR if it is none, or no ASCII character. */
static char
read_decimal(const char *value)
{
	NumberCharacter separator = read_separator(OPTION_DECIMAL_SEPARATOR, value);

	if (IS_HIGHBIT_SET(separator.bytes[0]) || separator.bytes[0] == ' ')
		report_value(OPTION_DECIMAL_SEPARATOR, value,
					 "Set it to an ASCII character that is no blank, such as \",\".");
	return separator.bytes[0];
}

/* The characters of a value, which may stand around a number; ERROR if one cannot. */
static void
read_around(NumberForm *form, const char *value)
{
	form->naround = 0;
	for (const char *at = value; *at != '\0'; at += pg_mblen(at))
	{
		if (!may_stand_apart(at) || form->naround == NUMBER_AROUND_MAX)
			report_value(OPTION_STRIP, value,
						 psprintf("Set it to up to %d characters that are no digits or signs, such as \"$%%\".",
								  NUMBER_AROUND_MAX));
		form->around[form->naround++] = (NumberCharacter)
		{
			.bytes = at,.length = pg_mblen(at)
		};
	}
}

/* Adds what one of them says.  ERROR if it cannot say that. */
void
number_option_read(NumberForm *form, const char *name, const char *value)
{
	if (strcmp(name, OPTION_DECIMAL_SEPARATOR) == 0)
		form->decimal = read_decimal(value);
	else if (strcmp(name, OPTION_THOUSANDS_SEPARATOR) == 0)
		form->thousands = read_separator(name, value);
	else if (strcmp(name, OPTION_STRIP) == 0)
		read_around(form, value);
}

/* Is it the decimal separator, or that of thousands? */
static bool
is_separator(const NumberForm *form, const NumberCharacter *character)
{
	return character->bytes[0] == form->decimal ||
		(character->length == form->thousands.length &&
		 memcmp(character->bytes, form->thousands.bytes, character->length) == 0);
}

/* Raises an ERROR if they contradict each other. */
void
number_options_check(const NumberForm *form)
{
	if (form->thousands.length == 1 && form->thousands.bytes[0] == form->decimal)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("options \"%s\" and \"%s\" must be different",
						OPTION_DECIMAL_SEPARATOR, OPTION_THOUSANDS_SEPARATOR),
				 errhint("Without the first one the decimal separator is \".\".")));
	for (int i = 0; i < form->naround; i++)
	{
		if (is_separator(form, &form->around[i]))
			ereport(ERROR,
					(errcode(ERRCODE_SYNTAX_ERROR),
					 errmsg("option \"%s\" must not have a separator of the numbers",
							OPTION_STRIP)));
	}
}

/* Is it a type of numbers, or a domain over one? */
static bool
is_number(Oid type)
{
	switch (getBaseType(type))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case FLOAT4OID:
		case FLOAT8OID:
			return true;
		default:
			return false;
	}
}

/*
 * The form of a column's numbers, in the current memory context; NULL if no option says
 * one.  ERROR if it is a column of something else.
 */
const NumberForm *
number_options_form(Form_pg_attribute attribute, List *options)
{
	NumberForm *form = NULL;
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		if (!number_option_is(option->defname))
			continue;
		if (!is_number(attribute->atttypid))
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
					 errmsg("column \"%s\" has the option \"%s\", but is no number",
							NameStr(attribute->attname), option->defname),
					 errhint("Drop the option, or give the column a type such as numeric.")));
		if (form == NULL)
		{
			form = palloc0(sizeof(NumberForm));
			form->decimal = '.';
		}
		number_option_read(form, option->defname, defGetString(option));
	}
	return form;
}
