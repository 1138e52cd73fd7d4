/*
 * values.c
 *	  The values of fields, by their types' input functions, in COPY's way.
 *
 * A row with a value that its input function refuses is left out here, and counted,
 * where the table says so: on every major, for PostgreSQL has no such option of
 * foreign tables before 18.  The rows that count, the messages and the errors are
 * those of 18 and later.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "read/values.h"

/* What a message shows of a refused value at most, bytes */
#define SHOWN_MAX 100

/*
 * Makes a number plain that has another form, in the current memory context.  Returns
 * false if it should be of that form and is not; what has no digit is left alone.
 */
static bool
make_plain(const OpenFile *file, int i, char **string)
{
	const NumberForm *form = file->forms == NULL ? NULL : file->forms[i];
	const unsigned char *bytes = (const unsigned char *) *string;
	uint32		length;
	char	   *plain;

	if (form == NULL || *string == NULL)
		return true;
	length = strlen(*string);
	plain = palloc(length + 1);
	plain[number_write_plain(form, bytes, length, (unsigned char *) plain)] = '\0';
	if (plain[0] == '\0')
		return !number_has_digit(bytes, length);
	*string = plain;
	return true;
}

/* What a value is that is no number of its column's form. */
static char *
form_words(const OpenFile *file, int i, const char *string)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(file->copy->rel), i);

	return psprintf("invalid input syntax for type %s: \"%s\"",
					format_type_be(attribute->atttypid), string);
}

/* Raises the ERROR of such a value. */
static void
report_form(const OpenFile *file, int i, const char *string)
{
	const NumberForm *form = file->forms[i];

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg_internal("%s", form_words(file, i, string)),
			 form->thousands.length == 0 ?
			 errdetail("The column's decimal separator is \"%c\", and it has none of thousands.",
					   form->decimal) :
			 errdetail("The column's decimal separator is \"%c\", that of thousands is \"%.*s\".",
					   form->decimal, (int) form->thousands.length,
					   form->thousands.bytes)));
}

/* What an input function is to be asked of an attribute's string. */
static CompatInput
input_of(const OpenFile *file, int i, char *string)
{
	TupleDesc	desc = RelationGetDescr(file->copy->rel);

	return (CompatInput)
	{
		.attribute = i,
			.string = string,
			.typmod = TupleDescAttr(desc, i)->atttypmod
	};
}

/*
 * Has the input function of an attribute, counted from 0, make a value of a string,
 * NULL for null; false if it refuses that and the row is to be left out.  Until the
 * next one errors name this column and value.
 */
bool
values_make_one(OpenFile *file, int i, char *string, Datum *value)
{
	CopyFromState copy = file->copy;
	TupleDesc	desc = RelationGetDescr(copy->rel);
	CompatInput input = input_of(file, i, string);

	copy->cur_attname = NameStr(TupleDescAttr(desc, i)->attname);
	copy->cur_attval = string;
	if (!make_plain(file, i, &input.string))
	{
		if (!file->errors.ignores)
			report_form(file, i, string);
		return false;
	}
	if (file->errors.ignores)
		return compat_input_value(copy, &input, value);
	*value = InputFunctionCall(&copy->in_functions[i], input.string,
							   copy->typioparams[i], input.typmod);
	return true;
}

/* The string of a field as its column takes it; NULL for null. */
static char *
take_field(const CopyFromStateData *copy, int i, char *field)
{
	const CopyFormatOptions *options = &copy->opts;

	if (!compat_is_csv(options))
		return field;
	if (field == NULL)
		return options->force_notnull_flags[i] ? options->null_print : NULL;
	return options->force_null_flags[i] && strcmp(field, options->null_print) == 0 ?
		NULL : field;
}

/* Why an attribute's field is no value of its type; NULL if it is one. */
const char *
values_find_refusal(OpenFile *file, int i, char *field)
{
	char	   *string = take_field(file->copy, i, field);
	CompatInput input = input_of(file, i, string);
	Datum		value;

	if (!make_plain(file, i, &input.string))
		return form_words(file, i, string);
	input.wants_reason = true;
	return compat_input_value(file->copy, &input, &value) ? NULL : input.reason;
}

/* What is shown of a refused value. */
static char *
shown_value(const char *value)
{
	int			length = strlen(value);

	if (length <= SHOWN_MAX)
		return pstrdup(value);
	return psprintf("%.*s...", pg_mbcliplen(value, length, SHOWN_MAX), value);
}

