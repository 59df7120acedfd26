/* SPDX-License-Identifier: MIT */
#include "collect/other_traces.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "targets/process/proc.h"
#include "util/opening.h"

#define TURN_POLL_MS 50u
#define UNKNOWN_MS   1000u /* how long a name counts whose owner has not been seen */

/* Whose is a name that is taken? */
enum owner {
	OWNER_UNKNOWN,
	OWNER_RIGHTFUL, /* of one who is allowed to collect from the process */
	OWNER_FOREIGN,
};

static bool pause_for(uint64_t ms, struct job *job)
{
	const struct timespec pause = { .tv_nsec = (long)ms * 1000000 };
	(void)nanosleep(&pause, NULL);
	return job_step(job, 0, 0);
}

/* An abstract socket: its name is not in a folder, and disappears when its owner ends. */
static void name_turn(int pid, char *buf, size_t size)
{
	(void)snprintf(buf, size, "@heapdump-collect-%d", pid);
}

/* Whose is the name?  Not known: the queue of the one who listens is full, or nobody listens. */
static enum owner owner_of(const struct endpoint *endpoint, const char *name)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t peer_size = sizeof(peer);
	int fd = open_as(HD_OPEN_CONNECT, name);
	bool known = fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) == 0;
	bool is_busy = !known && (errno == EAGAIN || errno == ECONNREFUSED);
	if (fd >= 0)
		(void)close(fd);
	if (is_busy)
		return OWNER_UNKNOWN;
	return peer.uid == 0 || peer.uid == geteuid() || peer.uid == endpoint->uid ? OWNER_RIGHTFUL
										   : OWNER_FOREIGN;
}

/*
 * Must we wait for the owner of the name?  Anybody may take it: one who does not listen, or lets the queue become full,
 * could keep all others waiting, so that we wait for long only for one who has been seen.
 */
static bool is_turn_of_another(const struct endpoint *endpoint, const char *name, uint64_t began,
			       bool *was_seen)
{
	const enum owner owner = owner_of(endpoint, name);
	*was_seen = *was_seen || owner == OWNER_RIGHTFUL;
	return owner != OWNER_FOREIGN && (*was_seen || collect_now_ms() - began < UNKNOWN_MS);
}

enum hd_status others_exclude(const struct endpoint *endpoint, const struct patience *patience,
			      void (*wait)(void *arg), void *arg, int *ret, struct hd_error *err)
{
	char name[40];
	const uint64_t began = collect_now_ms();
	bool was_seen = false;
	int fd = -1;
	name_turn(endpoint->pid, name, sizeof(name));
	*ret = -1;
	while (endpoint->pid && (fd = open_as(HD_OPEN_LISTEN, name)) < 0) {
		if (errno != EADDRINUSE || !is_turn_of_another(endpoint, name, began, &was_seen))
			return HD_OK;
		if (wait)
			wait(arg);
		wait = NULL;
		if (!pause_for(TURN_POLL_MS, patience->job))
			return fail_cancelled(err);
		if (collect_now_ms() >= patience->deadline) {
			errno = 0;
			return fail(err, HD_ERR_OS, 0,
				    "another heapdump still collects from process %d: try again "
				    "when it has ended",
				    endpoint->pid);
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
	DIR *tasks = open_system_folder(path);
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
		if (*ret || collect_now_ms() >= patience->deadline)
			return HD_OK;
		if (!pause_for(TURN_POLL_MS, patience->job))
			return fail_cancelled(err);
	}
}
