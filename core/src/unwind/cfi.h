/* SPDX-License-Identifier: MIT */
#pragma once

#include "unwind/registers.h"

/**
 * The call frame information (.eh_frame_hdr, .eh_frame) of a target's ELF images, read when it is
 * needed.
 */
struct cfi;

/**
 * @param target Borrowed until cfi_destroy().
 * @return NULL when memory is exhausted.
 */
struct cfi *cfi_create(const struct target *target);
/** NULL is allowed. */
void cfi_destroy(struct cfi *cfi);

/** The results of cfi_step(). */
enum cfi_result {
	CFI_FRAME,  /**< registers are the caller's */
	CFI_SIGNAL, /**< it was a signal frame: registers are those of the interrupted code */
	CFI_END,    /**< the rule says that there is no caller */
	CFI_NONE,   /**< there is no information, or it cannot be read, or is wrong */
};

/**
 * Go from a native frame to its caller (DWARF 5, 6.4; Linux Standard Base, Exception Frames).
 * Ends for any bytes.
 *
 * @param is_exact rip is an instruction that was interrupted, not a return address.  @param[in,out]
 * registers Changed only for CFI_FRAME and CFI_SIGNAL.
 */
enum cfi_result cfi_step(struct cfi *cfi, bool is_exact, struct registers *registers);

/** A function that call frame information is about. */
struct cfi_function {
	uint64_t begin, size;
	uint64_t lsda; /**< address of the data that its language keeps for it; 0: none */
	size_t record; /**< bytes of what describes it */
};

/** How many functions the image at @p address has information about; 0: none. */
uint64_t cfi_functions_count(struct cfi *cfi, uint64_t address);
/** Where function number @p index of the image at @p address begins; they ascend.  false: it cannot be read. */
bool cfi_function_begin(struct cfi *cfi, uint64_t address, uint64_t index, uint64_t *ret);

struct text;
/**
 * Append what the information about the function at @p pc says as call frame instructions that depend on nothing else:
 * those of its CIE, too, and with an alignment of code of 1 and of data of -8.
 *
 * @return false, and nothing is appended: there is none, it cannot be read, or it has expressions
 */
bool cfi_rows(struct cfi *cfi, uint64_t pc, struct text *ret);

/** The function that holds @p pc; false: none has information, or it cannot be read. */
bool cfi_function_at(struct cfi *cfi, uint64_t pc, struct cfi_function *ret);
