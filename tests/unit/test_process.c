/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/x86_64/register_table.h"
#include "support/assert_more.h"
#include "support/live_child.h"
#include "support/suite.h"
#include "targets/target.h"
#include "util/alloc.h"

#define PAGE ((size_t)4096)

/* The memory of the child: a fork has the addresses of its parent. */
static uint8_t data_bytes[3 * PAGE] = { 1 };
static const char constant_bytes[] = "these bytes stand in the program's own file";
static uint8_t *sparse; /* 16 pages, of which the child writes to the 5th */
static uint8_t *large;  /* LARGE bytes that the child fills */
#define LARGE ((size_t)24 << 20)

static const struct target_options one_byte = { .max_mem = 1 };

static void fill(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < sizeof(data_bytes); i++)
		data_bytes[i] = (uint8_t)(i * 13 + 1);
	memset(sparse + 5 * PAGE, 0x5a, PAGE);
	if (large) {
		for (size_t i = 0; i < LARGE; i += 8)
			memcpy(large + i, &i, sizeof(i));
	}
}

static uint8_t *map(size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return bytes == MAP_FAILED ? NULL : bytes;
}

static uint64_t at(const void *ptr)
{
	return (uintptr_t)ptr;
}

static struct target *open_child(const struct live_child *child, const struct target_options *how)
{
	struct target *target = NULL;
	struct hd_error err = { 0 };
	enum hd_status status = target_open_process(child->pid, how, NULL, &target, &err);
	ASSERT_TEXT(err.message, "");
	ASSERT_UINT(status, HD_OK);
	return target;
}

/* Does the target have the bytes that fill() wrote? */
static void check_bytes(struct target *target)
{
	uint8_t buf[sizeof(data_bytes)];
	CU_ASSERT(memory_read(target->memory, at(data_bytes), buf, sizeof(buf)));
	unsigned int wrong = 0;
	for (size_t i = 0; i < sizeof(buf); i++)
		wrong += buf[i] != (uint8_t)(i * 13 + 1);
	ASSERT_UINT(wrong, 0);
	char text[sizeof(constant_bytes)];
	CU_ASSERT(memory_read(target->memory, at(constant_bytes), text, sizeof(text)));
	ASSERT_TEXT(text, constant_bytes);
	CU_ASSERT(memory_read(target->memory, at(sparse) + 4 * PAGE, buf, 3 * PAGE));
	ASSERT_UINT(buf[0] | buf[PAGE - 1] | buf[2 * PAGE] | buf[3 * PAGE - 1], 0);
	ASSERT_UINT(buf[PAGE], 0x5a);
	ASSERT_UINT(buf[2 * PAGE - 1], 0x5a);
	/* Code, and with it the file's pages. */
	CU_ASSERT(memory_read(target->memory, at((void *)(uintptr_t)fill), buf, 64));
	CU_ASSERT(memcmp(buf, (const void *)(uintptr_t)fill, 64) == 0);
}

TEST(known_bytes_are_copied)
{
	struct live_child child = child_start(0, fill, NULL);
	struct target *target = open_child(&child, NULL);
	REQUIRE(target);
	ASSERT_UINT(target->kind, TARGET_PROCESS);
	ASSERT_UINT((uint64_t)target->pid, (uint64_t)child.pid);
	CU_ASSERT(target->process.stopped_seconds > 0 && target->process.stopped_seconds < 5);
	ASSERT_TEXT(target->name, program_invocation_short_name);
	CU_ASSERT(child_is_running(&child));
	ASSERT_UINT(child_state(child.pid) == 't', false);
	CU_ASSERT(target->auxv.phdr && target->auxv.phnum && target->auxv.entry);
	CU_ASSERT_PTR_NOT_NULL(target_mapping_at(&target->map, at(constant_bytes)));
	ASSERT_UINT(target->findings.count, 0);
	check_bytes(target);
	child_end(&child);
	/* And when there is no process any more. */
	check_bytes(target);
	uint8_t byte;
	CU_ASSERT_FALSE(memory_read(target->memory, 0, &byte, 1));
	CU_ASSERT_FALSE(memory_read(target->memory, UINT64_MAX - 1, &byte, 1));
	target_destroy(target);
}

