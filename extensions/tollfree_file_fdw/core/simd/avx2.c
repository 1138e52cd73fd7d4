/*
 * avx2.c
 *	  The kernel for x86-64 processors with AVX2 (2013 and later).
 */
#include "core/simd/kernels.h"

#ifdef KERNEL_X86

#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt,pclmul"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt,pclmul")
#endif

typedef struct SimdBlock
{
	__m256i		first;
	__m256i		second;
} SimdBlock;

static inline SimdBlock
simd_load(const unsigned char *bytes)
{
	SimdBlock	block = {
		_mm256_loadu_si256((const __m256i *) bytes),
		_mm256_loadu_si256((const __m256i *) (bytes + 32))
	};

	return block;
}

static inline uint64_t
simd_mask(__m256i first, __m256i second)
{
	return (uint32_t) _mm256_movemask_epi8(first) |
		(uint64_t) (uint32_t) _mm256_movemask_epi8(second) << 32;
}

static inline uint64_t
simd_equals(SimdBlock block, unsigned char c)
{
	__m256i		all = _mm256_set1_epi8((char) c);

	return simd_mask(_mm256_cmpeq_epi8(block.first, all),
					 _mm256_cmpeq_epi8(block.second, all));
}

/* max(a, c) is a exactly when a >= c */
static inline uint64_t
simd_at_least(SimdBlock block, unsigned char c)
{
	__m256i		all = _mm256_set1_epi8((char) c);

	return simd_mask(_mm256_cmpeq_epi8(_mm256_max_epu8(block.first, all),
									   block.first),
					 _mm256_cmpeq_epi8(_mm256_max_epu8(block.second, all),
									   block.second));
}

/* A product without carries by all ones adds up every lower bit. */
static inline uint64_t
simd_prefix_xor(uint64_t mask)
{
	__m128i		product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (long long) mask),
											   _mm_set1_epi8(-1), 0);

	return (uint64_t) _mm_cvtsi128_si64(product);
}

/*
 * Always four at a time: the number of rounds is easier to predict than the
 * number of bits.
 */
static inline void
simd_store_positions(uint32_t *to, uint64_t mask, uint32_t base)
{
	for (; mask != 0; to += 4)
	{
		for (int i = 0; i < 4; i++)
		{
			to[i] = base + (uint32_t) _tzcnt_u64(mask);
			mask = _blsr_u64(mask);
		}
	}
}

#include "core/simd/structure.h"

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

bool
avx2_runs_here(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		__builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") &&
		__builtin_cpu_supports("pclmul");
}

const Kernel avx2_kernel = {
	.name = "avx2",
	.find_structure = simd_find_structure,
	.count_structure = simd_count_structure,
	.check_utf8 = simd_check_utf8
};

#endif							/* KERNEL_X86 */
