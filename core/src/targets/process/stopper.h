/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_TARGET_STOPPER_H
#define HEAPDUMP_SRC_TARGET_STOPPER_H

#include "targets/target.h"

/** A thread that is traced. */
struct held {
	int tid;
	int signal;      /**< to deliver on release */
	bool is_stopped; /**< or else it was asked to */
	bool is_gone;
};

/** Why a process could not be stopped. */
enum stop_failure {
	STOP_DONE,
	STOP_REFUSED,   /**< by the kernel: see error */
	STOP_CANCELLED, /**< its client has something else to say, or has gone */
	STOP_SLEEPS,    /**< thread tid waits in the kernel */
	STOP_TOO_FAST,  /**< it starts threads faster than they can be stopped */
	STOP_TOO_MANY,  /**< threads */
	STOP_32_BITS,
	STOP_ENDED,
};

/**
 * Holds a process: every thread stopped by ptrace, by the one thread of the server, since the
 * kernel lets only that one release them.  When the server ends the process runs on.  Nothing here
 * allocates, so that it works after a fork.
 */
struct stopper {
	int pid;
	int control;       /**< readable, or closed at the other end: stop no more */
	struct held *held; /**< in the kernel's order; room for SERVER_THREADS_MAX */
	size_t held_count;
	size_t found;   /**< index of the one looked up last */
	size_t waiting; /**< of them have not stopped yet */
	double since;   /**< when the first was asked to stop, seconds */
	int error;      /**< errno of STOP_REFUSED */
	int tid;        /**< of STOP_SLEEPS */
};

/**
 * Stop all threads of stopper->pid.  After a failure the server has to end, since a thread that has
 * not stopped cannot be released otherwise.
 *
 * @param[out] threads with registers; room for SERVER_THREADS_MAX
 */
enum stop_failure stopper_stop(struct stopper *stopper, struct target_thread *threads,
			       size_t *ret_count);

/**
 * Ask the kernel which threads have stopped or ended.  One that was killed stays a zombie, and with
 * it its process, until this is called.
 */
void stopper_reap(struct stopper *stopper);

/** Let the process go on as it was; @return for how many seconds it stood still. */
double stopper_release(struct stopper *stopper);

#endif
