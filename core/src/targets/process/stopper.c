/* SPDX-License-Identifier: MIT */
#include "targets/process/stopper.h"

#include <elf.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "targets/process/proc.h"
#include "targets/process/server_protocol.h"

/* How long to wait for a thread that sleeps in the kernel and does not wake up. */
#define STOP_SECONDS 10.0
/*
 * Threads that are started while others are being stopped are found by looking again, this often.
 */
#define PASSES_MAX 1000u
/* Looks without a pause, then one every so often. */
#define QUICK_LOOKS 200u
#define NAP_NS      50000

_Static_assert(sizeof(struct user_regs_struct) == REGISTER_COUNT * sizeof(uint64_t),
	       "registers are those of x86-64");
#define X(id, name, dwarf, kernel, signal)                        \
	_Static_assert(offsetof(struct user_regs_struct, name) == \
			       REGISTER_##id * sizeof(uint64_t),  \
		       #name);
ARCH_REGISTERS(X)
#undef X
_Static_assert(offsetof(struct user_regs_struct, fs_base) == REGISTER_FS_BASE * sizeof(uint64_t),
	       "fs_base");

static double now(void)
{
	struct timespec time;
	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/*
 * The kernel lists threads in the same order each time: look first after the one that was found
 * last.
 */
static struct held *find_held_thread(struct stopper *stopper, int tid)
{
	for (size_t i = 0; i < stopper->held_count; i++) {
		size_t place = (stopper->found + 1 + i) % stopper->held_count;
		if (stopper->held[place].tid == tid) {
			stopper->found = place;
			return &stopper->held[place];
		}
	}
	return NULL;
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
	stopper->held[stopper->held_count++] = (struct held){ .tid = tid };
	stopper->waiting++;
	(void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return STOP_DONE;
}

/* Ask every thread that is not held yet to stop; *@p ret_new gets how many there were. */
static enum stop_failure seize_new(struct stopper *stopper, size_t *ret_new)
{
	struct proc_tasks tasks;
	if (!proc_tasks_open(stopper->pid, &tasks))
		return refuse_stop(stopper, errno == ENOENT ? ESRCH : errno);
	size_t before = stopper->held_count;
	enum stop_failure failure = STOP_DONE;
	int tid;
	while (failure == STOP_DONE && (tid = proc_tasks_next(&tasks)) != 0) {
		if (find_held_thread(stopper, tid))
			continue;
		failure = stopper->held_count < SERVER_THREADS_MAX ? seize(stopper, tid)
								   : STOP_TOO_MANY;
	}
	proc_tasks_close(&tasks);
	*ret_new = stopper->held_count - before;
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

/*
 * Wait for any of them: when a process is killed, the kernel reports its first thread last, after
 * all other traced threads were waited for.
 */
void stopper_reap(struct stopper *stopper)
{
	int status = 0, tid;
	while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0 || (tid < 0 && errno == EINTR)) {
		struct held *held = tid > 0 ? find_held_thread(stopper, tid) : NULL;
		if (held)
			note_wait_status(stopper, held, status);
	}
}

static bool stop_is_cancelled(const struct stopper *stopper)
{
	struct pollfd control = { .fd = stopper->control, .events = POLLIN };
	return poll(&control, 1, 0) != 0;
}

static enum stop_failure wait_for_all(struct stopper *stopper)
{
	double end = now() + STOP_SECONDS;
	for (unsigned int turns = 0;; turns++) {
		stopper_reap(stopper);
		if (!stopper->waiting)
			return STOP_DONE;
		if (stop_is_cancelled(stopper))
			return STOP_CANCELLED;
		if (now() > end)
			break;
		const struct timespec nap = { .tv_nsec = NAP_NS };
		if (turns < QUICK_LOOKS) {
			(void)sched_yield();
		} else {
			(void)nanosleep(&nap, NULL);
		}
	}
	for (size_t i = 0; i < stopper->held_count; i++) {
		if (!stopper->held[i].is_stopped)
			stopper->tid = stopper->held[i].tid;
	}
	return STOP_SLEEPS;
}

static enum stop_failure read_thread_registers(const struct stopper *stopper,
					       struct target_thread *threads, size_t *ret_count)
{
	size_t count = 0;
	for (size_t i = 0; i < stopper->held_count; i++) {
		const struct held *held = &stopper->held[i];
		struct target_thread *thread = &threads[count];
		thread->signal = 0;
		thread->inner_tid = 0;
		struct iovec vector = { thread->registers, sizeof(thread->registers) };
		/* The note's number is passed in place of an address. */
		void *note = (void *)(uintptr_t)NT_PRSTATUS; /* NOLINT(performance-no-int-to-ptr) */
		if (held->is_gone || ptrace(PTRACE_GETREGSET, held->tid, note, &vector) != 0)
			continue;
		if (vector.iov_len != sizeof(thread->registers))
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
	stopper->held_count = stopper->waiting = stopper->found = 0;
	stopper->since = now();
	for (unsigned int pass = 0; fresh && failure == STOP_DONE; pass++) {
		failure = pass > PASSES_MAX ? STOP_TOO_FAST : seize_new(stopper, &fresh);
		if (failure == STOP_DONE)
			failure = wait_for_all(stopper);
	}
	return failure == STOP_DONE ? read_thread_registers(stopper, threads, ret_count) : failure;
}

double stopper_release(struct stopper *stopper)
{
	for (size_t i = 0; i < stopper->held_count; i++) {
		const struct held *held = &stopper->held[i];
		/* So does the signal. */
		void *signal =
			(void *)(intptr_t)held->signal; /* NOLINT(performance-no-int-to-ptr) */
		if (held->is_stopped && !held->is_gone)
			(void)ptrace(PTRACE_DETACH, held->tid, NULL, signal);
	}
	bool was_held = stopper->held_count > 0;
	stopper->held_count = stopper->waiting = 0;
	return was_held ? now() - stopper->since : 0;
}
