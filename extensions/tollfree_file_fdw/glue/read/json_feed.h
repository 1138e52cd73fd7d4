/*
 * json_feed.h
 *	  Lines of JSON as COPY's parser takes records: in text format.
 */
#ifndef TOLLFREE_FILE_JSON_FEED_H
#define TOLLFREE_FILE_JSON_FEED_H

#include "base/core.h"
#include "read/clean.h"
#include "read/file.h"

typedef struct JsonFeed JsonFeed;

/* Why a line is no record; column and reason are NULL if it is one. */
typedef struct JsonReject
{
	const char *column;			/* the one to blame, or NULL */
	const char *reason;
	const char *line;			/* its bytes, also if it is one */
	size_t		length;
} JsonReject;

extern JsonFeed *json_feed_open(OpenFile *file, const JsonField *fields);
extern void json_feed_seek(JsonFeed *feed, int64 offset);
extern void json_feed_limit(JsonFeed *feed, int64 end);
extern void json_feed_collect(JsonFeed *feed);
extern int	json_feed_read(JsonFeed *feed, TextReader read, void *file,
						   char *buffer, int maxread);
extern int64 json_feed_position(const JsonFeed *feed);
extern const JsonReject *json_feed_last(const JsonFeed *feed);

#endif							/* TOLLFREE_FILE_JSON_FEED_H */
