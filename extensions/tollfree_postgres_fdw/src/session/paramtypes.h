/*
 * paramtypes.h
 *	  Types that the remote server chose for the parameters of a kept statement.
 */
#ifndef TOLLFREE_FDW_PARAMTYPES_H
#define TOLLFREE_FDW_PARAMTYPES_H

#include "session/state.h"

extern bool paramtypes_hold(const CachedStatement *statement,
							const RemoteCommand *command);

#endif							/* TOLLFREE_FDW_PARAMTYPES_H */
