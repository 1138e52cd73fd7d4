/*
 * test_sniff.c
 *	  What is found in files.
 *
 * Named cases; then random tables, written in random dialects, whose types, names and
 * rows are found again; and random bytes, of which nothing is read that is not there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sniff.h"
#include "core/test/tap.h"

#define RANDOM_TABLES	400
#define RANDOM_BYTES	3000
#define TABLE_SIZE		20000
#define TABLE_ROWS		30

typedef struct SniffCase
{
	const char *name;
	const char *file;
	const char *expected;		/* as show() has it; NULL: nothing is found */
} SniffCase;

static const SniffCase cases[] = {
	{"plain", "id,name\n1,one\n2,two\n", "csv , nl header id:int4 name:text"},
	{"no header", "1,one\n2,two\n", "csv , nl int4 text"},
	{"texts alone", "name,city\nann,rome\nbob,oslo\n", "csv , nl header name:text city:text"},
	{"texts that are no names", "a b,\"x, y\"\n-c,d\n?,z\n", "csv , nl text text"},
	{"semicolons, decimal commas", "a;b\n1,5;x\n2,5;y\n", "csv ; nl header a:text b:text"},
	{"tabs", "a\tb\n1\tx\n", "csv tab nl header a:int4 b:text"},
	{"pipes", "1|x\n2|y\n", "csv | nl int4 text"},
	{"one column", "n\n1\n2\n", "csv , nl header n:int4"},
	{"one column of sentences", "Hello, you\nand, and, me\nwell\n", "csv ; nl text"},
	{"quotes", "a,b\n\"x,1\",2\n\"y\n\"\"z\"\"\",3\n", "csv , nl header a:text b:int4"},
	{"single quotes", "a,b\n'x,1',2\n'y',3\n", "csv , ' nl header a:text b:int4"},
	{"backslashes in quotes", "a,b\n\"x\\\",1\",2\n\"y\\\\\",3\n", "csv , \\ nl header a:text b:int4"},
	{"as COPY writes", "1\t\\N\n2\tx\\ty\n", "text tab nl null=\\N int4 text"},
	{"CRLF", "a,b\r\n1,2\r\n", "csv , crlf header a:int4 b:int4"},
	{"CR", "a,b\r1,2\r3,4\r", "csv , cr header a:int4 b:int4"},
	{"mixed", "a,b\r\n1,2\n", "csv , crlf mixed header a:int4 b:int4"},
	{"no line end", "a,b\n1,2", "csv , nl header a:int4 b:int4"},
	{"titles", "Report of May\n\nid,name\n1,x\n2,y\n", "csv , nl skip=2 header id:int4 name:text"},
	{"all of it", "Clients\n\nId;Name;paid\n# none\n1;\"a; b\";1.50\n2;;NULL\n\n3;x\n",
	"csv ; nl skip=2 comments=1 blank=1 short=1 null=NULL header Id:int4 Name:text paid:numeric"},
	{"a comma in the last line", "x\ny\na,b\n", "csv ; nl header x:text"},
	{"comments", "# made today\nid,name\n1,x\n# end\n2,y\n", "csv , nl comments=2 header id:int4 name:text"},
	{"blank lines", "id,name\n\n1,x\n\n2,y\n", "csv , nl blank=2 header id:int4 name:text"},
	{"short ones", "a,b,c\n1,2,3\n1,2\n1,2,3\n4,5,6\n", "csv , nl short=1 header a:int4 b:int4 c:int4"},
	{"long ones", "a,b\n1,2\n1,2,3\n1,2\n4,5\n", "csv , nl long=1 header a:int4 b:int4"},
	{"null strings", "a,b\n1,NA\nNA,2\n3,4\n", "csv , nl null=NA header a:int4 b:int4"},
	{"two null strings", "a,b\n1,NA\nNULL,2\n3,4\n", "csv , nl null=NULL header a:int4 b:text"},
	{"empty and a null string", "a,b\n1,NA\n,2\n3,4\n", "csv , nl header a:int4 b:text"},
	{"quoted null strings", "a,b\n1,\"NA\"\n2,3\n", "csv , nl header a:int4 b:text"},
	{"an empty column", "a,b\n1,\n2,\n", "csv , nl header a:int4 b:text"},
	{"kinds", "b,i,l,n,d,t,z,u\ntrue,1,3000000000,1.50,2026-01-31,2026-01-31 12:00:00.5,2026-01-31T12:00Z,01234567-89ab-cdef-0123-456789abcdef\n",
	"csv , nl header b:bool i:int4 l:int8 n:numeric d:date t:timestamp z:timestamptz u:uuid"},
	{"no numbers, no dates", "a,b,c,d,e\n007,+1,1.,2026-02-30,31.01.2026\n", "csv , nl header a:text b:text c:text d:text e:text"},
	{"what joins", "a,b,c,d\n1,1,2026-01-01,1\n3000000000,1.5,2026-01-01 00:00,x\n", "csv , nl header a:int8 b:numeric c:timestamp d:text"},
	{"an empty file", "", NULL},
	{"a line end", "\n", NULL}
};

