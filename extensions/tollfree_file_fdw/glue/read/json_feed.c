/*
 * json_feed.c
 *	  Lines of JSON as COPY's parser takes records: in text format.
 *
 *		the text -> raw bytes -> a line (core/json_reader.c) -> fields, escaped -> COPY
 *
 * One record is handed over at a time, since COPY asks for more only when it looks for
 * the next one.  So what is wrong with a line is an error when its record is due, with
 * COPY's error context; and COPY's count of lines can be corrected here by those that
 * are no record.  Fields that COPY does not convert are left out.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/allocate.h"
#include "base/compat.h"
#include "read/json_feed.h"
#include "read/values.h"

#define RAW_BYTES_FIRST (64 * 1024)

struct JsonFeed
{
	OpenFile   *of;				/* the file that it is of */
	CopyFromState copy;			/* likewise */
	const char *filename;
	MemoryContext context;
	JsonReader	reader;
	bool		collects;		/* is a line that is no record one of nulls,
								 * and told of? */
	JsonReject	last;			/* of the present record */

	int64		offset;			/* in the file, of what is read next */
	int64		limit;			/* where lines begin that are not read */
	char	   *raw;			/* of the file */
	size_t		raw_size;
	size_t		raw_begin;		/* the first that has not been looked at */
	size_t		raw_end;

	unsigned char *field;		/* a decoded field */
	size_t		field_size;
	StringInfoData plain;		/* the present record */
	int			plain_begin;	/* the first byte that COPY has not been given */
};

/*
 * Reads lines of a file that COPY has opened, with these fields of its columns; in the
 * current memory context.
 */
JsonFeed *
json_feed_open(OpenFile *file, const JsonField *fields)
{
	CopyFromState copy = file->copy;
	JsonFeed   *feed = palloc0(sizeof(JsonFeed));
	int			nfields = list_length(copy->attnumlist);
	JsonField  *wanted = palloc(sizeof(JsonField) * Max(1, nfields));
	Allocator	allocator = memory_allocator(CurrentMemoryContext);

	feed->of = file;
	feed->copy = copy;
	feed->filename = file->filename;
	feed->context = CurrentMemoryContext;
	for (int i = 0; i < nfields; i++)
	{
		wanted[i] = fields[i];
		wanted[i].is_wanted = copy->convert_select_flags == NULL ||
			copy->convert_select_flags[list_nth_int(copy->attnumlist, i) - 1];
	}
	(void) json_reader_open(&feed->reader, &allocator, wanted, nfields);
	pfree(wanted);
	initStringInfo(&feed->plain);
	json_feed_seek(feed, 0);
	return feed;
}

/* Reads on with the line at an offset, to the file's end. */
void
json_feed_seek(JsonFeed *feed, int64 offset)
{
	feed->offset = offset;
	feed->limit = PG_INT64_MAX;
	feed->raw_begin = feed->raw_end = 0;
	resetStringInfo(&feed->plain);
	feed->plain_begin = 0;
}

/* Ends with the last line that begins before an offset. */
void
json_feed_limit(JsonFeed *feed, int64 end)
{
	feed->limit = end;
}

/* From now on, a line that is no record is no error: see json_feed_last. */
void
json_feed_collect(JsonFeed *feed)
{
	feed->collects = true;
}

/* The present record's line, and what is wrong with it. */
const JsonReject *
json_feed_last(const JsonFeed *feed)
{
	return &feed->last;
}

/* Where the line begins that is read next. */
int64
json_feed_position(const JsonFeed *feed)
{
	return feed->offset - (feed->raw_end - feed->raw_begin);
}

