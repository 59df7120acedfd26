/* SPDX-License-Identifier: MIT */
/* Gives each byte of the mappings to the row that has its address (doc/memory.md 7.1). */
#include <stdlib.h>
#include <string.h>

#include "native/memory_parts.h"
#include "targets/process/process_residency.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/sort.h"

/*
 * Sweeping is one pass over the claims in order of their starts, with a heap of those that are open: the first of it has
 * the address.
 */
struct sweep {
	const struct memory_claim **open; /* a binary heap */
	size_t open_count;
	struct memory_stretch *rows; /* at most two for each claim */
	size_t count;
};

ORDER_BY(compare_claims, struct memory_claim, start)

/* Does @p left come first? */
static bool is_before(const struct memory_claim *left, const struct memory_claim *right)
{
	if (left->priority != right->priority)
		return left->priority < right->priority;
	return left->row < right->row;
}

static void open_claim(struct sweep *sweep, const struct memory_claim *claim)
{
	size_t at = sweep->open_count++;
	while (at && is_before(claim, sweep->open[(at - 1) / 2])) {
		sweep->open[at] = sweep->open[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	sweep->open[at] = claim;
}

static void close_first(struct sweep *sweep)
{
	const struct memory_claim *claim = sweep->open[--sweep->open_count];
	size_t at = 0;
	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= sweep->open_count)
			break;
		if (child + 1 < sweep->open_count &&
		    is_before(sweep->open[child + 1], sweep->open[child]))
			child++;
		if (!is_before(sweep->open[child], claim))
			break;
		sweep->open[at] = sweep->open[child];
		at = child;
	}
	sweep->open[at] = claim;
}

static void put(struct sweep *sweep, uint64_t start, uint64_t end, uint32_t row)
{
	struct memory_stretch *last = sweep->count ? &sweep->rows[sweep->count - 1] : NULL;
	if (last && last->end == start && last->row == row) {
		last->end = end;
	} else {
		sweep->rows[sweep->count++] = (struct memory_stretch){ start, end, row };
	}
}

static void run_sweep(struct sweep *sweep, const struct memory_claim *claims, size_t count)
{
	size_t next = 0;
	uint64_t at = 0;
	while (next < count || sweep->open_count) {
		while (sweep->open_count && sweep->open[0]->end <= at)
			close_first(sweep);
		if (!sweep->open_count && next < count && claims[next].start > at)
			at = claims[next].start;
		for (; next < count && claims[next].start <= at; next++) {
			if (claims[next].end > at)
				open_claim(sweep, &claims[next]);
		}
		if (!sweep->open_count)
			continue;
		/* Up to the end of the first, or until another one begins. */
		uint64_t end = sweep->open[0]->end;
		if (next < count && claims[next].start < end)
			end = claims[next].start;
		put(sweep, at, end, sweep->open[0]->row);
		at = end;
	}
}

