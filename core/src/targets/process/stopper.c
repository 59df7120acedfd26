/* SPDX-License-Identifier: MIT */
#include "targets/process/stopper.h"

#include <elf.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "targets/process/proc.h"

/* The last part of the time is kept for letting go: of thousands of threads, on a busy machine. */
#define HELD_PART 0.9
/* Threads between two looks at the time and at the client. */
#define LOOK_STRIDE 64u
/*
 * Threads that are started while others are being stopped are found by looking again, this often.
 */
#define PASSES_MAX 1000u
/*
 * Pauses between two looks: longer ones each time.  Who sleeps gets the processor first when it wakes up; who only
 * yields it is the last one, and on a busy machine that is much later.
 */
#define NAP_MIN_NS 50000
#define NAP_MAX_NS 1000000
/* Spreads the numbers of threads, which are close to each other (2^32 divided by the golden ratio). */
#define HASH_FACTOR UINT32_C(2654435769)

_Static_assert(STOPPER_PLACES > SERVER_THREADS_MAX, "there is always a free place");

static double now(void)
{
	struct timespec time;
	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The place in the table of the thread @p tid, or the free place where it belongs. */
static uint32_t *place_of(const struct stopper *stopper, int tid)
{
	uint32_t at = (uint32_t)tid * HASH_FACTOR;
	for (;; at++) {
		uint32_t *place = &stopper->room->places[at % STOPPER_PLACES];
		if (!*place || stopper->room->held[*place - 1].tid == tid)
			return place;
	}
}

/* It may have the number of one that has ended meanwhile. */
static void add_held(struct stopper *stopper, int tid)
{
	uint32_t *place = place_of(stopper, tid);
	if (!*place)
		*place = (uint32_t)++stopper->held_count;
	size_t index = *place - 1;
	stopper->room->held[index] = (struct held){ .tid = tid };
	if (index < stopper->first_waiting)
		stopper->first_waiting = index;
	stopper->waiting++;
}

static bool is_held(const struct stopper *stopper, int tid)
{
	uint32_t place = *place_of(stopper, tid);
	return place && !stopper->room->held[place - 1].is_gone;
}

/* Empty the table, the newest thread first: so the others are still found. */
static void forget_held(struct stopper *stopper)
{
	for (size_t i = stopper->held_count; i-- > 0;)
		*place_of(stopper, stopper->room->held[i].tid) = 0;
	stopper->held_count = stopper->waiting = stopper->first_waiting = 0;
}

static enum stop_failure refuse_stop(struct stopper *stopper, int error)
{
	stopper->error = error;
	return STOP_REFUSED;
}

static enum stop_failure seize(struct stopper *stopper, int tid)
{
	/* Without PTRACE_O_EXITKILL: if we are killed the process lives. */
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0) {
		int code = errno;
		/* It has ended, or is about to. */
		bool is_ending = code == ESRCH || (code == EPERM && !proc_task_lives(tid));
		return is_ending ? STOP_DONE : refuse_stop(stopper, code);
	}
	add_held(stopper, tid);
	(void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return STOP_DONE;
}

static bool stop_is_cancelled(const struct stopper *stopper)
{
	struct pollfd control = { .fd = stopper->control, .events = POLLIN };
	return poll(&control, 1, 0) != 0;
}

/* Called for every thread: may the stop go on? */
static enum stop_failure check_stop(const struct stopper *stopper, size_t turn)
{
	if (turn % LOOK_STRIDE != 0)
		return STOP_DONE;
	if (stop_is_cancelled(stopper))
		return STOP_CANCELLED;
	return now() > stopper->until ? STOP_TOO_SLOW : STOP_DONE;
}

/* Ask every thread that is not held yet to stop; *@p ret_new gets how many there were. */
static enum stop_failure seize_new(struct stopper *stopper, size_t *ret_new)
{
	struct proc_tasks tasks;
	if (!proc_tasks_open(stopper->pid, &tasks))
		return refuse_stop(stopper, errno == ENOENT ? ESRCH : errno);
	/* All that were asked before have stopped. */
	enum stop_failure failure = STOP_DONE;
	size_t turn = 0;
	int tid;
	while (failure == STOP_DONE && (tid = proc_tasks_next(&tasks)) != 0) {
		failure = check_stop(stopper, turn++);
		if (failure != STOP_DONE || is_held(stopper, tid))
			continue;
		failure = stopper->held_count < SERVER_THREADS_MAX ? seize(stopper, tid)
								   : STOP_TOO_MANY;
	}
	proc_tasks_close(&tasks);
	*ret_new = stopper->waiting;
	return failure;
}

/* Note what waitpid() says about a thread. */
static void note_wait_status(struct stopper *stopper, struct held *held, int status)
{
	stopper->waiting -= !held->is_stopped;
	held->is_stopped = true;
	held->is_gone = !WIFSTOPPED(status);
	/* It stopped because of a signal and not because of us: it still has to get that signal. */
	if (!held->is_gone && (unsigned int)status >> 16 == 0)
		held->signal = WSTOPSIG(status);
}

/* Ask the kernel about one thread: by its number, because asking about any of them goes through all of them. */
static void look_at_held(struct stopper *stopper, struct held *held)
{
	int status = 0, tid;
	do {
		tid = waitpid(held->tid, &status, __WALL | WNOHANG);
	} while (tid < 0 && errno == EINTR);
	if (tid > 0) {
		note_wait_status(stopper, held, status);
	} else if (tid < 0) {
		/* It has gone without a word: another thread has begun a program (execve). */
		note_wait_status(stopper, held, 0);
	}
}

/*
 * When a process is killed, the kernel reports its first thread last, after all other traced threads were
 * waited for: so this is called until nothing is new.
 */
void stopper_reap(struct stopper *stopper)
{
	for (size_t i = 0; i < stopper->held_count; i++) {
		if (!stopper->room->held[i].is_gone)
			look_at_held(stopper, &stopper->room->held[i]);
	}
}

/* Ask the kernel about the threads that have not stopped yet. */
static enum stop_failure look_at_waiting(struct stopper *stopper)
{
	enum stop_failure failure = STOP_DONE;
	size_t turn = 0;
	for (size_t i = stopper->first_waiting; i < stopper->held_count && failure == STOP_DONE;
	     i++) {
		struct held *held = &stopper->room->held[i];
		if (!held->is_stopped) {
			failure = check_stop(stopper, turn++);
			look_at_held(stopper, held);
		}
		if (held->is_stopped && i == stopper->first_waiting)
			stopper->first_waiting++;
	}
	return failure;
}

static enum stop_failure wait_for_all(struct stopper *stopper)
{
	struct timespec nap = { .tv_nsec = NAP_MIN_NS };
	enum stop_failure failure = look_at_waiting(stopper);
	while (stopper->waiting && failure == STOP_DONE) {
		(void)nanosleep(&nap, NULL);
		nap.tv_nsec += nap.tv_nsec < NAP_MAX_NS ? nap.tv_nsec / 4 : 0;
		failure = look_at_waiting(stopper);
	}
	return stopper->waiting ? failure : STOP_DONE;
}

/* The time is over: is it one thread that does not stop, or are there too many for this machine? */
static enum stop_failure name_waiting(struct stopper *stopper)
{
	for (size_t i = stopper->first_waiting; i < stopper->held_count; i++) {
		if (!stopper->room->held[i].is_stopped)
			stopper->tid = stopper->room->held[i].tid;
	}
	return stopper->waiting == 1 ? STOP_SLEEPS : STOP_TOO_SLOW;
}

static enum stop_failure read_thread_registers(const struct stopper *stopper,
					       struct target_thread *threads, size_t *ret_count)
{
	size_t count = 0, size = arch_of_host()->prstatus.count * sizeof(uint64_t);
	for (size_t i = 0; i < stopper->held_count; i++) {
		const struct held *held = &stopper->room->held[i];
		struct target_thread *thread = &threads[count];
		thread->signal = 0;
		thread->inner_tid = 0;
		struct iovec vector = { thread->registers, sizeof(thread->registers) };
		/* The note's number is passed in place of an address. */
		void *note = (void *)(uintptr_t)NT_PRSTATUS; /* NOLINT(performance-no-int-to-ptr) */
		enum stop_failure failure = check_stop(stopper, i);
		if (failure != STOP_DONE)
			return failure;
		if (held->is_gone || ptrace(PTRACE_GETREGSET, held->tid, note, &vector) != 0)
			continue;
		if (vector.iov_len != size)
			return STOP_32_BITS;
		thread->tid = held->tid;
		thread->number = 0;
		count++;
	}
	*ret_count = count;
	return count ? STOP_DONE : STOP_ENDED;
}

enum stop_failure stopper_stop(struct stopper *stopper, struct target_thread *threads,
			       size_t *ret_count)
{
	enum stop_failure failure = STOP_DONE;
	size_t fresh = 1;
	stopper->since = now();
	stopper->until = stopper->since + stopper->limit * HELD_PART;
	for (unsigned int pass = 0; fresh && failure == STOP_DONE; pass++) {
		failure = pass > PASSES_MAX ? STOP_TOO_FAST : seize_new(stopper, &fresh);
		if (failure == STOP_DONE)
			failure = wait_for_all(stopper);
	}
	if (failure == STOP_DONE)
		failure = read_thread_registers(stopper, threads, ret_count);
	return failure == STOP_TOO_SLOW ? name_waiting(stopper) : failure;
}

double stopper_left(const struct stopper *stopper)
{
	double left = stopper->held_count ? stopper->until - now() : (double)INFINITY;
	return left > 0 ? left : 0;
}

double stopper_release(struct stopper *stopper)
{
	for (size_t i = 0; i < stopper->held_count; i++) {
		const struct held *held = &stopper->room->held[i];
		/* So does the signal. */
		void *signal =
			(void *)(intptr_t)held->signal; /* NOLINT(performance-no-int-to-ptr) */
		if (held->is_stopped && !held->is_gone)
			(void)ptrace(PTRACE_DETACH, held->tid, NULL, signal);
	}
	bool was_held = stopper->held_count > 0;
	forget_held(stopper);
	return was_held ? now() - stopper->since : 0;
}
