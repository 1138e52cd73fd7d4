/*
 * paths.c
 *	  The files that a pattern names.
 *
 *		{a,b}		one of these, which may be patterns themselves
 *		* ? [a-z]	as in fnmatch(3), within one name; not for a leading dot
 *		**			any number of folders, none of them hidden or a link
 *		\x			the character itself
 *
 * A name without wildcards must exist.  If it is a folder's, or the pattern ends
 * with a slash, it stands for the files in that folder.  Wildcards stand for files:
 * folders, pipes and the like that match are passed over.
 *
 * A folder is closed before one in it is opened, so one descriptor is enough.
 */
#include "postgres.h"

#include <dirent.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/fd.h"

#include "base/paths.h"

#define ANY_FOLDERS "**"

/* What has a name. */
typedef enum EntryKind
{
	ENTRY_FILE,					/* or a link to nothing: opening tells */
	ENTRY_FOLDER,
	ENTRY_OTHER
} EntryKind;

/* A name in a folder. */
typedef struct Entry
{
	char	   *name;
	EntryKind	kind;
	bool		is_link;
} Entry;

typedef struct Entries
{
	int			count;
	Entry	   *entries;
} Entries;

/* A search for the files of one pattern without braces. */
typedef struct PathSearch
{
	FilePaths  *found;
	bool		missing_ok;		/* is no ERROR raised? */
	bool		is_plain;		/* are there no wildcards? */
} PathSearch;

static void find_in(PathSearch *search, const char *folder, const char *rest);

/* Adds a file, and copies its name. */
static void
add_file(FilePaths *found, const char *path)
{
	if (found->count == found->room)
	{
		found->room = Max(64, found->room * 2);
		found->names = found->names == NULL ?
			palloc(sizeof(char *) * found->room) :
			repalloc_huge(found->names, sizeof(char *) * found->room);
	}
	found->names[found->count++] = pstrdup(path);
}

/* A name in a folder as a path; "" is the current one. */
static char *
join_path(const char *folder, const char *name)
{
	size_t		length = strlen(folder);
	bool		has_slash = length == 0 || folder[length - 1] == '/';

	return psprintf("%s%s%s", folder, has_slash ? "" : "/", name);
}

/* Raises the ERROR of what cannot be looked at, unless that is to be ignored. */
static void
report_failure(const PathSearch *search, const char *what, const char *path)
{
	if (!search->missing_ok)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open %s \"%s\": %m", what, path)));
}

/* What a path leads to, by stat(). */
static EntryKind
path_kind(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return ENTRY_FILE;
	return S_ISREG(status.st_mode) ? ENTRY_FILE :
		S_ISDIR(status.st_mode) ? ENTRY_FOLDER : ENTRY_OTHER;
}

/* The same of a folder's entry, mostly without asking the system. */
static Entry
make_entry(const char *folder, const struct dirent *found)
{
	Entry		entry = {.name = pstrdup(found->d_name)};

#ifdef DT_REG
	entry.is_link = found->d_type == DT_LNK;
	if (found->d_type == DT_REG || found->d_type == DT_DIR)
	{
		entry.kind = found->d_type == DT_REG ? ENTRY_FILE : ENTRY_FOLDER;
		return entry;
	}
#endif
	entry.kind = path_kind(join_path(folder, found->d_name));
	return entry;
}

/* What is in a folder, hidden names apart unless they are wanted. */
static Entries
read_folder(const PathSearch *search, const char *folder, bool hidden)
{
	const char *path = folder[0] == '\0' ? "." : folder;
	DIR		   *dir = AllocateDir(path);
	struct dirent *found;
	Entries		result = {0};
	int			room = 0;

	if (dir == NULL && errno != ENOENT && errno != ENOTDIR)
		report_failure(search, "directory", path);
	if (dir == NULL)
		return result;
	while ((found = ReadDirExtended(dir, path,
									search->missing_ok ? DEBUG1 : ERROR)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0 ||
			(found->d_name[0] == '.' && !hidden))
			continue;
		if (result.count == room)
		{
			room = Max(64, room * 2);
			result.entries = result.entries == NULL ?
				palloc(sizeof(Entry) * room) :
				repalloc_huge(result.entries, sizeof(Entry) * room);
		}
		result.entries[result.count++] = make_entry(folder, found);
	}
	FreeDir(dir);
	return result;
}

/* Adds the files in a folder. */
static void
add_folder(PathSearch *search, const char *folder)
{
	Entries		entries = read_folder(search, folder, false);

	for (int i = 0; i < entries.count; i++)
	{
		if (entries.entries[i].kind == ENTRY_FILE)
			add_file(search->found, join_path(folder, entries.entries[i].name));
	}
}

/* Adds what a name without wildcards stands for. */
static void
add_named(PathSearch *search, const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
	{
		if (search->is_plain || (errno != ENOENT && errno != ENOTDIR))
			report_failure(search, "file", path);
	}
	else if (S_ISDIR(status.st_mode))
		add_folder(search, path);
	else if (S_ISREG(status.st_mode))
		add_file(search->found, path);
	else if (!search->missing_ok)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a regular file", path),
				 errhint("A table of many files cannot read pipes; set \"filename\" on a table of its own.")));
}

/* Is there a wildcard in the first bytes of a pattern? */
static bool
has_wildcard(const char *pattern, size_t length)
{
	for (size_t i = 0; i < length; i++)
	{
		if (pattern[i] == '\\')
			i++;
		else if (strchr("*?[", pattern[i]) != NULL)
			return true;
	}
	return false;
}

