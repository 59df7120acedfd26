/* SPDX-License-Identifier: MIT */
/* covers: core/src/unwind/gc_info.c core/src/unwind/gc_bits.c */
#include <stdlib.h>

#include "arch/x86_64/frame_registers.h"
#include "input_memory.h"
#include "unwind/gc_info.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE ((uint64_t)0x7f0000000005)

/* The question, then the GCInfo. */
struct head {
	uint8_t version, flags; /* 1: active, 2: aborted, 4: no untracked slots */
	uint16_t offset_low;
	uint8_t offset_high;
};
#define HEAD_SIZE 5u

static bool is_same_slot(const struct gc_slot *a, const struct gc_slot *b)
{
	return a->base == b->base && a->number == b->number && a->flags == b->flags &&
	       a->is_untracked == b->is_untracked && a->offset == b->offset;
}

static bool is_same(const struct gc_info *a, const struct gc_info *b)
{
	if (a->slots_count != b->slots_count || a->code_length != b->code_length ||
	    a->frame_register != b->frame_register || a->is_interruptible != b->is_interruptible)
		return false;
	for (size_t i = 0; i < a->slots_count; i++) {
		if (!is_same_slot(&a->slots[i], &b->slots[i]))
			return false;
	}
	return true;
}

/* Any bytes as GCInfo: an answer, the same whether the bytes are mapped or copied. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct head head;
	if (size < HEAD_SIZE)
		return 0;
	memcpy(&head, data, HEAD_SIZE);
	struct gc_info_query query = { .arch = &arch_x86_64,
				       .version = 2 + head.version % 3u,
				       .offset = head.offset_low | (uint32_t)head.offset_high << 16,
				       .is_active = head.flags & 1,
				       .is_aborted = head.flags & 2,
				       .no_untracked = head.flags & 4 };
	struct gc_info infos[2] = { { 0 }, { 0 } };
	enum gc_info_result results[2];
	for (unsigned int i = 0; i < 2; i++) {
		struct input_memory input =
			input_memory_at(BASE, data + HEAD_SIZE, size - HEAD_SIZE, i == 0);
		results[i] = gc_info_decode(&input.memory, BASE, &query, &infos[i]);
		if (results[i] == GC_INFO_NOMEM || infos[i].slots_count > GC_INFO_SLOTS_MAX ||
		    (results[i] == GC_INFO_BAD && infos[i].slots_count))
			abort();
		for (size_t k = 0; k < infos[i].slots_count; k++) {
			const struct gc_slot *slot = &infos[i].slots[k];
			if (slot->base > GC_SLOT_REGISTER || slot->number > REG_R15 ||
			    slot->flags > (GC_SLOT_INTERIOR | GC_SLOT_PINNED))
				abort();
		}
	}
	if (results[0] != results[1] ||
	    (results[0] == GC_INFO_OK && !is_same(&infos[0], &infos[1])))
		abort();
	gc_info_deinit(&infos[0]);
	gc_info_deinit(&infos[1]);
	return 0;
}
