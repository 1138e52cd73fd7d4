/*
 * input.h
 *	  What a scan reads from: a file, opened and read by whoever can.
 */
#ifndef TOLLFREE_FILE_INPUT_H
#define TOLLFREE_FILE_INPUT_H

#include "nodes/execnodes.h"

#include "base/format.h"
#include "base/paths.h"
#include "read/computed.h"
#include "read/file.h"
#include "read/range.h"
#include "read/reader.h"

/*
 * How far reading has come.
 *
 *		CLOSED, REOPENED
 *			| input_begin
 *			v		take a range
 *		WAITING	----------------> READING --> STOPPED
 *		 |	^ |						|			| input_hand_over
 *		 |	| | no reader			|			v
 *		 |	| +---------------------|------> COPYING
 *		 |	|		a range ends	|			|
 *		 |	+-----------------------+-----------+
 *		 |
 *		 +--> FINISHED
 *		 no range is left
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
	INPUT_WAITING,				/* a range has to be taken before more is read */
	INPUT_READING,				/* batches come from a BatchSource */
	INPUT_STOPPED,				/* it has met what COPY's parser has to read */
	INPUT_COPYING,				/* rows come from COPY's parser */
	INPUT_FINISHED				/* all has been returned */
} InputPhase;

/*
 * The file is open from its first row to its last; one that cannot be opened a
 * second time, from the beginning to the end of the scan.  A scan that returns
 * groups has an input of its own, with a reader of its own, for the file of the
 * scan below it, which opens and closes it.
 *
 * Of a table with many files one is open at a time, from its first row to its last.
 * They are those that the pattern named when the query began.
 */
typedef struct ScanInput
{
	Relation	rel;
	FileOptions options;
	FileLayout	layout;
	FileColumns columns;		/* those that a reader converts */
	int			encoding;		/* of the file, when the scan began */
	FileOptions of_file;		/* in the owner: of one of many files whose
								 * header names its columns; in the next */
	MemoryContext of_file_memory;	/* NULL before the first */
	FilePaths  *paths;			/* of many files, in the owner; NULL before
								 * they are looked for, and of one */
	ComputedColumns *computed;	/* of many files: those that are asked for and
								 * not in them; or NULL */
	ExprState  *file_conditions;	/* in the owner: decided for a file as a
									 * whole; or NULL */
	TupleTableSlot *file_slot;	/* what they look at */
	ExprContext *econtext;		/* for them */
	bool		is_chosen;		/* have they been decided in this execution? */
	FilePaths	chosen;			/* the files that they let be read */
	EarlyFile  *early;			/* NULL if it had to be opened when the query
								 * began, and of many files */
	bool		begins_small;	/* may not all of one of many files be read? */
	MemoryContext context;		/* of the query */

	InputPhase	phase;
	struct ScanInput *owner;	/* the input that opens and closes the file:
								 * this one, or that of the scan below */
	OpenFile   *file;			/* the owner's, or NULL */
	FileReader *reader;			/* what reads text; NULL before input_open,
								 * and where only COPY's parser can */
	RangeSource *ranges;		/* what is to be read; NULL before input_begin */
	BatchSource *batches;		/* what reads the present range; before the
								 * first the reader */

	const char *slow_reason;	/* why there was no reader; NULL if there was */
	char	   *handover;		/* where and why it stopped last, or NULL */
	int			nhandovers;		/* how often it has */
	uint64		left_out;		/* rows with refused values, of files that
								 * were closed */
	PolicyCounts policy_counts; /* of files and readers that were closed */
	ByteCounts	bytes;			/* by readers that have been closed */
} ScanInput;

extern void input_prepare(ScanInput *input, List *columns, bool counts_only);
extern void input_open_early(ScanInput *input);
extern void input_forget_early(ScanInput *input);
extern void input_report_lost(const ScanInput *input);
extern void input_open(ScanInput *input, bool begins_small);
extern void input_open_next(ScanInput *input, const char *filename);
extern void input_close(ScanInput *input);
extern const FilePaths *input_find_paths(ScanInput *input);
extern const FilePaths *input_choose_paths(ScanInput *input);
extern void input_begin(ScanInput *input, RangeSource *ranges);
extern void input_take_range(ScanInput *input);
extern bool input_next_batch(ScanInput *input);
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
extern uint64 input_left_out(const ScanInput *input);
extern PolicyCounts input_policy_counts(const ScanInput *input);
extern void input_forget_rejected(ScanInput *input);
extern ByteCounts input_count_bytes(const ScanInput *input);

/* These two are called for each row. */

/* Has the table many files, or a pattern for them? */
static inline bool
input_has_many(const ScanInput *input)
{
	return input->options.pattern != NULL;
}

/* The file that is read, or the pattern of its and others' names. */
static inline const char *
input_name(const ScanInput *input)
{
	return input->options.filename != NULL ? input->options.filename :
		input->options.pattern;
}

/* Is it known what is read? */
static inline bool
input_is_begun(const ScanInput *input)
{
	return input->phase > INPUT_REOPENED;
}

/* Raises an ERROR if the file has been closed behind the scan's back. */
static inline void
input_check_file(const ScanInput *input)
{
	if (input->file != NULL && input->file->is_lost)
		input_report_lost(input);
}

#endif							/* TOLLFREE_FILE_INPUT_H */
