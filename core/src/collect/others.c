/* SPDX-License-Identifier: MIT */
#include "collect/others.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "target/proc.h"

#define POLL_MS 50u

static bool pause_for(uint64_t ms, struct job *job)
{
	const struct timespec pause = { .tv_nsec = (long)ms * 1000000 };
	(void)nanosleep(&pause, NULL);
	return job_step(job, 0, 0);
}

/* A name in no folder, that goes with its owner. */
static socklen_t address_of(int pid, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	int size =
		snprintf(ret->sun_path + 1, sizeof(ret->sun_path) - 1, "heapdump-collect-%d", pid);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size);
}

static int new_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* Is who holds the name someone who may collect from the process? */
static bool is_rightful(const struct endpoint *endpoint, const struct sockaddr_un *address,
			socklen_t size)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t peer_size = sizeof(peer);
	int fd = new_socket();
	bool known = fd >= 0 && connect(fd, (const struct sockaddr *)address, size) == 0 &&
		     getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) == 0;
	/* Its queue is full, or it has just gone. */
	bool is_busy = !known && (errno == EAGAIN || errno == ECONNREFUSED);
	if (fd >= 0)
		(void)close(fd);
	return is_busy || peer.uid == 0 || peer.uid == geteuid() || peer.uid == endpoint->uid;
}

enum hd_status others_exclude(const struct endpoint *endpoint, const struct patience *patience,
			      void (*wait)(void *arg), void *arg, int *ret, struct hd_error *err)
{
	struct sockaddr_un address;
	socklen_t size = address_of(endpoint->pid, &address);
	int fd = endpoint->pid ? new_socket() : -1;
	*ret = -1;
	while (fd >= 0 &&
	       (bind(fd, (const struct sockaddr *)&address, size) != 0 || listen(fd, 64) != 0)) {
		int code = errno;
		if (code != EADDRINUSE || !is_rightful(endpoint, &address, size)) {
			(void)close(fd);
			return HD_OK;
		}
		if (wait)
			wait(arg);
		wait = NULL;
		enum hd_status status = HD_OK;
		if (!pause_for(POLL_MS, patience->job)) {
			status = fail_cancelled(err);
		} else if (now_ms() >= patience->deadline) {
			errno = 0;
			status = fail(err, HD_ERR_OS, 0,
				      "another heapdump still collects from process %d: try again "
				      "when it has ended",
				      endpoint->pid);
		}
		if (status != HD_OK) {
			(void)close(fd);
			return status;
		}
	}
	*ret = fd;
	return HD_OK;
}

/* The runtime names the thread of each of them ".NET EventPipe", and the one of its socket. */
unsigned int others_count(int pid)
{
	char path[64];
	unsigned int count = 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *tasks = opendir(path);
	const struct dirent *entry;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): a stream of our own */
	while (tasks && (entry = readdir(tasks))) {
		struct text text = { 0 };
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "task/%.20s/comm", entry->d_name);
		if (proc_read_file(pid, path, &text) && text.bytes)
			count += strncmp(text.bytes, ".NET EventPipe", 14) == 0;
		text_deinit(&text);
	}
	if (tasks)
		(void)closedir(tasks);
	return count ? count - 1 : 0;
}

enum hd_status others_await_end(int pid, const struct patience *patience, bool *ret,
				struct hd_error *err)
{
	for (;;) {
		*ret = !pid || !others_count(pid);
		if (*ret || now_ms() >= patience->deadline)
			return HD_OK;
		if (!pause_for(POLL_MS, patience->job))
			return fail_cancelled(err);
	}
}
