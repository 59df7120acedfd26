/* SPDX-License-Identifier: MIT */
/* Is a process large by its native memory, or by free memory of the GC?  Rules of report ask that. */
#include "native/memory_share.h"

#include <elf.h>
#include <string.h>

#include "analysis/heap/heap_range.h"
#include "native/memory_account.h"
#include "targets/process/process_residency.h"
#include "targets/target.h"

#define MALLOC_AREA ((uint64_t)1 << 26)

static uint64_t committed_bytes(const struct heap *heap)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < heap->segment_count; i++)
		bytes += segment_committed_size(&heap->segments[i]);
	return bytes;
}

static void share_of_account(const struct memory_account *account, struct memory_share *share)
{
	struct memory_bytes native = memory_account_of_group(account, MEMORY_GROUP_NATIVE);
	struct memory_bytes gc = memory_account_of_group(account, MEMORY_GROUP_GC);
	share->is_live = account->is_live;
	share->is_malloc = account->malloc.is_found;
	share->arenas = account->malloc.arenas_count;
	share->all = (uint64_t)memory_bytes_used(account, &account->total);
	share->native = (uint64_t)memory_bytes_used(account, &native);
	struct memory_bytes stacks = memory_account_of_group(account, MEMORY_GROUP_STACKS);
	share->stacks = (uint64_t)memory_bytes_used(account, &stacks);
	share->gc = (uint64_t)memory_bytes_used(account, &gc);
	if (!share->is_malloc) {
		share->native += memory_used_of_kind(account, MEMORY_UNKNOWN) +
				 memory_used_of_kind(account, MEMORY_NAMED);
	}
}

/*
 * glibc's malloc maps 64 MB for an arena, at a multiple of that, and makes its begin accessible; the
 * first one is [heap].
 */
static uint64_t count_malloc_areas(const struct process_residency *residency)
{
	uint64_t count = 0;
	for (size_t i = 0; i < residency->rows_count; i++) {
		const struct proc_map *map = &residency->rows[i].map;
		const struct proc_map *next =
			i + 1 < residency->rows_count ? &residency->rows[i + 1].map : NULL;
		uint64_t end = map->end;
		if (strcmp(map->path, "[heap]") == 0)
			count++;
		if (*map->path || map->start % MALLOC_AREA || map->flags != (PF_R | PF_W))
			continue;
		if (next && next->start == end && !next->flags && !*next->path)
			end = next->end;
		count += end - map->start == MALLOC_AREA;
	}
	return count;
}

enum hd_status memory_share_read(struct target *target, struct heap *heap, struct job *job,
				 struct memory_share *ret, struct hd_error *err)
{
	HD_CLEANUP(memory_account) struct memory_account *account = NULL;
	struct memory_share share = { .gc_committed = committed_bytes(heap),
				      .heaps = heap->heap_count };
	/* The copy of a process is mostly without its native memory. */
	TRY(target->kind == TARGET_CORE ? memory_account_create(target, heap, job, &account, err)
					: memory_outline_create(target, heap, job, &account, err));
	share_of_account(account, &share);
	if (!share.is_malloc && target->process.residency)
		share.arenas = count_malloc_areas(target->process.residency);
	TRY(memory_settings_read(target, heap, job, &share.settings, err));
	*ret = share;
	return HD_OK;
}
