/*
 * decode.c
 *	  Fields of common types to values, without their input functions.
 *
 * The decoders of text accept only the form that the type's output function
 * prints.  Other texts go to its input function, which also raises errors.
 *
 * Binary format is decoded only if the remote column has the same built-in
 * type (rows.c), and for types whose format is the same in all versions since
 * 10.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "base/compat.h"
#include "wire/decode.h"

#define INT64_SAFE_DIGITS 18	/* any number of this many digits fits */
#define DATE_LENGTH 10
#define TIMESTAMP_LENGTH 19		/* without a fraction */
#define GMT "+00"
#define GMT_LENGTH 3
#define NUMERIC_HEADER 8		/* of numeric in binary form */
#define NUMERIC_GROUP 4			/* decimal digits in 2 bytes */
#define INFINITE_INTERVALS 170000	/* the first version with them */

/* Reads an optional minus sign and digits, as integers are printed. */
static inline bool
read_digits(const char *field, int length, int64 *number)
{
	bool		negative = length > 0 && field[0] == '-';
	int			i = negative ? 1 : 0;
	int64		result = 0;

	if (i == length || length - i > INT64_SAFE_DIGITS)
		return false;
	for (; i < length; i++)
	{
		unsigned	digit = (unsigned char) field[i] - '0';

		if (digit > 9)
			return false;
		result = result * 10 + digit;
	}
	*number = negative ? -result : result;
	return true;
}

/* smallint as text */
static bool
text_int2(const char *field, int length, Datum *value)
{
	int64		number;

	if (!read_digits(field, length, &number) ||
		number < PG_INT16_MIN || number > PG_INT16_MAX)
		return false;
	*value = Int16GetDatum((int16) number);
	return true;
}

/* integer as text */
static bool
text_int4(const char *field, int length, Datum *value)
{
	int64		number;

	if (!read_digits(field, length, &number) ||
		number < PG_INT32_MIN || number > PG_INT32_MAX)
		return false;
	*value = Int32GetDatum((int32) number);
	return true;
}

/* bigint as text */
static bool
text_int8(const char *field, int length, Datum *value)
{
	int64		number;

	if (!read_digits(field, length, &number))
		return false;
	*value = Int64GetDatum(number);
	return true;
}

/* boolean as text */
static bool
text_bool(const char *field, int length, Datum *value)
{
	if (length != 1 || (field[0] != 't' && field[0] != 'f'))
		return false;
	*value = BoolGetDatum(field[0] == 't');
	return true;
}

/* Reads exactly this many digits; -1 if there is anything else. */
static inline int
read_number(const char *field, int ndigits)
{
	int			number = 0;

	for (int i = 0; i < ndigits; i++)
	{
		unsigned	digit = (unsigned char) field[i] - '0';

		if (digit > 9)
			return -1;
		number = number * 10 + digit;
	}
	return number;
}

/*
 * Reads "2024-02-29", as days since 2000-01-01.  Not years before 1 or after 9999,
 * which have more characters, nor infinity.
 */
static bool
read_date(const char *field, DateADT *date)
{
	int			year = read_number(field, 4);
	int			month = field[4] == '-' ? read_number(field + 5, 2) : -1;
	int			day = field[7] == '-' ? read_number(field + 8, 2) : -1;

	if (year < 1 || month < 1 || month > MONTHS_PER_YEAR || day < 1 ||
		day > day_tab[isleap(year)][month - 1])
		return false;
	*date = date2j(year, month, day) - POSTGRES_EPOCH_JDATE;
	return true;
}

/* date as text */
static bool
text_date(const char *field, int length, Datum *value)
{
	DateADT		date;

	if (length != DATE_LENGTH || !read_date(field, &date))
		return false;
	*value = DateADTGetDatum(date);
	return true;
}

/* Reads ".5" to ".500000", as microseconds; -1 if it is anything else. */
static inline int
read_fraction(const char *field, int length)
{
	int			number;

	if (length < 2 || length > 1 + MAX_TIMESTAMP_PRECISION || field[0] != '.')
		return -1;
	number = read_number(field + 1, length - 1);
	for (int i = length; number > 0 && i < 1 + MAX_TIMESTAMP_PRECISION; i++)
		number *= 10;
	return number;
}

