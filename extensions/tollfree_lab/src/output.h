/*
 * output.h
 *	  The kept bytes of one output stream of a command.
 */
#ifndef TOLLFREE_LAB_OUTPUT_H
#define TOLLFREE_LAB_OUTPUT_H

typedef enum OutputKeep
{
	KEEP_HEAD,					/* the first bytes */
	KEEP_TAIL					/* the last bytes */
} OutputKeep;

/*
 * While total <= limit, data[0 .. total - 1] is the whole stream.  After that
 * a head stays as it is, and a tail is a ring: data[total % limit] is its
 * oldest byte.
 */
typedef struct Output
{
	OutputKeep	keep;
	int			limit;			/* bytes kept at most */
	int			allocated;		/* bytes in data */
	int64		total;			/* bytes seen */
	char	   *data;
} Output;

extern void output_init(Output *output, OutputKeep keep, int limit);
extern void output_append(Output *output, const char *bytes, int length);
extern bool output_truncated(const Output *output);
extern text *output_text(const Output *output);

#endif							/* TOLLFREE_LAB_OUTPUT_H */
