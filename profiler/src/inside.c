/* SPDX-License-Identifier: MIT */
#include "inside.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <heapdump/heapdump.h>

#include "own_thread.h"
#include "runtime.h"
#include "snapshot.h"

#define HEAD            "HEAPDUMP-INSIDE-1"
#define MAGIC           "DOTNET_IPC_V1"
#define HEADER_SIZE     20u
#define AWAIT_MS        10000 /* for the heapdump to connect */
#define GIVE_UP_SECONDS 5
#define DETACH_TRIES    200u
#define DETACH_MS \
	100u /* how long the runtime may wait before it looks whether all callbacks have returned */

enum inside_state {
	INSIDE_NONE,
	INSIDE_PREPARED,
	INSIDE_RUNS
};

/* The one snapshot that is being taken. */
static struct {
	_Atomic enum inside_state state;
	pid_t owner;
	char path[PATH_MAX]; /* of the file */
	struct sockaddr_un address;
	int listener;
	struct stopping stop; /* the program ends, or the heapdump that has sent us has ended */
	sem_t ended;
} inside = { .listener = -1, .stop = { .peer = -1 } };

/* The next string of the data, and what comes after it; NULL: it has no end. */
static const char *take_string(const char **at, const char *end)
{
	const char *string = *at, *zero = memchr(string, '\0', (size_t)(end - string));
	*at = zero ? zero + 1 : end;
	return zero ? string : NULL;
}

/* Is it the name that only this process may listen at? */
static bool is_own_name(const char *path)
{
	char name[64];
	const char *slash = strrchr(path, '/');
	(void)snprintf(name, sizeof(name), "heapdump-inside-%d-socket", (int)getpid());
	return slash && strcmp(slash + 1, name) == 0;
}

/* "HEAPDUMP-INSIDE-1", the file, the socket; each with a NUL. */
static bool parse_data(const char *data, size_t size)
{
	const char *at = data, *end = data + size;
	if (!data || !size)
		return false;
	const char *head = take_string(&at, end), *path = take_string(&at, end),
		   *socket = take_string(&at, end);
	if (!head || !path || !socket || at != end || strcmp(head, HEAD) != 0 || *path != '/' ||
	    strlen(path) >= sizeof(inside.path) || !is_own_name(socket) ||
	    strlen(socket) >= sizeof(inside.address.sun_path))
		return false;
	memcpy(inside.path, path, strlen(path) + 1);
	inside.address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(inside.address.sun_path, socket, strlen(socket));
	return true;
}

/* A socket with our name is left by a process that had our id before. */
static void remove_left(const char *path)
{
	struct stat status;
	if (lstat(path, &status) == 0 && S_ISSOCK(status.st_mode) && status.st_uid == geteuid())
		(void)unlink(path);
}

static bool open_listener(void)
{
	remove_left(inside.address.sun_path);
	inside.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (inside.listener < 0)
		return false;
	/* For the owner (and root) only. */
	if (fchmod(inside.listener, 0600) == 0 &&
	    bind(inside.listener, (const struct sockaddr *)&inside.address,
		 sizeof(inside.address)) == 0 &&
	    listen(inside.listener, 4) == 0)
		return true;
	(void)close(inside.listener);
	inside.listener = -1;
	return false;
}

static void close_listener(void)
{
	if (inside.listener >= 0) {
		(void)close(inside.listener);
		(void)unlink(inside.address.sun_path);
	}
	inside.listener = -1;
}

/*
 * The runtime unloads the library of a profiler that it has detached; but our thread is then just about to end, and
 * still needs it for that.
 */
static bool stay_loaded(void)
{
	static const char here;
	Dl_info own;
	void *handle = dladdr(&here, &own)
			       ? dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE)
			       : NULL;
	if (handle)
		(void)dlclose(handle);
	return handle;
}

hresult inside_prepare(void *unknown, const void *data, size_t size)
{
	enum inside_state none = INSIDE_NONE;
	if (!atomic_compare_exchange_strong(&inside.state, &none, INSIDE_PREPARED))
		return COM_ALREADY_ACTIVE;
	/* It is here to stay, by its settings. */
	if (runtime_is_open()) {
		atomic_store(&inside.state, INSIDE_NONE);
		return COM_CANCEL_ACTIVATION;
	}
	hresult result = COM_OK;
	errno = 0;
	if (!parse_data(data, size)) {
		result = COM_INVALID;
	} else if (!runtime_open(unknown)) {
		result = COM_NOT_SUPPORTED;
	} else if (!stay_loaded() || sem_init(&inside.ended, 0, 0) != 0 || !open_listener()) {
		result = errno == EACCES || errno == EPERM || errno == EROFS ? COM_ACCESS_DENIED
									     : COM_FAIL;
	}
	if (result != COM_OK)
		inside_forget();
	inside.owner = getpid();
	atomic_store(&inside.stop.is_set, false);
	return result;
}

