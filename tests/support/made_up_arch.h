/* SPDX-License-Identifier: MIT */
#pragma once

#include "arch/arch.h"

/*
 * A processor that does not exist, for tests that nothing but its own functions depends on it.  It has 13
 * registers (r0 ... r8, fa, ra, st, pc), of which ra is a link register, pages of 64 kB, and
 * signatures in the highest 16 bits of return addresses.  An instruction has 4 bytes; that of a call is
 * 0.  Its managed functions have the frames of fake_stack.h.
 */
extern const struct arch made_up_arch;

/** Numbers of its registers that tests use. */
#define MADE_UP_RA 10u

/** Its precodes are this word of 8 bytes, and the MethodDesc. */
#define MADE_UP_PRECODE UINT64_C(0x65646f63657270)

/** A word in its code that returns from a signal handler. */
#define MADE_UP_SIGNAL_RETURN UINT32_C(0x51616e61)
