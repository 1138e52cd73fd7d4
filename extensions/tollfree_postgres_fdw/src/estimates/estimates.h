/*
 * estimates.h
 *	  Planning with remote estimates.
 */
#ifndef TOLLFREE_FDW_ESTIMATES_H
#define TOLLFREE_FDW_ESTIMATES_H

#include "foreign/fdwapi.h"

extern void estimates_install(FdwRoutine *routine,
							  const FdwRoutine *postgres_fdw);

#endif							/* TOLLFREE_FDW_ESTIMATES_H */
