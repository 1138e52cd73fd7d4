/*
 * compression.c
 *	  The option "compression" of a foreign table.
 *
 *		auto	as the suffix of a file's name says; what tables with "filenames"
 *				have without the option
 *		none	what tables with "filename" have without it, as file_fdw
 *		gzip, zstd, lz4, bz2, xz	each file, whatever its name
 */
#include "postgres.h"

#include "base/compression.h"

#define COMPRESSION_AUTO "auto"
#define COMPRESSION_NOT "none"

/* How many bytes of text a byte of a compressed file may stand for */
#define TEXT_FACTOR 4

/*
 * The compression that a value of the option stands for; sets whether suffixes say
 * which.  ERROR if it is no such value.
 */
FileCompression
compression_parse(const char *value, bool *by_suffix)
{
	*by_suffix = strcmp(value, COMPRESSION_AUTO) == 0;
	if (*by_suffix || strcmp(value, COMPRESSION_NOT) == 0)
		return COMPRESSION_NONE;
	for (int i = COMPRESSION_NONE + 1; i < COMPRESSION_KINDS; i++)
	{
		if (strcmp(value, codec_of((FileCompression) i)->name) == 0)
			return (FileCompression) i;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for option \"%s\": \"%s\"", OPTION_COMPRESSION,
					value),
			 errhint("Valid values are \"auto\", \"none\", \"gzip\", \"zstd\", \"lz4\", \"bz2\" and \"xz\".")));
}

/* How a file of the table is compressed. */
FileCompression
compression_of(const FileOptions *options, const char *filename)
{
	return options->by_suffix ? codec_by_suffix(filename) : options->compression;
}

/* Is the table's only file compressed, or may one of many be? */
bool
compression_is_possible(const FileOptions *options)
{
	if (options->pattern != NULL)
		return options->by_suffix || options->compression != COMPRESSION_NONE;
	return compression_of(options, options->filename) != COMPRESSION_NONE;
}

/* Guesses how long a file's text is, by its length on disk, bytes. */
int64
compression_guess_text(const FileOptions *options, const char *filename, int64 size)
{
	return compression_of(options, filename) == COMPRESSION_NONE ? size :
		size * TEXT_FACTOR;
}
