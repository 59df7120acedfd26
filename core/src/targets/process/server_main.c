/* SPDX-License-Identifier: MIT */
/*
 * The server: a forked process that does what code that parses hostile bytes must not do.  It is
 * forked from a program that may have threads, so only functions that are safe in a signal handler
 * are called here and in server_reader.c, stopper.c and what they use of proc.c: nothing allocates
 * memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "targets/process/server_protocol.h"
#include "targets/process/stopper.h"

/* How often to check for the end of a reader, every 0.1 ms. */
#define AWAIT_TURNS 1000u
/* The highest priority of ordinary processes. */
#define NICE_WHILE_STOPPED (-20)
/* A longer time is for ever. */
#define PATIENCE_MAX_MS UINT64_C(1000000000)

struct server {
	struct server_setup *setup;
	struct stopper stopper;
	int readers[SERVER_READERS_MAX]; /* 0 = none */
	int signals;                     /* readable when a child has changed */
	int nice;                        /* its own priority, while the process runs */
};

_Noreturn void server_exit(void)
{
	for (;;)
		(void)syscall(SYS_exit_group, 0);
}

static void close_from(int first)
{
	if (syscall(SYS_close_range, (unsigned int)first, ~0u, 0) == 0)
		return;
	struct rlimit limit;
	int last = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536
			   ? (int)limit.rlim_cur
			   : 65536;
	for (int fd = first; fd < last; fd++)
		(void)close(fd);
}

/* Move what is needed of the descriptors to the lowest numbers, and close all others. */
static void keep_descriptors(struct server_setup *setup)
{
	int *kept[SERVER_READERS_MAX + 2];
	int count = 0;
	kept[count++] = &setup->control;
	for (unsigned int i = 0; i < SERVER_READERS_MAX; i++)
		kept[count++] = &setup->channels[i];
	if (setup->mem_fd >= 0)
		kept[count++] = &setup->mem_fd;
	/*
	 * First move them above all these places, so that none is overwritten before it is moved.
	 */
	for (int i = 0; i < count; i++)
		*kept[i] = fcntl(*kept[i], F_DUPFD_CLOEXEC, count);
	for (int i = 0; i < count; i++) {
		if (*kept[i] < 0 || dup3(*kept[i], i, O_CLOEXEC) < 0)
			server_exit();
		*kept[i] = i;
	}
	close_from(count);
}

/* Wait for a reader that was killed, except for one that waits in the kernel: that is left alone. */
static void await_reader(int pid)
{
	struct timespec nap = { .tv_nsec = 100000 };
	for (unsigned int turn = 0; turn < AWAIT_TURNS; turn++) {
		int ended = waitpid(pid, NULL, __WALL | WNOHANG);
		if (ended == pid || (ended < 0 && errno != EINTR))
			return;
		(void)nanosleep(&nap, NULL);
	}
}

static void end_reader(struct server *server, unsigned int index)
{
	int pid = server->readers[index];
	if (!pid)
		return;
	(void)kill(pid, SIGKILL);
	await_reader(pid);
	server->readers[index] = 0;
}

static void end_readers(struct server *server)
{
	/* All at once, so that none waits for another. */
	for (unsigned int i = 0; i < SERVER_READERS_MAX; i++) {
		if (server->readers[i])
			(void)kill(server->readers[i], SIGKILL);
	}
	for (unsigned int i = 0; i < SERVER_READERS_MAX; i++)
		end_reader(server, i);
}

static int start_reader(struct server *server, unsigned int index)
{
	if (index >= SERVER_READERS_MAX)
		return EINVAL;
	end_reader(server, index);
	long pid = syscall(SYS_clone, (unsigned long)SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid < 0)
		return errno;
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(server->signals);
		(void)close(server->setup->control);
		server_reader(server->setup, index);
	}
	server->readers[index] = (int)pid;
	return 0;
}

/*
 * While the process is stopped to be copied its helpers get the processor first, where the user may decide that
 * (CAP_SYS_NICE).
 */
static void set_priority(const struct server *server, int nice)
{
	(void)setpriority(PRIO_PROCESS, 0, nice);
	for (unsigned int i = 0; i < SERVER_READERS_MAX; i++) {
		if (server->readers[i])
			(void)setpriority(PRIO_PROCESS, (id_t)server->readers[i], nice);
	}
}

