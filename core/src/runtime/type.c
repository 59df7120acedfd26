/* SPDX-License-Identifier: MIT */
/* The table of MethodTables that passed the checks of their runtime. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

#include "runtime/gc_desc.h"
#include "runtime/runtime_base.h"
#include "util/alloc.h"
#include "util/text.h"

/* Types are made in blocks that never move. */
#define TYPES_SHIFT     FUZZED(8u, 2u)
#define TYPES_PER_BLOCK (1u << TYPES_SHIFT)
#define FIRST_SLOTS     FUZZED(1024u, 16u)
/* Words that are not types: a cache of fixed size, so that garbage cannot make it grow. */
#define NONE_SLOTS FUZZED(16384u, 64u)
/* Most bytes of all descriptors together: real programs have a few hundred KiB. */
#define DESC_BUDGET ((uint64_t)64 << 20)

/* One generation of the hash table.  Readers may still use an older one, so all are kept. */
struct type_slots {
	struct type_slots *older;
	size_t mask;
	_Atomic(struct type *) entries[];
};

struct type_block {
	struct type *types;
};

struct runtime_type_table {
	pthread_mutex_t lock; /* for threads that add */
	_Atomic(struct type_slots *) slots;
	uint64_t seed;
	struct type_block *blocks;
	size_t block_count, block_capacity;
	size_t count;
	uint64_t desc_budget;
	_Atomic bool failed;
	_Atomic uint64_t none[NONE_SLOTS];
};

static size_t hash_method_table(const struct runtime_type_table *types, uint64_t key)
{
	/* splitmix64's finaliser over the seeded key */
	uint64_t x = key ^ types->seed;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return (size_t)(x ^ (x >> 31));
}

static struct type_slots *slots_create(size_t capacity, struct type_slots *older)
{
	struct type_slots *slots =
		mem_calloc(1, sizeof(*slots) + capacity * sizeof(slots->entries[0]));
	if (!slots)
		return NULL;
	slots->older = older;
	slots->mask = capacity - 1;
	return slots;
}

enum hd_status runtime_type_table_create(struct runtime_type_table **ret, struct hd_error *err)
{
	struct runtime_type_table *types = mem_calloc(1, sizeof(*types));
	struct type_slots *slots = slots_create(FIRST_SLOTS, NULL);
	if (!types || !slots || pthread_mutex_init(&types->lock, NULL) != 0) {
		mem_free(types);
		mem_free(slots);
		return fail_nomem(err);
	}
	if (getrandom(&types->seed, sizeof(types->seed), GRND_NONBLOCK) < 0)
		types->seed = (uint64_t)(uintptr_t)types;
	atomic_init(&types->slots, slots);
	types->desc_budget = DESC_BUDGET;
	*ret = types;
	return HD_OK;
}

void runtime_type_table_destroy(struct runtime_type_table *types)
{
	if (!types)
		return;
	for (size_t i = 0; i < types->count; i++) {
		struct type *type = &types->blocks[i >> TYPES_SHIFT].types[i % TYPES_PER_BLOCK];
		gc_desc_deinit(type);
		mem_free(type->name);
	}
	for (size_t i = 0; i < types->block_count; i++)
		mem_free(types->blocks[i].types);
	mem_free(types->blocks);
	for (struct type_slots *slots = atomic_load(&types->slots); slots;) {
		struct type_slots *older = slots->older;
		mem_free(slots);
		slots = older;
	}
	(void)pthread_mutex_destroy(&types->lock);
	mem_free(types);
}

static struct type *look_up_type(struct runtime_type_table *types, uint64_t method_table)
{
	struct type_slots *slots = atomic_load_explicit(&types->slots, memory_order_acquire);
	size_t at = hash_method_table(types, method_table) & slots->mask;
	for (;; at = (at + 1) & slots->mask) {
		struct type *type = atomic_load_explicit(&slots->entries[at], memory_order_acquire);
		if (!type || type->method_table == method_table)
			return type;
	}
}

/* Called with the lock: there is room, and the type is not in the table yet. */
static void put_type_slot(const struct runtime_type_table *types, struct type_slots *slots,
			  struct type *type)
{
	size_t at = hash_method_table(types, type->method_table) & slots->mask;
	while (atomic_load_explicit(&slots->entries[at], memory_order_relaxed))
		at = (at + 1) & slots->mask;
	atomic_store_explicit(&slots->entries[at], type, memory_order_release);
}

