/*
 * lookups.c
 *	  Scans that return the rows for many values of their parameters.
 *
 * join/ has the values: it sends them as one batch of keys.  The rows come ordered
 * by the number of their key.  Keys are first used in that order, too, so the rows
 * are passed once, and where those of each key begin is noted: a key that is used
 * again has its rows returned again.
 *
 * Rows of a key that are not used, as behind the first match of a semi-join, are
 * passed when the next key is used.
 *
 * There are SCAN_LOOKUPS batches, each with its own query and rows: the next one
 * may be in flight while one is used.
 */
#include "postgres.h"

#include "base/settings.h"
#include "scan/scan_state.h"

/* One batch of keys */
typedef struct LookupState
{
	ScanAnswer	answer;
	const KeyBatch *keys;		/* NULL if it has none */
	int			key;			/* whose rows are wanted; numbers begin with 1 */
	bool		is_at_key;		/* has the scan gone to its rows? */
	int			reached;		/* the last key that it has gone to so far */
} LookupState;

struct LookupStates
{
	LookupState states[SCAN_LOOKUPS];
	LookupState *used;			/* whose rows the scan returns; NULL if it
								 * executes its own query */
	bool		were_sent;		/* has a batch been sent? */
};

/* Prepares a scan for lookups, in this context, which lasts as long as the query. */
void
lookups_begin(RemoteScanState *scan)
{
	LookupStates *lookups = palloc0(sizeof(LookupStates));

	Assert(scan->own.phase == SCAN_IDLE && scan->lookups == NULL);
	for (int i = 0; i < SCAN_LOOKUPS; i++)
	{
		lookups->states[i].answer.scan = scan;
		lookups->states[i].answer.rows = received_create_like(scan->own.rows);
	}
	scan->lookups = lookups;
}

/* The answer to the batch in use; NULL if there is none. */
ScanAnswer *
lookups_answer(const RemoteScanState *scan)
{
	LookupState *used = scan->lookups->used;

	return used != NULL ? &used->answer : NULL;
}

/*
 * The answer whose rows are returned: to the batch of keys in use, or else to the
 * scan's own query.
 */
ScanAnswer *
lookups_or_own_answer(RemoteScanState *scan)
{
	ScanAnswer *answer = scan->lookups != NULL ? lookups_answer(scan) : NULL;

	return answer != NULL ? answer : &scan->own;
}

/* Has a scan sent a batch? */
bool
lookups_were_sent(const RemoteScanState *scan)
{
	return scan->lookups != NULL && scan->lookups->were_sent;
}

/*
 * Sends the query for a batch of keys, which must last as long as their rows are
 * used, without waiting; keys is NULL if there are none.  What is in use stays so.
 */
void
lookups_send(RemoteScanState *scan, int number, const KeyBatch *keys)
{
	LookupState *lookup = &scan->lookups->states[number];
	RemoteCommand command = {
		.hints.is_cacheable = scan->plan.command.is_cacheable,
		.hints.in_pieces = true
	};

	fetch_discard(&lookup->answer);
	lookup->keys = keys;
	if (keys == NULL)
		return;
	lookup->key = lookup->reached = 0;
	scan->lookups->were_sent = true;
	command.sql = command.shown = keys->sql;
	command.nparams = keys->nparams;
	command.params = keys->params;
	usage_start(scan->session, &scan->usage);
	fetch_start(&lookup->answer, FETCH_DIRECT, &command);
	usage_stop(scan->session, &scan->usage);
}

/*
 * Waits for the rows of a batch, all of them, and has the scan return these.  If
 * they exceed work_mem all are put into the store, the last ones too.
 */
void
lookups_use(RemoteScanState *scan, int number)
{
	LookupState *lookup = &scan->lookups->states[number];

	scan->lookups->used = lookup->keys != NULL ? lookup : NULL;
	scan->reader->nextra = lookup->keys != NULL ? 1 : 0;
	if (lookup->keys == NULL)
		return;
	usage_start(scan->session, &scan->usage);
	fetch_drain(&lookup->answer);
	if (received_has_store(lookup->answer.rows))
		fetch_spill(&lookup->answer, false);
	usage_stop(scan->session, &scan->usage);
}

/* Has the scan execute its own query again. */
void
lookups_end(RemoteScanState *scan)
{
	for (int i = 0; i < SCAN_LOOKUPS; i++)
		lookups_send(scan, i, NULL);
	lookups_use(scan, 0);
}

/* The number of a row's key. */
static int
lookups_key_of(ReceivedRow row)
{
	int			ncolumns = PQnfields(row.res);

	if (ncolumns == 0)
		elog(ERROR, "remote query result does not match the foreign table");
	return atoi(PQgetvalue(row.res, row.row, ncolumns - 1));
}

/* Goes to the rows of the key behind the last one reached. */
static void
lookups_reach_next_key(LookupState *lookup)
{
	ReceivedRows *rows = lookup->answer.rows;
	ReceivedPlace *start = &lookup->keys->starts[lookup->reached++];
	ReceivedRow row;

	while ((row = received_peek(rows)).res != NULL &&
		   lookups_key_of(row) < lookup->reached)
		received_pass(rows);
	*start = received_place(rows);
}

/* Goes back to the rows of a key that has been reached. */
static void
lookups_go_back_to_key(LookupState *lookup, int key)
{
	received_go_to(lookup->answer.rows, lookup->keys->starts[key - 1]);
}

/* Has the scan return the rows of this key next; 0 if it will not be executed. */
void
lookups_set_key(RemoteScanState *scan, int key)
{
	LookupState *lookup = scan->lookups->used;

	/* From rows of an earlier key the way forward begins at the last one. */
	if (lookup->key < lookup->reached && key > lookup->reached)
		lookups_go_back_to_key(lookup, lookup->reached);
	lookup->key = key;
	lookup->is_at_key = false;
}

/* Goes to the rows of the present key. */
static void
lookups_go_to_key(LookupState *lookup)
{
	if (lookup->key <= lookup->reached)
		lookups_go_back_to_key(lookup, lookup->key);
	while (lookup->reached < lookup->key)
		lookups_reach_next_key(lookup);
	lookup->is_at_key = true;
}

/* Puts the next row for the present key into the slot, or clears the slot. */
TupleTableSlot *
lookups_next(RemoteScanState *scan, TupleTableSlot *slot)
{
	LookupState *lookup = scan->lookups->used;
	ReceivedRows *rows = lookup->answer.rows;
	ReceivedRow row;

	ExecClearTuple(slot);
	if (lookup->key == 0)
		elog(ERROR, "rows were not looked up");
	if (!lookup->is_at_key)
		lookups_go_to_key(lookup);
	row = received_peek(rows);
	if (row.res == NULL || lookups_key_of(row) != lookup->key)
		return slot;
	fetch_convert(scan, row, slot);
	received_pass(rows);
	return slot;
}

/* Has the rows of the present key returned again. */
void
lookups_rescan(const RemoteScanState *scan)
{
	scan->lookups->used->is_at_key = false;
}

/* Frees the results of libpq, when the query's memory is freed. */
void
lookups_clear(const RemoteScanState *scan)
{
	for (int i = 0; i < SCAN_LOOKUPS; i++)
		received_clear(scan->lookups->states[i].answer.rows);
}