/* Reads more of the file, as much as there is already; false at its end. */
static bool
read_more(JsonFeed *feed, TextReader read, void *file)
{
	size_t		left = feed->raw_end - feed->raw_begin;
	size_t		n = Max(left, RAW_BYTES_FIRST);
	size_t		size = feed->raw_size == 0 ? n : feed->raw_size;

	CHECK_FOR_INTERRUPTS();
	if (left > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a line of file \"%s\" is too long", feed->filename)));
	if (left > 0)
		memmove(feed->raw, feed->raw + feed->raw_begin, left);
	feed->raw_begin = 0;
	feed->raw_end = left;
	while (size < left + n)
		size *= 2;
	if (size > feed->raw_size)
		feed->raw = feed->raw == NULL ?
			MemoryContextAllocHuge(feed->context, size) :
			repalloc_huge(feed->raw, size);
	feed->raw_size = size;
	n = read(file, feed->raw + left, n, feed->offset, left);
	feed->raw_end += n;
	feed->offset += n;
	return n > 0;
}

/* Finds the next line, and what is behind it; false at the end. */
static bool
next_line(JsonFeed *feed, TextReader read, void *file)
{
	size_t		searched = 0;
	size_t		mark = 0;
	const char *end = NULL;

	if (json_feed_position(feed) >= feed->limit)
		return false;
	for (;;)
	{
		size_t		left = feed->raw_end - feed->raw_begin;

		if (left > searched)
			end = memchr(feed->raw + feed->raw_begin + searched, '\n',
						 left - searched);
		searched = left;
		if (end != NULL || !read_more(feed, read, file))
			break;
	}
	feed->last = (JsonReject)
	{
		.line = feed->raw + feed->raw_begin,
			.length = end == NULL ? searched :
			(size_t) (end - feed->raw) - feed->raw_begin
	};
	if (json_feed_position(feed) == 0)
		mark = json_mark_length((const unsigned char *) feed->last.line,
								feed->last.length);
	feed->raw_begin += feed->last.length + (end != NULL);
	feed->last.line += mark;
	feed->last.length -= mark;
	return end != NULL || feed->last.length > 0;
}

/* Appends a field's bytes as those of text format. */
static void
append_escaped(StringInfo plain, const unsigned char *bytes, size_t length)
{
	enlargeStringInfo(plain, length);
	for (size_t i = 0; i < length; i++)
	{
		switch (bytes[i])
		{
			case '\\':
				appendStringInfoString(plain, "\\\\");
				break;
			case '\n':
				appendStringInfoString(plain, "\\n");
				break;
			case '\r':
				appendStringInfoString(plain, "\\r");
				break;
			case '\t':
				appendStringInfoString(plain, "\\t");
				break;
			default:
				appendStringInfoChar(plain, bytes[i]);
		}
	}
}

/* Appends a field that is not null. */
static JsonFault
append_field(JsonFeed *feed, int field)
{
	size_t		room = json_field_room(&feed->reader, field);
	JsonFault	fault;
	size_t		length;

	if (room > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a value of file \"%s\" is too long", feed->filename)));
	if (room > feed->field_size)
	{
		if (feed->field != NULL)
			pfree(feed->field);
		feed->field = MemoryContextAllocHuge(feed->context, 2 * room);
		feed->field_size = 2 * room;
	}
	length = json_field_write(&feed->reader, field, feed->field, &fault);
	append_escaped(&feed->plain, feed->field, length);
	return fault;
}

/* The column of a field. */
static Form_pg_attribute
column_of(const JsonFeed *feed, int field)
{
	return TupleDescAttr(RelationGetDescr(feed->copy->rel),
						 list_nth_int(feed->copy->attnumlist, field) - 1);
}

/*
 * Makes the record of the line that has been read.  *field is the one that has a fault.
 */
static JsonFault
make_record(JsonFeed *feed, int *field)
{
	JsonFault	fault = JSON_SOUND;

	resetStringInfo(&feed->plain);
	for (int i = 0; i < feed->reader.nfields && fault == JSON_SOUND; i++)
	{
		if (i > 0)
			appendStringInfoChar(&feed->plain, '\t');
		*field = i;
		if (!feed->reader.fields[i].is_wanted ||
			json_field_is_null(&feed->reader, i))
			appendStringInfoString(&feed->plain, "\\N");
		else
			fault = append_field(feed, i);
	}
	appendStringInfoChar(&feed->plain, '\n');
	return fault;
}

