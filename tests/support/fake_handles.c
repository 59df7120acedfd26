/* SPDX-License-Identifier: MIT */
#include "support/fake_handles.h"

#include <stddef.h>

#include "gc/layouts/gc_vars.h"

/* handletablepriv.h, objecthandle.h; the runtime packs them too. */
#define SEGMENT(name, types)                                        \
	struct __attribute__((packed)) name {                       \
		uint8_t generations[FAKE_BLOCKS * 4];               \
		uint8_t allocation[FAKE_BLOCKS];                    \
		uint32_t free_masks[FAKE_BLOCKS * 2];               \
		uint8_t block_types[FAKE_BLOCKS];                   \
		uint8_t user_data[FAKE_BLOCKS], locks[FAKE_BLOCKS]; \
		uint8_t tails[types], hints[types];                 \
		uint32_t free_counts[types];                        \
		uint64_t next, table;                               \
		uint8_t flags, free_list, empty_line, commit_line;  \
		uint8_t decommit_line, sequence;                    \
	};                                                          \
	_Static_assert(sizeof(struct name) < 4096, "it has one page")
SEGMENT(segment_12, 12);
SEGMENT(segment_13, 13);

struct table_12 {
	uint32_t type_flags[12];
	uint64_t segments;
};

struct table_13 {
	uint32_t type_flags[13];
	uint64_t segments;
};

struct map {
	uint64_t buckets, next;
	uint32_t max_index;
};

struct bucket {
	uint64_t tables;
	uint32_t index;
};

#define VALUES  4096u
#define BUCKETS 10u

static uint64_t segments_at(uint64_t table, unsigned int types)
{
	return table + (types == 12 ? offsetof(struct table_12, segments)
				    : offsetof(struct table_13, segments));
}

uint64_t fake_handle_next(uint64_t segment, unsigned int types)
{
	return segment + (types == 12 ? offsetof(struct segment_12, next)
				      : offsetof(struct segment_13, next));
}

/* N: where a segment of 13 types has the table's address, one of 12 has nothing. */
static unsigned int types_of(struct fake_clr *fake, uint64_t segment)
{
	return fake_peek_u64(&fake->memory, segment + offsetof(struct segment_13, table)) ? 13 : 12;
}

/* Count more free handles of a type. */
static void add_free(struct fake_clr *fake, uint64_t segment, uint8_t type, int32_t more)
{
	unsigned int types = types_of(fake, segment);
	uint64_t at = segment + 4 * (uint64_t)type +
		      (types == 12 ? offsetof(struct segment_12, free_counts)
				   : offsetof(struct segment_13, free_counts));
	uint32_t count = 0;
	if (type < types && memory_u32(&fake->memory.memory, at, &count))
		fake_poke_u32(&fake->memory, at, count + (uint32_t)more);
}

uint64_t fake_handle_type_at(uint64_t segment, uint32_t block)
{
	return segment + offsetof(struct segment_13, block_types) + block;
}

uint64_t fake_handle_user_data_at(uint64_t segment, uint32_t block)
{
	return segment + offsetof(struct segment_13, user_data) + block;
}

/* A segment whose blocks are all unused, with its header and its handles in two pieces. */
static uint64_t make_segment(struct fake_clr *fake, uint64_t table, unsigned int types)
{
	struct fake_memory *memory = &fake->memory;
	static const uint8_t unused[FAKE_BLOCKS * 8] = { 0 };
	uint8_t ones[FAKE_BLOCKS * 8];
	memset(ones, 0xff, sizeof(ones));
	uint64_t segment = (fake->next_segment + FAKE_SEGMENT - 1) & ~(uint64_t)(FAKE_SEGMENT - 1);
	fake_map(memory, segment, VALUES);
	fake_map(memory, segment + VALUES, FAKE_SEGMENT - VALUES);
	fake->next_segment = segment + 16 * FAKE_SEGMENT_GAP;
	fake_poke(memory, segment + offsetof(struct segment_13, free_masks), ones, sizeof(ones));
	fake_poke(memory, fake_handle_type_at(segment, 0), ones, FAKE_BLOCKS);
	fake_poke(memory, fake_handle_user_data_at(segment, 0), ones, FAKE_BLOCKS);
	fake_poke(memory, segment, unused, FAKE_BLOCKS);
	fake_poke(memory, segment + offsetof(struct segment_13, tails), ones, types);
	fake_poke_u64(memory, fake_handle_next(segment, types) + 8, table);
	return segment;
}

uint64_t fake_handle_table(struct fake_clr *fake, unsigned int types)
{
	uint64_t table = fake_alloc(&fake->memory, 1024);
	/* HNDF_EXTRAINFO, of dependent handles */
	fake_poke_u32(&fake->memory, table + 4u * 6, 1);
	fake_poke_u64(&fake->memory, segments_at(table, types), make_segment(fake, table, types));
	return table;
}

uint64_t fake_handle_segment(struct fake_clr *fake, uint64_t table, unsigned int types)
{
	return fake_peek_u64(&fake->memory, segments_at(table, types));
}

