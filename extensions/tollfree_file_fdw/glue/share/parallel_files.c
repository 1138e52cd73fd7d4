/*
 * parallel_files.c
 *	  Many files, read by several processes: which, and in which order.
 *
 * Whoever is free takes the next file, and reads all of it.  The longest ones come
 * first, so that no process is left with a long one at the end.  The names are in
 * shared memory, one after the other: all processes read those that the leader has
 * found.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "share/parallel.h"

/* A file, and how long it is. */
typedef struct SizedFile
{
	const char *name;
	int64		size;			/* bytes */
} SizedFile;

/* How much room the names of files take. */
Size
parallel_files_size(const FilePaths *paths)
{
	Size		size = 0;

	for (int i = 0; i < paths->count; i++)
		size = add_size(size, strlen(paths->names[i]) + 1);
	return size;
}

/* The longest first; of the same length, by name. */
static int
compare_sizes(const void *a, const void *b)
{
	const SizedFile *left = a;
	const SizedFile *right = b;

	if (left->size != right->size)
		return left->size > right->size ? -1 : 1;
	return strcmp(left->name, right->name);
}

/* Writes down which files are to be read; there is room for their names. */
void
parallel_files_write(ParallelFile *shared, const FilePaths *paths)
{
	SizedFile  *files = palloc(sizeof(SizedFile) * Max(1, paths->count));
	char	   *to = (char *) shared->parts;

	for (int i = 0; i < paths->count; i++)
	{
		struct stat status;

		files[i].name = paths->names[i];
		files[i].size = stat(files[i].name, &status) == 0 ? status.st_size : 0;
	}
	qsort(files, paths->count, sizeof(SizedFile), compare_sizes);
	for (int i = 0; i < paths->count; i++)
	{
		strcpy(to, files[i].name);
		to += strlen(to) + 1;
	}
	shared->nfiles = paths->count;
	shared->is_whole = false;
	pfree(files);
}

/*
 * Has this process take part; what is shared, and that memory, last as long as its
 * scan.
 */
void
parallel_files_join(ParallelShare *share, ParallelFile *shared,
					MemoryContext memory)
{
	FilePaths  *files = &share->files;
	char	   *name = (char *) shared->parts;

	share->file = shared;
	if (files->names != NULL)
		pfree(files->names);
	files->count = shared->nfiles;
	files->names = MemoryContextAllocHuge(memory, sizeof(char *) *
										  Max(1, files->count));
	for (int i = 0; i < files->count; i++)
	{
		files->names[i] = name;
		name += strlen(name) + 1;
	}
}
