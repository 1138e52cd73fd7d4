/*
 * shared_counters.c
 *	  What the sessions of all backends have done.
 *
 * A table has one entry for each database, server and user of a mapping.  A
 * session adds what it has counted when its transaction or its connection
 * ends.  The size is fixed: entry 0 sums what has no room.  Entries go when the
 * table is reset, and those of a dropped database when the table is read, but not
 * when a server is dropped.
 *
 * The table is in the server's shared memory if the library is preloaded, else
 * in a segment that the first backend makes, from PostgreSQL 17 on.  Without
 * either it is this backend's own.
 *
 * A spinlock suffices: it is held for one search and one addition.  It cannot
 * fail, so a session can add where no error is expected.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "base/compat.h"
#include "session/shared_counters.h"
#include "session/traffic.h"

/* The number changes with the layout: a segment outlives a library. */
#define TABLE_NAME "tollfree_postgres_fdw statistics 1"
#define TABLE_ENTRIES 256

/* Counters are added up without their names. */
#define COUNTERS (sizeof(SessionCounters) / sizeof(int64))

typedef struct CountersTable
{
	slock_t		lock;
	TimestampTz since;			/* when it was made or reset */
	int			count;			/* of entries, with the first one */
	CountersEntry entries[1 + TABLE_ENTRIES];
} CountersTable;

/* The table of a backend that can have no other */
static CountersTable own;

/* The table in use, or NULL while there is none */
static CountersTable *table = NULL;

static shmem_request_hook_type next_request_hook = NULL;
static shmem_startup_hook_type next_startup_hook = NULL;

/* Empties the table. */
static void
clear_table(CountersTable *cleared, TimestampTz now)
{
	cleared->since = now;
	cleared->count = 1;
	memset(&cleared->entries[0], 0, sizeof(CountersEntry));
}

/* Makes an empty table. */
static void
make_table(CountersTable *made)
{
	SpinLockInit(&made->lock);
	clear_table(made, GetCurrentTimestamp());
}

/* The same, for memory that has a name. */
static void
init_table(COMPAT_INIT_PARAMS)
{
	make_table(memory);
}

/* Reserves the server's shared memory. */
static void
request_memory(void)
{
	if (next_request_hook != NULL)
		next_request_hook();
	RequestAddinShmemSpace(sizeof(CountersTable));
}

/* Takes the memory that was reserved. */
static void
take_memory(void)
{
	bool		found;

	if (next_startup_hook != NULL)
		next_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	table = ShmemInitStruct(TABLE_NAME, sizeof(CountersTable), &found);
	if (!found)
		make_table(table);
	LWLockRelease(AddinShmemInitLock);
}

/* When the library is loaded: only the postmaster can reserve memory. */
void
shared_counters_install(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	next_request_hook = shmem_request_hook;
	shmem_request_hook = request_memory;
	next_startup_hook = shmem_startup_hook;
	shmem_startup_hook = take_memory;
}

/*
 * Finds the segment, or makes it.  Want of memory is no error of the user's
 * command: it is logged, and there is no segment.
 */
static void
attach_segment(void)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		table = compat_get_segment(TABLE_NAME, sizeof(CountersTable),
								   init_table);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
			ReThrowError(error);
		ereport(LOG,
				(errmsg("tollfree_postgres_fdw counts for this session only"),
				 errdetail("There is no shared memory: %s", error->message)));
		FreeErrorData(error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
}

/*
 * Has the backend use a table.  A parallel operation, which may have no
 * subtransaction, leaves that to the next call: nothing is lost meanwhile.
 */
void
shared_counters_attach(void)
{
	if (table != NULL || IsInParallelMode())
		return;
	if (COMPAT_HAS_SEGMENTS)
		attach_segment();
	if (table == NULL)
	{
		make_table(&own);
		table = &own;
	}
}

/* The part that this file writes. */
static AddedCounters *
added_own(Session *session)
{
	return session_own(AddedCounters, session, added);
}

/* Counts what the connection has carried since the last time. */
static void
count_bytes(Session *session)
{
	AddedCounters *added = added_own(session);
	int64_t		received;
	int64_t		sent;

	if (session->conn == NULL ||
		!traffic_count(PQsocket(session->conn), &received, &sent))
		return;
	session->counters.bytes_received += received - added->received;
	session->counters.bytes_sent += sent - added->sent;
	added->received = received;
	added->sent = sent;
}

/* Is this the entry of the session? */
static bool
is_entry_of(const CountersEntry *entry, const Session *session)
{
	return entry->server == session->server &&
		entry->user == session->mapping_user &&
		entry->database == MyDatabaseId;
}

/* The place of the session's entry, which is made if need be; 0 if it is full. */
static int
find_entry(const Session *session)
{
	int			index = session->added.entry;

	if (index < table->count && is_entry_of(&table->entries[index], session))
		return index;
	for (index = 1; index < table->count; index++)
	{
		if (is_entry_of(&table->entries[index], session))
			return index;
	}
	if (index > TABLE_ENTRIES)
		return 0;
	table->entries[index] = (CountersEntry)
	{
		.database = MyDatabaseId,.server = session->server,
			.user = session->mapping_user
	};
	table->count++;
	return index;
}

/* Adds what the session has counted since the last time; raises no error. */
void
shared_counters_add(Session *session)
{
	AddedCounters *added = added_own(session);
	const int64 *now = (const int64 *) &session->counters;
	const int64 *before = (const int64 *) &added->counters;
	int64	   *sums;

	StaticAssertStmt(COUNTERS * sizeof(int64) == sizeof(SessionCounters),
					 "all counters are int64");
	count_bytes(session);
	if (table == NULL ||
		memcmp(now, before, sizeof(SessionCounters)) == 0)
		return;
	SpinLockAcquire(&table->lock);
	added->entry = find_entry(session);
	sums = (int64 *) &table->entries[added->entry].counters;
	for (int i = 0; i < COUNTERS; i++)
		sums[i] += now[i] - before[i];
	SpinLockRelease(&table->lock);
	added->counters = session->counters;
}

/* The same at the end of the connection: another one begins to count at 0. */
void
shared_counters_end_connection(Session *session)
{
	AddedCounters *added = added_own(session);

	shared_counters_add(session);
	added->received = added->sent = 0;
}

/* Copies an entry, and since when it has been counted; false behind the last. */
bool
shared_counters_get(int index, CountersEntry *entry, TimestampTz *since)
{
	bool		exists;

	if (table == NULL)
		return false;
	SpinLockAcquire(&table->lock);
	exists = index < table->count;
	if (exists)
	{
		*entry = table->entries[index];
		*since = table->since;
	}
	SpinLockRelease(&table->lock);
	return exists;
}

/* Removes the entries of a database. */
void
shared_counters_forget(Oid database)
{
	SpinLockAcquire(&table->lock);
	for (int i = table->count - 1; i > 0; i--)
	{
		if (table->entries[i].database == database)
			table->entries[i] = table->entries[--table->count];
	}
	SpinLockRelease(&table->lock);
}

/* Are these the counters of all backends? */
bool
shared_counters_are_shared(void)
{
	return table != &own;
}

/* Begins anew, with no entries. */
void
shared_counters_reset(void)
{
	TimestampTz now = GetCurrentTimestamp();

	if (table == NULL)
		return;
	SpinLockAcquire(&table->lock);
	clear_table(table, now);
	SpinLockRelease(&table->lock);
}
