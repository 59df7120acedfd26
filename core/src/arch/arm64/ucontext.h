/* SPDX-License-Identifier: MIT */
#pragma once

#include "arch/arch.h"

/** See arch_ops.is_signal_return: __kernel_rt_sigreturn. */
bool arm64_is_signal_return(struct memory *memory, uint64_t ip);

/** See arch_ops.signal_context (asm/ucontext.h, asm/sigcontext.h). */
bool arm64_signal_context(struct memory *memory, uint64_t address, struct registers *ret);

/** See arch_ops.fault_address. */
bool arm64_fault_address(struct memory *memory, uint64_t address, uint64_t *ret);
