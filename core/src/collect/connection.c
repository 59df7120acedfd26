/* SPDX-License-Identifier: MIT */
#include "collect/connection.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "targets/process/proc.h"
#include "util/alloc.h"
#include "util/opening.h"

#define WATCH_LOOK_MS 250u  /* between two looks */
#define STOPPED_MS    1000u /* a debugger may stop it for a moment */
#define WORK_TICKS    5u    /* processor time that counts as work; timers take less */

struct watch watch_of(int pid, uint64_t now)
{
	struct watch watch = { .pid = pid, .began = now, .last_work = now };
	struct process_stat stat;
	if (pid && process_stat_read(pid, &stat))
		watch.cpu_time = stat.cpu_time;
	return watch;
}

/* Does one of its threads run, or wait for a processor?  Other programs may use all of them. */
static bool wants_processor(int pid)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *tasks = open_system_folder(path);
	bool wants = false;
	const struct dirent *entry;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): a stream of our own */
	while (tasks && !wants && (entry = readdir(tasks))) {
		struct text text = { 0 };
		struct process_stat stat;
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "task/%.20s/stat", entry->d_name);
		wants = proc_read_file(pid, path, &text) && text.bytes &&
			process_stat_parse(text.bytes, &stat) &&
			(stat.state == 'R' || stat.state == 'D');
		text_deinit(&text);
	}
	if (tasks)
		(void)closedir(tasks);
	return wants;
}

void watch_look(struct watch *watch, uint64_t now)
{
	struct process_stat stat;
	if (now < watch->next_look || !watch->pid || !process_stat_read(watch->pid, &stat))
		return;
	watch->next_look = now + WATCH_LOOK_MS;
	if (stat.state != 'T' && stat.state != 't') {
		watch->stopped_since = 0;
	} else if (!watch->stopped_since) {
		watch->stopped_since = now;
	}
	watch->is_stopped = watch->stopped_since && now >= watch->stopped_since + STOPPED_MS;
	if (stat.cpu_time >= watch->cpu_time + WORK_TICKS || wants_processor(watch->pid)) {
		watch->last_work = now;
		watch->cpu_time = stat.cpu_time;
	}
}

uint64_t watch_idle(const struct watch *watch, uint64_t now)
{
	return watch->pid && now > watch->last_work ? now - watch->last_work : 0;
}

/* Milliseconds between two checks whether the job was stopped. */
#define CONNECTION_POLL_MS 100u
/* Time from the end of a process's sockets to its own end. */
#define DYING_MS 300u

