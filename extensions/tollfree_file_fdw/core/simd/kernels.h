/*
 * kernels.h
 *	  The kernels that there are, for kernel.c alone.
 */
#ifndef CORE_SIMD_KERNELS_H
#define CORE_SIMD_KERNELS_H

#include "core/simd/scalar.h"

#endif							/* CORE_SIMD_KERNELS_H */