uint64_t fake_handle_grow(struct fake_clr *fake, uint64_t table, unsigned int types)
{
	uint64_t link = segments_at(table, types);
	while (fake_peek_u64(&fake->memory, link))
		link = fake_handle_next(fake_peek_u64(&fake->memory, link), types);
	uint64_t segment = make_segment(fake, table, types);
	fake_poke_u64(&fake->memory, link, segment);
	return segment;
}

static uint64_t make_map(struct fake_clr *fake)
{
	uint64_t map = fake_alloc(&fake->memory, sizeof(struct map));
	fake_poke_u64(&fake->memory, map, fake_alloc(&fake->memory, 8u * BUCKETS));
	return map;
}

uint64_t fake_handle_bucket(struct fake_clr *fake, const uint64_t *tables, size_t count)
{
	struct fake_memory *memory = &fake->memory;
	uint64_t array = fake_alloc(memory, 8 * count);
	fake_poke(memory, array, tables, 8 * count);
	uint64_t bucket = fake_alloc(memory, sizeof(struct bucket));
	fake_poke_u64(memory, bucket, array);
	if (!fake->gc.handle_table_map)
		fake->gc.handle_table_map = make_map(fake);
	for (uint64_t map = fake->gc.handle_table_map;;) {
		uint64_t buckets = fake_peek_u64(memory, map);
		for (uint64_t i = 0; i < BUCKETS; i++) {
			if (fake_peek_u64(memory, buckets + 8 * i))
				continue;
			fake_poke_u64(memory, buckets + 8 * i, bucket);
			return bucket;
		}
		uint64_t next = fake_peek_u64(memory, map + offsetof(struct map, next));
		if (!next) {
			next = make_map(fake);
			fake_poke_u64(memory, map + offsetof(struct map, next), next);
		}
		map = next;
	}
}

void fake_handle_block(struct fake_clr *fake, uint64_t segment, uint32_t block, uint8_t type)
{
	fake_poke(&fake->memory, fake_handle_type_at(segment, block), &type, 1);
	add_free(fake, segment, type, 64);
	/* Last in the ring of its type. */
	uint64_t tail_at = segment + offsetof(struct segment_13, tails) + type;
	uint64_t links = segment + offsetof(struct segment_13, allocation);
	uint8_t tail = FAKE_BLOCKS, first = (uint8_t)block, last = (uint8_t)block;
	if (type >= types_of(fake, segment) || !memory_u8(&fake->memory.memory, tail_at, &tail))
		return;
	if (tail < FAKE_BLOCKS) {
		(void)memory_u8(&fake->memory.memory, links + tail, &first);
		fake_poke(&fake->memory, links + tail, &last, 1);
	}
	fake_poke(&fake->memory, links + block, &first, 1);
	fake_poke(&fake->memory, tail_at, &last, 1);
}

void fake_handle_user_data(struct fake_clr *fake, uint64_t segment, uint32_t block, uint8_t data,
			   unsigned int types)
{
	fake_handle_block(fake, segment, data, (uint8_t)(types - 1));
	fake_poke(&fake->memory, fake_handle_user_data_at(segment, block), &data, 1);
}

uint64_t fake_handle(struct fake_clr *fake, uint64_t segment, uint32_t block, uint32_t slot,
		     uint64_t object)
{
	uint64_t mask = segment + offsetof(struct segment_13, free_masks) + 8 * (uint64_t)block +
			4 * (uint64_t)(slot / 32);
	uint32_t word = 0;
	if (!memory_u32(&fake->memory.memory, mask, &word))
		return 0;
	uint8_t type = FAKE_BLOCKS;
	(void)memory_u8(&fake->memory.memory, fake_handle_type_at(segment, block), &type);
	if (word & 1u << slot % 32)
		add_free(fake, segment, type, -1);
	fake_poke_u32(&fake->memory, mask, word & ~(1u << slot % 32));
	uint64_t address = segment + VALUES + 512 * (uint64_t)block + 8 * (uint64_t)slot;
	fake_poke_u64(&fake->memory, address, object);
	return address;
}

uint64_t fake_finalizer_queue(struct fake_clr *fake, uint32_t heap, const size_t counts[7],
			      const uint64_t *objects)
{
	struct fake_memory *memory = &fake->memory;
	size_t total = 0;
	for (size_t i = 0; i < 7; i++)
		total += counts[i];
	uint64_t array = fake_alloc(memory, 8 * (total + 4)), queue = fake_alloc(memory, 9 * 8);
	uint64_t variable = fake->gc.finalize_queue;
	if (total)
		fake_poke(memory, array, objects, 8 * total);
	for (size_t i = 0, sum = 0; i < 7; i++) {
		sum += counts[i];
		fake_poke_u64(memory, queue + 8 * i, array + 8 * sum);
	}
	fake_poke_u64(memory, queue + 56, array);
	fake_poke_u64(memory, queue + 64, array + 8 * (total + 4));
	if (fake->gc.is_server) {
		variable = fake_peek_u64(memory, fake->gc.heaps + 8 * (uint64_t)heap) +
			   (uint64_t)fake->gc.heap_offsets[GC_HEAP_FINALIZE_QUEUE];
	}
	fake_poke_u64(memory, variable, queue);
	return queue;
}
