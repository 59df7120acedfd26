/* SPDX-License-Identifier: MIT */
#include "target/stopper.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "target/proc.h"
#include "util/alloc.h"

/* A thread that sleeps in the kernel without waking for anything is waited for that long. */
#define STOP_SECONDS 10.0
/* Threads started while others were being stopped are found by looking again, that often. */
#define PASSES_MAX 1000u

_Static_assert(sizeof(struct user_regs_struct) == REGISTER_COUNT * sizeof(uint64_t),
	       "registers are those of x86-64");

struct held {
	int tid;
	int signal;      /* to deliver on release */
	bool is_stopped; /* or else it was asked to */
	bool is_gone;
};

enum phase {
	PHASE_STOPPING,
	PHASE_STOPPED,
	PHASE_FAILED,
	PHASE_RELEASED,
};

struct stopper {
	int pid;
	pthread_t thread;
	pthread_mutex_t lock; /* of phase and is_cancelled */
	pthread_cond_t changed;
	enum phase phase;
	bool is_cancelled;
	/* of the thread until phase is PHASE_STOPPED or PHASE_FAILED */
	struct held *held;
	size_t held_count, held_capacity;
	struct target_thread *threads;
	size_t thread_count;
	double since, seconds;
	struct hd_error err;
};

static double now(void)
{
	struct timespec time;
	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool is_cancelled(struct stopper *stopper)
{
	(void)pthread_mutex_lock(&stopper->lock);
	bool cancelled = stopper->is_cancelled;
	(void)pthread_mutex_unlock(&stopper->lock);
	return cancelled;
}

static void set_phase(struct stopper *stopper, enum phase phase)
{
	(void)pthread_mutex_lock(&stopper->lock);
	stopper->phase = phase;
	(void)pthread_cond_broadcast(&stopper->changed);
	(void)pthread_mutex_unlock(&stopper->lock);
}

static bool knows(const struct stopper *stopper, int tid)
{
	for (size_t i = stopper->held_count; i > 0; i--) {
		if (stopper->held[i - 1].tid == tid)
			return true;
	}
	return false;
}

/* Has the thread ended, or is it about to? */
static bool is_ending(int tid)
{
	struct proc_status status;
	return !proc_status_read(tid, &status) || status.state == 'Z' || status.state == 'X';
}

static enum hd_status seize(struct stopper *stopper, int tid)
{
	if (!PAGES_RESERVE(stopper, held))
		return fail_nomem(&stopper->err);
	/* Without PTRACE_O_EXITKILL: if we are killed the process lives. */
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0) {
		int code = errno;
		if (code == ESRCH || (code == EPERM && is_ending(tid)))
			return HD_OK;
		return proc_refused(stopper->pid, code, &stopper->err);
	}
	stopper->held[stopper->held_count++] = (struct held){ .tid = tid };
	(void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return HD_OK;
}

/* Ask every thread that is not held yet to stop; *@p ret_new gets how many there were. */
static enum hd_status seize_new(struct stopper *stopper, size_t *ret_new)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/task", stopper->pid);
	DIR *folder = opendir(path);
	if (!folder) {
		return proc_refused(stopper->pid, errno == ENOENT ? ESRCH : errno, &stopper->err);
	}
	size_t before = stopper->held_count;
	enum hd_status status = HD_OK;
	const struct dirent *entry;
	/* One thread reads a stream of its own. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while (status == HD_OK && (entry = readdir(folder)) != NULL) {
		int tid = (int)strtol(entry->d_name, NULL, 10);
		if (tid > 0 && !knows(stopper, tid))
			status = seize(stopper, tid);
	}
	(void)closedir(folder);
	*ret_new = stopper->held_count - before;
	return status;
}

/* Take note of how a thread stopped; false when it has not yet. */
static bool poll_stop(struct held *held)
{
	int status = 0;
	int got = waitpid(held->tid, &status, __WALL | WNOHANG);
	if (got == 0 || (got < 0 && errno == EINTR))
		return false;
	held->is_stopped = true;
	held->is_gone = got < 0 || !WIFSTOPPED(status);
	/* Stopped on the way to a signal rather than by us: it still has to get it. */
	if (!held->is_gone && (unsigned int)status >> 16 == 0)
		held->signal = WSTOPSIG(status);
	return true;
}

static enum hd_status wait_for_all(struct stopper *stopper)
{
	double end = now() + STOP_SECONDS;
	unsigned int turns = 0;
	for (size_t i = 0; i < stopper->held_count;) {
		struct held *held = &stopper->held[i];
		if (held->is_stopped || poll_stop(held)) {
			i++;
			continue;
		}
		if (is_cancelled(stopper))
			return fail_cancelled(&stopper->err);
		if (now() > end) {
			return fail(&stopper->err, HD_ERR_OS, 0,
				    "thread %d of process %d does not stop: it waits in the kernel "
				    "(a disk or a mount that does not answer?); try again later",
				    held->tid, stopper->pid);
		}
		struct timespec nap = { .tv_nsec = 50000 };
		if (turns++ < 200) {
			(void)sched_yield();
		} else {
			(void)nanosleep(&nap, NULL);
		}
	}
	return HD_OK;
}

static enum hd_status read_registers(struct stopper *stopper)
{
	stopper->threads = mem_calloc(stopper->held_count, sizeof(*stopper->threads));
	if (!stopper->threads)
		return fail_nomem(&stopper->err);
	for (size_t i = 0; i < stopper->held_count; i++) {
		const struct held *held = &stopper->held[i];
		struct target_thread *thread = &stopper->threads[stopper->thread_count];
		struct iovec vector = { thread->registers, sizeof(thread->registers) };
		/* The note's number goes where an address may. */
		void *note = (void *)(uintptr_t)NT_PRSTATUS; /* NOLINT(performance-no-int-to-ptr) */
		if (held->is_gone || ptrace(PTRACE_GETREGSET, held->tid, note, &vector) != 0)
			continue;
		if (vector.iov_len != sizeof(thread->registers)) {
			return fail(&stopper->err, HD_ERR_UNSUPPORTED, 0,
				    "process %d is a 32-bit program: only x86-64 is read",
				    stopper->pid);
		}
		thread->tid = held->tid;
		stopper->thread_count++;
	}
	if (!stopper->thread_count) {
		return fail(&stopper->err, HD_ERR_OS, 0, "process %d ended while it was stopped",
			    stopper->pid);
	}
	return HD_OK;
}

static enum hd_status stop_all(struct stopper *stopper)
{
	size_t fresh = 1;
	for (unsigned int pass = 0; fresh; pass++) {
		TRY(seize_new(stopper, &fresh));
		TRY(wait_for_all(stopper));
		if (pass == PASSES_MAX) {
			return fail(&stopper->err, HD_ERR_OS, 0,
				    "process %d starts threads faster than they can be stopped",
				    stopper->pid);
		}
	}
	return read_registers(stopper);
}

/* A thread that has not stopped yet cannot be released: it goes when our thread ends. */
static void let_go(struct stopper *stopper)
{
	for (size_t i = 0; i < stopper->held_count; i++) {
		const struct held *held = &stopper->held[i];
		/* So does the signal. */
		void *signal =
			(void *)(intptr_t)held->signal; /* NOLINT(performance-no-int-to-ptr) */
		if (held->is_stopped && !held->is_gone)
			(void)ptrace(PTRACE_DETACH, held->tid, NULL, signal);
	}
	stopper->seconds = now() - stopper->since;
}

static void *hold(void *arg)
{
	struct stopper *stopper = arg;
	stopper->since = now();
	if (stop_all(stopper) != HD_OK) {
		let_go(stopper);
		set_phase(stopper, PHASE_FAILED);
		return NULL;
	}
	set_phase(stopper, PHASE_STOPPED);
	(void)pthread_mutex_lock(&stopper->lock);
	while (stopper->phase != PHASE_RELEASED)
		(void)pthread_cond_wait(&stopper->changed, &stopper->lock);
	(void)pthread_mutex_unlock(&stopper->lock);
	let_go(stopper);
	return NULL;
}

/* Its thread has ended. */
static void stopper_destroy(struct stopper *stopper)
{
	(void)pthread_cond_destroy(&stopper->changed);
	(void)pthread_mutex_destroy(&stopper->lock);
	pages_free(stopper->held, stopper->held_capacity, sizeof(*stopper->held));
	mem_free(stopper->threads);
	mem_free(stopper);
}

/* Wait until all is stopped or that has failed; asks now and then whether to give up. */
static enum phase wait_until_stopped(struct stopper *stopper, struct job *job)
{
	(void)pthread_mutex_lock(&stopper->lock);
	while (stopper->phase == PHASE_STOPPING) {
		struct timespec until;
		(void)clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 100000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		(void)pthread_cond_timedwait(&stopper->changed, &stopper->lock, &until);
		if (!stopper->is_cancelled && !job_step(job, 0, 0))
			stopper->is_cancelled = true;
	}
	enum phase phase = stopper->phase;
	(void)pthread_mutex_unlock(&stopper->lock);
	return phase;
}

enum hd_status stopper_start(int pid, struct job *job, struct stopper **ret,
			     const struct target_thread **ret_threads, size_t *ret_count,
			     struct hd_error *err)
{
	struct stopper *stopper = mem_calloc(1, sizeof(*stopper));
	if (!stopper)
		return fail_nomem(err);
	stopper->pid = pid;
	(void)pthread_mutex_init(&stopper->lock, NULL);
	(void)pthread_cond_init(&stopper->changed, NULL);
	/* Signals stay with the threads that are there. */
	sigset_t all, old;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	int code = pthread_create(&stopper->thread, NULL, hold, stopper);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (code) {
		stopper_destroy(stopper);
		errno = code;
		return fail(err, HD_ERR_OS, 0, "cannot start a thread: %s", strerrordesc_np(code));
	}
	if (wait_until_stopped(stopper, job) == PHASE_FAILED) {
		enum hd_status status = (enum hd_status)stopper->err.status;
		if (err)
			*err = stopper->err;
		(void)pthread_join(stopper->thread, NULL);
		stopper_destroy(stopper);
		return status;
	}
	*ret = stopper;
	*ret_threads = stopper->threads;
	*ret_count = stopper->thread_count;
	return HD_OK;
}

double stopper_release(struct stopper *stopper)
{
	if (!stopper)
		return 0;
	set_phase(stopper, PHASE_RELEASED);
	(void)pthread_join(stopper->thread, NULL);
	double seconds = stopper->seconds;
	stopper_destroy(stopper);
	return seconds;
}
