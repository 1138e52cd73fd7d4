/*
 * fuzz_sniff.c
 *	  A fuzz target: any bytes, in one piece or two, are looked at; what is found has
 *	  as many columns and records as it says, and their names are among the bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "core/sniff.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(bool holds)
{
	if (!holds)
		abort();
}

static void
look(const SniffPiece *pieces, size_t npieces)
{
	static Sniff sniff;

	if (!sniff_pieces(&sniff, pieces, npieces))
		return;
	check(sniff.ncolumns > 0 && sniff.ncolumns < SNIFF_COLUMNS_MAX);
	check(sniff.nrecords > 0);
	check(sniff.nshort + sniff.nlong <= sniff.nrecords);
	for (size_t i = 0; i < sniff.ncolumns; i++)
	{
		const SniffColumn *column = &sniff.columns[i];

		check(column->kind != KIND_NONE);
		check(!sniff.has_header ||
			  (column->name >= pieces[0].bytes &&
			   column->name + column->name_length <=
			   pieces[0].bytes + pieces[0].length));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SniffPiece	pieces[2] = {{data, size, true}};

	look(pieces, 1);
	pieces[0].length = size / 2;
	pieces[0].at_end = false;
	pieces[1] = (SniffPiece)
	{
		data + size / 2, size - size / 2, true
	};
	look(pieces, 2);
	return 0;
}
