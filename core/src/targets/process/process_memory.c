/* SPDX-License-Identifier: MIT */
#include "targets/process/process_memory.h"

#include "targets/process/host_page.h"
#include "util/alloc.h"
#include "util/sort.h"

/*
 * Pages that were read recently, if they could be read to their end.  Nothing is read ahead: the
 * next page may be one that does not answer.
 */
#define PAGE_SLOTS 4096u

struct page_slot {
	uint64_t page; /* its number; 0 = none, because no process has memory there */
	uint8_t *bytes;
};

struct live {
	struct memory memory;
	struct process_server *server;
	struct page_list *seen; /* borrowed, or NULL */
	const struct target *mapped;
	bool holds;
	struct page_slot slots[PAGE_SLOTS];
};

/* The page with number @p page, or NULL when it is not complete. */
static const uint8_t *load_live_page(struct live *live, uint64_t page)
{
	struct page_slot *slot = &live->slots[page % PAGE_SLOTS];
	if (!page || slot->page == page)
		return page ? slot->bytes : NULL;
	if (!slot->bytes)
		slot->bytes = mem_alloc(host_page(), 1);
	slot->page = 0;
	if (!slot->bytes || process_server_read(live->server, page * host_page(), slot->bytes,
						host_page()) != host_page())
		return NULL;
	slot->page = page;
	if (live->seen)
		page_list_add(live->seen, page * host_page(), host_page());
	return slot->bytes;
}

/* The kernel need not be asked about what is not mapped. */
static bool may_be_there(const struct live *live, uint64_t address)
{
	size_t count = live->mapped ? live->mapped->map.range_count : 0;
	if (!count)
		return true;
	const struct target_range *ranges = live->mapped->map.ranges;
	size_t low = ROWS_ABOVE(ranges, count, end, address);
	return low < count && ranges[low].start <= address;
}

static size_t live_read(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	struct live *live = (struct live *)memory;
	size_t done = 0;
	if (!may_be_there(live, address))
		return 0;
	/* Large pieces are not requested twice. */
	if (size > host_page()) {
		done = process_server_read(live->server, address, buf, size);
		if (live->seen)
			page_list_add(live->seen, address, done);
		return done;
	}
	while (done < size) {
		uint64_t at = address + done;
		const uint8_t *page = load_live_page(live, at / host_page());
		size_t left = host_page() - at % host_page();
		size_t piece = left < size - done ? left : size - done;
		if (!page) {
			return done +
			       process_server_read(live->server, at, (uint8_t *)buf + done, piece);
		}
		memcpy((uint8_t *)buf + done, page + at % host_page(), piece);
		done += piece;
	}
	return done;
}

static void live_destroy(struct memory *memory)
{
	HD_FREE struct live *live = (struct live *)memory;
	/* The server may have other owners. */
	if (live->holds)
		(void)process_server_resume(live->server, NULL, NULL);
	process_server_release(live->server);
	for (size_t i = 0; i < PAGE_SLOTS; i++)
		mem_free(live->slots[i].bytes);
}

struct memory *process_memory(struct process_server *server, const struct target *mapped,
			      struct page_list *seen, bool holds)
{
	static const struct memory_ops ops = { .read = live_read, .destroy = live_destroy };
	struct live *live = mem_calloc(1, sizeof(*live));
	if (!live)
		return NULL;
	live->memory.ops = &ops;
	live->server = process_server_share(server);
	live->seen = seen;
	live->mapped = mapped;
	live->holds = holds;
	return &live->memory;
}
