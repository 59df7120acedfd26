/* SPDX-License-Identifier: MIT */
/* Stacks of threads, by their stack pointers and the records of the C library (doc/memory.md 4). */
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/thread_name.h"
#include "native/memory_parts.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/sort.h"
#include "util/text.h"

/*
 * struct pthread, to which FS points: its own address is in its first and third word, and after
 * these bytes come, somewhere, {block, size, guard}: glibc 2.36 has them at 0x690.
 */
#define RECORD_SELF  16u
#define RECORD_FROM  0x200u
#define RECORD_BYTES 0x900u

/* A stack that is kept has its record in its last bytes. */
#define KEPT_BYTES ((size_t)16384)

struct stack {
	uint64_t start, end;
};

struct stacks {
	struct stack *rows; /* of threads */
	size_t rows_count, rows_capacity;
};

static void stacks_deinit(struct stacks *stacks)
{
	pages_free(stacks->rows, stacks->rows_capacity, sizeof(*stacks->rows));
}

/* The block of the thread with the record at @p record; @p sp 0: any place in it. */
static bool read_block(struct memory_making *making, uint64_t record, uint64_t sp,
		       struct stack *ret)
{
	uint8_t bytes[RECORD_BYTES];
	size_t got = memory_prefix(making->memory, record, bytes, sizeof(bytes));
	uint64_t page = making->space->page_min;
	for (size_t at = RECORD_FROM; at + 24 <= got; at += 8) {
		uint64_t block = load_u64(bytes + at), size = load_u64(bytes + at + 8);
		uint64_t guard = load_u64(bytes + at + 16);
		if (block % page || size % page || !block || guard >= size || record < block ||
		    record - block >= size || size > making->space->user_end)
			continue;
		if (sp && (sp < block + guard || sp >= block + size))
			continue;
		*ret = (struct stack){ block + guard, block + size };
		return true;
	}
	return false;
}

/* The managed thread of an operating system's thread. */
static const struct runtime_thread *managed_thread(const struct memory_making *making,
						   const struct target_thread *thread)
{
	uint64_t id = (uint64_t)(thread->inner_tid ? thread->inner_tid : thread->tid);
	return making->heap ? runtime_thread_by_os_id(making->heap->runtime, id) : NULL;
}

static void name_thread(struct memory_making *making, const struct target_thread *thread,
			struct text *text)
{
	const struct runtime_thread *managed = managed_thread(making, thread);
	text_printf(text, "thread %" PRId32, thread->tid);
	if (!managed)
		return;
	text_printf(text, ", managed %" PRIu32, managed->id);
	if (runtime_is_finalizer_thread(making->heap->runtime, managed)) {
		text_printf(text, ", the finalizer");
		return;
	}
	size_t size = text->size;
	text_printf(text, ", \"");
	if (thread_name(making->heap, managed, text)) {
		text_printf(text, "\"");
	} else {
		text->size = size;
	}
}

static enum hd_status thread_rows(struct memory_making *making, const struct target_thread *thread,
				  uint32_t rows[2], struct hd_error *err)
{
	if (making->is_outline) {
		TRY(memory_row_of(making, MEMORY_STACK_USED, NULL, &rows[0], err));
		return memory_row_of(making, MEMORY_STACK_BELOW, NULL, &rows[1], err);
	}
	HD_CLEANUP(text) struct text name = { 0 };
	name_thread(making, thread, &name);
	text_append(&name, "", 1);
	TRY_MEMORY(!name.failed, err);
	TRY(memory_row_of(making, MEMORY_STACK_USED, name.bytes, &rows[0], err));
	return memory_row_of(making, MEMORY_STACK_BELOW, name.bytes, &rows[1], err);
}