TEST(runs_are_the_bytes)
{
	struct live_child child = child_start(0, fill, NULL);
	struct target *target = open_child(&child, NULL);
	REQUIRE(target);
	uint64_t size = 0;
	const uint8_t *run = memory_run(target->memory, at(sparse) + 5 * PAGE + 8, &size);
	REQUIRE(run);
	ASSERT_UINT(size, PAGE - 8);
	ASSERT_UINT(run[0], 0x5a);
	CU_ASSERT_PTR_NULL(memory_run(target->memory, at(sparse) + 7 * PAGE, &size));
	run = memory_run(target->memory, at(constant_bytes), &size);
	REQUIRE(run);
	CU_ASSERT(size >= sizeof(constant_bytes));
	CU_ASSERT(memcmp(run, constant_bytes, sizeof(constant_bytes)) == 0);
	ASSERT_UINT(memory_next(target->memory, at(sparse) + 7 * PAGE), at(sparse) + 7 * PAGE);
	CU_ASSERT(memory_next(target->memory, 0) > 0);
	ASSERT_UINT(memory_next(target->memory, UINT64_MAX - 5), UINT64_MAX);
	CU_ASSERT(target->memory->is_parallel);
	target_destroy(target);
	child_end(&child);
}

/* Every readable byte is what /proc/PID/mem says, by the list that /proc/PID/maps gives. */
TEST(every_readable_byte_is_there)
{
	struct live_child child = child_start(2, fill, NULL);
	(void)kill(child.pid, SIGSTOP);
	while (child_state(child.pid) != 'T')
		continue;
	struct target *target = open_child(&child, NULL);
	REQUIRE(target);
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)child.pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	CU_ASSERT(fd >= 0);
	uint8_t expected[PAGE], got[PAGE];
	unsigned int pages = 0, missing = 0, wrong = 0;
	for (size_t i = 0; i < target->map.range_count; i++) {
		const struct target_range *range = &target->map.ranges[i];
		for (uint64_t page = range->start; page < range->end && pages < 40000;
		     page += PAGE) {
			if (pread(fd, expected, PAGE, (off_t)page) != (ssize_t)PAGE)
				continue;
			pages++;
			if (page <= at(child.board) && at(child.board) < page + PAGE)
				continue; /* shared with the test, not copied */
			if (!memory_read(target->memory, page, got, PAGE))
				missing++;
			else if (memcmp(got, expected, PAGE) != 0)
				wrong++;
		}
	}
	CU_ASSERT(pages > 100);
	ASSERT_UINT(missing, 0);
	ASSERT_UINT(wrong, 0);
	(void)close(fd);
	target_destroy(target);
	child_end(&child);
}

TEST(each_thread_has_registers)
{
	struct live_child child = child_start(3, fill, NULL);
	struct target *target = open_child(&child, NULL);
	REQUIRE(target);
	ASSERT_UINT_FATAL(target->threads.count, 4);
	uint64_t stacks[4];
	for (size_t i = 0; i < 4; i++) {
		const struct target_thread *thread = &target->threads.rows[i];
		uint64_t word;
		stacks[i] = thread->registers[REGISTER_RSP];
		CU_ASSERT(memory_u64(target->memory, stacks[i], &word));
		CU_ASSERT(memory_u64(target->memory, thread->registers[REGISTER_RIP], &word));
		CU_ASSERT_PTR_EQUAL(target_thread(target, thread->tid), thread);
		for (size_t j = 0; j < i; j++)
			CU_ASSERT(stacks[i] != stacks[j] &&
				  target->threads.rows[j].tid != thread->tid);
	}
	ASSERT_UINT((uint64_t)target->threads.rows[0].tid, (uint64_t)child.pid);
	target_destroy(target);
	child_end(&child);
}

TEST(too_large_to_copy_stays_stopped)
{
	struct live_child child = child_start(2, fill, NULL);
	struct target *target = open_child(&child, &one_byte);
	REQUIRE(target);
	CU_ASSERT(findings_has(&target->findings, FINDING_HELD));
	CU_ASSERT(child_stands_still(&child));
	ASSERT_UINT((uint64_t)child_state(child.pid), 't');
	check_bytes(target);
	uint8_t byte;
	CU_ASSERT_FALSE(memory_read(target->memory, 0, &byte, 1));
	target_destroy(target);
	CU_ASSERT(child_is_running(&child));
	child_end(&child);
}

