/*
 * compat_export.h
 *	  Exports of a library, on every supported major: its entry points.
 *
 * A server loads libraries into one namespace, so a name that two of them
 * export is that of the one loaded first.  The makefiles therefore hide
 * everything by default, as PostgreSQL's own do from 16 on, whose headers
 * mark what the server looks up.  Here 15 does as well.
 */
#ifndef TOLLFREE_COMPAT_EXPORT_H
#define TOLLFREE_COMPAT_EXPORT_H

#include "fmgr.h"

#if PG_VERSION_NUM < 160000
#undef PGDLLEXPORT
#define PGDLLEXPORT __attribute__((visibility("default")))
extern PGDLLEXPORT void _PG_init(void); /* fmgr.h declares it since */
#endif

/* Declares a function that SQL can call; its definition follows. */
#define COMPAT_SQL_FUNCTION(name) \
	extern PGDLLEXPORT Datum name(PG_FUNCTION_ARGS); \
	PG_FUNCTION_INFO_V1(name)

#endif							/* TOLLFREE_COMPAT_EXPORT_H */