static enum hd_status claim_thread(struct memory_making *making, const struct target_thread *thread,
				   struct stacks *stacks, struct hd_error *err)
{
	uint64_t sp = target_thread_sp(making->target, thread);
	uint64_t block = arch_thread_block(making->target->arch, thread->registers);
	struct stack stack;
	const struct memory_mapping *mapping = memory_mapping_at(making->account, sp);
	if (!mapping)
		return HD_OK;
	if (!read_block(making, block, sp, &stack)) {
		/* The first thread has none; or it is another C library. */
		stack = (struct stack){ mapping->start, target_stack_end(making->target, thread, sp,
									 mapping->end) };
	}
	uint32_t rows[2];
	TRY(thread_rows(making, thread, rows, err));
	TRY(memory_claim_for(making, rows[0], page_of(making->space->page_min, sp), stack.end,
			     err));
	TRY(memory_claim_for(making, rows[1], stack.start, page_of(making->space->page_min, sp),
			     err));
	TRY_MEMORY(PAGES_RESERVE(stacks, rows), err);
	stacks->rows[stacks->rows_count++] = stack;
	return HD_OK;
}

ORDER_BY(compare_stacks, struct stack, start)

/* Does a thread have its stack between these addresses? */
static bool has_stack(const struct stacks *stacks, const struct memory_mapping *mapping)
{
	size_t at = ROWS_ABOVE(stacks->rows, stacks->rows_count, end, mapping->start);
	return at < stacks->rows_count && stacks->rows[at].start < mapping->end;
}

/* glibc keeps stacks of threads that have ended: their record is still there. */
static enum hd_status claim_kept(struct memory_making *making, const struct memory_mapping *mapping,
				 struct hd_error *err)
{
	uint8_t bytes[KEPT_BYTES];
	uint64_t from = mapping->end - KEPT_BYTES;
	if (!memory_read(making->memory, from, bytes, sizeof(bytes)))
		return HD_OK;
	for (size_t at = 0; at + RECORD_SELF + 8 <= sizeof(bytes); at += 64) {
		struct stack stack;
		if (load_u64(bytes + at) != from + at ||
		    load_u64(bytes + at + RECORD_SELF) != from + at ||
		    !read_block(making, from + at, 0, &stack) || stack.end != mapping->end)
			continue;
		return memory_claim_kind(making, MEMORY_STACK_KEPT, stack.start, stack.end, err);
	}
	return HD_OK;
}

/* Writable memory of that size after a page that cannot be read. */
static bool is_for_signals(const struct memory_making *making, size_t index)
{
	const struct memory_account *account = making->account;
	const struct address_space *space = &making->target->arch->space;
	const struct memory_mapping *mapping = &account->mappings[index];
	if (!index || mapping->end - mapping->start != space->signal_stack)
		return false;
	const struct memory_mapping *guard = mapping - 1;
	return guard->end == mapping->start && guard->end - guard->start == space->page_min &&
	       !(guard->flags & (PF_R | PF_W | PF_X)) && !*guard->path;
}

static enum hd_status claim_others(struct memory_making *making, const struct stacks *stacks,
				   struct hd_error *err)
{
	const struct memory_account *account = making->account;
	for (size_t i = 0; i < account->mappings_count; i++) {
		const struct memory_mapping *mapping = &account->mappings[i];
		if (*mapping->path || mapping->is_shared ||
		    (mapping->flags & (PF_R | PF_W | PF_X)) != (PF_R | PF_W))
			continue;
		if (is_for_signals(making, i)) {
			TRY(memory_claim_kind(making, MEMORY_STACK_SIGNAL, mapping->start,
					      mapping->end, err));
		} else if (mapping->end - mapping->start >= 4 * KEPT_BYTES &&
			   (!account->is_live || mapping->rss) && !has_stack(stacks, mapping)) {
			TRY(claim_kept(making, mapping, err));
		}
	}
	return HD_OK;
}

enum hd_status memory_claim_stacks(struct memory_making *making, struct hd_error *err)
{
	HD_CLEANUP(stacks) struct stacks stacks = { 0 };
	const struct target_threads *threads = &making->target->threads;
	for (size_t i = 0; i < threads->count; i++)
		TRY(claim_thread(making, &threads->rows[i], &stacks, err));
	if (stacks.rows_count)
		qsort(stacks.rows, stacks.rows_count, sizeof(*stacks.rows), compare_stacks);
	return making->is_outline ? HD_OK : claim_others(making, &stacks, err);
}
