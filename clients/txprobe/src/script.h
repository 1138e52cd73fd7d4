/*
 * script.h
 *		The transactions that the probe knows, as tables.
 */
#ifndef SCRIPT_H
#define SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "random.h"

#define SCRIPT_PARAMETERS	4	/* most that a statement takes */
#define SCRIPT_TEXT			256 /* room for a statement with its values */
#define SCRIPT_VALUE		12	/* room for a 32-bit integer */

typedef enum ScriptVariable
{
	VARIABLE_AID,
	VARIABLE_BID,
	VARIABLE_TID,
	VARIABLE_DELTA,
	VARIABLE_COUNT
} ScriptVariable;

/* One transaction's values, in digits. */
typedef struct ScriptValues
{
	char		text[VARIABLE_COUNT][SCRIPT_VALUE];
} ScriptValues;

typedef struct ScriptStatement
{
	const char *text;			/* $1 is parameters[0], and so on */
	int			parameter_count;
	ScriptVariable parameters[SCRIPT_PARAMETERS];
	const char *tag;			/* expected command tag; NULL if any */
	bool		reads_integer;	/* returns exactly one, not null */
} ScriptStatement;

typedef struct Script
{
	const char *name;
	int			statement_count;
	const ScriptStatement *statements;
} Script;

extern const Script *script_find(const char *name);
extern void script_draw(ScriptValues *values, RandomState *random, int scale);
extern void script_expand(const ScriptStatement *statement,
						  const ScriptValues *values,
						  char text[SCRIPT_TEXT]);

#endif							/* SCRIPT_H */
