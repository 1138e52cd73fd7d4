/*
 * guess.h
 *	  The foreign table that a file may be.
 */
#ifndef TOLLFREE_FILE_GUESS_H
#define TOLLFREE_FILE_GUESS_H

#include "sample.h"

typedef struct Guess
{
	const char *path;
	FileSample	sample;
	int			encoding;
	bool		is_ascii;
	Sniff		sniff;
	char	  **names;			/* of the columns */
} Guess;

extern Guess *guess_file(const char *path);
extern void guess_join_members(Guess *guess, const Guess *other);
extern const char *guess_type(const Guess *guess, int column);
extern char *guess_statement(const Guess *guess, const char *table, const char *server,
							 const char *pattern);
extern char *guess_table_name(const char *path);
extern bool guess_has_suffix(const char *path);

#endif							/* TOLLFREE_FILE_GUESS_H */
