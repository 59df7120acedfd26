/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mem/mapped_file.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/job.h"

#define PAGE ((size_t)4096)

static char folder[] = "/tmp/heapdump-mapped-XXXXXX";
static char path[128];

static int make_folder(void)
{
	if (!mkdtemp(folder))
		return 1;
	(void)snprintf(path, sizeof(path), "%s/file", folder);
	return 0;
}

static int remove_folder(void)
{
	(void)unlink(path);
	return rmdir(folder);
}

static void fill(size_t size)
{
	FILE *file = fopen(path, "wbe");
	REQUIRE(file);
	for (size_t i = 0; i < size; i++)
		(void)fputc('a' + (int)(i / PAGE), file);
	CU_ASSERT_FATAL(fclose(file) == 0);
}

TEST(a_file_is_mapped_whole)
{
	struct mapped_file file = { .fd = -1 };
	fill(PAGE * 2 + 10);
	CU_ASSERT_FATAL(mapped_file_open(path, &file, NULL) == HD_OK);
	ASSERT_UINT(file.size, PAGE * 2 + 10);
	ASSERT_UINT(file.bytes[0], 'a');
	ASSERT_UINT(file.bytes[PAGE * 2 + 9], 'c');
	/* It is the file, not its name. */
	CU_ASSERT(unlink(path) == 0);
	ASSERT_UINT(file.bytes[PAGE], 'b');
	mapped_file_close(&file);
	CU_ASSERT(file.fd == -1 && !file.bytes);
	mapped_file_close(&file);
}

TEST(an_empty_file_has_no_bytes)
{
	struct mapped_file file = { .fd = -1 };
	fill(0);
	CU_ASSERT_FATAL(mapped_file_open(path, &file, NULL) == HD_OK);
	ASSERT_UINT(file.size, 0);
	CU_ASSERT_PTR_NULL(file.bytes);
	mapped_file_close(&file);
}

static void assert_refused(const char *name)
{
	struct mapped_file file = { .fd = 77 };
	struct hd_error err = { 0 };
	ASSERT_UINT(mapped_file_open(name, &file, &err), HD_ERR_OS);
	CU_ASSERT(strstr(err.message, name) != NULL);
	CU_ASSERT(err.os_errno != 0);
	CU_ASSERT(file.fd == 77);
}

TEST(what_is_no_regular_file_is_refused)
{
	char fifo[160];
	assert_refused(folder);
	assert_refused("/dev/zero");
	assert_refused("/no/such/file");
	(void)snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	CU_ASSERT_FATAL(mkfifo(fifo, 0600) == 0);
	assert_refused(fifo); /* and is not waited for */
	CU_ASSERT(unlink(fifo) == 0);
}

TEST(a_file_that_shrinks_reads_as_zeros)
{
	struct mapped_file file = { .fd = -1 };
	struct sigaction before, after;
	fill(PAGE * 8);
	CU_ASSERT_FATAL(mapped_file_open(path, &file, NULL) == HD_OK);
	CU_ASSERT(sigaction(SIGBUS, NULL, &before) == 0);
	mapped_files_guard_begin();
	CU_ASSERT(!mapped_files_shrunk());
	CU_ASSERT_FATAL(truncate(path, PAGE * 3) == 0);
	const volatile uint8_t *bytes = file.bytes;
	ASSERT_UINT(bytes[PAGE * 2], 'c');
	ASSERT_UINT(bytes[PAGE * 5 + 7], 0);
	ASSERT_UINT(bytes[PAGE * 7], 0);
	ASSERT_UINT(bytes[PAGE * 3], 0);
	ASSERT_UINT(bytes[PAGE * 2], 'c');
	CU_ASSERT(mapped_files_shrunk());
	mapped_files_guard_end();
	CU_ASSERT(sigaction(SIGBUS, NULL, &after) == 0);
	CU_ASSERT(after.sa_handler == before.sa_handler);
	/* The zeros stay, and so does the knowledge of them. */
	mapped_files_guard_begin();
	CU_ASSERT(mapped_files_shrunk());
	mapped_file_close(&file);
	mapped_files_guard_end();
	mapped_files_guard_begin();
	CU_ASSERT(!mapped_files_shrunk());
	mapped_files_guard_end();
}

