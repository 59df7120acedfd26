/* SPDX-License-Identifier: MIT */
/* Memory and files that never answer, and requests that nobody should send. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/assert_more.h"
#include "support/live_child.h"
#include "support/suite.h"
#include "targets/process/server_channel.h"
#include "targets/process/stopper.h"

#define PAGE  ((size_t)4096)
#define PAGES 8u
/* The page that nobody serves: those before it are there. */
#define SILENT 5u

/*
 * PAGES of a shared file that has no name any more, which the child hands over to userfaultfd: the file
 * itself cannot be read, and its old name makes it an image, which is copied.
 */
static uint8_t *shared;
static uint8_t other_bytes[PAGE] = { 7 };

static double seconds_now(void)
{
	struct timespec time;
	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* In the child; on failure it has pages of zeros. */
static void serve_nothing(void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < SILENT; i++)
		shared[i * PAGE] = (uint8_t)(i + 1);
	long fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register all = {
		.range = { (uintptr_t)shared, PAGES * PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	if (fd >= 0 && (ioctl((int)fd, UFFDIO_API, &api) || ioctl((int)fd, UFFDIO_REGISTER, &all)))
		abort();
}

/* A child whose memory does not answer; false: this machine does not allow that. */
static bool start_silent(struct live_child *child)
{
	long fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0) {
		puts("skipped: userfaultfd is not allowed here");
		return false;
	}
	(void)close((int)fd);
	*child = child_start(1, serve_nothing, NULL);
	return true;
}

static uint64_t silent_page(void)
{
	return (uintptr_t)shared + SILENT * PAGE;
}

static struct process_server *impatient(const struct live_child *child)
{
	struct process_server *server = NULL;
	ASSERT_UINT(process_server_create(child->pid, &server, NULL), HD_OK);
	if (server)
		process_server_set_patience(server, 2000);
	return server;
}

/* Says that the page did not answer, and the process runs. */
static void check_given_up(const struct live_child *child, const struct hd_error *err)
{
	char expected[128];
	(void)snprintf(expected, sizeof(expected),
		       "the memory at 0x%llx of process %d did not answer within 2 s",
		       (unsigned long long)silent_page(), (int)child->pid);
	ASSERT_UINT(err->status, HD_ERR_OS);
	if (!strstr(err->message, expected))
		ASSERT_TEXT(err->message, expected);
	CU_ASSERT(child_is_running(child));
}

TEST(memory_that_does_not_answer_is_given_up)
{
	struct live_child child;
	if (!start_silent(&child))
		return;
	for (unsigned int workers = 1; workers < 4; workers += 2) {
		struct job job = { .workers = workers };
		struct target_options how = { .server = impatient(&child) };
		struct target *target = NULL;
		struct hd_error err = { 0 };
		REQUIRE(how.server);
		ASSERT_UINT(target_open_process(child.pid, &how, &job, &target, &err), HD_ERR_OS);
		check_given_up(&child, &err);
		/* And it stays so, at once. */
		uint8_t byte;
		ASSERT_UINT(process_server_read(how.server, (uintptr_t)other_bytes, &byte, 1), 0);
		ASSERT_UINT(process_server_check(how.server, &err), HD_ERR_OS);
		process_server_release(how.server);
	}
	child_end(&child);
}

TEST(held_process_that_does_not_answer_is_let_go)
{
	struct live_child child;
	if (!start_silent(&child))
		return;
	struct target_options how = { .max_mem = 1, .server = impatient(&child) };
	struct target *target = NULL;
	struct hd_error err = { 0 };
	REQUIRE(how.server);
	ASSERT_UINT(target_open_process(child.pid, &how, NULL, &target, NULL), HD_OK);
	REQUIRE(target);
	CU_ASSERT(child_stands_still(&child));
	uint8_t byte = 0;
	CU_ASSERT(memory_read(target->memory, (uintptr_t)shared, &byte, 1));
	ASSERT_UINT(byte, 1);
	CU_ASSERT(memory_read(target->memory, (uintptr_t)other_bytes, &byte, 1));
	ASSERT_UINT(target_check(target, &err), HD_OK);
	CU_ASSERT_FALSE(memory_read(target->memory, silent_page(), &byte, 1));
	ASSERT_UINT(target_check(target, &err), HD_ERR_OS);
	check_given_up(&child, &err);
	target_destroy(target);
	process_server_release(how.server);
	child_end(&child);
}

static int after_a_while(void *arg)
{
	return seconds_now() > *(const double *)arg;
}

TEST(silence_can_be_interrupted)
{
	struct live_child child;
	if (!start_silent(&child))
		return;
	double end = seconds_now() + 0.3;
	struct job job = { .cancelled = after_a_while, .arg = &end };
	struct target *target = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(target_open_process(child.pid, NULL, &job, &target, &err), HD_ERR_CANCELLED);
	CU_ASSERT(child_is_running(&child));
	child_end(&child);
}

/* The host of a debugger waits for any child: it gets none of ours. */
TEST(helpers_are_no_children_to_wait_for)
{
	struct live_child child = child_start(0, NULL, NULL);
	struct process_server *server = impatient(&child);
	REQUIRE(server);
	uint8_t byte = 0;
	ASSERT_UINT(process_server_read(server, (uintptr_t)other_bytes, &byte, 1), 1);
	ASSERT_UINT(byte, 7);
	ASSERT_UINT((uint64_t)waitpid(-1, NULL, WNOHANG), 0);
	process_server_release(server);
	ASSERT_UINT((uint64_t)waitpid(-1, NULL, WNOHANG), 0);
	child_end(&child);
	CU_ASSERT(waitpid(-1, NULL, __WALL | WNOHANG) == -1 && errno == ECHILD);
}

/* A file whose opening waits for our leave. */
struct gate {
	char path[64];
	int fd, events;
	uint8_t *bytes;
};

static bool gate_make(struct gate *gate)
{
	*gate = (struct gate){ .path = "/tmp/heapdump-test-XXXXXX", .fd = -1 };
	gate->fd = mkstemp(gate->path);
	CU_ASSERT_FATAL(gate->fd >= 0 && ftruncate(gate->fd, 3 * PAGE) == 0);
	gate->bytes = mmap(NULL, 3 * PAGE, PROT_READ, MAP_PRIVATE, gate->fd, 0);
	CU_ASSERT_FATAL(gate->bytes != MAP_FAILED);
	gate->events = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK, O_RDONLY);
	if (gate->events >= 0 &&
	    fanotify_mark(gate->events, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, gate->path) == 0)
		return true;
	puts("skipped: fanotify is not allowed here");
	return false;
}

