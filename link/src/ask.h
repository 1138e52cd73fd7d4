/*
 * ask.h
 *		Asking a running link for its counts.
 */
#ifndef ASK_H
#define ASK_H

extern void ask(const char *control_path, const char *command);

#endif							/* ASK_H */