static void read_on_a_worker(void *arg, unsigned int index)
{
	const volatile uint8_t *bytes = arg;
	if (index == 1)
		ASSERT_UINT(bytes[PAGE * 5], 0);
}

TEST(workers_may_be_the_first_to_meet_it)
{
	struct mapped_file file = { .fd = -1 };
	fill(PAGE * 8);
	CU_ASSERT_FATAL(mapped_file_open(path, &file, NULL) == HD_OK);
	mapped_files_guard_begin();
	CU_ASSERT_FATAL(truncate(path, PAGE * 3) == 0);
	const union {
		const uint8_t *bytes;
		void *arg;
	} view = { .bytes = file.bytes };
	run_parallel(2, NULL, read_on_a_worker, view.arg);
	CU_ASSERT(mapped_files_shrunk());
	mapped_files_guard_end();
	mapped_file_close(&file);
}

TEST(a_cut_within_the_last_page_is_seen)
{
	struct mapped_file file = { .fd = -1 };
	fill(PAGE + 100);
	CU_ASSERT_FATAL(mapped_file_open(path, &file, NULL) == HD_OK);
	mapped_files_guard_begin();
	CU_ASSERT(!mapped_files_shrunk());
	CU_ASSERT_FATAL(truncate(path, PAGE + 50) == 0);
	CU_ASSERT(mapped_files_shrunk());
	mapped_files_guard_end();
	mapped_file_close(&file);
}

/* The same size, and the time of the last write set back: the time of the change tells. */
TEST(a_watched_file_that_is_written_is_noticed)
{
	for (int turn = 0; turn < 4; turn++) {
		struct mapped_file file = { .fd = -1 };
		struct stat as_of;
		fill(PAGE * 2);
		CU_ASSERT_FATAL(mapped_file_open(path, &file, NULL) == HD_OK);
		CU_ASSERT_FATAL(fstat(file.fd, &as_of) == 0);
		if (turn)
			mapped_file_watch(&file, &as_of);
		CU_ASSERT(!mapped_files_written() && !file_was_written(file.fd, &as_of));
		struct timespec pause = { .tv_nsec = 20000000 };
		(void)nanosleep(&pause, NULL); /* the clock of the file system is no finer */
		int fd = open(path, O_RDWR | O_CLOEXEC);
		CU_ASSERT_FATAL(fd >= 0);
		/* Reading is no change. */
		uint8_t byte;
		CU_ASSERT(pread(fd, &byte, 1, 0) == 1 && !mapped_files_written());
		CU_ASSERT(pwrite(fd, "z", 1, 1) == 1);
		const struct timespec times[2] = { as_of.st_atim, as_of.st_mtim };
		if (turn == 2)
			CU_ASSERT(futimens(fd, times) == 0);
		CU_ASSERT(close(fd) == 0);
		CU_ASSERT(file_was_written(file.fd, &as_of));
		CU_ASSERT(mapped_files_written() == (turn > 0) && !mapped_files_shrunk());
		if (turn == 3)
			mapped_file_close_fd(&file);
		CU_ASSERT(mapped_files_written() == (turn == 1 || turn == 2));
		mapped_file_close(&file);
		CU_ASSERT(!mapped_files_written());
	}
}