static const char *const kinds[] = {
	"none", "bool", "int4", "int8", "numeric", "date", "timestamp", "timestamptz", "uuid", "text"
};

static const char *const ends[] = {"none", "nl", "cr", "crlf"};

/* Appends words. */
static void
add(char *line, const char *word)
{
	if (*line != '\0')
		strcat(line, " ");
	strcat(line, word);
}

static void
add_number(char *line, const char *name, uint64_t number)
{
	char		word[64];

	snprintf(word, sizeof(word), "%s=%llu", name, (unsigned long long) number);
	if (number > 0)
		add(line, word);
}

/* Shows what was found, of a file with few columns. */
static void
show(const Sniff *sniff, char *line)
{
	const char	delimiter[] = {(char) sniff->delimiter, '\0'};
	const char	quote[] = {(char) sniff->quote, '\0'};
	const char	escape[] = {(char) sniff->escape, '\0'};

	*line = '\0';
	add(line, sniff->format == FILE_FORMAT_CSV ? "csv" : "text");
	add(line, sniff->delimiter == '\t' ? "tab" : delimiter);
	if (sniff->format == FILE_FORMAT_CSV && sniff->quote != '"')
		add(line, quote);
	if (sniff->format == FILE_FORMAT_CSV && sniff->escape != sniff->quote)
		add(line, escape);
	add(line, ends[sniff->line_end]);
	if (sniff->has_mixed_ends)
		add(line, "mixed");
	add_number(line, "skip", (uint64_t) sniff->skip_lines);
	add_number(line, "comments", sniff->ncomments);
	add_number(line, "blank", sniff->nblank);
	add_number(line, "short", sniff->nshort);
	add_number(line, "long", sniff->nlong);
	if (*sniff->null != '\0')
	{
		add(line, "null=");
		strcat(line, sniff->null);
	}
	if (sniff->has_header)
		add(line, "header");
	for (size_t i = 0; i < sniff->ncolumns; i++)
	{
		add(line, "");
		if (sniff->has_header)
		{
			strncat(line, (const char *) sniff->columns[i].name, sniff->columns[i].name_length);
			strcat(line, ":");
		}
		strcat(line, kinds[sniff->columns[i].kind]);
	}
}

/* Looks at a copy of bytes, so that a sanitizer sees what is behind them. */
static bool
look(Sniff *sniff, const char *bytes, size_t length, unsigned char **copy)
{
	SniffPiece	piece = {.length = length,.at_end = true};

	*copy = malloc(length + 1);
	*copy = realloc(*copy, length > 0 ? length : 1);
	memcpy(*copy, bytes, length);
	piece.bytes = *copy;
	return sniff_pieces(sniff, &piece, 1);
}

static void
test_case(const SniffCase *test)
{
	Sniff		sniff;
	char		line[4096];
	unsigned char *copy;
	bool		found = look(&sniff, test->file, strlen(test->file), &copy);

	if (found)
		show(&sniff, line);
	if (!TEST_OK(found == (test->expected != NULL) &&
				 (!found || strcmp(line, test->expected) == 0), "%s", test->name))
		printf("#   got      %s\n#   expected %s\n", found ? line : "nothing",
			   test->expected == NULL ? "nothing" : test->expected);
	free(copy);
}

