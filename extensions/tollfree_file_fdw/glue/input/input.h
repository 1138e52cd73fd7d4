/*
 * input.h
 *	  What a scan reads from: a file, opened and read by whoever can.
 */
#ifndef TOLLFREE_FILE_INPUT_H
#define TOLLFREE_FILE_INPUT_H

#include "nodes/execnodes.h"

#include "cache/column_cache.h"
#include "cache/index_use.h"
#include "input/parallel.h"
#include "read/file.h"
#include "read/reader.h"

/*
 * How far reading has come.  A part is a chunk of the file; if a record index is
 * used, by one process or for column segments, some blocks; else the whole file.
 *
 *		CLOSED, REOPENED
 *			| input_begin
 *			v		take a part
 *		WAITING	----------------> READING --> STOPPED
 *		 |	^ |						|			| input_hand_over
 *		 |	| | no reader			|			v
 *		 |	| +---------------------|------> COPYING
 *		 |	|		a part ends		|			|
 *		 |	+-----------------------+-----------+
 *		 |									| the only part ends
 *		 +--> FINISHED <--------------------+
 *		 no part is left
 *
 * input_reset leads from each of them to CLOSED, as input_leave does from all
 * but FINISHED.
 */
typedef enum InputPhase
{
	/* The first two: it is not known yet who reads */
	INPUT_CLOSED,
	INPUT_REOPENED,				/* the same, but the scan above has started
								 * this one again, as the executor has still
								 * to do */
	INPUT_WAITING,				/* a part has to be taken before more is read */
	INPUT_READING,				/* batches come from the reader, or from
								 * column segments */
	INPUT_STOPPED,				/* it has met what COPY's parser has to read */
	INPUT_COPYING,				/* rows come from COPY's parser */
	INPUT_FINISHED				/* all has been returned */
} InputPhase;

#define INPUT_SINKS_MAX 2

/*
 * The file is open from its first row to its last; one that cannot be opened a
 * second time, from the beginning to the end of the scan.  A scan that returns
 * groups has an input of its own, with a reader of its own, for the file of the
 * scan below it, which opens and closes it.
 */
typedef struct ScanInput
{
	Relation	rel;
	FileOptions options;
	FileLayout	layout;
	FileColumns columns;		/* those that a reader converts */
	int			encoding;		/* of the file, when the scan began */
	bool		can_wait;		/* is it opened when it is read? */
	MemoryContext context;		/* of the query */

	InputPhase	phase;
	struct ScanInput *owner;	/* the input that opens and closes the file:
								 * this one, or that of the scan below */
	OpenFile   *file;			/* the owner's, or NULL */
	FileReader *reader;			/* what reads text; NULL before input_begin,
								 * and where only COPY's parser can */
	BatchSource *batches;		/* of the present part: the reader, or the
								 * cache's */
	ParallelShare share;		/* in a scan by several processes */
	IndexUse	index;			/* in the leader of several processes, until
								 * the file has been cut; then only if
								 * segments are used or made */
	ColumnCache cache;
	BatchSink  *sinks[INPUT_SINKS_MAX]; /* shown what is read as text */
	int			nsinks;

	/* The first rows are read as text, if they may be all that is wanted */
	bool		begins_small;	/* may they be? */
	bool		in_head;		/* has nothing kept been looked for yet? */
	bool		has_run;		/* have blocks been taken? */
	uint32		head_rows;		/* read so far, and to be read again in front
								 * of others from the next part on */
	uint32		passed_rows;	/* of the part, to be passed over */

	const char *slow_reason;	/* why there was no reader; NULL if there was */
	char	   *handover;		/* where and why it stopped, or NULL */
	uint64		rejected;		/* rows skipped, of a file that was closed */
	uint64		bytes_read;		/* by readers that have been closed */
} ScanInput;

extern void input_prepare(ScanInput *input, List *columns, bool counts_only);
extern void input_open_early(ScanInput *input);
extern void input_report_lost(const ScanInput *input);
extern void input_begin(ScanInput *input);
extern void input_take_part(ScanInput *input);
extern bool input_next_batch(ScanInput *input);
extern void input_narrow(ScanInput *input, const FilterNode *joins);
extern void input_hand_over(ScanInput *input);
extern const char *input_stop_words(const ScanInput *input);
extern char *input_start_over(ScanInput *input);
extern bool input_copy_row(ScanInput *input, ExprContext *econtext,
						   TupleTableSlot *slot);
extern void input_close_reader(ScanInput *input);
extern void input_leave(ScanInput *input);
extern void input_reset(ScanInput *input);
extern void input_reopen(ScanInput *input);
extern void input_end(ScanInput *input);
extern uint64 input_bytes_read(const ScanInput *input);
extern uint64 input_take_counted(ScanInput *input);
extern int	input_take_passed(ScanInput *input);

/* These two are called for each row. */

/* Is it known who reads? */
static inline bool
input_is_begun(const ScanInput *input)
{
	return input->phase > INPUT_REOPENED;
}

/* Is the file read by blocks of a record index? */
static inline bool
input_uses_index(const ScanInput *input)
{
	return input->share.file == NULL ? input->index.role == INDEX_USED :
		input->share.file->by_index;
}

/* Is the present part read from column segments? */
static inline bool
input_uses_segments(const ScanInput *input)
{
	return input->cache.source != NULL &&
		input->batches == &input->cache.source->base;
}

/* Raises an ERROR if the file has been closed behind the scan's back. */
static inline void
input_check_file(const ScanInput *input)
{
	if (input->file != NULL && input->file->is_lost)
		input_report_lost(input);
}

#endif							/* TOLLFREE_FILE_INPUT_H */
