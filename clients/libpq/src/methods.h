/*
 * methods.h
 *		libpq's methods to fetch the rows of a statement.
 */
#ifndef METHODS_H
#define METHODS_H

#include "session.h"

/* methods.c: results */
extern void method_normal(Session *session, Execution *execution);
extern void method_single(Session *session, Execution *execution);
extern void method_chunked(Session *session, Execution *execution);
extern void method_binary(Session *session, Execution *execution);
extern void method_prepared(Session *session, Execution *execution);
extern void method_pipeline(Session *session, Execution *execution);

/* copy.c: COPY */
extern void method_copy(Session *session, Execution *execution);
extern void method_copy_binary(Session *session, Execution *execution);
extern void method_server_file(Session *session, Execution *execution);

#endif							/* METHODS_H */