uint64_t collect_now_ms(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void who(const struct endpoint *endpoint, char *buf, size_t size)
{
	if (endpoint->pid) {
		(void)snprintf(buf, size, "process %d", endpoint->pid);
	} else {
		(void)snprintf(buf, size, "the process that connected");
	}
}

static enum hd_status too_late(const struct endpoint *endpoint, struct hd_error *err)
{
	char name[40];
	who(endpoint, name, sizeof(name));
	errno = 0;
	if (endpoint->pid && process_is_stopped(endpoint->pid)) {
		return fail(err, HD_ERR_OS, 0,
			    "%s was stopped before it answered at its diagnostics socket: let it "
			    "continue, or read its memory (heapdump PID export FILE)",
			    name);
	}
	return fail(err, HD_ERR_OS, 0,
		    "%s does not answer at its diagnostics socket: try again with a longer "
		    "-timeout, or read its memory (heapdump PID export FILE)",
		    name);
}

/* Wait until @p fd is ready for @p events; HD_ERR_OS without a message when the time is over. */
static enum hd_status wait_for(int fd, short events, const struct patience *patience,
			       struct hd_error *err)
{
	for (;;) {
		uint64_t now = collect_now_ms();
		if (patience->watch)
			watch_look(patience->watch, now);
		if (now >= patience->deadline || (patience->watch && patience->watch->is_stopped))
			return HD_ERR_OS;
		uint64_t left = patience->deadline - now;
		struct pollfd at = { .fd = fd, .events = events };
		int ready =
			poll(&at, 1, (int)(left < CONNECTION_POLL_MS ? left : CONNECTION_POLL_MS));
		TRY(job_check(patience->job, 0, err));
		if (ready > 0)
			return HD_OK;
	}
}

static enum hd_status wait_or_fail(const struct endpoint *endpoint, int fd, short events,
				   const struct patience *patience, struct hd_error *err)
{
	enum hd_status status = wait_for(fd, events, patience, err);
	return status == HD_ERR_OS ? too_late(endpoint, err) : status;
}

struct endpoint endpoint_of(const struct dotnet_process *process)
{
	return (struct endpoint){ .pid = process->pid,
				  .socket = process->socket,
				  .uid = process->uid,
				  .listener = -1,
				  .waiting = -1 };
}

/* Are there no resources left for a connection?  Waiting does not help then. */
static bool code_means_used_up(int code)
{
	return code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM;
}

static enum hd_status used_up(const struct endpoint *endpoint, int code, struct hd_error *err)
{
	char name[40];
	who(endpoint, name, sizeof(name));
	errno = code;
	return fail(err, HD_ERR_OS, 0, "no further connection to %s can be made: %s%s", name,
		    strerrordesc_np(code),
		    code == EMFILE ? ": raise the limit of this program (ulimit -n)" : "");
}

static enum hd_status cannot_connect(struct endpoint *endpoint, int code, struct hd_error *err)
{
	if (code_means_used_up(code))
		return used_up(endpoint, code, err);
	errno = code;
	if (code == EACCES || code == EPERM) {
		return fail(err, HD_ERR_OS, 0,
			    "process %d belongs to user %u: run this as that user or as root",
			    endpoint->pid, (unsigned int)endpoint->uid);
	}
	if (process_has_ended(endpoint->pid, code == ECONNREFUSED ? DYING_MS : 0)) {
		errno = code;
		return fail(err, HD_ERR_OS, 0, "process %d has ended", endpoint->pid);
	}
	if (code == EREMCHG) {
		endpoint->is_planted = true;
		errno = EPERM;
		return fail(err, HD_ERR_OS, 0,
			    "another process listens at %s, and not process %d: it is not asked",
			    endpoint->socket, endpoint->pid);
	}
	errno = code;
	return fail(err, HD_ERR_OS, 0, "process %d cannot be reached at %s: %s", endpoint->pid,
		    endpoint->socket, strerrordesc_np(code));
}

/*
 * Does the right process answer, or another one in its place?  The kernel tells which process
 * listens, with its id in our namespace; 0: we cannot see that process.
 */
static enum hd_status check_peer(struct endpoint *endpoint, int fd, struct hd_error *err)
{
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
		return cannot_connect(endpoint, errno, err);
	if (peer.pid == endpoint->pid && (peer.uid == endpoint->uid || peer.uid == 0))
		return HD_OK;
	endpoint->is_planted = true;
	errno = EPERM;
	if (peer.pid != endpoint->pid) {
		return fail(
			err, HD_ERR_OS, 0,
			"process %d of user %u listens at %s, and not process %d: it is not asked",
			peer.pid, (unsigned int)peer.uid, endpoint->socket, endpoint->pid);
	}
	return fail(err, HD_ERR_OS, 0,
		    "%s belongs to user %u and not to user %u, as process %d does: it is not asked",
		    endpoint->socket, (unsigned int)peer.uid, (unsigned int)endpoint->uid,
		    endpoint->pid);
}

static enum hd_status connect_to(struct endpoint *endpoint, const struct patience *patience,
				 int *ret, struct hd_error *err)
{
	int fd = -1;
	enum hd_status status = HD_OK;
	while (status == HD_OK && (fd = open_as(HD_OPEN_CONNECT, endpoint->socket)) < 0) {
		if (errno != EAGAIN && errno != EINTR) {
			status = cannot_connect(endpoint, errno, err);
		} else if (collect_now_ms() >= patience->deadline) {
			status = too_late(endpoint, err);
		} else {
			/* Too many others wait for a connection, or a signal came. */
			(void)poll(NULL, 0, 10);
			status = job_step(patience->job, 0, 0) ? HD_OK : fail_cancelled(err);
		}
	}
	TRY(status);
	status = check_peer(endpoint, fd, err);
	if (status != HD_OK) {
		(void)close(fd);
		return status;
	}
	*ret = fd;
	return HD_OK;
}

static enum hd_status hung_up(const struct endpoint *endpoint, struct hd_error *err)
{
	char name[40];
	who(endpoint, name, sizeof(name));
	bool is_gone = endpoint->pid && process_has_ended(endpoint->pid, DYING_MS);
	errno = ECONNRESET;
	return fail(err, HD_ERR_OS, 0, is_gone ? "%s has ended" : "%s hung up: try again", name);
}

static enum hd_status connection_send_all(const struct endpoint *endpoint, int fd,
					  const struct text *message,
					  const struct patience *patience, struct hd_error *err)
{
	for (size_t at = 0; at < message->size;) {
		ssize_t sent = send(fd, message->bytes + at, message->size - at, MSG_NOSIGNAL);
		if (sent > 0) {
			at += (size_t)sent;
		} else if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
			TRY(wait_or_fail(endpoint, fd, POLLOUT, patience, err));
		} else {
			return hung_up(endpoint, err);
		}
	}
	return HD_OK;
}

