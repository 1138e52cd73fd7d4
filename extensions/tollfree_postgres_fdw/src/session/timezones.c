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
 *	- once a week in between.  A change there that is unknown here would have to be
 *	  undone within a week to be missed.  No zone has had such a one.
 *
 * No zone has had rules before 1800: clocks showed the sun's time, as is found in the
 * first period.  The rules of 2100 repeat themselves for ever, as PostgreSQL computes
 * them.  So what is true of these years is true of all times.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "session/timezones.h"

/* The years that are compared: 1800-01-01 to 2100-01-01, as seconds since 1970 */
#define TIMEZONES_FROM INT64CONST(-5364662400)
#define TIMEZONES_TO INT64CONST(4102444800)

/* Seconds between two times that are compared */
#define TIMEZONES_STEP (7 * 24 * 60 * 60)

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

/* The time of the next change after a time; the last time if there is none before. */
static pg_time_t
next_change(pg_time_t time, const pg_tz *zone)
{
	long		offset_before;
	long		offset_after;
	int			is_dst_before;
	int			is_dst_after;
	pg_time_t	next;

	if (pg_next_dst_boundary(&time, &offset_before, &is_dst_before, &next,
							 &offset_after, &is_dst_after, zone) != 1 ||
		next > TIMEZONES_TO)
		return TIMEZONES_TO;
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
					" LATERAL (SELECT pg_catalog.generate_series(b, e, %d)"
					" UNION ALL SELECT e) AS q(t)",
					quote_literal_cstr(name), periods.begins.data,
					periods.ends.data, periods.offsets.data, TIMEZONES_STEP);
}
