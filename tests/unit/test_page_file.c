/* SPDX-License-Identifier: MIT */
/* Large arrays that go to a file when memory is short. */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "support/assert_more.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/page_file.h"

#define MEGABYTE ((size_t)1 << 20)

/* A file without a name on a disk; the test is left when there is none. */
static int begin(uint64_t memory)
{
	char name[] = "/var/tmp/heapdump-test-XXXXXX";
	int fd = mkstemp(name);
	CU_ASSERT_FATAL(fd >= 0);
	(void)unlink(name);
	if (page_file_begin(fd, memory))
		return fd;
	(void)close(fd);
	struct statfs status;
	if (statfs("/var/tmp", &status) == 0 && !page_file_suits((uint64_t)status.f_type)) {
		puts("/var/tmp is not on a disk that suits");
		exit(77); /* skipped */
	}
	CU_ASSERT_FATAL(false);
	return -1;
}

static void end(int fd)
{
	page_file_end();
	(void)close(fd);
}

TEST(arrays_are_in_memory_as_long_as_it_lasts)
{
	int fd = begin(20 * MEGABYTE);
	char *first = pages_alloc(10 * MEGABYTE, 1), *second = pages_alloc(10 * MEGABYTE, 1);
	char *third = pages_alloc(10 * MEGABYTE, 1), *small = pages_alloc(100, 1);
	CU_ASSERT_FATAL(first && second && third && small);
	CU_ASSERT(!page_file_has(first) && !page_file_has(second) && page_file_has(third));
	CU_ASSERT(!page_file_has(small));
	pages_free(first, 10 * MEGABYTE, 1);
	first = pages_alloc(10 * MEGABYTE, 1);
	CU_ASSERT(first && !page_file_has(first));
	pages_free(first, 10 * MEGABYTE, 1);
	pages_free(second, 10 * MEGABYTE, 1);
	pages_free(third, 10 * MEGABYTE, 1);
	pages_free(small, 100, 1);
	end(fd);
}

TEST(an_array_in_the_file_behaves_as_one_in_memory)
{
	int fd = begin(1);
	uint64_t *array = pages_alloc(MEGABYTE, sizeof(*array));
	REQUIRE(array);
	CU_ASSERT(page_file_has(array));
	for (size_t i = 0; i < MEGABYTE; i++)
		CU_ASSERT_FATAL(array[i] == 0);
	for (size_t i = 0; i < MEGABYTE; i++)
		array[i] = i;
	array = pages_resize(array, MEGABYTE, 3 * MEGABYTE, sizeof(*array));
	REQUIRE(array);
	for (size_t i = 0; i < 3 * MEGABYTE; i++)
		CU_ASSERT_FATAL(array[i] == (i < MEGABYTE ? i : 0));
	array = pages_resize(array, 3 * MEGABYTE, MEGABYTE, sizeof(*array));
	REQUIRE(array);
	pages_discard(array, MEGABYTE, 0, MEGABYTE, sizeof(*array));
	pages_clear(array, MEGABYTE, sizeof(*array));
	for (size_t i = 0; i < MEGABYTE; i++)
		CU_ASSERT_FATAL(array[i] == 0);
	array[5] = 5;
	pages_free(array, MEGABYTE, sizeof(*array));
	/* Its place is used again, and is zero. */
	uint64_t *next = pages_alloc(MEGABYTE, sizeof(*next));
	REQUIRE(next);
	CU_ASSERT(next[5] == 0);
	pages_free(next, MEGABYTE, sizeof(*next));
	end(fd);
}

TEST(a_full_disk_is_like_exhausted_memory)
{
	struct rlimit before, little;
	CU_ASSERT_FATAL(getrlimit(RLIMIT_FSIZE, &before) == 0);
	little = before;
	little.rlim_cur = 9 * MEGABYTE;
	/* A file that becomes too large would end the process. */
	void (*handler)(int) = signal(SIGXFSZ, SIG_DFL);
	int fd = begin(1);
	CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &little) == 0);
	char *first = pages_alloc(8 * MEGABYTE, 1), *second = pages_alloc(8 * MEGABYTE, 1);
	CU_ASSERT(first && !second);
	pages_free(first, 8 * MEGABYTE, 1);
	(void)setrlimit(RLIMIT_FSIZE, &before);
	(void)signal(SIGXFSZ, handler);
	end(fd);
}

TEST(a_file_that_may_fail_later_is_not_taken)
{
	static const uint64_t disks[] = { 0xef53, 0x58465342, 0x794c7630 };
	/* tmpfs, ramfs, NFS, SMB, FUSE, 9P, Ceph, Btrfs, ZFS. */
	static const uint64_t others[] = { 0x01021994, 0x858458f6, 0x6969,
					   0xfe534d42, 0x65735546, 0x01021997,
					   0x00c36400, 0x9123683e, 0x2fc12fc1 };
	for (size_t i = 0; i < sizeof(disks) / sizeof(disks[0]); i++)
		CU_ASSERT(page_file_suits(disks[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		CU_ASSERT(!page_file_suits(others[i]));
}

/* A process that has the file open keeps what it takes. */
TEST(nothing_is_left_on_the_disk)
{
	struct stat status;
	int fd = begin(1);
	char *array = pages_alloc(8 * MEGABYTE, 1);
	REQUIRE(array);
	CU_ASSERT(fstat(fd, &status) == 0 && status.st_blocks >= 8 * 2048);
	pages_free(array, 8 * MEGABYTE, 1);
	page_file_end();
	CU_ASSERT(fstat(fd, &status) == 0 && status.st_blocks == 0 && status.st_size == 0);
	(void)close(fd);
}

TEST(there_is_one_such_file)
{
	int fd = begin(1);
	CU_ASSERT(!page_file_begin(fd, 1));
	end(fd);
	fd = begin(1);
	end(fd);
	CU_ASSERT(!page_file_has(&fd));
}

SUITE(.name = "page_file")
