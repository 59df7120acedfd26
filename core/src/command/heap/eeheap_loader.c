/* SPDX-License-Identifier: MIT */
/* eeheap -loader and -jit: the runtime's heaps outside of the GC heap (doc/memory.md 3). */
#include "command/heap/eeheap_loader.h"

#include <inttypes.h>
#include <stdio.h>

#include "command/heap/heap_call.h"
#include "runtime/coreclr/loader/loader_heaps.h"
#include "targets/target.h"
#include "util/text.h"

struct native_sizes {
	uint64_t committed, wasted;
};

/* A part of such a heap, and how much of it has memory. */
struct native_block {
	uint64_t start, reserved, committed;
	bool is_current; /* the heap will still take memory from it */
};

#define BLOCK_LIST(X)                                                                              \
	X(BLOCK_ALLOCATOR, "allocator", NULL, KIND_ADDRESS, 0, 0, "its LoaderAllocator")           \
	X(BLOCK_CONTEXT, "context", NULL, KIND_TEXT, 0, 0,                                         \
	  "global, or the first module of what can be unloaded together")                          \
	X(BLOCK_KIND, "kind", NULL, KIND_TEXT, 0, 0, "LowFrequencyHeap, StubHeap, ...")            \
	X(BLOCK_START, "start", NULL, KIND_ADDRESS, 0, 0, "where the block begins")                \
	X(BLOCK_RESERVED, "reserved", NULL, KIND_BYTES, 0, 0, "bytes of its addresses")            \
	X(BLOCK_COMMITTED, "committed", NULL, KIND_BYTES, 0, 0, "bytes of these that can be read") \
	X(BLOCK_IS_CURRENT, "is_current", NULL, KIND_FLAG, 0, 0,                                   \
	  "does the heap still take memory from it?")

COLUMNS(block, BLOCK_COLUMNS, BLOCK_LIST);

SCHEMA(block, .name = "loader_blocks", .is_main = true);

#define JIT_LIST(X)                                                                              \
	X(JIT_MANAGER, "manager", NULL, KIND_ADDRESS, 0, 0, "the JIT manager that has it")       \
	X(JIT_KIND, "kind", NULL, KIND_TEXT, 0, 0,                                               \
	  "LoaderCodeHeap, or of dynamic methods HostCodeHeap")                                  \
	X(JIT_START, "start", NULL, KIND_ADDRESS, 0, 0, "where it begins")                       \
	X(JIT_RESERVED, "reserved", NULL, KIND_BYTES, 0, 0, "bytes of its addresses")            \
	X(JIT_COMMITTED, "committed", NULL, KIND_BYTES, 0, 0, "bytes of these that can be read") \
	X(JIT_USED, "used", NULL, KIND_BYTES, 0, 0, "bytes up to the end of the code")           \
	X(JIT_ALLOCATOR, "allocator", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                     \
	  "its LoaderAllocator; left out if it cannot be told")                                  \
	X(JIT_CONTEXT, "context", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                            \
	  "global, or the first module of what can be unloaded together")

COLUMNS(jit, JIT_COLUMNS, JIT_LIST);

SCHEMA(jit, .name = "code_heaps", .is_main = true);

static const struct column size_columns[] = {
	{ "loader_committed", NULL, KIND_BYTES, 0, LOOK_LEAVE_OUT,
	  "bytes of loader heaps that can be read" },
	{ "loader_wasted", NULL, KIND_BYTES, 0, LOOK_LEAVE_OUT,
	  "bytes of their addresses that will never be used: the heap has gone on to another block" },
	{ "code_committed", NULL, KIND_BYTES, 0, 0, "bytes of heaps for code that can be read" },
	{ "complete", NULL, KIND_FLAG, 0, 0, "could all these heaps be read?" },
};

static const struct schema size_schema = { SCHEMA_COLUMNS(size_columns) };

static struct native_block native_block(const struct call *call, uint64_t start, uint64_t end)
{
	const struct target_map *map = &call->session->target->map;
	return (struct native_block){
		.start = start,
		.reserved = end - start,
		.committed = target_readable_bytes(map, start, end),
	};
}

