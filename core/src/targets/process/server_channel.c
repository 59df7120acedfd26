/* SPDX-License-Identifier: MIT */
#include "targets/process/server_channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "targets/process/proc.h"
#include "targets/process/stopper.h"
#include "util/broker_set.h"

/* How often to check whether to give up. */
#define CHANNEL_LOOK_MS 50
/* How long the server may take to end. */
#define END_MS 2000u

#define WINDOWS_SIZE (SERVER_READERS_MAX * sizeof(struct server_window))
#define THREADS_SIZE (SERVER_THREADS_MAX * sizeof(struct target_thread))

static uint64_t channel_now_ns(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t channel_now_ms(void)
{
	return channel_now_ns() / 1000000;
}

static void close_channel_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void server_disconnect(struct process_server *server)
{
	close_channel_fd(&server->control.fd);
	for (unsigned int i = 0; i < SERVER_READERS_MAX; i++)
		close_channel_fd(&server->channels[i].fd);
	uint64_t end = channel_now_ms() + END_MS;
	struct timespec nap = { .tv_nsec = 20000 };
	/* A debugger may have waited for any child, and got it. */
	while (server->server > 0 && channel_now_ms() < end) {
		int ended = waitpid(server->server, NULL, __WALL | WNOHANG);
		if (ended > 0 || (ended < 0 && errno != EINTR))
			break;
		(void)nanosleep(&nap, NULL);
		nap.tv_nsec += nap.tv_nsec < 2000000 ? nap.tv_nsec / 2 : 0;
	}
	server->server = 0;
	if (server->windows)
		(void)munmap(server->windows, WINDOWS_SIZE);
	if (server->threads)
		(void)munmap(server->threads, THREADS_SIZE);
	server->windows = NULL;
	server->threads = NULL;
}

enum hd_status server_end_with(struct process_server *server, const struct hd_error *failure,
			       struct hd_error *err)
{
	(void)pthread_mutex_lock(&server->lock);
	if (!server->has_failed) {
		server->failure = *failure;
		atomic_store(&server->has_failed, true);
		/* Other threads may still wait for their readers: those see the end of the file. */
		(void)shutdown(server->control.fd, SHUT_RDWR);
	}
	if (err)
		*err = server->failure;
	enum hd_status status = (enum hd_status)server->failure.status;
	(void)pthread_mutex_unlock(&server->lock);
	return status;
}

enum hd_status server_broken(struct process_server *server, struct hd_error *err)
{
	struct hd_error failure;
	if (server->until_ns && channel_now_ns() >= server->until_ns) {
		errno = ETIMEDOUT;
		(void)fail(
			&failure, HD_ERR_OS, 0,
			"process %d was let go after %g s, when not all of it was copied: the machine is "
			"busy, or its memory is large or swapped; try again later, or allow more (max-stop)",
			server->pid, server->limit_ms / 1e3);
	} else {
		errno = EPIPE;
		(void)fail(&failure, HD_ERR_OS, 0,
			   "the helper that looked at process %d ended before its time",
			   server->pid);
	}
	return server_end_with(server, &failure, err);
}

enum hd_status server_send(struct process_server *server, struct channel *channel,
			   struct server_request *request, struct hd_error *err)
{
	TRY(process_server_check(server, err));
	request->sequence = ++channel->asked;
	request->epoch = server->epoch;
	ssize_t sent;
	do {
		sent = send(channel->fd, request, sizeof(*request), MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)sizeof(*request) ? HD_OK : server_broken(server, err);
}

/* Receive one message; @return as recvmsg().  *@p fd gets the descriptor that came with it, or -1. */
static ssize_t receive_reply(const struct channel *channel, struct server_reply *reply, int *fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .bytes = { 0 } };
	struct iovec vector = { reply, sizeof(*reply) };
	struct msghdr message = { .msg_iov = &vector,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	*fd = -1;
	ssize_t got = recvmsg(channel->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(head), sizeof(int));
	return got;
}

enum hd_status server_await(struct process_server *server, struct channel *channel,
			    uint64_t patience_ms, struct server_reply *reply, int *ret_fd,
			    struct hd_error *err)
{
	uint64_t begin = channel_now_ms();
	uint32_t expected = channel->answered + 1;
	for (;;) {
		int fd;
		ssize_t got = receive_reply(channel, reply, &fd);
		if (got == (ssize_t)sizeof(*reply) && reply->sequence == expected) {
			channel->answered = expected;
			if (ret_fd) {
				*ret_fd = fd;
			} else {
				close_channel_fd(&fd);
			}
			return HD_OK;
		}
		close_channel_fd(&fd);
		if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
			return server_broken(server, err);
		if (got > 0)
			continue; /* those of a reader that was given up */
		struct pollfd ready = { .fd = channel->fd, .events = POLLIN };
		if (poll(&ready, 1, CHANNEL_LOOK_MS) > 0)
			continue;
		if (!job_step(server->job, channel->worker, 0))
			return fail_cancelled(err);
		TRY(process_server_check(server, err));
		if (patience_ms != NO_DEADLINE && channel_now_ms() - begin >= patience_ms)
			return HD_ERR_NOTFOUND;
	}
}

enum hd_status server_ask(struct process_server *server, struct server_request *request,
			  struct server_reply *reply, struct hd_error *err)
{
	TRY(server_send(server, &server->control, request, err));
	/* Replies that came too late for an earlier request are skipped. */
	server->control.answered = server->control.asked - 1;
	return server_await(server, &server->control, NO_DEADLINE, reply, NULL, err);
}

enum hd_status server_restart_reader(struct process_server *server, struct channel *channel,
				     struct hd_error *err)
{
	struct server_reply reply;
	unsigned int index = (unsigned int)(channel - server->channels);
	(void)pthread_mutex_lock(&server->lock);
	/* Replies that it has not sent yet are no longer expected. */
	channel->answered = channel->asked;
	bool failed = server->has_failed;
	struct server_request request = { .kind = REQUEST_READER, .number = index };
	request.sequence = ++server->control.asked;
	failed = failed || send(server->control.fd, &request, sizeof(request), MSG_NOSIGNAL) < 0;
	enum hd_status status = HD_OK;
	if (!failed) {
		struct pollfd ready = { .fd = server->control.fd, .events = POLLIN };
		int fd;
		failed = poll(&ready, 1, (int)END_MS) <= 0 ||
			 receive_reply(&server->control, &reply, &fd) != (ssize_t)sizeof(reply) ||
			 reply.error;
		server->control.answered = server->control.asked;
	}
	(void)pthread_mutex_unlock(&server->lock);
	if (failed)
		status = server_broken(server, err);
	return status;
}

/*
 * Fork so that the host program does not notice: it gets no signal when the child ends, and cannot
 * wait for it by accident.
 */
static int fork_server(struct server_setup *setup)
{
	sigset_t all, old;
	(void)sigfillset(&all);
	/* Signals of the terminal are not for it; it gets no signals at all. */
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	long pid = syscall(SYS_clone, 0ul, NULL, NULL, NULL, NULL);
	int code = errno;
	if (pid == 0)
		server_main(setup);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = code;
	return (int)pid;
}

/* Map the first @p size bytes that @p fd, shared memory, has; NULL and errno. */
static void *map_shared(int fd, size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	return bytes == MAP_FAILED ? NULL : bytes;
}

/* New shared memory, all zeros; -1 and errno. */
static int make_shared(size_t size)
{
	int fd = memfd_create("heapdump", MFD_CLOEXEC), result = -1;
	do {
		result = fd < 0 ? 0 : ftruncate(fd, (off_t)size);
	} while (result != 0 && errno == EINTR);
	if (result != 0) {
		int code = errno;
		(void)close(fd);
		errno = code;
		return -1;
	}
	return fd;
}

/* Our end and the server's. */
static bool make_channel(int *ours, int *other)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return false;
	*ours = pair[0];
	*other = pair[1];
	return true;
}

/* Make what both sides share; false and errno. */
static bool prepare_setup(struct server_setup *setup, int *ends)
{
	char path[64];
	ends[END_WINDOWS] = make_shared(WINDOWS_SIZE);
	ends[END_THREADS] = make_shared(THREADS_SIZE);
	if (ends[END_WINDOWS] < 0 || ends[END_THREADS] < 0)
		return false;
	struct server_window *windows = map_shared(ends[END_WINDOWS], WINDOWS_SIZE);
	setup->windows[0] = windows;
	setup->threads = map_shared(ends[END_THREADS], THREADS_SIZE);
	/* Only the server writes to it: here it stays empty. */
	void *room = mmap(NULL, sizeof(*setup->room), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	setup->room = room == MAP_FAILED ? NULL : room;
	bool is_made = windows && setup->threads && setup->room &&
		       make_channel(&ends[END_CONTROL], &setup->control);
	for (unsigned int i = 0; i < SERVER_READERS_MAX && is_made; i++) {
		setup->windows[i] = &windows[i];
		is_made = make_channel(&ends[END_CHANNELS + i], &setup->channels[i]);
	}
	int tid = proc_live_task(setup->pid);
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", tid ? tid : setup->pid);
	/* Opened here: the process that traces may open it, but its child may not. */
	if (is_made)
		setup->mem_fd = open(path, O_RDONLY | O_CLOEXEC);
	return is_made;
}

int server_fork(int pid, int *ret)
{
	struct server_setup setup = { .pid = pid, .control = -1, .mem_fd = -1 };
	int ends[END_COUNT];
	for (unsigned int i = 0; i < END_COUNT; i++)
		ends[i] = -1;
	for (unsigned int i = 0; i < SERVER_READERS_MAX; i++)
		setup.channels[i] = -1;
	int server = prepare_setup(&setup, ends) ? fork_server(&setup) : -1;
	int code = errno;
	close_channel_fd(&setup.control);
	close_channel_fd(&setup.mem_fd);
	for (unsigned int i = 0; i < SERVER_READERS_MAX; i++)
		close_channel_fd(&setup.channels[i]);
	if (setup.windows[0])
		(void)munmap(setup.windows[0], WINDOWS_SIZE);
	if (setup.threads)
		(void)munmap(setup.threads, THREADS_SIZE);
	if (setup.room)
		(void)munmap(setup.room, sizeof(*setup.room));
	for (unsigned int i = 0; i < END_COUNT && server < 0; i++)
		close_channel_fd(&ends[i]);
	if (server >= 0)
		memcpy(ret, ends, sizeof(ends));
	errno = code;
	return server;
}

_Static_assert(HD_ATTACH_FDS == END_COUNT, "what a broker hands over are the ends of a server");

/* By the broker, if this process has one. */
static int find_ends(struct process_server *server, int *ends)
{
	const struct hd_broker *broker = broker_current();
	if (broker)
		return broker->attach(broker->arg, server->pid, ends);
	server->server = server_fork(server->pid, ends);
	return server->server < 0 ? -1 : 0;
}

enum hd_status server_connect(struct process_server *server, struct hd_error *err)
{
	int ends[END_COUNT];
	server->control.fd = -1;
	for (unsigned int i = 0; i < SERVER_READERS_MAX; i++)
		server->channels[i].fd = -1;
	if (find_ends(server, ends) != 0) {
		server->server = 0;
		return fail(err, HD_ERR_OS, 0, "cannot start a helper process: %s",
			    strerrordesc_np(errno));
	}
	server->control.fd = ends[END_CONTROL];
	for (unsigned int i = 0; i < SERVER_READERS_MAX; i++) {
		server->channels[i].worker = i;
		server->channels[i].fd = ends[END_CHANNELS + i];
	}
	server->windows = map_shared(ends[END_WINDOWS], WINDOWS_SIZE);
	server->threads = map_shared(ends[END_THREADS], THREADS_SIZE);
	close_channel_fd(&ends[END_WINDOWS]);
	close_channel_fd(&ends[END_THREADS]);
	return server->windows && server->threads ? HD_OK : fail_nomem(err);
}