static void gate_remove(struct gate *gate)
{
	if (gate->events >= 0)
		(void)close(gate->events);
	(void)munmap(gate->bytes, 3 * PAGE);
	(void)close(gate->fd);
	(void)unlink(gate->path);
}

struct watcher {
	struct gate *gate;
	pid_t pid;
	unsigned int opened, stopped;
};

/* Called again and again while the opening waits. */
static int look_and_allow(void *arg)
{
	struct watcher *watcher = arg;
	struct fanotify_event_metadata event;
	while (read(watcher->gate->events, &event, sizeof(event)) == (ssize_t)sizeof(event)) {
		struct fanotify_response allow = { event.fd, FAN_ALLOW };
		watcher->opened++;
		watcher->stopped += child_state(watcher->pid) == 't';
		(void)!write(watcher->gate->events, &allow, sizeof(allow));
		(void)close(event.fd);
	}
	return 0;
}

/* Whoever is not allowed to raise a priority keeps the one that he has. */
static int highest_priority(void)
{
	int status = 0;
	pid_t pid = fork();
	if (pid == 0)
		_exit(setpriority(PRIO_PROCESS, 0, -20) == 0);
	CU_ASSERT_FATAL(waitpid(pid, &status, 0) == pid);
	return WEXITSTATUS(status) ? -20 : getpriority(PRIO_PROCESS, 0);
}

TEST(helpers_come_first_while_it_is_copied)
{
	struct live_child child = child_start(0, NULL, NULL);
	struct process_server *server = NULL;
	const struct target_thread *threads;
	size_t count = 0;
	int normal = getpriority(PRIO_PROCESS, 0);
	ASSERT_UINT(process_server_create(child.pid, &server, NULL), HD_OK);
	REQUIRE(server);
	id_t helper = (id_t)server->server;
	for (unsigned int turn = 0; turn < 2; turn++) {
		ASSERT_UINT(process_server_stop(server, &threads, &count, NULL), HD_OK);
		CU_ASSERT(getpriority(PRIO_PROCESS, helper) == highest_priority());
		/* It may be held for hours: others need the processor, too. */
		if (turn)
			ASSERT_UINT(process_server_hold(server, NULL), HD_OK);
		CU_ASSERT(!turn || getpriority(PRIO_PROCESS, helper) == normal);
		ASSERT_UINT(process_server_resume(server, NULL, NULL), HD_OK);
		CU_ASSERT(getpriority(PRIO_PROCESS, helper) == normal);
	}
	process_server_release(server);
	child_end(&child);
}

TEST(files_are_opened_while_it_runs)
{
	struct gate gate;
	if (gate_make(&gate)) {
		struct live_child child = child_start(0, NULL, NULL);
		struct watcher watcher = { .gate = &gate, .pid = child.pid };
		struct job job = { .cancelled = look_and_allow, .arg = &watcher };
		struct target *target = NULL;
		ASSERT_UINT(target_open_process(child.pid, NULL, &job, &target, NULL), HD_OK);
		ASSERT_UINT(watcher.opened, 1);
		ASSERT_UINT(watcher.stopped, 0);
		target_destroy(target);
		child_end(&child);
	}
	gate_remove(&gate);
}

