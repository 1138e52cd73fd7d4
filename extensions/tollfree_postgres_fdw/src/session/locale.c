/*
 * locale.c
 *	  The encoding and the collations of a database.
 *
 * A query returns them as one text, here and on another server: encoding, provider,
 * locales, and the version of the provider's rules.  Two databases with the same text
 * sort and fold texts alike.
 *
 * A locale of the C library is the same in each of its spellings, as en_US.UTF-8 and
 * en_US.utf8; C is the same by each provider.  PostgreSQL's own provider has its rules
 * in each major version, without a version of their own.  Before 15 a server does not
 * say the version of its default collation, which C needs not.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

#include "session/locale.h"

#define LOCALE_FORMAT "encoding %s, provider %s, collate %s, ctype %s, locale %s, rules %s, version %s"
#define LOCALE_C_FORMAT "encoding %s, locale C"

/* Operators are named in full: here the search path is the user's. */
#define LOCALE_IS(column, value) column " OPERATOR(pg_catalog.=) '" value "'"
#define LOCALE_IN(column, values) column " OPERATOR(pg_catalog.=) ANY ('{" values "}')"

/* A locale of the C library in one spelling */
#define LOCALE_SPELLING(column) \
	"pg_catalog.replace(pg_catalog.lower(" column "::pg_catalog.text), 'utf-8', 'utf8')"

#define LOCALE_SQL(is_c, provider, locale, rules, version) \
	"SELECT CASE WHEN " is_c \
	" THEN pg_catalog.format('" LOCALE_C_FORMAT "', pg_catalog.getdatabaseencoding())" \
	" ELSE pg_catalog.format('" LOCALE_FORMAT "', pg_catalog.getdatabaseencoding(), " \
	provider ", " LOCALE_SPELLING("datcollate") ", " LOCALE_SPELLING("datctype") ", " \
	locale ", " rules ", " version ") END" \
	" FROM pg_catalog.pg_database" \
	" WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database()"

#define LOCALE_BYTES \
	LOCALE_IN("datcollate", "C,POSIX") " AND " LOCALE_IN("datctype", "C,POSIX")
#define LOCALE_LIBC_BYTES LOCALE_IS("datlocprovider", "c") " AND " LOCALE_BYTES
#define LOCALE_OWN_BYTES \
	LOCALE_IS("datlocprovider", "b") " AND " LOCALE_IS("datlocale", "C")
#define LOCALE_PROVIDER \
	"CASE WHEN " LOCALE_IS("datlocprovider", "c") " THEN 'libc'" \
	" WHEN " LOCALE_IS("datlocprovider", "i") " THEN 'icu' ELSE 'builtin' END"
#define LOCALE_VERSION "pg_catalog.pg_database_collation_actual_version(oid)"

/* The same, of the major version if the provider is PostgreSQL itself */
#define LOCALE_OWN_VERSION \
	"CASE WHEN " LOCALE_IS("datlocprovider", "b") \
	" THEN pg_catalog.left(pg_catalog.current_setting('server_version_num'), 2)" \
	" ELSE " LOCALE_VERSION " END"

/* The query for a server of this version; one row with one text. */
const char *
locale_sql(int version)
{
	if (version >= 170000)
		return LOCALE_SQL(LOCALE_LIBC_BYTES " OR " LOCALE_OWN_BYTES,
						  LOCALE_PROVIDER, "datlocale", "daticurules",
						  LOCALE_OWN_VERSION);
	if (version >= 160000)
		return LOCALE_SQL(LOCALE_LIBC_BYTES, LOCALE_PROVIDER, "daticulocale",
						  "daticurules", LOCALE_VERSION);
	if (version >= 150000)
		return LOCALE_SQL(LOCALE_LIBC_BYTES, LOCALE_PROVIDER, "daticulocale",
						  "''", LOCALE_VERSION);
	return LOCALE_SQL(LOCALE_BYTES, "'libc'", "''", "''", "'not known'");
}

/*
 * The text of this database, in the caller's memory; NULL if it has no answer, or
 * cannot be asked now.
 */
char *
locale_here(void)
{
	MemoryContext caller = CurrentMemoryContext;
	char	   *text = NULL;

	if (!ActiveSnapshotSet())
		return NULL;
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(locale_sql(PG_VERSION_NUM), true, 1) == SPI_OK_SELECT &&
		SPI_processed == 1)
		text = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);

	if (text !=NULL)
		text = MemoryContextStrdup(caller, text);

	SPI_finish();
	return text;
}