void inside_forget(void)
{
	close_listener();
	runtime_forget();
	atomic_store(&inside.state, INSIDE_NONE);
}

/* Wait for the heapdump to connect: for root, or for this process's user; -1: nobody comes. */
static int await_heapdump(void)
{
	struct pollfd at = { .fd = inside.listener, .events = POLLIN };
	for (int tries = 0; tries < 100 && !atomic_load(&inside.stop.is_set); tries++) {
		struct ucred peer = { .uid = (uid_t)-1 };
		socklen_t size = sizeof(peer);
		if (poll(&at, 1, AWAIT_MS / 100) <= 0)
			continue;
		int fd = accept4(inside.listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
		    (peer.uid == 0 || peer.uid == geteuid()))
			return fd;
		(void)close(fd);
	}
	return -1;
}

/* Take the question, whatever it is: a socket that is closed before it has come breaks off the answer, too. */
static bool take_question(int fd)
{
	const struct timeval limit = { .tv_sec = AWAIT_MS / 1000 };
	uint8_t question[HEADER_SIZE];
	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 &&
	       recv(fd, question, sizeof(question), MSG_WAITALL) == (ssize_t)sizeof(question);
}

static void answer_heapdump(int fd, bool is_good, const void *payload, size_t size)
{
	uint8_t message[HEADER_SIZE + 4 + sizeof(((struct hd_error *)0)->message)] = MAGIC;
	const uint32_t failed = (uint32_t)COM_FAIL;
	size_t at = HEADER_SIZE;
	if (!is_good) {
		memcpy(message + at, &failed, sizeof(failed));
		at += sizeof(failed);
	}
	size = size < sizeof(message) - at ? size : sizeof(message) - at;
	memcpy(message + at, payload, size);
	at += size;
	message[14] = (uint8_t)at;
	message[15] = (uint8_t)(at >> 8);
	message[16] = 0xff;
	message[17] = is_good ? 0 : 0xff;
	for (size_t sent = 0; sent < at;) {
		ssize_t step = send(fd, message + sent, at - sent, MSG_NOSIGNAL);
		if (step < 0 && errno == EINTR)
			continue;
		if (step <= 0)
			return;
		sent += (size_t)step;
	}
}

static void take_inside(int fd)
{
	struct hd_snapshot_state state = { .struct_size = sizeof(state) };
	struct hd_error err = { 0 };
	struct stat status = { 0 };
	static const struct settings plain;
	inside.stop.peer = fd;
	int exit = snapshot_take_by_callbacks(&plain, WAY_EVENTS, inside.path, &inside.stop, &state,
					      &err);
	inside.stop.peer = -1;
	if (exit != HD_EXIT_OK && exit != HD_EXIT_FINDINGS) {
		answer_heapdump(fd, false, err.message, strlen(err.message));
		return;
	}
	(void)stat(inside.path, &status);
	const uint64_t told[] = { exit == HD_EXIT_OK, state.objects, state.references, state.roots,
				  (uint64_t)status.st_size };
	answer_heapdump(fd, true, told, sizeof(told));
}

static void *run_inside(void *arg)
{
	(void)arg;
	(void)prctl(PR_SET_NAME, "heapdump");
	int fd = await_heapdump();
	if (fd >= 0) {
		if (take_question(fd))
			take_inside(fd);
		(void)close(fd);
	}
	close_listener();
	/* The program's end finds nothing to wait for any more. */
	(void)sem_post(&inside.ended);
	/* It is refused while the runtime starts. */
	for (unsigned i = 0; i < DETACH_TRIES && !atomic_load(&inside.stop.is_set) &&
			     runtime_detach(DETACH_MS) != COM_OK;
	     i++)
		(void)poll(NULL, 0, DETACH_MS);
	return NULL;
}

void inside_begin(void)
{
	enum inside_state prepared = INSIDE_PREPARED;
	if (!atomic_compare_exchange_strong(&inside.state, &prepared, INSIDE_RUNS))
		return;
	if (own_thread_start(run_inside, NULL) == 0)
		return;
	/* The heapdump finds that nobody listens. */
	close_listener();
	(void)sem_post(&inside.ended);
	(void)runtime_detach(DETACH_MS);
}

void inside_finish(void)
{
	struct timespec end;
	if (atomic_load(&inside.state) != INSIDE_RUNS || getpid() != inside.owner ||
	    clock_gettime(CLOCK_MONOTONIC, &end) != 0)
		return;
	atomic_store(&inside.stop.is_set, true);
	end.tv_sec += GIVE_UP_SECONDS;
	while (sem_clockwait(&inside.ended, CLOCK_MONOTONIC, &end) != 0 && errno == EINTR) {
	}
}