TEST(file_that_does_not_open_is_copied)
{
	struct gate gate;
	if (gate_make(&gate)) {
		struct live_child child = child_start(0, NULL, NULL);
		struct target_options how = { .server = impatient(&child) };
		struct target *target = NULL;
		struct hd_error err = { 0 };
		uint8_t byte = 1;
		REQUIRE(how.server);
		ASSERT_UINT(target_open_process(child.pid, &how, NULL, &target, &err), HD_OK);
		ASSERT_TEXT(err.message, "");
		REQUIRE(target);
		CU_ASSERT(memory_read(target->memory, (uintptr_t)gate.bytes, &byte, 1));
		ASSERT_UINT(byte, 0);
		CU_ASSERT(child_is_running(&child));
		target_destroy(target);
		process_server_release(how.server);
		child_end(&child);
	}
	gate_remove(&gate);
}

/* Talk to a server and its first reader directly, as code would that was taken over. */
struct raw {
	struct server_setup setup;
	struct server_window *windows;
	int control, reader;
	pid_t pid;
};

static int make_pair(int *other)
{
	int pair[2];
	CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	*other = pair[1];
	return pair[0];
}

static void *share(size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CU_ASSERT_FATAL(bytes != MAP_FAILED);
	return bytes;
}

static void raw_start(struct raw *raw, pid_t pid)
{
	raw->setup = (struct server_setup){ .pid = pid, .mem_fd = -1 };
	raw->windows = share(SERVER_READERS_MAX * sizeof(*raw->windows));
	raw->setup.threads = share(SERVER_THREADS_MAX * sizeof(struct target_thread));
	raw->setup.room = share(sizeof(*raw->setup.room));
	raw->control = make_pair(&raw->setup.control);
	for (unsigned int i = 0; i < SERVER_READERS_MAX; i++) {
		int end = make_pair(&raw->setup.channels[i]);
		raw->setup.windows[i] = &raw->windows[i];
		if (i)
			(void)close(end);
		else
			raw->reader = end;
	}
	raw->pid = fork();
	if (raw->pid == 0)
		server_main(&raw->setup);
	(void)close(raw->setup.control);
	for (unsigned int i = 0; i < SERVER_READERS_MAX; i++)
		(void)close(raw->setup.channels[i]);
}

static void raw_end(struct raw *raw)
{
	int status = -1;
	(void)close(raw->control);
	(void)close(raw->reader);
	CU_ASSERT(waitpid(raw->pid, &status, 0) == raw->pid);
	ASSERT_UINT((uint64_t)status, 0);
	(void)munmap(raw->windows, SERVER_READERS_MAX * sizeof(*raw->windows));
	(void)munmap(raw->setup.threads, SERVER_THREADS_MAX * sizeof(struct target_thread));
	(void)munmap(raw->setup.room, sizeof(*raw->setup.room));
}

static struct server_reply raw_ask(int fd, struct server_request request)
{
	struct server_reply reply = { .error = -1 };
	request.sequence = 77;
	CU_ASSERT(send(fd, &request, sizeof(request), MSG_NOSIGNAL) == (ssize_t)sizeof(request));
	CU_ASSERT(recv(fd, &reply, sizeof(reply), 0) == (ssize_t)sizeof(reply));
	ASSERT_UINT(reply.sequence, 77);
	return reply;
}

