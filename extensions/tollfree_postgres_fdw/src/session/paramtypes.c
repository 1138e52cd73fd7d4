/*
 * paramtypes.c
 *	  Types that the remote server chose for the parameters of a kept statement.
 *
 * An INSERT leaves the types of its parameters to the remote server, which
 * takes those of the columns and reads each value by the column's own input
 * function.  A statement that is kept prepared keeps them.  If a column is
 * altered meanwhile its value is still read as of the old type, and then cast
 * by assignment to the new one; an INSERT that is parsed now reads it as of the
 * new one at once.
 *
 * Both must come to the same, whatever the new type is.  That is so for a null,
 * and for the few types below, whose casts by assignment give what reading the
 * text gives, or an error; after any error the statement is prepared anew.  It
 * is not so for char(n), whose cast strips blanks, or for numeric, whose cast to
 * an integer rounds.  (One difference is left: a column of integers that has
 * become one of the OID alias types, as regclass, refuses negative ones, and
 * takes them by assignment.)
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/pg_type.h"

#include "session/paramtypes.h"
#include "session/statement.h"
#include "sql/command.h"

/*
 * Is a value, printed here as of one type, stored alike whether it is first
 * read as of the remote type or not?
 */
static bool
is_stored_alike(Oid remote, Oid printed, const char *value)
{
	switch (remote)
	{
		case TEXTOID:
		case VARCHAROID:
			return true;
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case UUIDOID:
		case TIDOID:
			return printed == remote;
		case DATEOID:
		case TIMESTAMPOID:
			/* An infinite timestamp is cast to a time that is null. */
			return printed == remote && isdigit((unsigned char) value[0]);
		default:
			return false;
	}
}

/*
 * Does a command do the same by a statement whose types were chosen some time
 * ago as by one that is prepared now?  NULL stands for one that is not kept.
 */
bool
paramtypes_hold(const CachedStatement *statement, const RemoteCommand *command)
{
	if (statement == NULL || statement->types == NULL ||
		statement->ntypes != command->nparams)
		return false;
	for (int i = 0; i < command->nparams; i++)
	{
		if (command->params[i] != NULL &&
			!is_stored_alike(statement->types[i], command->hints.printed_types[i],
							 command->params[i]))
			return false;
	}
	return true;
}
