/*
 * kernels.h
 *	  The kernels that a build can have.
 */
#ifndef CORE_SIMD_KERNELS_H
#define CORE_SIMD_KERNELS_H

#include "core/inline.h"
#include "core/simd/scalar.h"

#if defined(__x86_64__)
#define KERNEL_X86

extern bool avx2_runs_here(void);
extern const Kernel avx2_kernel;

extern bool avx512_runs_here(void);
extern const Kernel avx512_kernel;
#endif

#if defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define KERNEL_NEON

extern const Kernel neon_kernel;
#endif

#endif							/* CORE_SIMD_KERNELS_H */
