/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UNWIND_REGISTERS_H
#define HEAPDUMP_SRC_UNWIND_REGISTERS_H

#include "arch/frame_registers.h"
#include "targets/target.h"

/** The registers of one frame, and the places where it has saved its caller's registers. */
struct registers {
	uint64_t values[REG_ROWS];
	uint64_t slots[REG_ROWS]; /**< address from which a value was loaded, 0: it is still in the
				   * thread's register */
};

/** The registers of a thread as it stopped. */
void registers_of_thread(const struct target_thread *thread, struct registers *ret);

#endif
