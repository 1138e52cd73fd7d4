/*
 * join_table.c
 *	  All tuples of a hash join's table, wherever the join keeps them.
 *
 *		HashJoinTable	one process's						shared
 *			|
 *			+-- batch 0:	chunks, in memory				chunks, in
 *			|				skew buckets: tuples of the		shared memory
 *			|				most common keys
 *			+-- batch 1..:	a file each						(not visited)
 *
 * The join reads all of its outer side while batch 0 is in memory.  So whoever is
 * below it finds each tuple once.  Files are read from their beginnings and left
 * as they were, for the join appends to them later when batches are divided.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "executor/hashjoin.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/dsa.h"

#include "base/compat.h"
#include "exec/join_table.h"

/* A tuple in a batch's file is its hash value and the tuple as it is. */
typedef struct SavedTuple
{
	uint32		hash;
	uint32		length;			/* of the tuple, which begins with this */
} SavedTuple;

/* Why not all tuples can be visited, in a few words; NULL if they can. */
const char *
join_table_unusable(const HashJoinState *join)
{
	const HashJoinTableData *table = join->hj_HashTable;

	if (table->parallel_state != NULL && table->nbatch > 1)
		return "the hash table is shared and in several batches";
	/* A shared one is visited by a process that has come to use it. */
	if (table->curbatch != 0)
		return "the hash table is not used yet";
	return NULL;
}

/* How many there are. */
double
join_table_count(const HashJoinState *join)
{
	const HashJoinTableData *table = join->hj_HashTable;

	return table->parallel_state != NULL ?
		(double) table->parallel_state->total_tuples : table->totalTuples;
}

/* The chunk behind one, or the first one of the table. */
static HashMemoryChunk
next_chunk(const HashJoinTableData *table, HashMemoryChunk chunk)
{
	dsa_pointer shared;

	if (table->parallel_state == NULL)
		return chunk == NULL ? table->chunks : chunk->next.unshared;
	shared = chunk == NULL ? table->batches[0].shared->chunks :
		chunk->next.shared;
	return DsaPointerIsValid(shared) ?
		dsa_get_address(table->area, shared) : NULL;
}

/* Visits the tuples of batch 0 in the table's chunks. */
static void
visit_chunks(const HashJoinTableData *table, TupleVisitor visit, void *context)
{
	HashMemoryChunk chunk = NULL;

	while ((chunk = next_chunk(table, chunk)) != NULL)
	{
		size_t		at = 0;

		CHECK_FOR_INTERRUPTS();
		while (at < chunk->used)
		{
			HashJoinTuple tuple = (HashJoinTuple) (HASH_CHUNK_DATA(chunk) + at);

			visit(context, tuple->hashvalue, HJTUPLE_MINTUPLE(tuple));
			at += MAXALIGN(HJTUPLE_OVERHEAD + HJTUPLE_MINTUPLE(tuple)->t_len);
		}
	}
}

/* Visits tuples of the most common keys, which are apart from the others. */
static void
visit_skew_buckets(const HashJoinTableData *table, TupleVisitor visit,
				   void *context)
{
	for (int i = 0; i < table->nSkewBuckets; i++)
	{
		const HashSkewBucket *bucket =
			table->skewBucket[table->skewBucketNums[i]];

		for (HashJoinTuple tuple = bucket->tuples; tuple != NULL;
			 tuple = tuple->next.unshared)
			visit(context, tuple->hashvalue, HJTUPLE_MINTUPLE(tuple));
	}
}

/* Goes to a place in a batch's file. */
static void
seek_file(BufFile *file, int segment, off_t offset)
{
	if (BufFileSeek(file, segment, offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not find a place in the temporary file of a hash table: %m")));
}

/* Visits the tuples in a batch's file. */
static void
visit_file(BufFile *file, TupleVisitor visit, void *context)
{
	SavedTuple	saved;
	size_t		capacity = BLCKSZ;
	MinimalTuple tuple = palloc(capacity);
	int			segment;
	off_t		offset;

	BufFileTell(file, &segment, &offset);
	seek_file(file, 0, 0);
	while (compat_read_saved(file, &saved, sizeof(saved), true))
	{
		CHECK_FOR_INTERRUPTS();
		if (saved.length > capacity)
		{
			capacity = saved.length;
			tuple = repalloc(tuple, capacity);
		}
		tuple->t_len = saved.length;
		compat_read_saved(file, (char *) tuple + sizeof(uint32),
						  saved.length - sizeof(uint32), false);
		visit(context, saved.hash, tuple);
	}
	seek_file(file, segment, offset);
	pfree(tuple);
}

/* Visits all tuples of a table that is no unusable one, in any order. */
void
join_table_visit(const HashJoinState *join, TupleVisitor visit, void *context)
{
	const HashJoinTableData *table = join->hj_HashTable;

	visit_chunks(table, visit, context);
	if (table->parallel_state != NULL)
		return;
	if (table->skewEnabled)
		visit_skew_buckets(table, visit, context);
	for (int i = 1; i < table->nbatch; i++)
	{
		if (table->innerBatchFile[i] != NULL)
			visit_file(table->innerBatchFile[i], visit, context);
	}
}
