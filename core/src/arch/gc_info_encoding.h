/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** The numbers in a GCInfo; each has chunks of as many bits as the processor's encoding says. */
enum gc_info_number {
	GC_INFO_RETURN_KIND_SLIM,
	GC_INFO_RETURN_KIND_FAT,
	GC_INFO_CODE_LENGTH,
	GC_INFO_PROLOGUE,
	GC_INFO_EPILOGUE,
	GC_INFO_STACK_SLOT,
	GC_INFO_FRAME_REGISTER,
	GC_INFO_EDIT_CONTINUE,
	GC_INFO_STACK_AREA,
	GC_INFO_SAFE_POINTS,
	GC_INFO_RANGES,
	GC_INFO_RANGE_DELTA,
	GC_INFO_REGISTERS,
	GC_INFO_STACK_SLOTS,
	GC_INFO_UNTRACKED_SLOTS,
	GC_INFO_REGISTER,
	GC_INFO_REGISTER_DELTA,
	GC_INFO_STACK_SLOT_DELTA,
	GC_INFO_SLOT_FLAGS,
	GC_INFO_POINTER_SIZE,
	GC_INFO_RUN_DEAD,
	GC_INFO_RUN_LIVE,
	GC_INFO_NUMBERS
};

/** How GCInfo is written for a processor (inc/gcinfotypes.h: *_ENCBASE, NORMALIZE_*). */
struct gc_info_encoding {
	uint8_t bits[GC_INFO_NUMBERS];
	uint8_t code_shift; /**< lengths and offsets of code are written without so many bits */
	uint8_t frame_register_xor; /**< the frame register is written as its number, xor this */
	uint8_t register_last;      /**< the largest number of a register that can have a slot */
	bool wants_only_leaf;       /**< funclets always report for their method: no flag says so */
	uint8_t edit_continue_numbers; /**< how many numbers follow if the method can be edited */
};
