/* SPDX-License-Identifier: MIT */
/* Decides which native memory of a process is copied, if there is much that no answer needs. */
#include <elf.h>
#include <inttypes.h>

#include "targets/process/host_page.h"
#include "targets/process/process_plan.h"
#include "util/alloc.h"
#include "util/sort.h"

/* If there is not more than this, all is copied. */
#define LEFT_MIN ((uint64_t)16 << 20)

/*
 * The runtime reserves one range of addresses and uses it for what it compiles and loads, in pieces
 * of 64 kB to some MB that alternate with executable ones and the images of modules; malloc() maps
 * larger pieces outside of it.
 */
#define NEIGHBOUR_MAX ((uint64_t)4 << 20)
#define HOLE_MAX      ((uint64_t)1 << 20) /* the unused end of an image's last 64 kB, or a similar gap */
#define AROUND_MAX    ((uint64_t)1 << 30)

/* Bytes of the thread-local variables in front of a control block, and of the block. */
#define BLOCK_PART host_page()

/*
 * Most bytes of a stack that does not belong to a thread of the C library: the mapping may go on
 * with something else.
 */
#define STACK_MAX ((uint64_t)8 << 20)

/* The first range of @p kept that ends above @p address. */
static size_t kept_from(const struct page_list *kept, uint64_t address)
{
	return ROWS_ABOVE(kept->rows, kept->rows_count, end, address);
}

/* Bytes of [@p start, @p end) that are in @p kept. */
static uint64_t kept_bytes(const struct page_list *kept, uint64_t start, uint64_t end)
{
	uint64_t bytes = 0;
	for (size_t i = kept_from(kept, start); i < kept->rows_count && kept->rows[i].start < end;
	     i++) {
		const struct page_range *row = &kept->rows[i];
		bytes += (row->end < end ? row->end : end) -
			 (row->start > start ? row->start : start);
	}
	return bytes;
}

static uint64_t bytes_to_leave(const struct process_copy *copy, const struct page_list *kept)
{
	uint64_t left = 0;
	for (size_t i = 0; i < copy->pieces_count; i++) {
		const struct copy_piece *piece = &copy->pieces[i];
		uint64_t end = piece->address + piece->size;
		if (piece->is_native)
			left += piece->size - kept_bytes(kept, piece->address, end);
	}
	return left;
}

/* New extents and pieces, which replace those of a plan. */
struct lean {
	struct copy_extent *extents;
	size_t extents_count, extents_capacity;
	struct copy_piece *pieces;
	size_t pieces_count, pieces_capacity;
	uint64_t size, left;
};

static bool put_extent(struct lean *lean, const struct copy_extent *from, uint64_t start,
		       uint64_t end, size_t source)
{
	if (start >= end)
		return true;
	if (!PAGES_RESERVE(lean, extents))
		return false;
	struct copy_extent *extent = &lean->extents[lean->extents_count++];
	*extent = *from;
	extent->start = start;
	extent->end = end;
	extent->source = source;
	lean->left += source == SOURCE_LEFT ? end - start : 0;
	return true;
}

/* The same of what is copied. */
static bool put_piece(struct lean *lean, const struct copy_extent *from,
		      const struct copy_piece *piece, uint64_t start, uint64_t end)
{
	if (start >= end)
		return true;
	if (!PAGES_RESERVE(lean, pieces) || !put_extent(lean, from, start, end, SOURCE_COPY))
		return false;
	struct copy_piece *row = &lean->pieces[lean->pieces_count++];
	row->address = start;
	row->size = end - start;
	row->offset = lean->size;
	row->extent = lean->extents_count - 1;
	row->is_file = piece->is_file;
	row->is_native = piece->is_native;
	atomic_store(&row->good, row->size);
	lean->extents[row->extent].offset = lean->size;
	lean->size += row->size;
	return true;
}

/* Keep the needed parts of one native extent. */
static bool split_native_extent(struct lean *lean, const struct copy_extent *extent,
				const struct copy_piece *piece, const struct page_list *kept)
{
	uint64_t at = extent->start;
	bool good = true;
	for (size_t i = kept_from(kept, at);
	     good && i < kept->rows_count && kept->rows[i].start < extent->end; i++) {
		const struct page_range *row = &kept->rows[i];
		uint64_t start = row->start > at ? row->start : at;
		uint64_t end = row->end < extent->end ? row->end : extent->end;
		good = put_extent(lean, extent, at, start, SOURCE_LEFT) &&
		       put_piece(lean, extent, piece, start, end);
		at = end;
	}
	return good && put_extent(lean, extent, at, extent->end, SOURCE_LEFT);
}

