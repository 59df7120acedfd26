/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

/*
 * Bits of Thread.State (doc/coreclr.md 12.1; Thread::ThreadState, threads.h; the same in 8, 9 and 10).  Another runtime
 * gives its threads those of them that it knows.
 */
#define THREAD_STATE_SUSPEND_PENDING 0x00000002u
#define THREAD_STATE_BACKGROUND      0x00000200u
#define THREAD_STATE_UNSTARTED       0x00000400u
#define THREAD_STATE_DEAD            0x00000800u
#define THREAD_STATE_POOL_WORKER     0x01000000u
#define THREAD_STATE_COMPLETION_PORT 0x08000000u
#define THREAD_STATE_DETACHED        0x80000000u

/** Bits of Thread.State. */
#define THREAD_STATE_BITS 32u

/**
 * A word for each bit, such as "legal-to-join", in the order of the bits; the hexadecimal number of
 * a bit that means nothing.  NULL ends.
 */
extern const char *const thread_state_words[THREAD_STATE_BITS + 1];

/** SOS's name for a bit: "Legal to Join". */
const char *thread_state_text(unsigned int bit);

/** The states of threads that have no stack. */
#define THREAD_STATES_NO_STACK (THREAD_STATE_UNSTARTED | THREAD_STATE_DEAD | THREAD_STATE_DETACHED)

/** Has @p thread any of the bits @p states? */
static inline bool thread_state_is(const struct runtime_thread *thread, uint32_t states)
{
	return (thread->state & states) != 0;
}

/** Can it run: does the process have a thread with a stack for it? */
static inline bool thread_has_stack(const struct runtime_thread *thread)
{
	return thread->os_id && !thread_state_is(thread, THREAD_STATES_NO_STACK);
}