static enum hd_status connection_receive_all(const struct endpoint *endpoint, int fd,
					     uint8_t *bytes, size_t size,
					     const struct patience *patience, struct hd_error *err)
{
	while (size) {
		ssize_t got = recv(fd, bytes, size, 0);
		if (got > 0) {
			bytes += got;
			size -= (size_t)got;
		} else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
			TRY(wait_or_fail(endpoint, fd, POLLIN, patience, err));
		} else {
			return hung_up(endpoint, err);
		}
	}
	return HD_OK;
}

/* Does the connection come from our runtime?  That is the runtime of the first connection. */
static bool is_ours(struct endpoint *endpoint, int fd, const uint8_t *bytes)
{
	struct ipc_advertise advertise;
	if (!ipc_parse_advertise(bytes, &advertise))
		return false;
	if (endpoint->has_cookie)
		return memcmp(endpoint->cookie, advertise.cookie, sizeof(endpoint->cookie)) == 0;
	endpoint->has_cookie = true;
	memcpy(endpoint->cookie, advertise.cookie, sizeof(endpoint->cookie));
	struct ucred peer;
	socklen_t size = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) {
		endpoint->pid = peer.pid;
		endpoint->uid = peer.uid;
	}
	return true;
}

/*
 * Wait for our runtime to connect; HD_ERR_OS without a message, and *@p ret_late, when the time is
 * over.
 */
static enum hd_status accept_from(struct endpoint *endpoint, const struct patience *patience,
				  int *ret, bool *ret_late, struct hd_error *err)
{
	*ret_late = false;
	for (;;) {
		int fd = accept4(endpoint->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0 && code_means_used_up(errno))
			return used_up(endpoint, errno, err);
		if (fd < 0) {
			enum hd_status status = wait_for(endpoint->listener, POLLIN, patience, err);
			*ret_late = status == HD_ERR_OS;
			TRY(status);
			continue;
		}
		uint8_t bytes[IPC_ADVERTISE_SIZE];
		struct hd_error unused;
		enum hd_status status = connection_receive_all(endpoint, fd, bytes, sizeof(bytes),
							       patience, &unused);
		if (status == HD_OK && is_ours(endpoint, fd, bytes)) {
			*ret = fd;
			return HD_OK;
		}
		(void)close(fd);
		if (status == HD_ERR_CANCELLED)
			return fail_cancelled(err);
	}
}

static enum hd_status cannot_listen(const char *path, int code, struct hd_error *err)
{
	errno = code;
	return fail(err, HD_ERR_OS, 0, "%s: cannot listen there: %s", path,
		    code == EADDRINUSE ? "something is there already: choose another path"
				       : strerrordesc_np(code));
}

enum hd_status endpoint_listen(const char *path, const struct patience *patience,
			       struct endpoint *ret, struct hd_error *err)
{
	struct endpoint endpoint = { .listener = -1, .waiting = -1 };
	endpoint.path = mem_strndup(path, strlen(path));
	TRY_MEMORY(endpoint.path, err);
	endpoint.listener = open_as(HD_OPEN_LISTEN, path);
	if (endpoint.listener < 0) {
		int code = errno;
		mem_free(endpoint.path);
		return cannot_listen(path, code, err);
	}
	bool is_late;
	enum hd_status status = accept_from(&endpoint, patience, &endpoint.waiting, &is_late, err);
	if (is_late) {
		errno = ETIMEDOUT;
		(void)fail(err, HD_ERR_OS, 0,
			   "no runtime has connected to %s: start the program with "
			   "DOTNET_DiagnosticPorts=%s,nosuspend, or wait longer (-timeout)",
			   path, path);
	}
	if (status != HD_OK) {
		endpoint_deinit(&endpoint);
		return status;
	}
	*ret = endpoint;
	return HD_OK;
}