/* Raises the ERROR of a line that is no object. */
static void
report_line(const JsonFeed *feed, JsonFault fault)
{
	size_t		at = (const char *) feed->reader.at - feed->last.line;

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("a line of file \"%s\" is no JSON object", feed->filename),
			 errdetail("At byte %zu: %s.", at + 1, json_fault_words(fault)),
			 errhint("The function tollfree_file_fdw_rejects lists all such lines.")));
}

/* Raises the ERROR of a value that its column cannot have. */
static void
report_value(const JsonFeed *feed, JsonFault fault, int field)
{
	Form_pg_attribute attribute = column_of(feed, field);

	if (fault == JSON_NO_TEXT)
		ereport(ERROR,
				(errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
				 errmsg("a string of file \"%s\" cannot be a value of column \"%s\"",
						feed->filename, NameStr(attribute->attname)),
				 errdetail("It has an escape that is no character of a text: \\u0000, or half of a surrogate pair.")));
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("an object or array of file \"%s\" cannot be a value of column \"%s\" of type %s",
					feed->filename, NameStr(attribute->attname),
					format_type_be(attribute->atttypid)),
			 errhint("Give the column the type jsonb, or a path to a value inside.")));
}

/* Tells of a line that is no record, in place of its ERROR. */
static void
collect_reject(JsonFeed *feed, JsonFault fault, int field)
{
	feed->last.reason = json_fault_words(fault);
	if (field >= 0)
		feed->last.column = NameStr(column_of(feed, field)->attname);
	resetStringInfo(&feed->plain);
	for (int i = 0; i < feed->reader.nfields; i++)
		appendStringInfoString(&feed->plain, i == 0 ? "\\N" : "\t\\N");
	appendStringInfoChar(&feed->plain, '\n');
}

/*
 * Handles a line with a fault, of a field or not: returns whether it is a record all
 * the same, else it is left out; or raises its ERROR.
 */
static bool
handle_fault(JsonFeed *feed, JsonFault fault, int field)
{
	if (feed->collects)
	{
		collect_reject(feed, fault, field);
		return true;
	}
	if (values_leave_out_line(feed->of, json_fault_words(fault)))
		return false;
	if (field >= 0)
		report_value(feed, fault, field);
	report_line(feed, fault);
	return false;
}

/* Makes a record of the line; false if it is blank or left out. */
static bool
take_line(JsonFeed *feed)
{
	const JsonReject *last = &feed->last;
	JsonFault	fault;
	int			field = -1;

	(void) pg_verify_mbstr(PG_UTF8, last->line, last->length, false);
	fault = json_reader_read(&feed->reader, (const unsigned char *) last->line,
							 last->length);
	if (fault == JSON_BLANK)
		return false;
	if (fault == JSON_SOUND)
	{
		fault = make_record(feed, &field);
		if (fault == JSON_SOUND)
			return true;
	}
	return handle_fault(feed, fault, field);
}

/* Gives COPY's parser the next bytes, of one record at most; 0 at the end. */
int
json_feed_read(JsonFeed *feed, TextReader read, void *file, char *buffer,
			   int maxread)
{
	int			n;

	if (feed->plain_begin == feed->plain.len)
	{
		feed->plain_begin = 0;
		resetStringInfo(&feed->plain);
		for (;;)
		{
			if (!next_line(feed, read, file))
				return 0;
			if (take_line(feed))
				break;
			resetStringInfo(&feed->plain);
			feed->copy->cur_lineno++;
		}
	}
	n = Min(feed->plain.len - feed->plain_begin, maxread);
	memcpy(buffer, feed->plain.data + feed->plain_begin, n);
	feed->plain_begin += n;
	return n;
}
