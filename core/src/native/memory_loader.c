/* SPDX-License-Identifier: MIT */
/* Claims the runtime's memory for what it loads and compiles, by context (doc/memory.md 3). */
#include "native/memory_parts.h"
#include "runtime/coreclr/loader/loader_heaps.h"
#include "util/text.h"

static enum hd_status context_row(struct memory_making *making, enum memory_kind kind,
				  const struct loader_allocator *allocator, const char *heap,
				  uint32_t *ret, struct hd_error *err)
{
	HD_CLEANUP(text) struct text name = { 0 };
	loader_allocator_name(allocator, &name);
	if (heap)
		text_printf(&name, ", %s", heap);
	text_append(&name, "", 1);
	enum hd_status status =
		name.failed ? fail_nomem(err) : memory_row_of(making, kind, name.bytes, ret, err);
	return status;
}

static enum hd_status claim_heaps(struct memory_making *making, const struct loader_heaps *heaps,
				  struct hd_error *err)
{
	for (size_t i = 0; i < heaps->heaps_count; i++) {
		const struct loader_heap *heap = &heaps->heaps[i];
		uint32_t row;
		TRY(context_row(making, MEMORY_LOADER_HEAP, &heaps->allocators[heap->allocator],
				heap->name, &row, err));
		for (size_t j = heap->block; j < heap->block + heap->count; j++) {
			TRY(memory_claim_for(making, row, heaps->blocks[j].start,
					     heaps->blocks[j].end, err));
		}
	}
	return HD_OK;
}

enum hd_status memory_claim_loader(struct memory_making *making, struct hd_error *err)
{
	HD_CLEANUP(loader_heaps) struct loader_heaps heaps = { 0 };
	TRY(loader_heaps_read(making->heap->runtime, making->job, &heaps, err));
	making->account->is_partial |= heaps.is_partial;
	TRY(claim_heaps(making, &heaps, err));
	for (size_t i = 0; i < heaps.codes_count; i++) {
		const struct code_heap *code = &heaps.codes[i];
		uint32_t row;
		if (code->kind == CODE_HEAP_STUBS) {
			TRY(memory_claim_kind(making, MEMORY_STUBS, code->start, code->end, err));
			continue;
		}
		TRY(context_row(making, MEMORY_CODE_HEAP,
				loader_allocator_at(&heaps, code->allocator), NULL, &row, err));
		TRY(memory_claim_for(making, row, code->start, code->end, err));
	}
	return HD_OK;
}