/* timestamp as text: "2024-02-29 23:59:59", perhaps with a fraction */
static bool
text_timestamp(const char *field, int length, Datum *value)
{
	DateADT		date;
	int			hour;
	int			minute;
	int			second;
	int			micros = 0;

	if (length < TIMESTAMP_LENGTH || !read_date(field, &date) ||
		field[10] != ' ' || field[13] != ':' || field[16] != ':')
		return false;
	hour = read_number(field + 11, 2);
	minute = read_number(field + 14, 2);
	second = read_number(field + 17, 2);
	if (length > TIMESTAMP_LENGTH)
		micros = read_fraction(field + TIMESTAMP_LENGTH, length - TIMESTAMP_LENGTH);
	if (hour < 0 || hour >= HOURS_PER_DAY || minute < 0 ||
		minute >= MINS_PER_HOUR || second < 0 || second >= SECS_PER_MINUTE ||
		micros < 0)
		return false;
	*value = TimestampGetDatum(date * USECS_PER_DAY + hour * USECS_PER_HOUR +
							   minute * USECS_PER_MINUTE +
							   second * USECS_PER_SEC + micros);
	return true;
}

/* timestamptz as text, which the remote server prints in GMT */
static bool
text_timestamptz(const char *field, int length, Datum *value)
{
	return length > GMT_LENGTH &&
		memcmp(field + length - GMT_LENGTH, GMT, GMT_LENGTH) == 0 &&
		text_timestamp(field, length - GMT_LENGTH, value);
}

/* Any type whose value is the bytes of the field, in text or binary */
static bool
bytes(const char *field, int length, Datum *value)
{
	*value = PointerGetDatum(cstring_to_text_with_len(field, length));
	return true;
}

/* boolean in binary */
static bool
binary_bool(const char *field, int length, Datum *value)
{
	if (length != 1)
		return false;
	*value = BoolGetDatum(field[0] != 0);
	return true;
}

/* smallint in binary */
static bool
binary_int2(const char *field, int length, Datum *value)
{
	uint16		number;

	if (length != sizeof(number))
		return false;
	memcpy(&number, field, sizeof(number));
	*value = Int16GetDatum((int16) pg_ntoh16(number));
	return true;
}

/* integer, date, oid, or the bits of a real in binary */
static bool
binary_int4(const char *field, int length, Datum *value)
{
	uint32		number;

	if (length != sizeof(number))
		return false;
	memcpy(&number, field, sizeof(number));
	*value = Int32GetDatum((int32) pg_ntoh32(number));
	return true;
}

/* bigint, time, timestamp, or the bits of a double precision in binary */
static bool
binary_int8(const char *field, int length, Datum *value)
{
	uint64		number;

	if (length != sizeof(number))
		return false;
	memcpy(&number, field, sizeof(number));
	*value = Int64GetDatum((int64) pg_ntoh64(number));
	return true;
}

/* interval in binary: microseconds, days, months */
static bool
binary_interval(const char *field, int length, Datum *value)
{
	Interval   *interval;
	uint64		time;
	uint32		day;
	uint32		month;

	if (length != sizeof(time) + sizeof(day) + sizeof(month))
		return false;
	memcpy(&time, field, sizeof(time));
	memcpy(&day, field + sizeof(time), sizeof(day));
	memcpy(&month, field + sizeof(time) + sizeof(day), sizeof(month));
	interval = palloc(sizeof(Interval));
	interval->time = (TimeOffset) pg_ntoh64(time);
	interval->day = (int32) pg_ntoh32(day);
	interval->month = (int32) pg_ntoh32(month);
	*value = IntervalPGetDatum(interval);
	return true;
}

/* uuid in binary */
static bool
binary_uuid(const char *field, int length, Datum *value)
{
	pg_uuid_t  *uuid;

	if (length != UUID_LEN)
		return false;
	uuid = palloc(sizeof(pg_uuid_t));
	memcpy(uuid->data, field, UUID_LEN);
	*value = UUIDPGetDatum(uuid);
	return true;
}

