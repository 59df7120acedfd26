/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "util/fail.h"

struct target;

struct target_thread {
	int32_t tid;
	uint32_t number; /**< its number in the debugger; 0 = unknown, or there is no debugger */
	int signal;      /**< a core: the signal that it had received (pr_cursig), 0 = none */
	/** A process: the thread's id in its own pid namespace, as in a container; 0 = tid. */
	int32_t inner_tid;
	uint64_t registers[ARCH_WORDS_MAX]; /**< the kernel's words: arch_word() */
};

struct target_threads {
	struct target_thread *rows;
	size_t count;
	uint32_t *order; /**< by tid, then index; NULL: not sorted */
};

/**
 * Sort threads.rows for target_thread(), when they are known.  Called by the functions that open
 * targets.
 */
HD_NODISCARD enum hd_status target_sort_threads(struct target *target, struct hd_error *err);

/**
 * "SIGSEGV", "SIGABRT" and other signals that end a process because of an error; NULL: another
 * signal.
 */
const char *target_crash_name(int signal);
/** The thread of a core that received such a signal, or NULL. */
const struct target_thread *target_crashed_thread(const struct target *target);

/**
 * Where the stack of a thread with the stack pointer @p sp ends, in writable memory that reaches up
 * to @p end: after the control block that the C library has put there, to which a register points; @p end
 * if it is not there.
 */
uint64_t target_stack_end(const struct target *target, const struct target_thread *thread,
			  uint64_t sp, uint64_t end);

/** The stack pointer with which a thread stopped. */
uint64_t target_thread_sp(const struct target *target, const struct target_thread *thread);

/** Registers of the first thread with that id, or NULL. */
const struct target_thread *target_thread(const struct target *target, int32_t tid);

/**
 * The debugger's number of the thread with the OS id @p id; without a debugger, its position among
 * the threads, as in SOS. -1: it has none.
 */
int64_t target_thread_number(const struct target *target, uint64_t id);
