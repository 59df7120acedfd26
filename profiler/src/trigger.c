/* SPDX-License-Identifier: MIT */
#include "trigger.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "gc_watch.h"
#include "own_tasks.h"
#include "own_thread.h"
#include "runtime.h"
#include "snapshot.h"
#include "watch.h"
#include "write_line.h"

#define GIVE_UP_MS    INT64_C(5000) /* for a snapshot that is given up */
#define FAILED_S      5u /* the longest that one that failed keeps the next one from coming */
#define TOLD_MS       1000u
#define START_MS      UINT64_C(10000) /* at most, until the runtime has started */
#define START_STEP_MS 20u
#define START_REST_MS 100u
#define EXIT_MS       INT64_C(600000) /* for the one at the end, or of an exception that may lead to it */

/* The one trigger of the process; what a signal handler reads is set before the handler is. */
static struct {
	struct settings settings;
	struct sigaction former;
	pid_t owner;
	sem_t woken;              /* posted when one of the next four becomes true */
	atomic_bool is_signalled; /* the signal came, and nobody has done anything yet */
	atomic_bool is_out;       /* the same for the first OutOfMemoryException */
	atomic_bool ending;       /* no further snapshots but that of the end */
	struct stopping stop;     /* give up the snapshot that is being taken */
	atomic_bool was_out;      /* there was an OutOfMemoryException */
	_Atomic pid_t thrower;    /* of that; 0: it does not wait for the snapshot */
	sem_t is_out_done;        /* its snapshot is there, or will not come */
	atomic_bool is_reset;     /* the former handler wanted only one call, and has had it */
	sem_t ended;              /* the thread has ended */
	bool is_started;
} trigger = { .stop = { .peer = -1 } };

/* Set a flag, and wake the thread unless it was set already: many signals do not make the semaphore run over. */
static void raise_flag(atomic_bool *flag)
{
	if (!atomic_exchange(flag, true))
		(void)sem_post(&trigger.woken);
}

/* The program's own handler of the signal, if it had one. */
static void call_former(int number, siginfo_t *info, void *context)
{
	const struct sigaction *former = &trigger.former;
	bool has_none = !(former->sa_flags & SA_SIGINFO) &&
			(former->sa_handler == SIG_DFL || former->sa_handler == SIG_IGN);
	if (has_none ||
	    ((former->sa_flags & (int)SA_RESETHAND) && atomic_exchange(&trigger.is_reset, true)))
		return;
	if (former->sa_flags & SA_SIGINFO) {
		former->sa_sigaction(number, info, context);
	} else {
		former->sa_handler(number);
	}
}

/* A child that the program has forked ends by the signal, as it would without us. */
static void end_child(int number)
{
	const struct sigaction *former = &trigger.former;
	const struct sigaction action = { .sa_handler = SIG_DFL };
	if (!(former->sa_flags & SA_SIGINFO) && former->sa_handler == SIG_DFL &&
	    sigaction(number, &action, NULL) == 0)
		(void)raise(number);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	const int saved = errno;
	/* A child between vfork() and exec() shares this memory. */
	if (getpid() == trigger.owner) {
		raise_flag(&trigger.is_signalled);
	} else {
		end_child(number);
	}
	call_former(number, info, context);
	errno = saved;
}

/* A time of CLOCK_MONOTONIC. */
static struct timespec time_after(uint64_t milliseconds)
{
	struct timespec ret = { 0 };
	(void)clock_gettime(CLOCK_MONOTONIC, &ret);
	const uint64_t nanoseconds =
		(uint64_t)ret.tv_nsec + milliseconds % 1000 * UINT64_C(1000000);
	ret.tv_sec += (time_t)(milliseconds / 1000 + nanoseconds / UINT64_C(1000000000));
	ret.tv_nsec = (long)(nanoseconds % UINT64_C(1000000000));
	return ret;
}

/* Wait until somebody posts, or for so long; -1: for ever.  Did somebody? */
static bool await(sem_t *semaphore, int64_t milliseconds)
{
	const struct timespec end = time_after(milliseconds < 0 ? 0 : (uint64_t)milliseconds);
	int result;
	do {
		result = milliseconds < 0 ? sem_wait(semaphore)
					  : sem_clockwait(semaphore, CLOCK_MONOTONIC, &end);
	} while (result != 0 && errno == EINTR);
	return result == 0;
}

