/* SPDX-License-Identifier: MIT */
/* musl's malloc: src/malloc/mallocng/meta.h and malloc.c of 1.2.1 to 1.2.5 (doc/memory.md 5.3). */
#include "native/musl_malloc.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/job.h"
#include "util/sort.h"

/* struct malloc_context */
#define CONTEXT_SIZE      928u
#define CONTEXT_INIT_DONE 8u
#define CONTEXT_AREA_HEAD 56u
#define CONTEXT_AREA_TAIL 64u

/* struct meta_area, a page; its struct metas follow. */
#define AREA_SIZE  4096u
#define AREA_NEXT  8u
#define AREA_SLOTS 16u
#define AREA_METAS 24u
#define METAS_MAX  ((AREA_SIZE - AREA_METAS) / META_SIZE)

/* struct meta */
#define META_MEM   16u
#define META_AVAIL 24u
#define META_FREED 28u
#define META_BITS  32u
#define META_SIZE  40u

#define UNIT         16u /* all sizes are multiples of it; a group begins with as much */
#define CLASS_MAPPED 63u /* of a piece that was mapped on its own */
#define PAGE         ((uint64_t)4096)

/* size_classes[], in units. */
static const uint16_t unit_counts[48] = {
	1,   2,   3,   4,    5,    6,    7,    8,    9,    10,   12,   15,   18,   20,   25,   31,
	36,  42,  50,  63,   72,   84,   102,  127,  146,  170,  204,  255,  292,  340,  409,  511,
	584, 682, 818, 1023, 1169, 1364, 1637, 2047, 2340, 2730, 3276, 4095, 4680, 5460, 6552, 8191,
};

/* Pieces of one size that lie one after the other. */
struct musl_group {
	uint64_t start;  /* of its head; the first piece comes after it */
	uint64_t stride; /* of a piece */
	uint64_t pages;  /* bytes that were mapped for it; 0: it lies in a piece of another group */
	uint32_t free;   /* a bit for each piece */
	uint32_t count;
	bool is_mapped; /* its piece was mapped on its own */
};

struct musl_groups {
	struct musl_group *rows; /* pages */
	size_t rows_count, rows_capacity;
};

static bool is_context(struct memory *memory, const uint8_t *at)
{
	uint64_t secret = load_u64(at), head = load_u64(at + CONTEXT_AREA_HEAD);
	uint64_t tail = load_u64(at + CONTEXT_AREA_TAIL), check = 0;
	return secret && load_u32(at + CONTEXT_INIT_DONE) == 1 && head && head % PAGE == 0 &&
	       tail && tail % PAGE == 0 && memory_u64(memory, head, &check) && check == secret &&
	       memory_u64(memory, tail, &check) && check == secret;
}

uint64_t musl_malloc_find(struct memory *memory, uint64_t start, const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at + CONTEXT_SIZE <= size; at += 8) {
		if (is_context(memory, bytes + at))
			return start + at;
	}
	return 0;
}

/* A record of an area; false: it is not in use, or impossible. */
static bool read_group(struct memory *memory, uint64_t address, const uint8_t *meta,
		       struct musl_group *ret)
{
	uint64_t bits = load_u64(meta + META_BITS), mem = load_u64(meta + META_MEM), back = 0;
	uint32_t last = bits & 31, size_class = (uint32_t)(bits >> 6 & 63);
	uint64_t pages = (bits >> 12) * PAGE, size;
	/* The group leads back to its record. */
	if (!mem || mem % UNIT != 0 || pages / PAGE != bits >> 12 ||
	    !memory_u64(memory, mem, &back) || back != address)
		return false;
	*ret = (struct musl_group){
		.start = mem,
		.pages = pages,
		.free = load_u32(meta + META_AVAIL) | load_u32(meta + META_FREED),
		.count = last + 1,
		.is_mapped = size_class == CLASS_MAPPED,
	};
	if (!last && pages) {
		ret->stride = pages - UNIT;
	} else if (size_class < sizeof(unit_counts) / sizeof(unit_counts[0])) {
		ret->stride = (uint64_t)unit_counts[size_class] * UNIT;
	} else {
		return false;
	}
	size = UNIT + ret->stride * ret->count;
	return (!pages || size <= pages) && mem + size > mem && mem + pages >= mem;
}

