/* SPDX-License-Identifier: MIT */
/* Reading a process leaves no trace in it: doc/memory.md 1.1 has what would. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/assert_more.h"
#include "support/live_child.h"
#include "support/suite.h"
#include "targets/process/proc.h"

#define PAGE  ((size_t)4096)
#define PAGES 16u
/* Pages of the memfd: 2, 5, and 7, which was read for the private copy of it. */
#define ALLOCATED (3 * PAGE)
/* More than a copy of all else takes. */
#define READ_ONLY ((size_t)1 << 30)

/* The memory of the child. */
static struct {
	uint8_t *memory;  /* shared pages of a memfd: page 2 was written here, page 5 elsewhere */
	uint8_t *own;     /* private pages of the same memfd: page 7 was written */
	uint8_t *private; /* page 3 was written */
	uint8_t *file;    /* private pages of a file that ends in the middle of page 14 */
	uint8_t *shared;  /* shared ones */
	int memory_fd;
} child_has;

static void prepare(void *arg)
{
	(void)arg;
	child_has.memory[2 * PAGE] = 2;
	child_has.own[7 * PAGE] = 7;
	child_has.private[3 * PAGE] = 3;
	child_has.file[4 * PAGE + 1] = 4;
	uint8_t *other = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			      child_has.memory_fd, 0);
	if (other == MAP_FAILED)
		abort();
	other[5 * PAGE] = 5;
	(void)munmap(other, PAGES * PAGE);
}

/* Bytes in memory, of all mappings. */
static uint64_t resident(const struct live_child *child)
{
	struct text text = { 0 };
	CU_ASSERT_FATAL(proc_read_file(child->pid, "smaps_rollup", &text));
	uint64_t bytes = kilobytes_parse(text.bytes, "Rss");
	text_deinit(&text);
	CU_ASSERT(bytes > 0);
	return bytes;
}

static uint64_t allocated(void)
{
	struct stat info;
	CU_ASSERT_FATAL(fstat(child_has.memory_fd, &info) == 0);
	return (uint64_t)info.st_blocks * 512;
}

static unsigned int byte_at(struct target *target, const uint8_t *address)
{
	uint8_t byte = 0xff;
	CU_ASSERT(memory_read(target->memory, (uintptr_t)address, &byte, 1));
	return byte;
}

/* Every page of the child has what the child would see there. */
static void check_pages(struct target *target)
{
	for (size_t i = 0; i < PAGES; i++) {
		ASSERT_UINT(byte_at(target, child_has.memory + i * PAGE), i == 2   ? 2u
									  : i == 5 ? 5u
										   : 0u);
		ASSERT_UINT(byte_at(target, child_has.own + i * PAGE), i == 2   ? 2u
								       : i == 5 ? 5u
								       : i == 7 ? 7u
										: 0u);
		ASSERT_UINT(byte_at(target, child_has.private + i * PAGE), i == 3 ? 3u : 0u);
	}
	for (size_t i = 0; i < PAGES - 1; i++) {
		ASSERT_UINT(byte_at(target, child_has.file + i * PAGE), i + 100);
		ASSERT_UINT(byte_at(target, child_has.shared + i * PAGE), i + 100);
	}
	ASSERT_UINT(byte_at(target, child_has.file + 4 * PAGE + 1), 4);
	ASSERT_UINT(byte_at(target, child_has.file + 14 * PAGE + 1), 0);
	uint8_t all[PAGES * PAGE];
	CU_ASSERT(memory_read(target->memory, (uintptr_t)child_has.memory, all, sizeof(all)));
	ASSERT_UINT(all[2 * PAGE], 2);
	ASSERT_UINT(all[5 * PAGE], 5);
	CU_ASSERT(memory_read(target->memory, (uintptr_t)child_has.private, all, sizeof(all)));
	ASSERT_UINT(all[3 * PAGE], 3);
	uint8_t byte;
	CU_ASSERT_FALSE(
		memory_read(target->memory, (uintptr_t)(child_has.file + 15 * PAGE), &byte, 1));
}

