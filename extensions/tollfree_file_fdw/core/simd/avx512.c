/*
 * avx512.c
 *	  The kernel for x86-64 processors with AVX-512 and VBMI2 (Ice Lake, Zen 4
 *	  and later), which can write the positions of a mask at once.
 */
#include "core/simd/kernels.h"

#ifdef KERNEL_X86

#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,bmi,bmi2,popcnt,pclmul"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512vbmi2,bmi,bmi2,popcnt,pclmul")
#endif

typedef __m512i SimdBlock;

static inline SimdBlock
simd_load(const unsigned char *bytes)
{
	return _mm512_loadu_si512(bytes);
}

static inline uint64_t
simd_equals(SimdBlock block, unsigned char c)
{
	return _mm512_cmpeq_epu8_mask(block, _mm512_set1_epi8((char) c));
}

static inline uint64_t
simd_at_least(SimdBlock block, unsigned char c)
{
	return _mm512_cmpge_epu8_mask(block, _mm512_set1_epi8((char) c));
}

/* A product without carries by all ones adds up every lower bit. */
static inline uint64_t
simd_prefix_xor(uint64_t mask)
{
	__m128i		product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (long long) mask),
											   _mm_set1_epi8(-1), 0);

	return (uint64_t) _mm_cvtsi128_si64(product);
}

/* Returns the bytes 0, 1, ... 63. */
static inline __m512i
simd_indexes(void)
{
	static const unsigned char indexes[KERNEL_BLOCK] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
		32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
		48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63
	};

	return _mm512_loadu_si512(indexes);
}

static inline void
simd_store_16(uint32_t *to, __m128i indexes, uint32_t base)
{
	_mm512_storeu_si512(to, _mm512_add_epi32(_mm512_cvtepu8_epi32(indexes),
											 _mm512_set1_epi32((int) base)));
}

/* Packs the indexes of the mask's bits, then widens sixteen at a time. */
static inline void
simd_store_positions(uint32_t *to, uint64_t mask, uint32_t base)
{
	__m512i		packed = _mm512_maskz_compress_epi8(mask, simd_indexes());
	int			n = __builtin_popcountll(mask);

	simd_store_16(to, _mm512_castsi512_si128(packed), base);
	if (__builtin_expect(n <= 16, 1))
		return;
	simd_store_16(to + 16, _mm512_extracti32x4_epi32(packed, 1), base);
	if (n <= 32)
		return;
	simd_store_16(to + 32, _mm512_extracti32x4_epi32(packed, 2), base);
	simd_store_16(to + 48, _mm512_extracti32x4_epi32(packed, 3), base);
}

#include "core/simd/structure.h"

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

bool
avx512_runs_here(void)
{
	return __builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512vl") &&
		__builtin_cpu_supports("avx512vbmi2") &&
		__builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
		__builtin_cpu_supports("popcnt") && __builtin_cpu_supports("pclmul");
}

const Kernel avx512_kernel = {
	.name = "avx512",
	.find_structure = simd_find_structure,
	.count_structure = simd_count_structure,
	.check_utf8 = simd_check_utf8
};

#endif							/* KERNEL_X86 */
