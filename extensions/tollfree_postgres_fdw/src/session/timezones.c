/*
 * timezones.c
 *	  The question whether a remote server has the rules of a time zone.
 *
 * Two servers may have zone files of different years, and one name may be a zone here
 * and an abbreviation there: the zone CET has summer time, AT TIME ZONE 'CET' has
 * none.  So the remote server is given the offsets that the zone has here, from 1800
 * to 2100, and compares them with those that AT TIME ZONE uses:
 *
 *	- in the first and the last second of each period without a change, so that
 *	  each local change is found to the second;
 *	- in between every five days from 1900 on, and once a year before, when there was
 *	  no summer time.  A change there that is unknown here would have to be undone
 *	  sooner to be missed.  The shortest periods in zone files last a week less an
 *	  hour, as Recife's summer of 2000 did.
 *
 * No zone has had rules before 1844: clocks showed the sun's time, as is found in the
 * first period.  The rules of 2100 repeat themselves for ever, as PostgreSQL computes
 * them.  So what is true of these years is true of all times.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "session/timezones.h"

/* The years that are compared: 1800, 1900 and 2100, as seconds since 1970 */
#define TIMEZONES_FROM INT64CONST(-5364662400)
#define TIMEZONES_SUMMER INT64CONST(-2208988800)
#define TIMEZONES_TO INT64CONST(4102444800)

/* Seconds between two times that are compared, before 1900 and from then on */
#define TIMEZONES_YEAR (365 * 24 * 60 * 60)
#define TIMEZONES_STEP (5 * 24 * 60 * 60)

/* Periods without a change, as the contents of arrays */
typedef struct Periods
{
	StringInfoData begins;
	StringInfoData ends;
	StringInfoData offsets;		/* from UTC, in seconds */
} Periods;

/* Appends a number to the contents of an array. */
static void
append_number(StringInfo array, int64 number)
{
	appendStringInfo(array, "%s" INT64_FORMAT, array->len > 0 ? "," : "", number);
}

/* Appends a period. */
static void
append_period(Periods *periods, const pg_tz *zone, pg_time_t begin, pg_time_t end)
{
	append_number(&periods->begins, begin);
	append_number(&periods->ends, end - 1);
	append_number(&periods->offsets, pg_localtime(&begin, zone)->tm_gmtoff);
}

/* The time of the next change after a time, or 1900 or 2100 if these come before. */
static pg_time_t
next_change(pg_time_t time, const pg_tz *zone)
{
	pg_time_t	limit = time < TIMEZONES_SUMMER ? TIMEZONES_SUMMER : TIMEZONES_TO;
	long		offset_before;
	long		offset_after;
	int			is_dst_before;
	int			is_dst_after;
	pg_time_t	next;

	if (pg_next_dst_boundary(&time, &offset_before, &is_dst_before, &next,
							 &offset_after, &is_dst_after, zone) != 1 ||
		next > limit)
		return limit;
	return next;
}

/*
 * The question, in this context: its answer is true if the remote server has the
 * local rules of the zone.  It takes some milliseconds there.
 */
char *
timezones_question(const pg_tz *zone)
{
	const char *name = pg_get_timezone_name(unconstify(pg_tz *, zone));
	Periods		periods;
	pg_time_t	end;

	initStringInfo(&periods.begins);
	initStringInfo(&periods.ends);
	initStringInfo(&periods.offsets);
	for (pg_time_t begin = TIMEZONES_FROM; begin < TIMEZONES_TO; begin = end)
	{
		end = next_change(begin, zone);
		append_period(&periods, zone, begin, end);
	}
	return psprintf("SELECT pg_catalog.bool_and("
					"pg_catalog.timezone(%s, pg_catalog.to_timestamp(t))"
					" = pg_catalog.timezone('0'::interval, pg_catalog.to_timestamp(t + o)))"
					" FROM ROWS FROM (pg_catalog.unnest('{%s}'::int8[]),"
					" pg_catalog.unnest('{%s}'::int8[]),"
					" pg_catalog.unnest('{%s}'::int8[])) AS p(b, e, o),"
					" LATERAL (SELECT pg_catalog.generate_series(b, e,"
					" CASE WHEN b < " INT64_FORMAT " THEN %d ELSE %d END)"
					" UNION ALL SELECT e) AS q(t)",
					quote_literal_cstr(name), periods.begins.data,
					periods.ends.data, periods.offsets.data, TIMEZONES_SUMMER,
					TIMEZONES_YEAR, TIMEZONES_STEP);
}