/* With AddressSanitizer the child itself touches its shadow memory while it runs: not compared then. */
static void check_resident(const struct live_child *child, uint64_t before)
{
#ifdef __SANITIZE_ADDRESS__
	printf("(AddressSanitizer: resident bytes are not compared) ");
	(void)child;
	(void)before;
#else
	ASSERT_UINT(resident(child), before);
#endif
}

static void check_no_trace(const struct target_options *how)
{
	struct live_child child = child_start(0, prepare, NULL);
	struct target *target = NULL;
	struct hd_error err = { 0 };
	(void)child_is_running(&child);
	uint64_t before = resident(&child);
	ASSERT_UINT(allocated(), ALLOCATED);
	ASSERT_UINT(target_open_process(child.pid, how, NULL, &target, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	REQUIRE(target);
	check_pages(target);
	ASSERT_UINT(allocated(), ALLOCATED);
	check_resident(&child, before);
	target_destroy(target);
	check_resident(&child, before);
	child_end(&child);
	CU_ASSERT(ftruncate(child_has.memory_fd, 0) == 0);
	CU_ASSERT(ftruncate(child_has.memory_fd, PAGES * PAGE) == 0);
}

TEST(a_copy_leaves_no_trace)
{
	check_no_trace(&(struct target_options){ 0 });
}

TEST(reading_a_running_process_leaves_none)
{
	check_no_trace(&(struct target_options){ .no_stop = true });
}

TEST(reading_a_held_process_leaves_none)
{
	check_no_trace(&(struct target_options){ .max_mem = 1 });
}

/* A debugger that reads all memory, such as createdump, leaves whole stacks of such pages. */
static void only_read(void *arg)
{
	const volatile uint8_t *bytes = arg;
	for (size_t i = 0; i < READ_ONLY; i += PAGE)
		(void)bytes[i];
}

TEST(pages_that_were_only_read_are_not_copied)
{
	if (!child_pages_are_scanned()) {
		puts("skipped: this kernel does not tell which pages were only read");
		return;
	}
	uint8_t *pages = mmap(NULL, READ_ONLY, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CU_ASSERT_FATAL(pages != MAP_FAILED);
	struct live_child child = child_start(0, only_read, pages);
	struct target *target = NULL;
	struct hd_error err = { 0 };
	/* Copying them would take more than this: it would stay stopped. */
	const struct target_options how = { .max_mem = READ_ONLY };
	ASSERT_UINT(target_open_process(child.pid, &how, NULL, &target, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	REQUIRE(target);
	ASSERT_UINT(target->findings.count, 0);
	ASSERT_UINT(byte_at(target, pages + READ_ONLY / 2), 0);
	target_destroy(target);
	child_end(&child);
	(void)munmap(pages, READ_ONLY);
}

static uint8_t *map_pages(int protection, int flags, int fd)
{
	void *bytes = mmap(NULL, PAGES * PAGE, protection, flags, fd, 0);
	if (bytes == MAP_FAILED)
		abort();
	return bytes;
}

static int run(void)
{
	static const struct suite suites[] = { { .name = "process_traces" } };
	char path[] = "/tmp/heapdump-test-XXXXXX";
	int file = mkstemp(path), status = 2;
	uint8_t bytes[14 * PAGE + 1];
	if (!child_can_be_opened()) {
		puts("skipped: the sanitizer's shadow takes too long to look at here");
		return 77;
	}
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i / PAGE + 100);
	child_has.memory_fd = memfd_create("traces", MFD_CLOEXEC);
	if (file >= 0 && write(file, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) &&
	    child_has.memory_fd >= 0 && ftruncate(child_has.memory_fd, PAGES * PAGE) == 0) {
		int both = PROT_READ | PROT_WRITE;
		child_has.memory = map_pages(both, MAP_SHARED, child_has.memory_fd);
		child_has.own = map_pages(both, MAP_PRIVATE, child_has.memory_fd);
		child_has.private = map_pages(both, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		child_has.file = map_pages(both, MAP_PRIVATE, file);
		child_has.shared = map_pages(PROT_READ, MAP_SHARED, file);
		status = suites_run(suites, 1, NULL);
	}
	(void)close(file);
	(void)unlink(path);
	return status;
}

TEST_FILE(run)
