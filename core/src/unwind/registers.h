/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UNWIND_REGISTERS_H
#define HEAPDUMP_SRC_UNWIND_REGISTERS_H

#include "arch/frame_registers.h"
#include "targets/target.h"

/** The registers of one frame, and where those that it saved for its caller lie. */
struct registers {
	uint64_t values[REG_ROWS];
	uint64_t slots[REG_ROWS]; /**< address that a value was loaded from, 0: the thread's own */
};

/** Those of a thread as it stopped. */
void registers_of_thread(const struct target_thread *thread, struct registers *ret);

#endif
