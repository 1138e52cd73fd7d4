/*
 * kernel.c
 *	  The kernels of this build that this processor supports.
 */
#include <string.h>

#include "core/kernel.h"
#include "core/simd/kernels.h"

/* Slowest first. */
static const struct
{
	const Kernel *kernel;
	bool		(*runs_here) (void);
}			kernels[] =

{
	{&scalar_kernel, NULL},
#ifdef KERNEL_NEON
	{&neon_kernel, NULL},
#endif
#ifdef KERNEL_X86
	{&avx2_kernel, avx2_runs_here},
	{&avx512_kernel, avx512_runs_here},
#endif
};

#define KERNELS_BUILT	((int) (sizeof(kernels) / sizeof(kernels[0])))

const Kernel *
kernel_at(int n)
{
	for (int i = 0; i < KERNELS_BUILT; i++)
		if ((kernels[i].runs_here == NULL || kernels[i].runs_here()) &&
			n-- == 0)
			return kernels[i].kernel;
	return NULL;
}

const Kernel *
kernel_find(const char *name)
{
	const Kernel *best = NULL;
	const Kernel *kernel;

	for (int n = 0; (kernel = kernel_at(n)) != NULL; n++)
	{
		if (strcmp(kernel->name, name) == 0)
			return kernel;
		best = kernel;
	}
	return strcmp(name, "auto") == 0 ? best : NULL;
}

StructureRules
structure_rules(const Dialect *dialect, LineEnd line_end)
{
	bool		ends_in_nl = line_end == LINE_END_NL;
	StructureRules rules = {
		.mode = STRUCTURE_CSV,
		.delimiter = dialect->delimiter,
		.quote = dialect->quote,
		.escape = dialect->escape,
		.line_end = ends_in_nl ? '\n' : '\r',
		.other_end = ends_in_nl ? '\r' : '\n',
		.paired = line_end == LINE_END_CRNL
	};

	if (dialect->format == FILE_FORMAT_TEXT)
		rules.mode = STRUCTURE_TEXT;
	else if (dialect->format == FILE_FORMAT_JSON_LINES)
		rules.mode = STRUCTURE_LINES;
	else if (dialect->quote != dialect->escape)
		rules.mode = STRUCTURE_CSV_ESCAPE;
	return rules;
}