TEST(held_process_may_be_killed)
{
	struct live_child child = child_start(0, fill, NULL);
	struct target *target = open_child(&child, &one_byte);
	REQUIRE(target);
	(void)kill(child.pid, SIGKILL);
	while (child_state(child.pid) != 'Z' && child_state(child.pid) != '?')
		continue;
	uint8_t byte;
	/* Pages that were not asked for while it lived are not there. */
	CU_ASSERT_FALSE(memory_read(target->memory, at(sparse) + 5 * PAGE, &byte, 1));
	target_destroy(target);
	child_end(&child);
}

/* Can a killed child be waited for, although others trace it?  Only one that is held for ever takes a minute. */
static bool is_reaped(struct live_child *child)
{
	for (unsigned int i = 0; i < 60000; i++) {
		if (waitpid(child->pid, NULL, WNOHANG) != 0)
			return true;
		(void)usleep(1000);
	}
	return false;
}

/* Whatever those who trace it are at; every second one is held by then. */
TEST(killed_while_it_is_seized)
{
	for (unsigned int i = 0; i < 20; i++) {
		struct live_child child = child_start(24, fill, NULL);
		pid_t tool = fork();
		if (tool == 0) {
			struct target *target = NULL;
			struct hd_error err;
			if (target_open_process(child.pid, &one_byte, NULL, &target, &err) == HD_OK)
				(void)pause();
			_exit(0);
		}
		CU_ASSERT_FATAL(tool > 0);
		while (child_state(child.pid) != 't')
			continue;
		if (i % 2)
			(void)usleep(50000);
		(void)kill(child.pid, SIGKILL);
		CU_ASSERT(is_reaped(&child));
		(void)kill(tool, SIGKILL);
		(void)waitpid(tool, NULL, 0);
		child.pid = -1;
		child_end(&child);
	}
}

static void hold_it(struct child_board *board, void *arg)
{
	struct target *target = NULL;
	struct hd_error err = { 0 };
	if (target_open_process(*(const pid_t *)arg, &one_byte, NULL, &target, &err) != HD_OK)
		(void)snprintf(board->message, sizeof(board->message), "%s", err.message);
	atomic_store(&board->is_ready, true);
	for (;;)
		pause();
}

TEST(killed_tool_leaves_it_running)
{
	struct live_child child = child_start(3, fill, NULL);
	struct live_child tool = child_fork(hold_it, &child.pid);
	ASSERT_TEXT(tool.board->message, "");
	ASSERT_UINT((uint64_t)child_state(child.pid), 't');
	CU_ASSERT(child_stands_still(&child));
	child_end(&tool); /* by SIGKILL */
	CU_ASSERT(child_is_running(&child));
	child_end(&child);
}

TEST(traced_by_another_names_it)
{
	struct live_child child = child_start(0, fill, NULL);
	struct live_child tool = child_fork(hold_it, &child.pid);
	struct target *target = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(target_open_process(child.pid, NULL, NULL, &target, &err), HD_ERR_OS);
	char expected[160];
	(void)snprintf(expected, sizeof(expected),
		       "process %d (%s) is traced by process %d (%s) already: "
		       "detach that first, or load heapdump into it",
		       (int)child.pid, program_invocation_short_name, (int)tool.pid,
		       program_invocation_short_name);
	ASSERT_TEXT(err.message, expected);
	child_end(&tool);
	child_end(&child);
}

/* Kill what is copied, or cancel, once the copy has begun. */
struct killer {
	pid_t pid;
	const struct job *job;
	bool is_cancelled, was_stopped;
};

static bool is_copying(const struct killer *killer)
{
	return killer->job->what && strcmp(killer->job->what, "Copying memory") == 0;
}

static int kill_it(void *arg)
{
	struct killer *killer = arg;
	if (is_copying(killer) && child_state(killer->pid) == 't') {
		(void)kill(killer->pid, SIGKILL);
		while (child_state(killer->pid) != 'Z' && child_state(killer->pid) != '?')
			continue;
	}
	return 0;
}

static int cancel_it(void *arg)
{
	struct killer *killer = arg;
	killer->was_stopped |= child_state(killer->pid) == 't';
	return killer->is_cancelled = killer->is_cancelled || is_copying(killer);
}

TEST(process_that_ends_while_it_is_read)
{
	large = map(LARGE);
	REQUIRE(large);
	struct live_child child = child_start(0, fill, NULL);
	struct killer killer = { .pid = child.pid };
	struct job job = { .cancelled = kill_it, .arg = &killer };
	killer.job = &job;
	struct target *target = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(target_open_process(child.pid, NULL, &job, &target, &err), HD_ERR_OS);
	char expected[64];
	(void)snprintf(expected, sizeof(expected), "process %d ended while it was read",
		       (int)child.pid);
	ASSERT_TEXT(err.message, expected);
	child_end(&child);
	(void)munmap(large, LARGE);
	large = NULL;
}

