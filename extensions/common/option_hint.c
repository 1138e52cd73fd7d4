/*
 * option_hint.c
 *	  A hint to an option of a wrapper whose name is misspelt.
 *
 * A wrapper has the stock wrapper's validator check what is not an option of its
 * own.  That does not know these, so neither does its hint.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "nodes/parsenodes.h"
#include "utils/varlena.h"

#include "base/option_hint.h"

/* By how many letters a misspelt name differs at most; of a short one by one */
#define SLIPS_MAX 2
#define SHORT_NAME 4

/* Is a name another one but for a few slips? */
static bool
is_near(const char *name, const char *other, int most)
{
	int			length = strlen(other);

	return strlen(name) < NAMEDATALEN &&
		varstr_levenshtein_less_equal(name, strlen(name), other, length,
									  1, 1, 1, most, true) <= most;
}

/* Adds a hint to an error about an option that the stock wrapper does not know. */
void
option_hint(void *arg)
{
	const OptionHint *hint = arg;
	ListCell   *cell;

	if (geterrcode() != ERRCODE_FDW_INVALID_OPTION_NAME)
		return;
	foreach(cell, untransformRelOptions(hint->options))
	{
		const char *name = lfirst_node(DefElem, cell)->defname;

		if (hint->stock_name != NULL && is_near(name, hint->stock_name, 1))
			continue;
		for (int i = 0; i < hint->nnames; i++)
		{
			if (is_near(name, hint->names[i],
						strlen(hint->names[i]) > SHORT_NAME ? SLIPS_MAX : 1))
			{
				errhint("Perhaps you meant the option \"%s\".", hint->names[i]);
				return;
			}
		}
	}
}