TEST(without_its_descriptor_a_mapping_is_guarded)
{
	struct mapped_file file = { .fd = -1 };
	fill(PAGE * 2);
	CU_ASSERT_FATAL(mapped_file_open(path, &file, NULL) == HD_OK);
	mapped_file_close_fd(&file);
	CU_ASSERT(file.fd == -1);
	ASSERT_UINT(file.bytes[PAGE], 'b');
	mapped_files_guard_begin();
	CU_ASSERT_FATAL(truncate(path, PAGE) == 0);
	CU_ASSERT(!mapped_files_shrunk());
	ASSERT_UINT(*(const volatile uint8_t *)(file.bytes + PAGE), 0);
	CU_ASSERT(mapped_files_shrunk());
	mapped_files_guard_end();
	mapped_file_close(&file);
}

TEST(the_guard_nests)
{
	struct sigaction before, inner, outer;
	CU_ASSERT(sigaction(SIGBUS, NULL, &before) == 0);
	mapped_files_guard_begin();
	CU_ASSERT(sigaction(SIGBUS, NULL, &outer) == 0);
	mapped_files_guard_begin();
	mapped_files_guard_end();
	CU_ASSERT(sigaction(SIGBUS, NULL, &inner) == 0);
	CU_ASSERT(inner.sa_sigaction == outer.sa_sigaction);
	mapped_files_guard_end();
	mapped_files_guard_end(); /* one too many does no harm */
	CU_ASSERT(sigaction(SIGBUS, NULL, &inner) == 0);
	CU_ASSERT(inner.sa_handler == before.sa_handler);
}

static volatile sig_atomic_t foreign_faults;
static void *foreign_page;

static void foreign_handler(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	foreign_faults++;
	(void)mmap(foreign_page, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

TEST(a_fault_elsewhere_goes_to_the_handler_before)
{
	struct sigaction action = { .sa_sigaction = foreign_handler, .sa_flags = SA_SIGINFO };
	struct sigaction old;
	int fd = memfd_create("foreign", MFD_CLOEXEC);
	CU_ASSERT_FATAL(fd >= 0);
	foreign_page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	CU_ASSERT_FATAL(foreign_page != MAP_FAILED);
	CU_ASSERT_FATAL(sigaction(SIGBUS, &action, &old) == 0);
	mapped_files_guard_begin();
	ASSERT_UINT(*(const volatile uint8_t *)foreign_page, 0);
	CU_ASSERT(foreign_faults == 1);
	CU_ASSERT(!mapped_files_shrunk());
	/* One that somebody sent is not taken for a fault, wherever it says. */
	CU_ASSERT(raise(SIGBUS) == 0);
	CU_ASSERT(foreign_faults == 2);
	mapped_files_guard_end();
	CU_ASSERT(sigaction(SIGBUS, &old, NULL) == 0);
	(void)munmap(foreign_page, PAGE);
	(void)close(fd);
}

TEST(a_fault_elsewhere_without_a_handler_ends_the_process)
{
	pid_t child = fork();
	CU_ASSERT_FATAL(child >= 0);
	if (!child) {
		int fd = memfd_create("foreign", MFD_CLOEXEC);
		void *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
		(void)signal(SIGBUS, SIG_DFL);
		mapped_files_guard_begin();
		_exit(*(const volatile uint8_t *)page);
	}
	int status = 0;
	CU_ASSERT(waitpid(child, &status, 0) == child);
	CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

TEST(more_files_than_a_table_chunk_are_guarded)
{
	enum {
		COUNT = 600
	};
	static struct mapped_file files[COUNT];
	fill(PAGE * 2);
	for (size_t i = 0; i < COUNT; i++)
		CU_ASSERT_FATAL(mapped_file_open(path, &files[i], NULL) == HD_OK);
	mapped_files_guard_begin();
	CU_ASSERT_FATAL(truncate(path, PAGE) == 0);
	for (size_t i = 0; i < COUNT; i++)
		ASSERT_UINT(*(const volatile uint8_t *)(files[i].bytes + PAGE), 0);
	CU_ASSERT(mapped_files_shrunk());
	mapped_files_guard_end();
	for (size_t i = 0; i < COUNT; i++)
		mapped_file_close(&files[i]);
}

SUITE(.name = "mapped_file", .init = make_folder, .cleanup = remove_folder)
