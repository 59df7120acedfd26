/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** A child and the test both see this. */
struct child_board {
	_Atomic uint64_t ticks;   /**< grows as long as the child runs */
	_Atomic uint32_t signals; /**< of CHILD_SIGNAL that it got */
	_Atomic bool is_ready;
	_Atomic int other; /**< for the test's own use */
	char message[512]; /**< same */
};

#define CHILD_SIGNAL (SIGRTMIN + 3)

/** A child of the test: a copy of it, that counts until it is killed. */
struct live_child {
	pid_t pid;
	struct child_board *board;
};

/**
 * Fork a child with @p threads threads beside its first, that calls prepare(arg) before it counts.
 */
struct live_child child_start(unsigned int threads, void (*prepare)(void *arg), void *arg);

/** Fork one that does nothing but run(board, arg), and wait until board->is_ready. */
struct live_child child_fork(void (*run)(struct child_board *board, void *arg), void *arg);

/** Kill it and wait for its end. */
void child_end(struct live_child *child);

/** Does it count? Waits until it does, for as long as only a process that is held needs. */
bool child_is_running(const struct live_child *child);

/** Does it not count, for a fifth of a second? */
bool child_stands_still(const struct live_child *child);

/** Letter of /proc/PID/status: R S D T t Z; '?' = no such process. */
char child_state(pid_t pid);

/**
 * From one failed allocation to the next of tests that open a child each time: all of them, but with
 * AddressSanitizer, whose memory is copied too, one of 17.
 */
#ifdef __SANITIZE_ADDRESS__
#define CHILD_FAULT_STEP 17
#else
#define CHILD_FAULT_STEP 1
#endif

/**
 * Only a test that never ends comes to that allocation.  To open a child takes some ten for each of its mappings; with
 * AddressSanitizer it has about 200, and more with each library that the test program is linked with.
 */
#define CHILD_FAULTS_MAX 20000

/** Does the kernel tell the page of zeros, and skip what was never used (Linux 6.7)? */
bool child_pages_are_scanned(void);

/** Can the pages of a huge mapping be told apart quickly (Linux 6.7), or is none expected? */
bool child_can_be_opened(void);