/*
 * The reason for a snapshot now, or NULL.  Reasons that come together lead to one, and all of them
 * are asked.  An exception among them sets @p ret_is_out.
 */
static const char *next_reason(struct watch *watch, bool *ret_is_out)
{
	const char *reason = watch_look(watch);
	if (atomic_exchange(&trigger.is_signalled, false))
		reason = "signal";
	if (atomic_exchange(&trigger.is_out, false)) {
		*ret_is_out = true;
		reason = "oom";
	}
	return reason;
}

/*
 * Let collections be watched, if they should be and are not.  When a program ends, the runtime
 * starts no session any more before it tells the profiler about the end: so a failure must last for
 * a while.
 */
static void watch_collections(void)
{
	static uint64_t failed_since;
	static bool is_told;
	const struct when *when = &trigger.settings.when;
	const uint64_t now = watch_now();
	if (!when->heap_bytes && !when->growth)
		return;
	if (gc_watch_begin(when->heap_bytes)) {
		gc_watch_renew(now);
		failed_since = 0;
		is_told = false;
	} else if (!failed_since) {
		failed_since = now;
	} else if (!is_told && now - failed_since >= TOLD_MS) {
		write_line("the runtime does not tell about collections: they are not seen now");
		is_told = true;
	}
}

/* Take a snapshot; how many milliseconds the next one must wait then. */
static uint64_t take(struct watch *watch, const char *reason)
{
	const unsigned rate = trigger.settings.rate;
	gc_watch_pause();
	bool is_taken = snapshot_take(&trigger.settings, reason, &trigger.stop);
	watch_collections();
	watch_taken(watch, is_taken);
	/* The next exception is the first of which something is known. */
	if (!is_taken && strcmp(reason, "oom") == 0)
		atomic_store(&trigger.was_out, false);
	return UINT64_C(1000) * (is_taken || rate < FAILED_S ? rate : FAILED_S);
}

/* Milliseconds to the next look, and at most to @p due if something waits for that. */
static int64_t next_wait(const struct watch *watch, bool has_due, uint64_t due)
{
	int64_t wait = watch_timeout(watch);
	if (!has_due)
		return wait;
	uint64_t now = watch_now();
	int64_t left = due > now ? (int64_t)(due - now) : 0;
	return wait < 0 || left < wait ? left : wait;
}

/* Wait, but not when the program ends. */
static void stay(uint64_t milliseconds)
{
	const uint64_t end = watch_now() + milliseconds;
	for (uint64_t now; !atomic_load(&trigger.ending) && (now = watch_now()) < end;)
		(void)await(&trigger.woken, (int64_t)(end - now));
}

/*
 * A session that begins before the runtime has started does not make it collect, and another one must be begun.  This
 * saves most of them: the thread of finalizers is made most often shortly before that (doc/coreclr.md 19).
 */
static void await_start(void)
{
	const uint64_t end = watch_now() + START_MS;
	while (!atomic_load(&trigger.ending) && watch_now() < end &&
	       !own_tasks_count(".NET Finalizer"))
		stay(START_STEP_MS);
	stay(START_REST_MS);
	/* The thread looks now at what has come meanwhile. */
	(void)sem_post(&trigger.woken);
}

static void *run_trigger(void *arg)
{
	struct watch watch;
	(void)arg;
	(void)prctl(PR_SET_NAME, "heapdump");
	watch_init(&watch, &trigger.settings.when);
	await_start();
	const char *reason = NULL; /* of a snapshot that must wait for its time */
	uint64_t due = 0;
	while (!atomic_load(&trigger.ending)) {
		(void)await(&trigger.woken, next_wait(&watch, reason != NULL, due));
		if (atomic_load(&trigger.ending))
			break;
		watch_collections();
		bool is_out = false;
		const char *now = next_reason(&watch, &is_out);
		/* A reason that comes only once must not give way to one that comes again. */
		if (now && (!reason || strcmp(reason, "oom") != 0))
			reason = now;
		if (!reason)
			continue;
		if (watch_now() >= due) {
			uint64_t wait = take(&watch, reason);
			due = watch_now() + wait;
			reason = NULL;
		}
		/* One that must wait for its time does not let the program wait. */
		if (is_out)
			(void)sem_post(&trigger.is_out_done);
	}
	(void)sem_post(&trigger.is_out_done);
	if (trigger.settings.when.at_exit)
		(void)snapshot_take(&trigger.settings, "exit", &trigger.stop);
	(void)sem_post(&trigger.ended);
	return NULL;
}