static double release_process(struct server *server)
{
	double seconds = stopper_release(&server->stopper);
	set_priority(server, server->nice);
	return seconds;
}

static void stop_process(struct server *server, uint64_t limit_ms, struct server_reply *reply)
{
	size_t count = 0;
	if (server->stopper.held_count) {
		reply->error = EBUSY;
		return;
	}
	set_priority(server, NICE_WHILE_STOPPED);
	server->stopper.limit =
		(double)(limit_ms < PATIENCE_MAX_MS ? limit_ms : PATIENCE_MAX_MS) / 1e3;
	reply->stop_failure = stopper_stop(&server->stopper, server->setup->threads, &count);
	reply->end = (uint64_t)(server->stopper.until * 1e9);
	reply->error = server->stopper.error;
	reply->tid = server->stopper.tid;
	reply->size = reply->stop_failure == STOP_TOO_SLOW ? server->stopper.held_count : count;
}

static void answer_request(struct server *server, const struct server_request *request)
{
	struct server_reply reply = { .sequence = request->sequence };
	switch (request->kind) {
	case REQUEST_STOP:
		stop_process(server, request->size, &reply);
		break;
	case REQUEST_HOLD:
		server->stopper.until = (double)INFINITY;
		set_priority(server, server->nice);
		break;
	case REQUEST_RESUME:
		reply.size = (uint64_t)(release_process(server) * 1e9);
		break;
	case REQUEST_READER:
		reply.error = start_reader(server, request->number);
		break;
	default:
		reply.error = EINVAL;
	}
	while (send(server->setup->control, &reply, sizeof(reply), MSG_NOSIGNAL) < 0 &&
	       errno == EINTR)
		continue;
}

/* How long to wait for a request, in milliseconds; -1: for ever. */
static int patience_of(const struct server *server)
{
	double left = stopper_left(&server->stopper) * 1e3;
	return left > (double)PATIENCE_MAX_MS ? -1 : (int)left + (left > 0);
}

/*
 * Until the client has gone, or a process could not be stopped, or was stopped for as long as it may be.  The last does
 * not depend on the client, which may get no time of the processor.
 */
static void serve_client(struct server *server)
{
	struct pollfd ready[] = {
		{ .fd = server->setup->control, .events = POLLIN },
		{ .fd = server->signals, .events = POLLIN },
	};
	struct server_request request;
	struct signalfd_siginfo info;
	bool is_done = false;
	while (!is_done) {
		ready[0].revents = ready[1].revents = 0;
		(void)poll(ready, 2, patience_of(server));
		if (ready[1].revents) {
			/* It says only that there is something to ask for. */
			while (read(server->signals, &info, sizeof(info)) > 0)
				continue;
			stopper_reap(&server->stopper);
		}
		ssize_t got = recv(server->setup->control, &request, sizeof(request), MSG_DONTWAIT);
		is_done = stopper_left(&server->stopper) <= 0;
		if (is_done)
			break;
		if (got == (ssize_t)sizeof(request)) {
			answer_request(server, &request);
		} else if (got >= 0 || (errno != EAGAIN && errno != EINTR)) {
			is_done = true;
		}
		/* Only the server's end releases a thread that has not stopped. */
		is_done |= server->stopper.waiting > 0;
	}
}

_Noreturn void server_main(struct server_setup *setup)
{
	struct server server = { .setup = setup, .signals = -1 };
	const struct rlimit no_core = { 0 };
	sigset_t child;
	keep_descriptors(setup);
	(void)prctl(PR_SET_NAME, SERVER_NAME);
	server.nice = getpriority(PRIO_PROCESS, 0);
	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	/* Ignored signals are not reported either. */
	const struct sigaction normal = { .sa_handler = SIG_DFL };
	(void)sigaction(SIGCHLD, &normal, NULL);
	server.signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	server.stopper = (struct stopper){ .pid = setup->pid,
					   .control = setup->control,
					   .room = setup->room };
	if (server.signals >= 0 && start_reader(&server, 0) == 0)
		serve_client(&server);
	/*
	 * Threads that have stopped meanwhile are let go here; the end of this process lets the
	 * others go, at once.
	 */
	stopper_reap(&server.stopper);
	(void)stopper_release(&server.stopper);
	end_readers(&server);
	server_exit();
}
