/* SPDX-License-Identifier: MIT */
/* Which loader heaps and code heaps are whose, and what they are called. */
#include "runtime/coreclr/loader/loader_heaps.h"
#include "runtime/coreclr/modules/module.h"
#include "util/sort.h"
#include "util/text.h"

const struct loader_allocator *loader_allocator_at(const struct loader_heaps *heaps,
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

const char *code_heap_name(enum code_heap_kind kind)
{
	static const char *const names[] = {
		[CODE_HEAP_LOADER] = "LoaderCodeHeap",
		[CODE_HEAP_HOST] = "HostCodeHeap",
		[CODE_HEAP_STUBS] = "Stubs",
	};
	return names[kind];
}

void loader_allocator_name(const struct loader_allocator *allocator, struct text *text)
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