/* numeric in binary, by its receive function: numeric's layout is private */
static bool
binary_numeric(const char *field, int length, Datum *value)
{
	StringInfoData buffer;

	buffer.data = unconstify(char *, field);
	buffer.len = length;
	buffer.maxlen = length + 1; /* libpq ends each field with a zero byte */
	buffer.cursor = 0;
	*value = DirectFunctionCall3(numeric_recv, PointerGetDatum(&buffer),
								 ObjectIdGetDatum(InvalidOid),
								 Int32GetDatum(-1));
	return true;
}

static const FieldCodec codecs[] = {
	{BOOLOID, 1, false, false, text_bool, binary_bool},
	{INT2OID, 2, false, false, text_int2, binary_int2},
	{INT4OID, 4, false, false, text_int4, binary_int4},
	{INT8OID, 8, false, false, text_int8, binary_int8},
	{TEXTOID, 0, false, true, bytes, bytes},
	{VARCHAROID, 0, false, true, bytes, bytes},
	{BPCHAROID, 0, false, true, bytes, bytes},
	{OIDOID, 4, false, false, NULL, binary_int4},
	{FLOAT4OID, 4, true, false, NULL, binary_int4},
	{FLOAT8OID, 8, true, false, NULL, binary_int8},
	{NUMERICOID, 0, true, false, NULL, binary_numeric},
	{DATEOID, 4, true, false, text_date, binary_int4},
	{TIMEOID, 8, true, false, NULL, binary_int8},
	{TIMESTAMPOID, 8, true, false, text_timestamp, binary_int8},
	{TIMESTAMPTZOID, 8, true, false, text_timestamptz, binary_int8},
	{INTERVALOID, 16, true, false, NULL, binary_interval},
	{UUIDOID, 16, true, false, NULL, binary_uuid},
	{BYTEAOID, 0, true, true, NULL, bytes},
	{JSONOID, 0, false, true, NULL, bytes}
};

/* The decoders of a type, or NULL. */
const FieldCodec *
decode_find(Oid type)
{
	for (int i = 0; i < lengthof(codecs); i++)
	{
		if (codecs[i].type == type)
			return &codecs[i];
	}
	return NULL;
}

/* The bytes of a numeric in binary form: groups of digits to both sides of the point. */
static int
numeric_binary_length(const char *field, int length)
{
	int			digits[2] = {0, 0};
	int			side = 0;

	for (int i = 0; i < length; i++)
	{
		if (field[i] == '.')
			side = 1;
		else if (field[i] >= '0' && field[i] <= '9' &&
				 (side == 1 || digits[0] > 0 || field[i] != '0'))
			digits[side]++;
	}
	return NUMERIC_HEADER + (int) sizeof(int16) *
		((digits[0] + NUMERIC_GROUP - 1) / NUMERIC_GROUP +
		 (digits[1] + NUMERIC_GROUP - 1) / NUMERIC_GROUP);
}

/* How many bytes a value has in binary form, by its text; at most, for a numeric. */
int
decode_binary_length(const FieldCodec *codec, const char *field, int length)
{
	if (codec->binary_length > 0)
		return codec->binary_length;
	switch (codec->type)
	{
		case NUMERICOID:
			return numeric_binary_length(field, length);
		case BYTEAOID:
			return length / 2;	/* two digits a byte, after its prefix */
		default:
			return length;
	}
}

/*
 * Has the type the same binary format on a server of this version?  Times may
 * be floating-point numbers before 10.  An infinite interval is a finite one
 * to versions before 17.
 */
bool
decode_is_same_binary(Oid type, int version)
{
	switch (type)
	{
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return version >= COMPAT_BINARY_VERSION;
		case INTERVALOID:
			return version >= COMPAT_BINARY_VERSION &&
				(version >= INFINITE_INTERVALS) ==
				(PG_VERSION_NUM >= INFINITE_INTERVALS);
		default:
			return true;
	}
}
