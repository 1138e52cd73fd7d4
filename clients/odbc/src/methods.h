/*
 * methods.h
 *		ODBC's methods to fetch the rows of a statement.
 */
#ifndef METHODS_H
#define METHODS_H

#include "session.h"

extern const char *method_settings(const Method *method);

extern void method_normal(Session *session, Execution *execution);
extern void method_bound(Session *session, Execution *execution);
extern void method_cursor(Session *session, Execution *execution);
extern void method_prepared(Session *session, Execution *execution);
extern void method_server_file(Session *session, Execution *execution);
extern void method_copy(Session *session, Execution *execution);

#endif							/* METHODS_H */
