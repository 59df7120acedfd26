/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_TARGETS_TARGET_THREADS_H
#define HEAPDUMP_SRC_TARGETS_TARGET_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "arch/register_table.h"
#include "util/fail.h"

struct target;

struct target_thread {
	int32_t tid;
	uint32_t number; /**< in the debugger; 0 = unknown, or there is none */
	int signal;      /**< a core: that it had got (pr_cursig), 0 = none */
	/** A process: what its own pid namespace calls the thread, as in a container; 0 = tid. */
	int32_t inner_tid;
	uint64_t registers[REGISTER_COUNT]; /**< by enum kernel_register */
};

struct target_threads {
	struct target_thread *rows;
	size_t count;
	uint32_t *order; /**< by tid, then index; NULL: not sorted */
};

/** Sort threads.rows for target_thread(), once they are known.  Called by the openers. */
HD_NODISCARD enum hd_status target_sort_threads(struct target *target, struct hd_error *err);

/** "SIGSEGV", "SIGABRT" and the others that end a process in which something went wrong; NULL: no such one. */
const char *target_crash_name(int signal);
/** The thread of a core that got such a signal, or NULL. */
const struct target_thread *target_crashed_thread(const struct target *target);

/**
 * Where the stack of a thread that is at @p sp ends, in writable memory that goes on up to @p end: behind the
 * control block that its C library has put there, where FS points; @p end where it is not there.
 */
uint64_t target_stack_end(const struct target_thread *thread, uint64_t sp, uint64_t end);

/** Registers of a thread, the first of that id, or NULL. */
const struct target_thread *target_thread(const struct target *target, int32_t tid);

/**
 * The number of the thread with the OS id @p id in the debugger; without one its place among the
 * threads, as SOS has it then.  -1: it has none.
 */
int64_t target_thread_number(const struct target *target, uint64_t id);

#endif
