/*
 * literals.h
 *	  Constants in a remote command, sent as parameters.
 */
#ifndef TOLLFREE_FDW_LITERALS_H
#define TOLLFREE_FDW_LITERALS_H

#include "sql/command.h"

extern bool literals_lift(const RemoteCommand *command, RemoteCommand *lifted);
extern bool literals_last(const char *sql);

#endif							/* TOLLFREE_FDW_LITERALS_H */