/* Handle the signal, as the handler that was there was to be called; false: errno says why it cannot be handled. */
static bool take_signal(int number)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
	struct sigaction *former = &trigger.former;
	action.sa_sigaction = on_signal;
	(void)sigemptyset(&action.sa_mask);
	if (sigaction(number, NULL, former) != 0)
		return false;
	if ((former->sa_flags & SA_SIGINFO) ||
	    (former->sa_handler != SIG_DFL && former->sa_handler != SIG_IGN)) {
		action.sa_mask = former->sa_mask;
		action.sa_flags =
			SA_SIGINFO | (former->sa_flags & (SA_RESTART | SA_ONSTACK | SA_NODEFER));
	}
	return sigaction(number, &action, NULL) == 0;
}

bool trigger_start(const struct settings *settings)
{
	if (trigger.is_started)
		return false;
	trigger.settings = *settings;
	trigger.owner = getpid();
	int error = sem_init(&trigger.woken, 0, 0) != 0 || sem_init(&trigger.ended, 0, 0) != 0 ||
				    sem_init(&trigger.is_out_done, 0, 0) != 0
			    ? errno
			    : own_thread_start(run_trigger, NULL);
	if (error) {
		write_line("snapshots cannot be taken: %s", strerrordesc_np(error));
		return false;
	}
	trigger.is_started = true;
	int number = settings->when.signal;
	if (number && !take_signal(number))
		write_line("signal %d cannot be used: %s", number, strerrordesc_np(errno));
	return true;
}

/* Give the signal back, unless somebody else has put a handler over ours, who may still call it. */
static void release_signal(void)
{
	struct sigaction now;
	int number = trigger.settings.when.signal;
	if (number && sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
	    now.sa_sigaction == on_signal && trigger.former.sa_handler != SIG_DFL)
		(void)sigaction(number, &trigger.former, NULL);
}

void trigger_thrown(uintptr_t object)
{
	static const char name[] = "System.OutOfMemoryException";
	struct runtime_class class;
	uint16_t text[sizeof(name) + 4];
	uintptr_t type = atomic_load(&trigger.was_out) ? 0 : runtime_object_class(object);
	if (!type || !runtime_class(type, &class) ||
	    !runtime_type_name(class.module, class.token, text, sizeof(text) / sizeof(text[0])))
		return;
	for (size_t i = 0; i < sizeof(name); i++) {
		if (text[i] != (uint16_t)name[i])
			return;
	}
	if (atomic_exchange(&trigger.was_out, true))
		return;
	/* An earlier snapshot may have ended without its thread waiting: take its sign away. */
	while (sem_trywait(&trigger.is_out_done) == 0) {
	}
	atomic_store(&trigger.thrower, gettid());
	raise_flag(&trigger.is_out);
}

/* ExceptionThrown comes in the mode in which the runtime cannot collect, and this does not (doc/coreclr.md 19). */
void trigger_searched(void)
{
	pid_t thrower = atomic_load(&trigger.thrower);
	if (!thrower || thrower != gettid())
		return;
	atomic_store(&trigger.thrower, 0);
	(void)await(&trigger.is_out_done, EXIT_MS);
}

void trigger_finish(void)
{
	if (!trigger.is_started || getpid() != trigger.owner)
		return;
	trigger.is_started = false;
	release_signal();
	bool is_last = trigger.settings.when.at_exit;
	if (!is_last)
		atomic_store(&trigger.stop.is_set, true);
	raise_flag(&trigger.ending);
	if (is_last && await(&trigger.ended, EXIT_MS))
		return;
	atomic_store(&trigger.stop.is_set, true);
	(void)await(&trigger.ended, GIVE_UP_MS);
}
