/*
 * file.h
 *	  Files for tests: nameless, in memory or the temporary folder.
 */
#ifndef CORE_TEST_FILE_H
#define CORE_TEST_FILE_H

#include <stddef.h>

/* Returns a descriptor of a new file with these bytes; ends the test if not. */
extern int	test_file(const void *bytes, size_t length);

#endif							/* CORE_TEST_FILE_H */