TEST(nonsense_is_refused)
{
	struct live_child child = child_start(0, NULL, NULL);
	struct raw raw;
	raw_start(&raw, child.pid);
	struct server_range *ranges = raw.windows[0].halves[0].ranges;
	const struct server_request refused[] = {
		{ .kind = 99 },
		{ .kind = REQUEST_STOP },
		{ .kind = REQUEST_READ, .number = SERVER_RANGES + 1 },
		{ .kind = REQUEST_READ, .number = UINT32_MAX },
		{ .kind = REQUEST_READ, .number = 1, .half = 2 },
		{ .kind = REQUEST_READ, .number = 1, .half = UINT32_MAX },
		{ .kind = REQUEST_READ, .number = 2 },
		{ .kind = REQUEST_FILE, .number = SERVER_FILE_COUNT },
		{ .kind = REQUEST_FILE, .number = UINT32_MAX },
		{ .kind = REQUEST_FILE, .address = UINT64_MAX },
		{ .kind = REQUEST_PAGES, .address = 1, .size = 1 },
		{ .kind = REQUEST_PAGES, .address = PAGE, .size = UINT64_MAX - PAGE + 1 },
	};
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		ranges[0] = (struct server_range){ (uintptr_t)other_bytes, SERVER_BYTES };
		ranges[1] = (struct server_range){ (uintptr_t)other_bytes, UINT64_MAX };
		ASSERT_UINT((uint64_t)raw_ask(raw.reader, refused[i]).error, EINVAL);
	}
	/* No file but those that are mapped. */
	struct server_request open_it = { .kind = REQUEST_OPEN, .address = 0x1234000 };
	ASSERT_UINT((uint64_t)raw_ask(raw.reader, open_it).error, ENOENT);
	struct server_request start = { .kind = REQUEST_READER, .number = SERVER_READERS_MAX };
	ASSERT_UINT((uint64_t)raw_ask(raw.control, start).error, EINVAL);
	start.kind = REQUEST_READ;
	ASSERT_UINT((uint64_t)raw_ask(raw.control, start).error, EINVAL);
	struct server_request stop = { .kind = REQUEST_STOP, .size = UINT64_MAX };
	ASSERT_UINT((uint64_t)raw_ask(raw.control, stop).error, 0);
	CU_ASSERT(child_stands_still(&child));
	ASSERT_UINT((uint64_t)raw_ask(raw.control, stop).error, EBUSY);
	/* A message of another size is no request: that ends it. */
	(void)send(raw.control, &stop, 3, MSG_NOSIGNAL);
	CU_ASSERT(child_is_running(&child));
	raw_end(&raw);
	child_end(&child);
}

/* Start a copy of /bin/sleep, called @p path, and wait until it runs. */
static pid_t start_copy(const char *path)
{
	char buf[4096], link[64] = "", name[64];
	int from = open("/bin/sleep", O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	ssize_t size;
	CU_ASSERT_FATAL(from >= 0 && to >= 0 && fchmod(to, 0700) == 0);
	while ((size = read(from, buf, sizeof(buf))) > 0)
		CU_ASSERT_FATAL(write(to, buf, (size_t)size) == size);
	(void)close(from);
	(void)close(to);
	pid_t pid = fork();
	if (pid == 0) {
		(void)execl(path, "sleep", "1000", (char *)NULL);
		_exit(1);
	}
	(void)snprintf(name, sizeof(name), "/proc/%d/exe", pid);
	for (unsigned int turn = 0; turn < 10000 && strcmp(link, path) != 0; turn++) {
		size = readlink(name, link, sizeof(link) - 1);
		link[size > 0 ? size : 0] = '\0';
		(void)usleep(1000);
	}
	ASSERT_TEXT(link, path);
	return pid;
}

/* The first mapping of the executable of a process. */
static uint64_t first_of(pid_t pid, const char *path)
{
	char name[64], line[512];
	unsigned long long start = 0;
	(void)snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	/* /proc/PID/exe names a program before the kernel has mapped it. */
	for (unsigned int tries = 0; tries < 10000 && !start; tries++) {
		FILE *maps = fopen(name, "re");
		while (maps && !start && fgets(line, sizeof(line), maps)) {
			if (strstr(line, path))
				start = strtoull(line, NULL, 16);
		}
		if (maps)
			(void)fclose(maps);
		(void)usleep(1000);
	}
	return start;
}

TEST(an_executable_that_was_deleted_or_replaced_is_opened)
{
	char path[] = "/tmp/heapdump-exe-XXXXXX";
	(void)close(mkstemp(path));
	pid_t pid = start_copy(path);
	const uint64_t start = first_of(pid, path);
	CU_ASSERT(start != 0);
	for (unsigned int turn = 0; turn < 2; turn++) {
		struct process_server *server = NULL;
		uint8_t head[4] = { 0 };
		int fd = -1;
		(void)unlink(path);
		if (turn) {
			int other = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
			CU_ASSERT(write(other, "MZ..", 4) == 4);
			(void)close(other);
		}
		ASSERT_UINT(process_server_create(pid, &server, NULL), HD_OK);
		REQUIRE(server);
		ASSERT_UINT(process_server_open(server, start, &fd, NULL), HD_OK);
		CU_ASSERT(fd >= 0 && read(fd, head, sizeof(head)) == 4);
		CU_ASSERT(memcmp(head, "\177ELF", 4) == 0);
		if (fd >= 0)
			(void)close(fd);
		process_server_release(server);
	}
	(void)unlink(path);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

static int run(void)
{
	static const struct suite suites[] = { { .name = "process_server" } };
	if (!child_can_be_opened()) {
		puts("skipped: the sanitizer's shadow takes too long to look at here");
		return 77;
	}
	char path[] = "/dev/shm/heapdump-test-XXXXXX.dll";
	int fd = mkstemps(path, 4);
	if (fd < 0 || unlink(path) != 0 || ftruncate(fd, PAGES * PAGE) != 0)
		return 2;
	shared = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return shared != MAP_FAILED ? suites_run(suites, 1, NULL) : 2;
}

TEST_FILE(run)