void endpoint_deinit(struct endpoint *endpoint)
{
	if (endpoint->waiting >= 0)
		(void)close(endpoint->waiting);
	if (endpoint->listener >= 0)
		(void)close(endpoint->listener);
	if (endpoint->path)
		close_listener(endpoint->path);
	mem_free(endpoint->path);
	*endpoint = (struct endpoint){ .listener = -1, .waiting = -1 };
}

enum hd_status connection_send(struct endpoint *endpoint, const struct text *message,
			       const struct patience *patience, int *ret, struct hd_error *err)
{
	int fd = endpoint->waiting;
	endpoint->waiting = -1;
	if (message->failed)
		return fail_nomem(err);
	if (endpoint->socket) {
		TRY(connect_to(endpoint, patience, &fd, err));
	} else if (fd < 0) {
		bool is_late;
		enum hd_status status = accept_from(endpoint, patience, &fd, &is_late, err);
		if (is_late)
			return too_late(endpoint, err);
		TRY(status);
	}
	enum hd_status status = connection_send_all(endpoint, fd, message, patience, err);
	if (status != HD_OK) {
		(void)close(fd);
		return status;
	}
	*ret = fd;
	return HD_OK;
}

enum hd_status connection_reply(const struct endpoint *endpoint, int fd,
				const struct patience *patience, struct text *ret,
				uint32_t *ret_code, struct hd_error *err)
{
	uint8_t head[IPC_HEADER_SIZE];
	size_t size = 0;
	bool is_error = false;
	char name[40];
	*ret_code = 0;
	TRY(connection_receive_all(endpoint, fd, head, sizeof(head), patience, err));
	struct hd_error reason = { 0 };
	if (ipc_parse_reply(head, &size, &is_error, &reason) != HD_OK) {
		who(endpoint, name, sizeof(name));
		return fail(err, HD_ERR_FORMAT, 0, "%s sent %s: is something else at its socket?",
			    name, reason.message);
	}
	size -= sizeof(head);
	size_t before = ret->size;
	for (uint8_t bytes[512]; size;) {
		size_t step = size < sizeof(bytes) ? size : sizeof(bytes);
		TRY(connection_receive_all(endpoint, fd, bytes, step, patience, err));
		text_append(ret, (const char *)bytes, step);
		size -= step;
	}
	if (ret->failed)
		return fail_nomem(err);
	if (is_error) {
		memcpy(ret_code, ret->bytes + before, sizeof(*ret_code));
		if (!*ret_code)
			*ret_code = UINT32_MAX;
	}
	return HD_OK;
}

enum hd_status connection_call(struct endpoint *endpoint, const struct text *message,
			       const struct patience *patience, struct text *ret,
			       uint32_t *ret_code, struct hd_error *err)
{
	int fd;
	TRY(connection_send(endpoint, message, patience, &fd, err));
	enum hd_status status = connection_reply(endpoint, fd, patience, ret, ret_code, err);
	(void)close(fd);
	return status;
}

void endpoint_version(struct endpoint *endpoint, unsigned int ms, struct job *job, struct text *ret)
{
	const struct patience patience = { .job = job, .deadline = collect_now_ms() + ms };
	HD_CLEANUP(text) struct text message = { 0 }, reply = { 0 };
	uint32_t code;
	struct hd_error unused;
	ipc_message(&message, IPC_PROCESS_INFO_2, NULL, 0);
	if (connection_call(endpoint, &message, &patience, &reply, &code, &unused) == HD_OK &&
	    !code && reply.size) {
		size_t before = ret->size;
		if (!ipc_parse_runtime_version((const uint8_t *)reply.bytes, reply.size, ret) &&
		    ret->bytes)
			ret->bytes[ret->size = before] = '\0';
	}
}