static struct native_block loader_block_at(const struct call *call,
					   const struct loader_heaps *heaps,
					   const struct loader_heap *heap, size_t index)
{
	const struct loader_block *block = &heaps->blocks[heap->block + index];
	struct native_block native = native_block(call, block->start, block->end);
	native.is_current = !index;
	return native;
}

static void add_block(struct native_sizes *sizes, const struct native_block *block)
{
	sizes->committed += block->committed;
	if (!block->is_current)
		sizes->wasted += block->reserved - block->committed;
}

/* "Size: 0x1000 (4096) bytes total, 0x10 (16) bytes wasted" */
static void write_sizes(struct answer *answer, const struct native_sizes *sizes)
{
	answer_remark(answer, "Size: 0x%" PRIx64 " (%" PRIu64 ") bytes total", sizes->committed,
		      sizes->committed);
	if (sizes->wasted) {
		answer_remark(answer, ", 0x%" PRIx64 " (%" PRIu64 ") bytes wasted", sizes->wasted,
			      sizes->wasted);
	}
	answer_remark(answer, ".\n");
}

static void write_label(struct answer *answer, const char *name)
{
	char label[64];
	(void)snprintf(label, sizeof(label), "%s:", name);
	answer_remark(answer, "%-21s ", label);
}

static void write_block(struct answer *answer, const struct native_block *block)
{
	answer_remark(answer, "%012" PRIx64 "(%" PRIx64 ":%" PRIx64 ") ", block->start,
		      block->reserved, block->committed);
}

static void write_rule(struct answer *answer)
{
	answer_remark(answer, "----------------------------------------\n");
}

/* Text: one line of a heap, with all its blocks. */
static struct native_sizes write_heap_line(struct call *call, const struct loader_heaps *heaps,
					   const struct loader_heap *heap)
{
	struct native_sizes sizes = { 0 };
	write_label(&call->answer, heap->name);
	for (size_t i = 0; i < heap->count && !answer_is_stopped(&call->answer); i++) {
		struct native_block block = loader_block_at(call, heaps, heap, i);
		write_block(&call->answer, &block);
		add_block(&sizes, &block);
	}
	write_sizes(&call->answer, &sizes);
	return sizes;
}

static void write_total_line(struct call *call, const struct native_sizes *sizes)
{
	write_label(&call->answer, "Total size");
	write_sizes(&call->answer, sizes);
	write_rule(&call->answer);
}

static void write_context(struct call *call, const struct loader_allocator *allocator)
{
	HD_CLEANUP(text) struct text name = { 0 };
	loader_allocator_name(allocator, &name);
	write_label(&call->answer, "LoaderAllocator");
	answer_remark(&call->answer, "%012" PRIx64 " ", allocator->address);
	answer_remark(&call->answer, "%.*s\n", (int)name.size, name.bytes ? name.bytes : "");
}

/* Text: the heaps of each LoaderAllocator. */
static void write_loader_lines(struct call *call, const struct loader_heaps *heaps)
{
	size_t at = 0;
	answer_remark(&call->answer, "Loader Heap:\n");
	write_rule(&call->answer);
	for (size_t i = 0; i < heaps->allocators_count && !answer_is_stopped(&call->answer); i++) {
		struct native_sizes sizes = { 0 };
		write_context(call, &heaps->allocators[i]);
		for (; at < heaps->heaps_count && heaps->heaps[at].allocator == i; at++) {
			struct native_sizes own = write_heap_line(call, heaps, &heaps->heaps[at]);
			sizes.committed += own.committed;
			sizes.wasted += own.wasted;
		}
		write_total_line(call, &sizes);
	}
}

