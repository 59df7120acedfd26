/* SPDX-License-Identifier: MIT */
/* Advises how to get memory back, where there is evidence for it (doc/memory.md 8). */
#include "native/memory_advice.h"

#include "util/text.h"

#define MEGABYTE ((uint64_t)1 << 20)

/* Less than this is worth nobody's time; where memory is short, a fifth of it is worth it. */
#define ADVICE_MIN   (50 * MEGABYTE)
#define ADVICE_SHORT (10 * MEGABYTE)

/* Contexts are few, and what they hold is worth more than their code. */
#define ADVICE_CONTEXTS_MIN MEGABYTE

/* The main arena may have all that it calls free in memory: what is more than that, others have. */
static uint64_t free_of_other_arenas(const struct memory_account *account)
{
	const struct memory_malloc *found = &account->malloc;
	uint64_t free = memory_used_of_kind(account, MEMORY_MALLOC_FREE) +
			memory_used_of_kind(account, MEMORY_MALLOC_TOP);
	if (!found->arenas_count)
		return 0;
	uint64_t main = found->arenas->bytes[MALLOC_FREE] + found->arenas->bytes[MALLOC_TOP];
	return free > main ? free - main : 0;
}

void memory_evidence_read(const struct memory_account *account, struct memory_evidence *ret)
{
	ret->all = (uint64_t)memory_bytes_used(account, &account->total);
	ret->arenas = account->malloc.arenas_count;
	ret->arenas_free = free_of_other_arenas(account);
	ret->objects = ret->stacks = ret->stacks_below = ret->context_bytes = 0;
	for (enum memory_kind kind = MEMORY_GEN0; kind < MEMORY_NONGC; kind++)
		ret->objects += memory_used_of_kind(account, kind);
	ret->unused = memory_used_of_kind(account, MEMORY_GC_UNUSED) +
		      memory_used_of_kind(account, MEMORY_GC_FREE_REGION);
	for (size_t i = 0; i < account->rows_count; i++) {
		const struct memory_row *row = &account->rows[i];
		uint64_t bytes = (uint64_t)memory_bytes_used(account, &row->bytes);
		if (row->kind == MEMORY_STACK_BELOW) {
			ret->stacks += bytes >= MEGABYTE;
			ret->stacks_below += bytes;
		} else if ((row->kind == MEMORY_CODE_HEAP || row->kind == MEMORY_LOADER_HEAP) &&
			   row->owner && string_begins_with(row->owner, "collectible")) {
			ret->context_bytes += bytes;
		}
	}
}

/* Is it much, and more than a tenth of everything? */
static bool is_much(uint64_t bytes, const struct memory_evidence *evidence)
{
	uint64_t least = evidence->is_pressed ? ADVICE_SHORT : ADVICE_MIN;
	return bytes >= least && bytes > evidence->all / 10;
}

uint64_t memory_advice_bytes(enum memory_advice advice, const struct memory_evidence *evidence)
{
	const struct memory_evidence *e = evidence;
	switch (advice) {
	case MEMORY_ADVICE_ARENAS:
		return e->arenas > 2 && is_much(e->arenas_free, e) ? e->arenas_free : 0;
	case MEMORY_ADVICE_UNUSED:
		return e->unused > e->objects && is_much(e->unused, e) ? e->unused : 0;
	case MEMORY_ADVICE_DEAD:
		return e->is_walked && (e->dead > e->live || e->is_pressed) && is_much(e->dead, e)
			       ? e->dead
			       : 0;
	case MEMORY_ADVICE_LOH:
		return e->is_walked && e->loh_free > e->loh / 2 && is_much(e->loh_free, e)
			       ? e->loh_free
			       : 0;
	case MEMORY_ADVICE_STACKS:
		return e->stacks && is_much(e->stacks_below, e) ? e->stacks_below : 0;
	case MEMORY_ADVICE_CONTEXTS:
		return e->is_walked && e->unloading && e->context_bytes >= ADVICE_CONTEXTS_MIN
			       ? e->context_bytes
			       : 0;
	case MEMORY_ADVICES:
		break;
	}
	return 0;
}