/* A value of a kind. */
static void
make_value(TestRandom *random, ValueKind kind, char *value)
{
	static const char *const words[] = {"x", "a b", "it's", "x,y", "one; two", "\"q\"", "line\nend", "t|ab"};
	unsigned	n = test_random_below(random, 1000);

	switch (kind)
	{
		case KIND_INT4:
			sprintf(value, "%d", (int) n - 500);
			break;
		case KIND_INT8:
			sprintf(value, "%u00000000%03u", n + 1, n);
			break;
		case KIND_NUMERIC:
			sprintf(value, "%u.%03u", n, n);
			break;
		case KIND_DATE:
			sprintf(value, "2026-%02u-%02u", n % 12 + 1, n % 28 + 1);
			break;
		case KIND_TIMESTAMP:
			sprintf(value, "2026-%02u-%02u %02u:00:00", n % 12 + 1, n % 28 + 1, n % 24);
			break;
		default:
			strcpy(value, words[n % (sizeof(words) / sizeof(words[0]))]);
	}
}

/* Appends a field as a CSV file has it. */
static void
put_field(char *file, const char *value, char delimiter, bool always)
{
	char	   *to = file + strlen(file);
	bool		quoted = always || strpbrk(value, "\"\n") != NULL ||
		strchr(value, delimiter) != NULL;

	if (quoted)
		*to++ = '"';
	for (; *value != '\0'; value++)
	{
		if (*value == '"')
			*to++ = '"';
		*to++ = *value;
	}
	if (quoted)
		*to++ = '"';
	*to = '\0';
}

/* A random table, of which all is found again. */
static void
test_random_table(TestRandom *random)
{
	static const ValueKind choices[] = {KIND_INT4, KIND_INT8, KIND_NUMERIC, KIND_DATE, KIND_TIMESTAMP, KIND_TEXT};
	static char file[TABLE_SIZE];
	unsigned	ncolumns = 2 + test_random_below(random, 5);
	char		delimiter = ",\t;|"[test_random_below(random, 4)];
	bool		always = test_random_below(random, 3) == 0;
	ValueKind	columns[8];
	Sniff		sniff;
	unsigned char *copy;
	bool		same;

	*file = '\0';
	for (unsigned i = 0; i < ncolumns; i++)
	{
		columns[i] = i == 0 ? KIND_INT4 : choices[test_random_below(random, 6)];
		if (i > 0)
			strncat(file, &delimiter, 1);
		sprintf(file + strlen(file), "%c%u", 'a' + (int) i, i);
	}
	strcat(file, "\n");
	for (int row = 0; row < TABLE_ROWS; row++)
	{
		for (unsigned i = 0; i < ncolumns; i++)
		{
			char		value[64];

			make_value(random, columns[i], value);
			if (i > 0)
				strncat(file, &delimiter, 1);
			put_field(file, value, delimiter, always);
		}
		strcat(file, "\n");
	}
	same = look(&sniff, file, strlen(file), &copy) &&
		sniff.delimiter == (unsigned char) delimiter && sniff.has_header &&
		sniff.ncolumns == ncolumns && sniff.nrecords == TABLE_ROWS + 1;
	for (unsigned i = 0; same && i < ncolumns; i++)
		same = sniff.columns[i].kind == columns[i];
	if (!TEST_OK(same, "a random table"))
		printf("#   delimiter %c, found %c, columns %u, found %u\n%.300s\n", delimiter,
			   sniff.delimiter, ncolumns, (unsigned) sniff.ncolumns, file);
	free(copy);
}

/* Random bytes of those that mean something. */
static void
test_random_bytes(TestRandom *random)
{
	static const char alphabet[] = "a1,;\t|\"'\\\n\r#N. -";
	char		bytes[200];
	size_t		length = test_random_below(random, sizeof(bytes));
	Sniff		sniff;
	unsigned char *copy;

	for (size_t i = 0; i < length; i++)
		bytes[i] = alphabet[test_random_below(random, sizeof(alphabet) - 1)];
	if (look(&sniff, bytes, length, &copy))
		TEST_OK(sniff.ncolumns > 0 && sniff.nrecords > 0 &&
				sniff.nshort + sniff.nlong <= sniff.nrecords, "random bytes");
	free(copy);
}

int
main(void)
{
	TestRandom	random = {.state = 3};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		test_case(&cases[i]);
	for (int i = 0; i < RANDOM_TABLES; i++)
		test_random_table(&random);
	for (int i = 0; i < RANDOM_BYTES; i++)
		test_random_bytes(&random);
	return test_done();
}