/* Data: the blocks of all heaps. */
static struct native_sizes write_loader_blocks(struct call *call, const struct loader_heaps *heaps)
{
	struct native_sizes sizes = { 0 };
	answer_table(&call->answer, &block_schema, NULL);
	for (size_t i = 0; i < heaps->heaps_count; i++) {
		const struct loader_heap *heap = &heaps->heaps[i];
		const struct loader_allocator *allocator = &heaps->allocators[heap->allocator];
		struct text name = { 0 };
		loader_allocator_name(allocator, &name);
		for (size_t j = 0; j < heap->count && !answer_is_stopped(&call->answer); j++) {
			struct native_block block = loader_block_at(call, heaps, heap, j);
			const struct cell cells[BLOCK_COLUMNS] = {
				[BLOCK_ALLOCATOR] = cell_number(allocator->address),
				[BLOCK_CONTEXT] = cell_text(name.bytes, name.size),
				[BLOCK_KIND] = cell_string(heap->name),
				[BLOCK_START] = cell_number(block.start),
				[BLOCK_RESERVED] = cell_number(block.reserved),
				[BLOCK_COMMITTED] = cell_number(block.committed),
				[BLOCK_IS_CURRENT] = cell_flag(block.is_current),
			};
			add_block(&sizes, &block);
			answer_row(&call->answer, cells);
		}
		text_deinit(&name);
	}
	(void)answer_table_end(&call->answer);
	return sizes;
}

static void write_code_row(struct call *call, const struct loader_heaps *heaps,
			   const struct code_heap *code, const struct native_block *block)
{
	const struct loader_allocator *allocator = loader_allocator_at(heaps, code->allocator);
	HD_CLEANUP(text) struct text name = { 0 };
	struct cell cells[JIT_COLUMNS] = {
		[JIT_MANAGER] = cell_number(code->manager),
		[JIT_KIND] = cell_string(code_heap_name(code->kind)),
		[JIT_START] = cell_number(block->start),
		[JIT_RESERVED] = cell_number(block->reserved),
		[JIT_COMMITTED] = cell_number(block->committed),
		[JIT_USED] = cell_number(code->used - code->start),
	};
	if (allocator) {
		loader_allocator_name(allocator, &name);
		cells[JIT_ALLOCATOR] = cell_number(allocator->address);
		cells[JIT_CONTEXT] = cell_text(name.bytes, name.size);
	}
	answer_row(&call->answer, cells);
}

/* As data a table; as text the lines of each JIT manager. */
static struct native_sizes write_codes(struct call *call, const struct loader_heaps *heaps)
{
	struct native_sizes all = { 0 };
	uint64_t manager = 0;
	bool is_text = answer_is_text(&call->answer);
	if (!is_text)
		answer_table(&call->answer, &jit_schema, NULL);
	for (size_t i = 0; i < heaps->codes_count && !answer_is_stopped(&call->answer); i++) {
		const struct code_heap *code = &heaps->codes[i];
		struct native_block block = native_block(call, code->start, code->end);
		if (code->kind == CODE_HEAP_STUBS)
			continue;
		all.committed += block.committed;
		if (!is_text) {
			write_code_row(call, heaps, code, &block);
			continue;
		}
		if (code->manager != manager) {
			write_label(&call->answer, "JIT Manager");
			answer_remark(&call->answer, "%012" PRIx64 "\n", code->manager);
			manager = code->manager;
		}
		write_label(&call->answer, code_heap_name(code->kind));
		write_block(&call->answer, &block);
		write_sizes(&call->answer, &(const struct native_sizes){ block.committed, 0 });
	}
	if (is_text) {
		write_total_line(call, &all);
	} else {
		(void)answer_table_end(&call->answer);
	}
	return all;
}

enum hd_status eeheap_write_loader(struct call *call, bool has_loader)
{
	HD_CLEANUP(loader_heaps) struct loader_heaps heaps = { 0 };
	struct native_sizes loader = { 0 };
	bool is_text = answer_is_text(&call->answer);
	TRY(loader_heaps_read(call->heap->runtime, &call->job, &heaps, call->err));
	if (has_loader && is_text) {
		write_loader_lines(call, &heaps);
	} else if (has_loader) {
		loader = write_loader_blocks(call, &heaps);
	}
	struct native_sizes code = write_codes(call, &heaps);
	if (!is_text) {
		const struct cell none = { 0 };
		const struct cell cells[] = {
			has_loader ? cell_number(loader.committed) : none,
			has_loader ? cell_number(loader.wasted) : none,
			cell_number(code.committed),
			cell_flag(!heaps.is_partial),
		};
		answer_record(&call->answer, &size_schema, cells);
	} else if (heaps.is_partial) {
		answer_remark(&call->answer, "Incomplete: not all of these heaps could be read.\n");
	}
	return HD_OK;
}