/* A name of a pattern without its backslashes. */
static char *
unescape(const char *name)
{
	char	   *result = pstrdup(name);
	char	   *to = result;

	for (const char *from = name; *from != '\0'; from++)
	{
		if (from[0] == '\\' && from[1] != '\0')
			from++;
		*to++ = *from;
	}
	*to = '\0';
	return result;
}

/* Searches this folder, and all that are in it. */
static void
find_below(PathSearch *search, const char *folder, const char *rest)
{
	Entries		entries;

	check_stack_depth();
	find_in(search, folder, rest);
	entries = read_folder(search, folder, false);
	for (int i = 0; i < entries.count; i++)
	{
		const Entry *entry = &entries.entries[i];

		if (entry->kind == ENTRY_FOLDER && !entry->is_link)
			find_below(search, join_path(folder, entry->name), rest);
	}
}

/*
 * Searches those names in a folder that match; what is left of the pattern is
 * NULL behind its last name.
 */
static void
find_matches(PathSearch *search, const char *folder, const char *name,
			 const char *rest)
{
	Entries		entries = read_folder(search, folder, name[0] == '.');

	for (int i = 0; i < entries.count; i++)
	{
		const Entry *entry = &entries.entries[i];
		const char *path;

		if (entry->kind == ENTRY_OTHER ||
			entry->kind != (rest == NULL ? ENTRY_FILE : ENTRY_FOLDER) ||
			fnmatch(name, entry->name, FNM_PERIOD) != 0)
			continue;
		path = join_path(folder, entry->name);
		if (rest == NULL)
			add_file(search->found, path);
		else
			find_in(search, path, rest);
	}
}

/* Finds what the rest of a pattern stands for in a folder. */
static void
find_in(PathSearch *search, const char *folder, const char *rest)
{
	size_t		length = strcspn(rest, "/");
	char	   *name = pnstrdup(rest, length);
	const char *next = rest + length;

	check_stack_depth();
	while (*next == '/')
		next++;
	if (rest[length] == '\0')
		next = NULL;
	if (length == 0)
		add_folder(search, folder);
	else if (strcmp(name, ANY_FOLDERS) == 0)
		find_below(search, folder, next == NULL ? "*" : next);
	else if (has_wildcard(name, length))
		find_matches(search, folder, name, next);
	else if (next == NULL)
		add_named(search, join_path(folder, unescape(name)));
	else
		find_in(search, join_path(folder, unescape(name)), next);
}

/* Finds the files of a pattern without braces. */
static void
find_files(FilePaths *found, const char *pattern, bool missing_ok)
{
	PathSearch	search = {
		.found = found,
		.missing_ok = missing_ok,
		.is_plain = !has_wildcard(pattern, strlen(pattern))
	};
	size_t		nslashes = strspn(pattern, "/");

	if (pattern[0] != '\0')
		find_in(&search, nslashes > 0 ? "/" : "", pattern + nslashes);
}

/*
 * The brace that closes the first one of a pattern, and that one; NULL if there are
 * no such two.
 */
static const char *
find_braces(const char *pattern, const char **open)
{
	int			depth = 0;

	*open = NULL;
	for (const char *at = pattern; *at != '\0'; at++)
	{
		if (at[0] == '\\' && at[1] != '\0')
			at++;
		else if (*at == '{')
		{
			if (depth++ == 0)
				*open = at;
		}
		else if (*at == '}' && depth > 0 && --depth == 0)
			return at;
	}
	return NULL;
}

/* The end of the first of the alternatives between braces. */
static const char *
alternative_end(const char *from, const char *close)
{
	int			depth = 0;

	for (; from < close; from++)
	{
		if (*from == '\\')
			from++;
		else if (*from == ',' && depth == 0)
			break;
		else if (*from == '{' || *from == '}')
			depth += *from == '{' ? 1 : -1;
	}
	return Min(from, close);
}

/* Finds the files of a pattern, for each alternative of its first braces. */
static void
find_alternatives(FilePaths *found, const char *pattern, bool missing_ok)
{
	const char *open;
	const char *close = find_braces(pattern, &open);

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (close == NULL)
	{
		find_files(found, pattern, missing_ok);
		return;
	}
	for (const char *from = open + 1; from <= close;)
	{
		const char *end = alternative_end(from, close);
		char	   *one = psprintf("%.*s%.*s%s", (int) (open - pattern), pattern,
								   (int) (end - from), from, close + 1);

		find_alternatives(found, one, missing_ok);
		from = end + 1;
	}
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/*
 * Finds the files of a pattern, in the current memory context.  Raises an ERROR if
 * there are none, or a folder cannot be read, unless the result may lack some.
 */
FilePaths
paths_find(const char *pattern, bool missing_ok)
{
	FilePaths	found = {0};
	int			count = 0;

	find_alternatives(&found, pattern, missing_ok);
	if (found.count == 0 && !missing_ok)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FILE),
				 errmsg("no file matches \"%s\"", pattern),
				 errhint("Set the table's option \"filenames\" to a pattern or folder that has files.")));
	if (found.count > 0)
		qsort(found.names, found.count, sizeof(char *), compare_names);
	for (int i = 0; i < found.count; i++)
	{
		if (count == 0 || strcmp(found.names[count - 1], found.names[i]) != 0)
			found.names[count++] = found.names[i];
	}
	found.count = count;
	return found;
}
