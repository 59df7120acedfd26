/* SPDX-License-Identifier: MIT */
#pragma once

#include "targets/process/server_protocol.h"

/** Places of the table by which a thread is found by its number. */
#define STOPPER_PLACES (UINT32_C(1) << 18)

/** A thread that is traced. */
struct held {
	int tid;
	int signal;      /**< to deliver on release */
	bool is_stopped; /**< if not, it was only asked to stop */
	bool is_gone;
};

/** The memory of a stopper; made before the fork, all zeros at first. */
struct stopper_room {
	struct held held[SERVER_THREADS_MAX];
	uint32_t places[STOPPER_PLACES]; /**< a hash table: index in held plus 1; 0: free */
};

/** Why a process could not be stopped. */
enum stop_failure {
	STOP_DONE,
	STOP_REFUSED,   /**< the kernel refused it: see error */
	STOP_CANCELLED, /**< its client has sent another message, or has gone */
	STOP_SLEEPS,    /**< thread tid waits in the kernel and does not stop */
	STOP_TOO_SLOW, /**< not all threads have stopped in time; held_count is how many were asked */
	STOP_TOO_FAST, /**< the process starts threads faster than they can be stopped */
	STOP_TOO_MANY, /**< threads */
	STOP_32_BITS,
	STOP_ENDED,
};

/**
 * Holds a process stopped: the server's only thread stops all its threads by ptrace, because only
 * the thread that did so can release them.  When the server ends, the process runs on.  Nothing
 * here allocates memory, so that it works after a fork.
 */
struct stopper {
	int pid;
	int control; /**< if it is readable, or closed at the other end, give up stopping */
	struct stopper_room *room;
	size_t held_count;
	size_t waiting;       /**< how many of them have not stopped yet */
	size_t first_waiting; /**< all before it have stopped */
	double limit;         /**< for how long the process may be stopped, in seconds */
	double since;         /**< when the first thread was asked to stop, in seconds */
	double until;         /**< when to begin to let it go; INFINITY: when that is asked for */
	int error;            /**< errno of STOP_REFUSED */
	int tid;              /**< for STOP_SLEEPS */
};

/**
 * Stop all threads of stopper->pid, if that is done before it is time to let them go.  After a
 * failure the server has to end, since a thread that has not stopped cannot be released otherwise.
 *
 * @param[out] threads with registers; room for SERVER_THREADS_MAX
 */
enum stop_failure stopper_stop(struct stopper *stopper, struct target_thread *threads,
			       size_t *ret_count);

/**
 * Ask the kernel which threads have stopped or ended.  A thread that was killed stays a zombie, and
 * its process, too, until this is called.
 */
void stopper_reap(struct stopper *stopper);

/** Is it time to let the process go?  @return how many seconds are left, 0: it is time. */
double stopper_left(const struct stopper *stopper);

/** Let the process go on as before; @return for how many seconds it was stopped. */
double stopper_release(struct stopper *stopper);
