/*
 * ask.h
 *		Queries the counts of a running link.
 */
#ifndef ASK_H
#define ASK_H

extern void ask(const char *control_path, const char *command);

#endif							/* ASK_H */
