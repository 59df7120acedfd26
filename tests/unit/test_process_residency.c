/* SPDX-License-Identifier: MIT */
/* What of a process is in memory: the text of smaps, and the pages of a child (doc/memory.md 1.3). */
#include <sys/mman.h>

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

TEST(a_page_of_a_child_that_was_only_read_is_not_in_memory)
{
	struct process_server *server = NULL;
	struct process_residency *residency = NULL;
	struct hd_error err = { 0 };
	if (!child_can_be_opened())
		return;
	void *bytes = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	CU_ASSERT_FATAL(bytes != MAP_FAILED);
	sparse = bytes;
	struct live_child child = child_start(0, touch, NULL);
	ASSERT_UINT(process_server_create(child.pid, &server, &err), HD_OK);
	REQUIRE(server);
	ASSERT_UINT(process_residency_read(server, &residency, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	REQUIRE(residency);
	CU_ASSERT(residency->rows_count > 3);
	CU_ASSERT(residency->has_pages);
	ASSERT_UINT(present(residency), 1u << 5);
	process_residency_destroy(residency);
	process_server_release(server);
	child_end(&child);
	munmap(sparse, PAGES * PAGE);
}

SUITE(.name = "process_residency")
