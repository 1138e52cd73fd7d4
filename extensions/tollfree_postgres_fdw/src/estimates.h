/*
 * estimates.h
 *	  Cost estimates that postgres_fdw asks the remote server for.
 */
#ifndef TOLLFREE_FDW_ESTIMATES_H
#define TOLLFREE_FDW_ESTIMATES_H

#include "foreign/fdwapi.h"

extern void estimates_enter_stock(Oid server);
extern void estimates_install(FdwRoutine *routine,
							  const FdwRoutine *postgres_fdw);

#endif							/* TOLLFREE_FDW_ESTIMATES_H */