TEST(cancelled_copy_lets_it_run)
{
	large = map(LARGE);
	REQUIRE(large);
	struct live_child child = child_start(1, fill, NULL);
	struct killer killer = { .pid = child.pid };
	struct job job = { .cancelled = cancel_it, .arg = &killer };
	killer.job = &job;
	struct target *target = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(target_open_process(child.pid, NULL, &job, &target, &err), HD_ERR_CANCELLED);
	CU_ASSERT(killer.was_stopped);
	CU_ASSERT(child_is_running(&child));
	child_end(&child);
	(void)munmap(large, LARGE);
	large = NULL;
}

TEST(several_workers_copy_the_same)
{
	large = map(LARGE);
	REQUIRE(large);
	struct live_child child = child_start(0, fill, NULL);
	struct job job = { .workers = 4 };
	struct target *target = NULL;
	ASSERT_UINT(target_open_process(child.pid, NULL, &job, &target, NULL), HD_OK);
	REQUIRE(target);
	uint64_t size = 0;
	const uint8_t *run = memory_run(target->memory, at(large), &size);
	REQUIRE(run);
	CU_ASSERT(size >= LARGE);
	unsigned int wrong = 0;
	for (size_t i = 0; i < LARGE && i < size; i += 8)
		wrong += load_u64(run + i) != i;
	ASSERT_UINT(wrong, 0);
	target_destroy(target);
	child_end(&child);
	(void)munmap(large, LARGE);
	large = NULL;
}

TEST(huge_empty_mappings_cost_nothing)
{
	size_t size = (size_t)1 << 40;
	uint8_t *huge = map(size);
	if (!huge) {
		puts("skipped: 1 TB cannot be mapped");
		return;
	}
	struct live_child child = child_start(0, fill, NULL);
	struct target_options how = { .max_mem = (uint64_t)1 << 30 };
	struct target *target = NULL;
	if (child_can_be_opened())
		target = open_child(&child, &how);
	if (target) {
		uint8_t byte = 1;
		CU_ASSERT(memory_read(target->memory, at(huge) + size / 2, &byte, 1));
		ASSERT_UINT(byte, 0);
		ASSERT_UINT(target->findings.count, 0);
	}
	target_destroy(target);
	child_end(&child);
	(void)munmap(huge, size);
}

TEST(signals_on_their_way_arrive)
{
	struct live_child child = child_start(2, fill, NULL);
	enum {
		SENT = 200
	};
	for (unsigned int i = 0; i < SENT; i++) {
		CU_ASSERT(sigqueue(child.pid, CHILD_SIGNAL, (union sigval){ 0 }) == 0);
		if (i % 4)
			continue;
		struct target *target = NULL;
		ASSERT_UINT(target_open_process(child.pid, &one_byte, NULL, &target, NULL), HD_OK);
		target_destroy(target);
	}
	CU_ASSERT(child_is_running(&child));
	/* Only a signal that got lost takes a minute. */
	for (unsigned int i = 0; i < 60000 && atomic_load(&child.board->signals) < SENT; i++)
		(void)usleep(1000);
	ASSERT_UINT(atomic_load(&child.board->signals), SENT);
	child_end(&child);
}

static void *count_on(void *arg)
{
	struct child_board *board = arg;
	while (child_state(getpid()) != 'Z')
		continue;
	atomic_store(&board->is_ready, true);
	for (;;) {
		atomic_fetch_add(&board->ticks, 1);
		(void)usleep(100);
	}
	return NULL;
}

static void end_first_thread(struct child_board *board, void *arg)
{
	pthread_t thread;
	fill(arg);
	if (pthread_create(&thread, NULL, count_on, board) != 0)
		abort();
	pthread_exit(NULL);
}

/* The kernel calls such a process a zombie, and shows nothing of it by its first thread. */
TEST(first_thread_may_have_ended)
{
	struct live_child child = child_fork(end_first_thread, NULL);
	for (unsigned int turn = 0; turn < 2; turn++) {
		struct target *target = open_child(&child, turn ? &one_byte : NULL);
		REQUIRE(target);
		ASSERT_UINT_FATAL(target->threads.count, 1);
		CU_ASSERT(target->threads.rows[0].tid != child.pid);
		CU_ASSERT(target->auxv.phdr && target->map.mapping_count && target->module_count);
		check_bytes(target);
		target_destroy(target);
		CU_ASSERT(child_is_running(&child));
	}
	child_end(&child);
}

