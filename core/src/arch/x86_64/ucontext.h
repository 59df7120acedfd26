/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_ARCH_X86_64_UCONTEXT_H
#define HEAPDUMP_SRC_ARCH_X86_64_UCONTEXT_H

#include "arch/arch.h"

/** See arch_ops.is_signal_return: __restore_rt. */
bool x86_64_is_signal_return(struct memory *memory, uint64_t ip);

/** See arch_ops.signal_context (asm/ucontext.h, asm/sigcontext.h). */
bool x86_64_signal_context(struct memory *memory, uint64_t address, struct registers *ret);

#endif
