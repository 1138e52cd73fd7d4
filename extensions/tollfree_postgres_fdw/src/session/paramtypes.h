/*
 * paramtypes.h
 *	  Parameter types of a cached statement, chosen by the remote server.
 */
#ifndef TOLLFREE_FDW_PARAMTYPES_H
#define TOLLFREE_FDW_PARAMTYPES_H

#include "session/state.h"

extern bool paramtypes_hold(const CachedStatement *statement,
							const RemoteCommand *command);

#endif							/* TOLLFREE_FDW_PARAMTYPES_H */
