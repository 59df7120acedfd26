/* SPDX-License-Identifier: MIT */
/*
 * Finds which part of a process is in memory: the text of smaps, and the pages of a child
 * (doc/memory.md 1.3).
 */
#include <sys/mman.h>
#include <unistd.h>

#include "support/assert_more.h"
#include "support/live_child.h"
#include "support/suite.h"
#include "targets/process/process_residency.h"
#include "util/alloc.h"

#define PAGE  ((size_t)4096)
#define PAGES ((size_t)16)

static uint8_t *sparse; /* of its pages the child writes to the 5th and reads the 9th */

static struct process_residency *parse(const char *text)
{
	struct process_residency *ret = mem_calloc(1, sizeof(*ret));
	REQUIRE(ret);
	CU_ASSERT(process_residency_parse(text, strlen(text), ret));
	return ret;
}

TEST(each_mapping_has_the_values_that_follow_its_first_line)
{
	struct process_residency *got =
		parse("55d000000000-55d000004000 r-xp 00001000 08:01 42    /a file (deleted)\n"
		      "Size:                 16 kB\n"
		      "Rss:                   8 kB\n"
		      "Pss:                   3 kB\n"
		      "Pss_Dirty:             1 kB\n"
		      "Private_Dirty:         4 kB\n"
		      "Swap:                  0 kB\n"
		      "SwapPss:               7 kB\n"
		      "VmFlags: rd ex mr mw me\n"
		      "7f0000000000-7f0000002000 rw-p 00000000 00:00 0 \n"
		      "Rss:                   0 kB\n"
		      "Swap:                  8 kB\n");
	ASSERT_UINT(got->rows_count, 2);
	ASSERT_TEXT(got->rows[0].map.path, "/a file");
	ASSERT_UINT(got->rows[0].rss, 8192);
	ASSERT_UINT(got->rows[0].pss, 3072);
	ASSERT_UINT(got->rows[0].dirty, 4096);
	ASSERT_UINT(got->rows[0].swap, 0);
	ASSERT_UINT(got->rows[1].map.start, UINT64_C(0x7f0000000000));
	ASSERT_TEXT(got->rows[1].map.path, "");
	ASSERT_UINT(got->rows[1].rss, 0);
	ASSERT_UINT(got->rows[1].swap, 8192);
	process_residency_destroy(got);
}

TEST(a_value_without_a_mapping_is_left_out)
{
	struct process_residency *got =
		parse("Rss: 8 kB\n\n7f0000000000-7f0000002000 rw-p 00000000 "
		      "00:00 0\nRss: 4 kB");
	ASSERT_UINT(got->rows_count, 1);
	ASSERT_UINT(got->rows[0].rss, 4096);
	process_residency_destroy(got);
}

/* A process that runs on may have moved it while the kernel wrote the text. */
TEST(values_of_a_mapping_that_is_left_out_are_nobody_s)
{
	struct process_residency *got = parse("7f0000000000-7f0000002000 rw-p 00000000 00:00 0 \n"
					      "Rss:                   4 kB\n"
					      "7f0000001000-7f0000003000 rw-p 00000000 00:00 0 \n"
					      "Rss:                   8 kB\n"
					      "7f0000002000-7f0000004000 rw-p 00000000 00:00 0 \n"
					      "Swap:                  8 kB\n");
	ASSERT_UINT(got->rows_count, 2);
	ASSERT_UINT(got->rows[0].rss, 4096);
	ASSERT_UINT(got->rows[1].rss, 0);
	ASSERT_UINT(got->rows[1].swap, 8192);
	process_residency_destroy(got);
}

static void touch(void *arg)
{
	static volatile uint8_t seen;
	(void)arg;
	memset(sparse + 5 * PAGE, 1, PAGE);
	seen = sparse[9 * PAGE];
	(void)seen;
}

/* Pages of the child's stretch that are present, a bit each. */
static uint32_t present(const struct process_residency *residency)
{
	uint32_t bits = 0;
	for (size_t page = 0; page < PAGES; page++) {
		uint64_t at = (uintptr_t)sparse + page * PAGE;
		for (size_t i = 0; i < residency->pages_count; i++) {
			const struct server_pages *pages = &residency->pages[i];
			if (pages->start <= at && at < pages->end &&
			    (pages->categories & PAGES_PRESENT))
				bits |= 1u << page;
		}
	}
	return bits;
}

/* Bytes in memory of the child's stretch, by its mapping. */
static uint64_t resident(const struct process_residency *residency)
{
	for (size_t i = 0; i < residency->rows_count; i++) {
		if (residency->rows[i].map.start == (uintptr_t)sparse)
			return residency->rows[i].rss;
	}
	return 0;
}

/* Some kernels give a page to a process that only reads it: the sums of the mapping say so. */
TEST(a_page_of_a_child_that_was_only_read_is_in_memory_if_the_kernel_counts_it)
{
	struct process_server *server = NULL;
	struct process_residency *residency = NULL;
	struct hd_error err = { 0 };
	if (!child_can_be_opened())
		return;
	size_t size = (PAGES + 2) * PAGE;
	uint8_t *bytes = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(bytes != MAP_FAILED);
	sparse = bytes + PAGE;
	CU_ASSERT_FATAL(mprotect(sparse, PAGES * PAGE, PROT_READ | PROT_WRITE) == 0);
	struct live_child child = child_start(0, touch, NULL);
	ASSERT_UINT(process_server_create(child.pid, &server, &err), HD_OK);
	REQUIRE(server);
	ASSERT_UINT(process_residency_read(server, &residency, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	REQUIRE(residency);
	CU_ASSERT(residency->rows_count > 3);
	CU_ASSERT(residency->has_pages);
	/* Its cgroup, if there is one that can be read. */
	struct cgroup_memory group;
	bool has_group = cgroup_memory_read("", (int)getpid(), &group);
	ASSERT_UINT(residency->has_group, has_group);
	if (has_group) {
		ASSERT_TEXT(residency->group.path, group.path);
		cgroup_memory_deinit(&group);
	}
	bool has_read_page = resident(residency) == 2 * PAGE;
	ASSERT_UINT(resident(residency), has_read_page ? 2 * PAGE : PAGE);
	ASSERT_UINT(present(residency), 1u << 5 | (has_read_page ? 1u << 9 : 0u));
	process_residency_destroy(residency);
	process_server_release(server);
	child_end(&child);
	munmap(bytes, size);
}

SUITE(.name = "process_residency")
