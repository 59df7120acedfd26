/* SPDX-License-Identifier: MIT */
/* UNWIND_INFO on x64, as it is written: for those who undo a frame, and those who describe it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"

#define UNWIND_CODES_MAX     255u
#define UNWIND_HEADER_SIZE   4u
#define UNWIND_FUNCTION_SIZE 12u /* RUNTIME_FUNCTION: u32 begin, end, unwind info */
#define UNWIND_CODES_SIZE    (2 * (size_t)(UNWIND_CODES_MAX + 1))

/** UWOP_*; the last one is only used on Unix. */
enum unwind_operation {
	PUSH_NONVOL,
	ALLOC_LARGE,
	ALLOC_SMALL,
	SET_FPREG,
	SAVE_NONVOL,
	SAVE_NONVOL_FAR,
	EPILOG,
	SPARE_CODE,
	SAVE_XMM128,
	SAVE_XMM128_FAR,
	PUSH_MACHFRAME,
	SET_FPREG_LARGE,
};

/** The parts of one UNWIND_INFO that are used. */
struct unwind_info {
	uint8_t bytes[UNWIND_HEADER_SIZE + UNWIND_CODES_SIZE + UNWIND_FUNCTION_SIZE];
	unsigned int count; /**< of codes */
	bool is_chained;
};

/** One code, its operand, and how many u16 it takes. */
struct unwind_code {
	uint8_t offset, operation, info, slots;
	uint64_t operand; /**< scaled */
};

/** Bytes of the prologue. */
static inline uint8_t unwind_prologue(const struct unwind_info *info)
{
	return info->bytes[1];
}

/** The number of the frame register; 0: there is none. */
static inline uint8_t unwind_frame_register(const struct unwind_info *info)
{
	return info->bytes[3] & 0xf;
}

/** How far the frame register is above rsp, as SET_FPREG has it. */
static inline uint64_t unwind_frame_offset(const struct unwind_info *info)
{
	return 16 * (uint64_t)(info->bytes[3] >> 4);
}

/** Read the UNWIND_INFO at @p address; false when it is not there, or of an unknown version. */
bool unwind_info_read(struct memory *memory, uint64_t address, struct unwind_info *ret);

/** See arch_ops.unwind_extent. */
bool x86_64_unwind_extent(struct memory *memory, uint64_t address, uint64_t *ret_size,
			  uint64_t *ret_length);

/** The code at @p index; false when its kind does not exist, or it ends after the last one. */
bool unwind_code_at(const struct unwind_info *info, unsigned int index, struct unwind_code *ret);

/**
 * Read the UNWIND_INFO that @p info, which is chained, goes on with.
 *
 * @param[out] ret_begin Address of the function that it describes.
 * @return false when it cannot be read; @p info may be another one then
 */
bool unwind_info_next(struct memory *memory, uint64_t image_base, struct unwind_info *info,
		      uint64_t *ret_begin);
