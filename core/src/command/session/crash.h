/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"
#include "unwind/fault.h"

/** The signal that ended the process of a core, seen from its heap. */
struct crash {
	bool is_there;
	bool is_in_gc; /**< in the code of the runtime or of its GC: see crash_is_collecting() */
	struct fault fault;
	/**
	 * The addresses in its registers that lie in a segment of the heap, and which registers
	 * these are.
	 */
	uint64_t addresses[ARCH_REGISTERS_MAX];
	uint8_t registers[ARCH_REGISTERS_MAX];
	size_t count;
};

/** Find it; is_there is false without a heap, and where no such signal is known. */
void crash_find(const struct call *call, struct crash *ret);

/**
 * Was the thread collecting?  It was in the runtime, and a GC was moving objects, or had marked some
 * (@p any_marks), or ran in the background.  That is how a damaged heap mostly shows.
 */
bool crash_is_collecting(const struct call *call, const struct crash *crash, bool any_marks);

/**
 * "crash": null, or what has happened; of a crash in the runtime also what each register that leads into
 * the heap leads to.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status crash_write(struct call *call, const struct crash *crash,
					bool any_marks);
/** The same, but text has none of it. */
HD_NODISCARD enum hd_status crash_write_data(struct call *call, const struct crash *crash,
					     bool any_marks);
/** Text only: "Crash:       SIGSEGV in thread 0x1a2b, at libcoreclr.so+0x3c4d", or nothing. */
void crash_write_line(struct call *call, const struct crash *crash, bool any_marks);
