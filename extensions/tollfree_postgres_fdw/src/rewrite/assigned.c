/*
 * assigned.c
 *	  Values without a type that SET assigns.
 *
 * postgres_fdw writes a parameter with its type.  But the type that a remote column
 * has of its own is known only there.  So such a parameter is of type unknown, and in
 * postgres_fdw's text this file writes instead of $n::unknown
 *
 *	- for a domain $n, whose type is then the column's;
 *
 *	- for the label of an enum
 *
 *		(jsonb_populate_record(row, jsonb_build_object('column', $n::text))).column
 *
 *	  which reads the label as the column's type for each row that is updated, and not
 *	  before: where there is no row, a label that the remote enum lacks is no error.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "rewrite/assigned.h"

/* The type that postgres_fdw writes */
#define ASSIGNED_CAST "::unknown"

/* Appends a parameter, of this many bytes, for the label of a column of a row. */
static void
append_label(StringInfo text, const char *param, int length, const char *column,
			 const char *row)
{
	appendStringInfo(text, "(pg_catalog.jsonb_populate_record(%s.*,"
					 " pg_catalog.jsonb_build_object(%s, %.*s::pg_catalog.text))).%s",
					 row, quote_literal_cstr(column), length, param,
					 quote_identifier(column));
}

/*
 * The text of a command with its parameters of type unknown written for their columns.
 * columns has the name of each enum, and an empty one for each domain; row is the
 * name of the row that is updated.
 */
char *
assigned_write(const char *sql, List *columns, const char *row)
{
	ListCell   *column = list_head(columns);
	StringInfoData text;
	char		quote = '\0';

	initStringInfo(&text);
	while (*sql != '\0')
	{
		int			length = 0;

		if (quote != '\0' && *sql == quote)
			quote = '\0';
		else if (quote == '\0' && (*sql == '\'' || *sql == '"'))
			quote = *sql;
		if (quote == '\0' && *sql == '$')
			length = 1 + strspn(sql + 1, "0123456789");
		if (length == 0 || column == NULL ||
			strncmp(sql + length, ASSIGNED_CAST, strlen(ASSIGNED_CAST)) != 0)
		{
			appendStringInfoChar(&text, *sql++);
			continue;
		}
		if (*(char *) lfirst(column) != '\0')
			append_label(&text, sql, length, lfirst(column), row);
		else
			appendBinaryStringInfo(&text, sql, length);
		sql += length + strlen(ASSIGNED_CAST);
		column = lnext(columns, column);
	}
	return text.data;
}
