/*
 * paramtypes.c
 *	  Parameter types of a cached statement, chosen by the remote server.
 *
 * An INSERT leaves the types of its parameters to the remote server.  The
 * server takes the types of the columns, and reads each value by the column's
 * own input function.  A prepared statement keeps these types.  If a column is
 * altered meanwhile, a cached INSERT still reads the value as the old type,
 * and then casts it by assignment to the new type.  An INSERT that is parsed
 * now reads the value as the new type at once.
 *
 * Both must store the same, whatever the new type is.  That is so for a null,
 * and for the few types below: their casts by assignment give what reading the
 * text gives, or an error.  After any error the statement is prepared anew.
 * It is not so for char(n), whose cast strips blanks, or for numeric, whose
 * cast to an integer rounds.
 *
 * One difference is left.  If a column of integers becomes one of an OID alias
 * type, such as regclass, reading refuses a negative number, and the cast by
 * assignment accepts it.
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/pg_type.h"

#include "session/paramtypes.h"

/*
 * Is a value, printed here as one type, stored alike by a cached INSERT that
 * reads it as the remote type, and by one that is parsed now?
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
 * Does a command do the same by a cached statement as by one that is prepared
 * now?  False if the statement is NULL, that is, not cached.
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
