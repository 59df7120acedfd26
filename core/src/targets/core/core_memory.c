/* SPDX-License-Identifier: MIT */
#include "targets/core/core_memory.h"

#include <stdatomic.h>

#include "util/alloc.h"
#include "util/sort.h"

struct core_memory {
	struct memory memory;
	struct mapped_file file;
	struct core_run *runs;
	size_t count;
	char apart[64];      /**< what follows is written: not in the cache line of the above */
	_Atomic size_t last; /**< run of the last read, in which the next one is searched for
			      * first */
};

/* The number of runs whose begin is at most @p address. */
static size_t runs_below(const struct core_memory *core, uint64_t address)
{
	return ROWS_ABOVE(core->runs, core->count, start, address);
}

static const uint8_t *core_memory_run(struct memory *memory, uint64_t address, uint64_t *ret_size)
{
	struct core_memory *core = (struct core_memory *)memory;
	size_t last = atomic_load_explicit(&core->last, memory_order_relaxed);
	const struct core_run *run = &core->runs[last];
	if (last >= core->count || address < run->start || address >= run->end) {
		size_t below = runs_below(core, address);
		if (!below || address >= core->runs[below - 1].end)
			return NULL;
		run = &core->runs[below - 1];
		atomic_store_explicit(&core->last, below - 1, memory_order_relaxed);
	}
	*ret_size = run->end - address;
	return core->file.bytes + run->offset + (address - run->start);
}

static uint64_t core_memory_next(struct memory *memory, uint64_t address)
{
	const struct core_memory *core = (const struct core_memory *)memory;
	size_t below = runs_below(core, address);
	if (below && address < core->runs[below - 1].end)
		return address;
	return below < core->count ? core->runs[below].start : UINT64_MAX;
}

static void core_memory_destroy(struct memory *memory)
{
	HD_FREE struct core_memory *core = (struct core_memory *)memory;
	mapped_file_close(&core->file);
	mem_free(core->runs);
}

struct memory *core_memory_create(struct mapped_file *file, struct core_run *runs, size_t count)
{
	static const struct memory_ops ops = { .read = memory_read_runs,
					       .run = core_memory_run,
					       .next = core_memory_next,
					       .destroy = core_memory_destroy };
	struct core_memory *core = mem_calloc(1, sizeof(*core));
	if (!core) {
		mapped_file_close(file);
		mem_free(runs);
		return NULL;
	}
	core->memory = (struct memory){ .ops = &ops, .is_parallel = true };
	core->file = *file;
	core->runs = runs;
	core->count = count;
	*file = (struct mapped_file){ .fd = -1 };
	return &core->memory;
}