static bool grow_slots(struct runtime_type_table *types)
{
	struct type_slots *old = atomic_load_explicit(&types->slots, memory_order_relaxed);
	if (types->count < (old->mask + 1) / 2)
		return true;
	struct type_slots *slots = slots_create((old->mask + 1) * 2, old);
	if (!slots)
		return false;
	for (size_t i = 0; i < types->count; i++) {
		put_type_slot(types, slots,
			      &types->blocks[i >> TYPES_SHIFT].types[i % TYPES_PER_BLOCK]);
	}
	atomic_store_explicit(&types->slots, slots, memory_order_release);
	return true;
}

static bool grow_blocks(struct runtime_type_table *types)
{
	if (types->count < types->block_count << TYPES_SHIFT)
		return true;
	if (types->block_count == types->block_capacity) {
		size_t capacity = grown_capacity(types->block_capacity, sizeof(*types->blocks));
		struct type_block *blocks =
			capacity ? mem_realloc(types->blocks, capacity, sizeof(*blocks)) : NULL;
		if (!blocks)
			return false;
		types->blocks = blocks;
		types->block_capacity = capacity;
	}
	struct type *block = mem_calloc(TYPES_PER_BLOCK, sizeof(*block));
	if (!block)
		return false;
	types->blocks[types->block_count++].types = block;
	return true;
}

/* Called with the lock. */
static struct type *add_loaded_type(struct runtime *runtime, const struct type *head)
{
	struct runtime_type_table *types = runtime->types;
	struct type type = *head;
	if (!grow_blocks(types) || !grow_slots(types) ||
	    gc_desc_read(runtime->memory, &type, &types->desc_budget) != HD_OK) {
		atomic_store(&types->failed, true);
		return NULL;
	}
	type.index = (uint32_t)types->count;
	struct type *kept =
		&types->blocks[types->count >> TYPES_SHIFT].types[types->count % TYPES_PER_BLOCK];
	*kept = type;
	types->count++;
	put_type_slot(types, atomic_load_explicit(&types->slots, memory_order_relaxed), kept);
	return kept;
}

const struct type *type_find(struct runtime *runtime, uint64_t method_table)
{
	struct runtime_type_table *types = runtime->types;
	if (!method_table || method_table % 8)
		return NULL;
	struct type *type = look_up_type(types, method_table);
	if (type)
		return type;
	_Atomic uint64_t *none = &types->none[hash_method_table(types, method_table) % NONE_SLOTS];
	if (atomic_load_explicit(none, memory_order_relaxed) == method_table)
		return NULL;
	struct type head;
	if (!runtime->ops->describe_type(runtime, method_table, &head)) {
		atomic_store_explicit(none, method_table, memory_order_relaxed);
		return NULL;
	}
	(void)pthread_mutex_lock(&types->lock);
	type = look_up_type(types, method_table);
	if (!type)
		type = add_loaded_type(runtime, &head);
	(void)pthread_mutex_unlock(&types->lock);
	return type;
}

bool runtime_type_table_failed(struct runtime *runtime)
{
	return atomic_exchange(&runtime->types->failed, false);
}

size_t type_count(const struct runtime *runtime)
{
	return runtime->types->count;
}

struct type *type_at(const struct runtime *runtime, size_t index)
{
	const struct runtime_type_table *types = runtime->types;
	return &types->blocks[index >> TYPES_SHIFT].types[index % TYPES_PER_BLOCK];
}

uint64_t type_interface(const struct runtime *runtime, const struct type *type, uint32_t index)
{
	return runtime->ops->type_interface ? runtime->ops->type_interface(runtime, type, index)
					    : 0;
}

const char *type_name(struct runtime *runtime, const struct type *type, size_t *ret_size)
{
	if (!type->name) {
		struct text text = { 0 };
		runtime->ops->type_name(runtime, type->method_table, &text);
		struct type *mutable = type_at(runtime, type->index);
		if (text.failed || !text.bytes || !mutable ||
		    mutable->method_table != type->method_table) {
			text_deinit(&text);
			if (ret_size)
				*ret_size = strlen("<out of memory>");
			return "<out of memory>";
		}
		mutable->name = text.bytes; /* to be freed by mem_free(), like the text's own
					     * bytes */
		mutable->name_size = (uint32_t)text.size;
	}
	if (ret_size)
		*ret_size = type->name_size;
	return type->name;
}

void type_name_append(struct runtime *runtime, uint64_t method_table, struct text *text)
{
	runtime->ops->type_name(runtime, method_table, text);
}