/* Tells of a row on that line that is left out for the present column's value. */
static void
tell_left_out(OpenFile *file, int64 line)
{
	const CopyFromStateData *copy = file->copy;

	/* The message says which line and column it is. */
	file->names_table_only = true;
	ereport(NOTICE,
			copy->cur_attval == NULL ?
			errmsg("skipping row due to data type incompatibility at line " INT64_FORMAT " for column \"%s\": null input",
				   line, copy->cur_attname) :
			errmsg("skipping row due to data type incompatibility at line " INT64_FORMAT " for column \"%s\": \"%s\"",
				   line, copy->cur_attname, shown_value(copy->cur_attval)));
	file->names_table_only = false;
}

/* Counts a row that is left out.  ERROR if it is one too many. */
static void
count_left_out(OpenFile *file)
{
	file->left_out++;
	if (file->errors.limit > 0 && file->left_out > file->errors.limit)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("skipped more than REJECT_LIMIT (%lld) rows due to data type incompatibility",
						(long long) file->errors.limit)));
}

/*
 * Counts a row on that line that is left out for the present column's value.  ERROR if
 * it is one too many.
 */
void
values_leave_out(OpenFile *file, int64 line)
{
	if (file->errors.verbosity == TELL_EACH)
		tell_left_out(file, line);
	count_left_out(file);
	file->copy->cur_attname = file->copy->cur_attval = NULL;
}

/*
 * Counts the present line, which is no record, if such are left out, else returns false.
 * ERROR if it is one too many.
 */
bool
values_leave_out_line(OpenFile *file, const char *reason)
{
	if (!file->errors.ignores)
		return false;
	if (file->errors.verbosity == TELL_EACH)
		ereport(NOTICE,
				(errmsg("skipping line %llu, which is no record: %s",
						(unsigned long long) file->copy->cur_lineno, reason)));
	count_left_out(file);
	return true;
}

/* Makes the value of one column of a row; false if the row is left out for it. */
static bool
make_column(OpenFile *file, ExprContext *econtext, int i, char *field,
			Datum *values, bool *nulls)
{
	CopyFromState copy = file->copy;
	char	   *string = take_field(copy, i, field);

	nulls[i] = string == NULL;
	if (compat_take_default(copy, i))
		values[i] = ExecEvalExpr(compat_default_expression(copy, i), econtext,
								 &nulls[i]);
	else if (!values_make_one(file, i, string, &values[i]))
		return false;
	copy->cur_attname = copy->cur_attval = NULL;
	return true;
}

/* Computes the columns that are not in the file. */
static void
add_defaults(OpenFile *file, ExprContext *econtext, Datum *values, bool *nulls)
{
	const CopyFromStateData *copy = file->copy;

	for (int n = 0; n < copy->num_defaults; n++)
	{
		int			i = copy->defmap[n];

		values[i] = ExecEvalExpr(compat_default_expression(copy, i), econtext,
								 &nulls[i]);
	}
}

/*
 * Makes the values of a row of its fields, in the current memory context, which is the
 * per-tuple one of econtext; false if it is to be left out for the value that errors name
 * then.  ERROR if there are too few or too many.
 */
bool
values_make_row(OpenFile *file, ExprContext *econtext, char **fields, int nfields,
				Datum *values, bool *nulls)
{
	CopyFromState copy = file->copy;
	TupleDesc	desc = RelationGetDescr(copy->rel);
	int			ncolumns = list_length(copy->attnumlist);
	ListCell   *cell;

	memset(values, 0, sizeof(Datum) * desc->natts);
	memset(nulls, true, sizeof(bool) * desc->natts);
	if (ncolumns > 0 && nfields > ncolumns)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("extra data after last expected column")));
	foreach(cell, copy->attnumlist)
	{
		int			i = lfirst_int(cell) - 1;
		int			field = foreach_current_index(cell);

		if (field >= nfields)
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("missing data for column \"%s\"",
							NameStr(TupleDescAttr(desc, i)->attname))));
		if (copy->convert_select_flags != NULL && !copy->convert_select_flags[i])
			continue;
		if (!make_column(file, econtext, i, fields[field], values, nulls))
			return false;
	}
	add_defaults(file, econtext, values, nulls);
	return true;
}
