/* SPDX-License-Identifier: MIT */
/* What the runtime has for what it loads and compiles, by context (doc/memory.md 3). */
#include <stdio.h>

#include "analysis/memory/memory_parts.h"
#include "clr/loader/loader_heaps.h"
#include "clr/modules/module.h"
#include "util/sort.h"
#include "util/text.h"

/* "global", or the first module of what can be unloaded. */
static void name_context(const struct loader_allocator *allocator, struct text *text)
{
	const struct module *module = allocator ? allocator->module : NULL;
	if (allocator && allocator->is_global) {
		text_printf(text, "global");
	} else if (module && module->name) {
		text_printf(text, "collectible, of %s", module->name);
	} else {
		text_printf(text, "collectible");
	}
}

static const struct loader_allocator *allocator_at(const struct loader_heaps *heaps,
						   uint64_t address)
{
	const struct loader_allocator *rows = heaps->allocators;
	size_t count = heaps->allocators_count;
	if (count && rows->is_global) {
		if (rows->address == address)
			return rows;
		rows++;
		count--;
	}
	size_t at = ROWS_FROM(rows, count, address, address);
	return at < count && rows[at].address == address ? &rows[at] : NULL;
}

static enum hd_status context_row(struct memory_making *making, enum memory_kind kind,
				  const struct loader_allocator *allocator, const char *heap,
				  uint32_t *ret, struct hd_error *err)
{
	struct text name = { 0 };
	name_context(allocator, &name);
	if (heap)
		text_printf(&name, ", %s", heap);
	text_append(&name, "", 1);
	enum hd_status status =
		name.failed ? fail_nomem(err) : memory_row_of(making, kind, name.bytes, ret, err);
	text_deinit(&name);
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

static enum hd_status claim_codes(struct memory_making *making, const struct loader_heaps *heaps,
				  struct hd_error *err)
{
	for (size_t i = 0; i < heaps->codes_count; i++) {
		const struct code_heap *code = &heaps->codes[i];
		uint32_t row;
		if (code->is_stubs) {
			TRY(memory_claim_kind(making, MEMORY_STUBS, code->start, code->end, err));
			continue;
		}
		TRY(context_row(making, MEMORY_CODE_HEAP, allocator_at(heaps, code->allocator),
				NULL, &row, err));
		TRY(memory_claim_for(making, row, code->start, code->end, err));
	}
	return HD_OK;
}

enum hd_status memory_claim_loader(struct memory_making *making, struct hd_error *err)
{
	struct loader_heaps heaps;
	TRY(loader_heaps_read(making->heap->clr, making->job, &heaps, err));
	making->account->is_partial |= heaps.is_partial;
	enum hd_status status = claim_heaps(making, &heaps, err);
	if (status == HD_OK)
		status = claim_codes(making, &heaps, err);
	loader_heaps_deinit(&heaps);
	return status;
}