enum hd_status process_copy_leave_out(struct process_copy *copy, const struct page_list *kept,
				      struct hd_error *err)
{
	struct lean lean = { 0 };
	bool good = true;
	size_t next = 0;
	if (bytes_to_leave(copy, kept) < LEFT_MIN)
		return HD_OK;
	for (size_t i = 0; good && i < copy->extents_count; i++) {
		const struct copy_extent *extent = &copy->extents[i];
		if (extent->source != SOURCE_COPY) {
			good = put_extent(&lean, extent, extent->start, extent->end,
					  extent->source);
			continue;
		}
		/* Each extent that is copied has one piece, in the same order. */
		const struct copy_piece *piece = &copy->pieces[next++];
		good = piece->is_native
			       ? split_native_extent(&lean, extent, piece, kept)
			       : put_piece(&lean, extent, piece, extent->start, extent->end);
	}
	if (!good) {
		pages_free(lean.extents, lean.extents_capacity, sizeof(*lean.extents));
		pages_free(lean.pieces, lean.pieces_capacity, sizeof(*lean.pieces));
		return fail_nomem(err);
	}
	pages_free(copy->extents, copy->extents_capacity, sizeof(*copy->extents));
	pages_free(copy->pieces, copy->pieces_capacity, sizeof(*copy->pieces));
	copy->extents = lean.extents;
	copy->extents_count = lean.extents_count;
	copy->extents_capacity = lean.extents_capacity;
	copy->pieces = lean.pieces;
	copy->pieces_count = lean.pieces_count;
	copy->pieces_capacity = lean.pieces_capacity;
	copy->size = lean.size;
	copy->left = lean.left;
	return HD_OK;
}

/* Index of the mapping that holds @p address, or of none. */
static size_t index_at(const struct proc_maps *maps, uint64_t address)
{
	size_t low = ROWS_ABOVE(maps->rows, maps->rows_count, end, address);
	return low < maps->rows_count && maps->rows[low].start <= address ? low : maps->rows_count;
}

/* The mapping that holds @p address, or NULL. */
static const struct proc_map *map_at(const struct proc_maps *maps, uint64_t address)
{
	size_t index = index_at(maps, address);
	return index < maps->rows_count ? &maps->rows[index] : NULL;
}

/* Does mapping @p other, a neighbour of @p index, seem to be of the same kind? */
static bool goes_on(const struct proc_maps *maps, size_t index, size_t other)
{
	const struct proc_map *map = &maps->rows[index], *next = &maps->rows[other];
	bool is_large = next->path[0] == '\0' && (next->flags & PF_W) &&
			next->end - next->start > NEIGHBOUR_MAX;
	uint64_t hole = index < other ? next->start - map->end : map->start - next->end;
	return hole <= HOLE_MAX && !next->is_shared && next->path[0] != '[' && !is_large;
}

void process_copy_around(const struct proc_maps *maps, uint64_t address, struct page_list *ret)
{
	size_t first = index_at(maps, address), last = first;
	if (first == maps->rows_count)
		return;
	while (first && goes_on(maps, first, first - 1))
		first--;
	while (last + 1 < maps->rows_count && goes_on(maps, last, last + 1))
		last++;
	uint64_t start = maps->rows[first].start, end = maps->rows[last].end;
	if (address - start > AROUND_MAX)
		start = address - AROUND_MAX;
	if (end - address > AROUND_MAX)
		end = address + AROUND_MAX;
	page_list_add(ret, start, end - start);
}

void process_copy_stacks(const struct proc_maps *maps, const struct target *target,
			 struct page_list *ret)
{
	uint64_t red_zone = target->arch->space.red_zone;
	for (size_t i = 0; i < target->threads.count; i++) {
		const struct target_thread *thread = &target->threads.rows[i];
		uint64_t sp = target_thread_sp(target, thread);
		uint64_t block = arch_thread_block(target->arch, thread->registers);
		const struct proc_map *map = map_at(maps, sp);
		if (map_at(maps, block))
			page_list_add(ret, block - BLOCK_PART, 2 * BLOCK_PART);
		if (!map)
			continue;
		uint64_t start = sp - map->start < red_zone ? map->start : sp - red_zone;
		uint64_t end = target_stack_end(target, thread, sp, map->end);
		if (end == map->end && end - start > STACK_MAX)
			end = start + STACK_MAX;
		page_list_add(ret, start, end - start);
	}
}

uint64_t process_copy_left(const struct process_copy *copy)
{
	return copy->left;
}

void process_copy_find_missed(struct target *target)
{
	struct process_copy *copy = target->process.copy;
	(void)pthread_mutex_lock(&copy->lock);
	size_t count = copy->missed.rows_count;
	uint64_t first = count ? copy->missed.rows[0].start : 0;
	(void)pthread_mutex_unlock(&copy->lock);
	if (!count || findings_has(&target->findings, FINDING_MISSING_NATIVE))
		return;
	findings_add(
		&target->findings, FINDING_MISSING_NATIVE, NULL,
		"native memory that was to be read was not copied (the first page at 0x%" PRIx64
		"): an answer may lack something",
		first);
}

const struct page_list *process_copy_missed(struct process_copy *copy)
{
	page_list_sort(&copy->missed);
	return &copy->missed;
}