enum hd_status memory_sweep(struct memory_claim *claims, size_t count, struct memory_stretch **ret,
			    size_t *ret_count, struct hd_error *err)
{
	/* Pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
	struct sweep sweep = { .open = mem_alloc(count, sizeof(*sweep.open)),
			       .rows = mem_alloc(count, 2 * sizeof(*sweep.rows)) };
	if (!sweep.open || !sweep.rows) {
		mem_free(sweep.open);
		mem_free(sweep.rows);
		return fail_nomem(err);
	}
	if (count)
		qsort(claims, count, sizeof(*claims), compare_claims);
	run_sweep(&sweep, claims, count);
	mem_free(sweep.open);
	*ret = sweep.rows;
	*ret_count = sweep.count;
	return HD_OK;
}

/* The share that a row has of one mapping. */
struct share {
	uint32_t row;
	uint64_t resident, swapped;
};

struct counting {
	struct memory_making *making;
	const struct process_residency *residency; /* NULL: a core */
	size_t stretch, page;                      /* those before have been passed */
	struct share *shares;                      /* of the mapping that is counted */
	size_t shares_count, shares_capacity;
	uint32_t *share_of; /* for each row, 1 + its share in that mapping; else 0 */
};

static struct share *share_of_row(struct counting *counting, uint32_t row)
{
	uint32_t known = counting->share_of[row];
	if (known)
		return &counting->shares[known - 1];
	if (!PAGES_RESERVE(counting, shares))
		return NULL;
	struct share *share = &counting->shares[counting->shares_count++];
	*share = (struct share){ .row = row };
	counting->share_of[row] = (uint32_t)counting->shares_count;
	return share;
}

/* Count the pages that lie in [start, end). */
static void count_pages(struct counting *counting, uint64_t start, uint64_t end,
			struct share *share)
{
	const struct process_residency *residency = counting->residency;
	size_t at = counting->page;
	while (at < residency->pages_count && residency->pages[at].end <= start)
		at++;
	counting->page = at;
	for (; at < residency->pages_count && residency->pages[at].start < end; at++) {
		const struct server_pages *pages = &residency->pages[at];
		uint64_t from = pages->start > start ? pages->start : start;
		uint64_t to = pages->end < end ? pages->end : end;
		*(pages->categories & PAGES_SWAPPED ? &share->swapped : &share->resident) +=
			to - from;
	}
}

/*
 * The part of @p amount that falls on the first @p done of @p all; the parts of a whole add up
 * exactly.
 */
static uint64_t proportional_part(uint64_t amount, uint64_t done, uint64_t all)
{
	if (done >= all)
		return amount;
	return (uint64_t)((long double)amount * (long double)done / (long double)all);
}

/*
 * Divide the numbers that smaps has of the mapping as its pages are divided; or as its addresses
 * are, where nobody tells which pages are there.  Before Linux 6.7 pages of zeros count as pages,
 * but not for Rss: then it is divided among all of them.
 */
static enum hd_status divide_mapping(struct counting *counting,
				     const struct memory_mapping *mapping, struct hd_error *err)
{
	struct memory_row *rows = counting->making->account->rows;
	uint64_t resident = 0, swapped = 0, resident_done = 0, swapped_done = 0;
	uint64_t given = 0, pss_given = 0, swap_given = 0;
	for (size_t i = 0; i < counting->shares_count; i++) {
		resident += counting->shares[i].resident;
		swapped += counting->shares[i].swapped;
	}
	bool is_divided = !counting->residency->has_pages || resident > mapping->rss;
	for (size_t i = 0; i < counting->shares_count; i++) {
		const struct share *share = &counting->shares[i];
		struct memory_bytes *bytes = &rows[share->row].bytes;
		resident_done += share->resident;
		swapped_done += share->swapped;
		uint64_t pss =
			resident ? proportional_part(mapping->pss, resident_done, resident) : 0;
		uint64_t swap = proportional_part(mapping->swap, swapped_done, swapped);
		uint64_t mine = share->resident;
		if (is_divided)
			mine = proportional_part(mapping->rss, resident_done, resident) - given;
		given += mine;
		bytes->resident += (int64_t)mine;
		bytes->pss += (int64_t)(pss - pss_given);
		bytes->swap += (int64_t)(swap - swap_given);
		pss_given = pss;
		swap_given = swap;
	}
	if (given == mapping->rss && pss_given == mapping->pss && swap_given == mapping->swap)
		return HD_OK;
	uint32_t changed;
	TRY(memory_row_of(counting->making, MEMORY_CHANGED, NULL, &changed, err));
	struct memory_bytes *bytes = &counting->making->account->rows[changed].bytes;
	bytes->resident += (int64_t)(mapping->rss - given);
	bytes->pss += (int64_t)(mapping->pss - pss_given);
	bytes->swap += (int64_t)(mapping->swap - swap_given);
	return HD_OK;
}

/* Bytes in whole pages. */
struct zeros {
	uint64_t zeros, others;
	bool is_first_enough; /* one other page is all that is asked for */
};

static bool is_zero_page(const uint8_t *bytes, uint64_t page)
{
	for (size_t i = 0; i < page; i += 8) {
		if (load_u64(bytes + i))
			return false;
	}
	return true;
}

/* Objects and files are not looked at: their bytes are what they are. */
static bool may_be_untouched(enum memory_kind kind)
{
	enum memory_group group = memory_kind_group(kind);
	return kind > MEMORY_NONGC && group != MEMORY_GROUP_IMAGES && group != MEMORY_GROUP_FILES;
}

/* Counts the pages of zeros and the others. */
static enum hd_status count_zeros(struct memory_making *making, uint64_t start, uint64_t end,
				  struct zeros *ret, struct hd_error *err)
{
	struct memory *memory = making->target->own;
	const uint64_t page = making->space->page_min;
	uint64_t at = page_align(page, start);
	while (at < end && end - at >= page) {
		uint64_t size = 0;
		const uint8_t *bytes = memory_run(memory, at, &size);
		TRY(job_check(making->job, 0, err));
		if (!bytes || size < page) {
			at += page;
			continue;
		}
		size = size < end - at ? size : end - at;
		uint64_t done = 0;
		for (; size - done >= page; done += page)
			*(is_zero_page(bytes + done, page) ? &ret->zeros : &ret->others) += page;
		at += done;
		if (ret->others && ret->is_first_enough)
			return HD_OK;
	}
	return HD_OK;
}

enum hd_status memory_is_zero(struct memory_making *making, uint64_t start, uint64_t end, bool *ret,
			      struct hd_error *err)
{
	struct zeros zeros = { .is_first_enough = true };
	TRY(count_zeros(making, start, end, &zeros, err));
	*ret = !zeros.others;
	return HD_OK;
}

/* The part [start, end) of a mapping, which one row has. */
static enum hd_status count_part(struct counting *counting, const struct memory_mapping *mapping,
				 uint32_t row, uint64_t start, uint64_t end, struct hd_error *err)
{
	struct memory_row *owner = &counting->making->account->rows[row];
	owner->bytes.addresses += end - start;
	if (counting->residency) {
		struct share *share = share_of_row(counting, row);
		TRY_MEMORY(share, err);
		if (counting->residency->has_pages) {
			count_pages(counting, start, end, share);
		} else {
			share->resident += end - start;
			share->swapped += end - start;
		}
		return HD_OK;
	}
	uint64_t captured = mapping->start + mapping->captured;
	if (captured < end)
		end = captured;
	if (start >= end)
		return HD_OK;
	owner->bytes.captured += end - start;
	struct zeros zeros = { 0 };
	if (may_be_untouched(owner->kind) && !counting->making->is_outline)
		TRY(count_zeros(counting->making, start, end, &zeros, err));
	owner->bytes.zeros += zeros.zeros;
	return HD_OK;
}

static enum hd_status count_mapping(struct counting *counting, const struct memory_mapping *mapping,
				    struct hd_error *err)
{
	const struct memory_account *account = counting->making->account;
	counting->shares_count = 0;
	while (counting->stretch < account->stretches_count &&
	       account->stretches[counting->stretch].end <= mapping->start)
		counting->stretch++;
	enum hd_status status = HD_OK;
	for (size_t i = counting->stretch; status == HD_OK && i < account->stretches_count; i++) {
		const struct memory_stretch *stretch = &account->stretches[i];
		if (stretch->start >= mapping->end)
			break;
		uint64_t start = stretch->start > mapping->start ? stretch->start : mapping->start;
		uint64_t end = stretch->end < mapping->end ? stretch->end : mapping->end;
		status = count_part(counting, mapping, stretch->row, start, end, err);
		counting->stretch = i;
	}
	if (status == HD_OK && counting->residency)
		status = divide_mapping(counting, mapping, err);
	for (size_t i = 0; i < counting->shares_count; i++)
		counting->share_of[counting->shares[i].row] = 0;
	return status;
}

enum hd_status memory_count(struct memory_making *making, struct hd_error *err)
{
	struct memory_account *account = making->account;
	struct counting counting = { .making = making, .residency = making->residency };
	TRY(memory_sweep(account->claims, account->claims_count, &account->stretches,
			 &account->stretches_count, err));
	counting.share_of = mem_calloc(account->rows_count, sizeof(*counting.share_of));
	enum hd_status status = counting.share_of ? HD_OK : fail_nomem(err);
	for (size_t i = 0; status == HD_OK && i < account->mappings_count; i++)
		status = count_mapping(&counting, &account->mappings[i], err);
	mem_free(counting.share_of);
	pages_free(counting.shares, counting.shares_capacity, sizeof(*counting.shares));
	for (size_t i = 0; status == HD_OK && i < account->rows_count; i++)
		memory_bytes_add(&account->total, &account->rows[i].bytes);
	return status;
}