TEST(stopped_process_stays_stopped)
{
	struct live_child child = child_start(1, fill, NULL);
	(void)kill(child.pid, SIGSTOP);
	while (child_state(child.pid) != 'T')
		continue;
	struct target *target = open_child(&child, NULL);
	REQUIRE(target);
	check_bytes(target);
	target_destroy(target);
	/* On its way from the tracer's stop back to its own it runs for a moment, in the kernel. */
	for (unsigned int i = 0; i < 60000 && child_state(child.pid) != 'T'; i++)
		(void)usleep(1000);
	ASSERT_UINT((uint64_t)child_state(child.pid), 'T');
	CU_ASSERT(child_stands_still(&child));
	(void)kill(child.pid, SIGCONT);
	CU_ASSERT(child_is_running(&child));
	child_end(&child);
}

/* A file that the child has mapped, named like an image, is deleted or replaced. */
TEST(file_that_is_gone)
{
	char path[] = "/tmp/heapdump-test-XXXXXX.dll", again[64];
	int fd = mkstemps(path, 4);
	CU_ASSERT_FATAL(fd >= 0);
	uint8_t page[PAGE];
	memset(page, 0x77, sizeof(page));
	CU_ASSERT(write(fd, page, sizeof(page)) == (ssize_t)sizeof(page));
	CU_ASSERT(write(fd, page, 100) == 100);
	(void)close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *shared = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	uint8_t *private = mmap(NULL, 4 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	(void)close(fd);
	CU_ASSERT_FATAL(shared != MAP_FAILED && private != MAP_FAILED);
	struct live_child child = child_start(0, fill, NULL);
	(void)snprintf(again, sizeof(again), "%s.new", path);
	const struct target_options no_files = { .no_files = true };
	for (unsigned int turn = 0; turn < 4; turn++) {
		if (turn == 2)
			(void)unlink(path);
		if (turn == 3) {
			fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
			memset(page, 0x11, sizeof(page));
			CU_ASSERT(write(fd, page, sizeof(page)) == (ssize_t)sizeof(page));
			(void)close(fd);
		}
		struct target *target = open_child(&child, turn == 1 ? &no_files : NULL);
		REQUIRE(target);
		uint8_t buf[2 * PAGE];
		CU_ASSERT(memory_read(target->memory, at(shared), buf, 2 * PAGE));
		ASSERT_UINT(buf[0], 0x77);
		ASSERT_UINT(buf[PAGE + 99], 0x77);
		ASSERT_UINT(buf[PAGE + 100], 0);
		CU_ASSERT(memory_read(target->memory, at(private), buf, 2 * PAGE));
		ASSERT_UINT(buf[PAGE - 1], 0x77);
		/* After the file's end a read raises SIGBUS: there is nothing. */
		CU_ASSERT_FALSE(memory_read(target->memory, at(private) + 2 * PAGE, buf, 1));
		target_destroy(target);
	}
	child_end(&child);
	(void)unlink(path);
	(void)munmap(shared, 2 * PAGE);
	(void)munmap(private, 4 * PAGE);
}

TEST(memory_may_be_exhausted)
{
	struct live_child child = child_start(2, fill, NULL);
	struct hd_error err;
	uint64_t nth = 1;
	bool failed = true;
	for (; failed && nth < CHILD_FAULTS_MAX; nth += CHILD_FAULT_STEP) {
		struct target *target = NULL;
		err = (struct hd_error){ 0 };
		alloc_fail_at(nth);
		enum hd_status status = target_open_process(child.pid, NULL, NULL, &target, &err);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || (failed && status != HD_ERR_ARGUMENT));
		ASSERT_UINT(err.status, status);
		target_destroy(target);
	}
	CU_ASSERT(nth > 20 && nth < CHILD_FAULTS_MAX);
	CU_ASSERT(child_is_running(&child));
	child_end(&child);
}

static int run(void)
{
	static const struct suite suites[] = { { .name = "process" } };
	if (!child_can_be_opened()) {
		puts("skipped: the sanitizer's shadow takes too long to look at here");
		return 77;
	}
	sparse = map(16 * PAGE);
	return sparse ? suites_run(suites, 1, NULL) : 2;
}

TEST_FILE(run)