static enum hd_status read_area(struct musl_walk *walk, uint64_t address, uint64_t secret,
				uint64_t *ret_next, struct musl_groups *groups,
				struct hd_error *err)
{
	uint8_t bytes[AREA_SIZE];
	*ret_next = 0;
	if (address % PAGE != 0 || !memory_read(walk->memory, address, bytes, sizeof(bytes)) ||
	    load_u64(bytes) != secret || load_u32(bytes + AREA_SLOTS) > METAS_MAX) {
		walk->is_damaged = true;
		return HD_OK;
	}
	TRY(walk->found(walk->arg, MALLOC_RECORDS, address, address + AREA_SIZE, err));
	TRY(job_check_memory(walk->job, 2 * groups->rows_capacity * sizeof(*groups->rows), err));
	for (uint32_t i = 0; i < load_u32(bytes + AREA_SLOTS); i++) {
		uint32_t offset = AREA_METAS + i * META_SIZE;
		struct musl_group group;
		if (!read_group(walk->memory, address + offset, bytes + offset, &group))
			continue;
		TRY_MEMORY(PAGES_RESERVE(groups, rows), err);
		groups->rows[groups->rows_count++] = group;
	}
	*ret_next = load_u64(bytes + AREA_NEXT);
	return HD_OK;
}

static enum hd_status read_groups(struct musl_walk *walk, uint64_t context,
				  struct musl_groups *groups, struct hd_error *err)
{
	uint64_t secret = 0, area = 0;
	if (!memory_u64(walk->memory, context, &secret) ||
	    !memory_u64(walk->memory, context + CONTEXT_AREA_HEAD, &area))
		return HD_OK;
	for (uint32_t i = 0; area; i++) {
		if (walk->budget < AREA_SIZE) {
			walk->is_damaged = true;
			break;
		}
		walk->budget -= AREA_SIZE;
		TRY(read_area(walk, area, secret, &area, groups, err));
		if (i % 64 == 0 && !job_step(walk->job, 0, 0))
			return fail_cancelled(err);
	}
	return HD_OK;
}

ORDER_BY2(compare_groups, struct musl_group, start, pages)

/* Does another group lie in the piece at @p start?  Then the piece is counted there. */
static bool has_group(const struct musl_groups *groups, uint64_t start)
{
	size_t at = ROWS_FROM(groups->rows, groups->rows_count, start, start);
	return at < groups->rows_count && groups->rows[at].start == start &&
	       !groups->rows[at].pages;
}

/* A stretch of pieces in one state. */
struct stretch {
	enum malloc_part part;
	uint64_t start, end;
};

static enum hd_status add_stretch(struct musl_walk *walk, struct stretch *last,
				  enum malloc_part part, uint64_t start, uint64_t end,
				  struct hd_error *err)
{
	if (last->part == part && last->end == start) {
		last->end = end;
		return HD_OK;
	}
	if (last->start < last->end)
		TRY(walk->found(walk->arg, last->part, last->start, last->end, err));
	*last = (struct stretch){ part, start, end };
	return HD_OK;
}

static enum hd_status walk_group(struct musl_walk *walk, const struct musl_groups *groups,
				 const struct musl_group *group, struct hd_error *err)
{
	struct stretch last = { .part = MALLOC_RECORDS,
				.start = group->start,
				.end = group->start + UNIT };
	if (group->is_mapped) {
		walk->mapped_count++;
		walk->mapped_bytes += group->pages;
		malloc_class_add(walk->classes, group->pages, true);
		return walk->found(walk->arg, MALLOC_MAPPED, group->start,
				   group->start + group->pages, err);
	}
	for (uint32_t i = 0; i < group->count; i++) {
		uint64_t start = group->start + UNIT + i * group->stride;
		bool is_free = group->free >> i & 1;
		if (!is_free && has_group(groups, start))
			continue;
		malloc_class_add(walk->classes, group->stride, !is_free);
		TRY(add_stretch(walk, &last, is_free ? MALLOC_FREE : MALLOC_USED, start,
				start + group->stride, err));
	}
	/* The rest of its pages is too small for a piece. */
	uint64_t end = group->start + UNIT + group->count * group->stride;
	if (end < group->start + group->pages) {
		TRY(add_stretch(walk, &last, MALLOC_RECORDS, end, group->start + group->pages,
				err));
	}
	return walk->found(walk->arg, last.part, last.start, last.end, err);
}

enum hd_status musl_malloc_walk(struct musl_walk *walk, uint64_t context, struct hd_error *err)
{
	struct musl_groups groups = { 0 };
	enum hd_status status = read_groups(walk, context, &groups, err);
	if (groups.rows_count)
		qsort(groups.rows, groups.rows_count, sizeof(*groups.rows), compare_groups);
	for (size_t i = 0; status == HD_OK && i < groups.rows_count; i++) {
		status = walk_group(walk, &groups, &groups.rows[i], err);
		if (status == HD_OK && i % JOB_STRIDE == 0 && !job_step(walk->job, 0, 0))
			status = fail_cancelled(err);
	}
	pages_free(groups.rows, groups.rows_capacity, sizeof(*groups.rows));
	return status;
}
