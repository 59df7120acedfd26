/* SPDX-License-Identifier: MIT */
/* Asks the kernel which pages of the process are there (doc/memory.md 1.2). */
#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "targets/process/host_page.h"
#include "targets/process/server_reader.h"

/*
 * /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst): entries read at a time and their
 * bits; and the call that skips pages that were never used, of Linux 6.7, whose header is too new
 * here.
 */
#define PAGEMAP_STEP    2048u
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)
#define PAGEMAP_FILE    (UINT64_C(1) << 61)

struct page_scan {
	uint64_t size, flags, start, end, walk_end, regions, region_count, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define SCAN_CALL _IOWR('f', 16, struct page_scan)

/* Find the pages with one call. */
static long scan_pages(struct process_reader *reader, struct reader_pages *ask)
{
	struct page_scan scan = {
		.size = sizeof(scan),
		.start = ask->start,
		.end = ask->end,
		.regions = (uintptr_t)ask->rows,
		.region_count = ask->most,
		.category_anyof_mask = PAGES_PRESENT | PAGES_SWAPPED,
		.return_mask = PAGES_PRESENT,
	};
	if (reader->no_scan)
		return -1;
	if (ask->kind == SERVER_PAGES_WRITTEN) {
		/* A page that was only read, by a debugger for example, is the page of zeros. */
		scan.category_inverted = scan.category_mask = PAGES_FILE | PAGES_ZERO;
	} else if (ask->kind == SERVER_PAGES_RESIDENT) {
		scan.category_inverted = scan.category_mask = PAGES_ZERO;
		scan.return_mask = PAGES_PRESENT | PAGES_SWAPPED | PAGES_FILE;
	}
	long count = ioctl(reader->pagemap_fd, SCAN_CALL, &scan);
	if (count >= 0 && scan.walk_end > scan.start && scan.walk_end <= scan.end) {
		ask->end = scan.walk_end;
		return count;
	}
	reader->no_scan = true;
	return -1;
}

/* The categories of a page by its entry, 0: it is not asked for. */
static uint64_t entry_categories(uint64_t entry, uint32_t kind)
{
	uint64_t found = (entry & PAGEMAP_PRESENT ? PAGES_PRESENT : 0u) |
			 (entry & PAGEMAP_SWAPPED ? PAGES_SWAPPED : 0u);
	bool is_file = entry & PAGEMAP_FILE;
	if (!found || (is_file && kind == SERVER_PAGES_WRITTEN))
		return 0;
	return kind == SERVER_PAGES_RESIDENT ? found | (is_file ? PAGES_FILE : 0u) : PAGES_PRESENT;
}

/* Same, page by page. */
static long read_pages(const struct process_reader *reader, struct reader_pages *ask)
{
	uint64_t entries[PAGEMAP_STEP], start = ask->start;
	uint64_t count = (ask->end - start) / host_page(), i = 0;
	size_t known = 0;
	if (count > PAGEMAP_STEP)
		count = PAGEMAP_STEP;
	ssize_t got = pread(reader->pagemap_fd, entries, count * sizeof(uint64_t),
			    (off_t)(start / host_page() * sizeof(uint64_t)));
	if (got < (ssize_t)sizeof(uint64_t))
		return -1;
	count = (uint64_t)got / sizeof(uint64_t);
	for (; i < count; i++) {
		uint64_t at = start + i * host_page();
		uint64_t categories = entry_categories(entries[i], ask->kind);
		struct server_pages *last = known ? &ask->rows[known - 1] : NULL;
		if (!categories)
			continue;
		if (last && last->end == at && last->categories == categories) {
			last->end += host_page();
		} else if (known < ask->most) {
			ask->rows[known++] =
				(struct server_pages){ at, at + host_page(), categories };
		} else {
			break;
		}
	}
	ask->end = start + i * host_page();
	return (long)known;
}

long reader_pages_ask(struct process_reader *reader, struct reader_pages *ask)
{
	if (reader->pagemap_fd < 0)
		reader->pagemap_fd = reader_open(reader, "pagemap");
	if (reader->pagemap_fd < 0)
		return -1;
	long count = scan_pages(reader, ask);
	return count < 0 ? read_pages(reader, ask) : count;
}

void reader_find_pages(struct process_reader *reader, const struct server_request *request,
		       uint8_t *bytes, struct server_reply *reply)
{
	void *place = bytes;
	struct reader_pages ask = {
		.kind = request->number,
		.start = request->address,
		.end = request->address + request->size,
		.rows = place,
		.most = SERVER_PAGES_MAX,
	};
	if (request->size % host_page() || request->address % host_page() || ask.end < ask.start ||
	    request->number >= SERVER_PAGES_KINDS) {
		reply->error = EINVAL;
		return;
	}
	long count = reader_pages_ask(reader, &ask);
	reply->error = count < 0 ? ENODATA : 0;
	reply->size = count < 0 ? 0 : (uint64_t)count;
	reply->end = ask.end;
}
