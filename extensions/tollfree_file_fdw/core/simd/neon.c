/*
 * neon.c
 *	  The kernel for 64-bit Arm processors, all of which have NEON.
 */
#include "core/simd/kernels.h"

#ifdef KERNEL_NEON

#include <arm_neon.h>

typedef uint8x16x4_t SimdBlock;

static inline SimdBlock
simd_load(const unsigned char *bytes)
{
	SimdBlock	block = {{
			vld1q_u8(bytes), vld1q_u8(bytes + 16),
			vld1q_u8(bytes + 32), vld1q_u8(bytes + 48)
	}};

	return block;
}

/*
 * Makes a mask of 64 bytes that are all ones or all zeros: each keeps the bit
 * of its place in a group of eight, then neighbours are added, three times.
 */
static inline uint64_t
simd_mask(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
	const uint8x16_t bits = {
		1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128
	};
	uint8x16_t	ab = vpaddq_u8(vandq_u8(a, bits), vandq_u8(b, bits));
	uint8x16_t	cd = vpaddq_u8(vandq_u8(c, bits), vandq_u8(d, bits));
	uint8x16_t	sums = vpaddq_u8(ab, cd);

	sums = vpaddq_u8(sums, sums);
	return vgetq_lane_u64(vreinterpretq_u64_u8(sums), 0);
}

static inline uint64_t
simd_equals(SimdBlock block, unsigned char c)
{
	uint8x16_t	all = vdupq_n_u8(c);

	return simd_mask(vceqq_u8(block.val[0], all), vceqq_u8(block.val[1], all),
					 vceqq_u8(block.val[2], all), vceqq_u8(block.val[3], all));
}

static inline uint64_t
simd_at_least(SimdBlock block, unsigned char c)
{
	uint8x16_t	all = vdupq_n_u8(c);

	return simd_mask(vcgeq_u8(block.val[0], all), vcgeq_u8(block.val[1], all),
					 vcgeq_u8(block.val[2], all), vcgeq_u8(block.val[3], all));
}

/* Adds up every lower bit, in steps that double. */
static inline uint64_t
simd_prefix_xor(uint64_t mask)
{
	for (int shift = 1; shift < 64; shift *= 2)
		mask ^= mask << shift;
	return mask;
}

static inline void
simd_store_positions(uint32_t *to, uint64_t mask, uint32_t base)
{
	for (; mask != 0; mask &= mask - 1)
		*to++ = base + (uint32_t) __builtin_ctzll(mask);
}

#include "core/simd/structure.h"

const Kernel neon_kernel = {
	.name = "neon",
	.find_structure = simd_find_structure,
	.count_structure = simd_count_structure,
	.check_utf8 = simd_check_utf8
};

#endif							/* KERNEL_NEON */
