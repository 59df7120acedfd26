/* SPDX-License-Identifier: MIT */
/* The table of method tables that passed their checks (coreclr: src/coreclr/vm/methodtable.h). */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/random.h>

#include "arch/arch.h"
#include "mem/memory.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/types/continuation.h"
#include "runtime/coreclr/types/gc_desc.h"
#include "util/alloc.h"

/* Types are made in blocks that never move. */
#define TYPES_SHIFT     FUZZED(8u, 2u)
#define TYPES_PER_BLOCK (1u << TYPES_SHIFT)
#define FIRST_SLOTS     FUZZED(1024u, 16u)
/* Words that are not types: a cache of fixed size, so that garbage cannot make it grow. */
#define NONE_SLOTS FUZZED(16384u, 64u)
/* Most bytes of all descriptors together: real programs have a few hundred KiB. */
#define DESC_BUDGET ((uint64_t)64 << 20)

#define COLLECTIBLE_9     0x00200000u
#define COLLECTIBLE_8     0x10000000u
#define CATEGORY_SHIFT    16
#define CATEGORY_IS_ARRAY 0x8u /* with mask 0xc */
#define CATEGORY_IS_SZ    0x2u

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

enum hd_status runtime_type_table_create(struct runtime *runtime, struct runtime_type_table **ret,
					 struct hd_error *err)
{
	(void)runtime;
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

static enum type_category category_of(uint32_t flags)
{
	uint32_t bits = (flags & MT_CATEGORY_MASK) >> CATEGORY_SHIFT;
	if ((bits & 0xcu) == CATEGORY_IS_ARRAY)
		return bits & CATEGORY_IS_SZ ? CATEGORY_SZ_ARRAY : CATEGORY_MD_ARRAY;
	switch (bits) {
	case 0x4:
		return CATEGORY_VALUE;
	case 0x5:
		return CATEGORY_NULLABLE;
	case 0x6:
		return CATEGORY_PRIMITIVE;
	case 0x7:
		return CATEGORY_TRUE_PRIMITIVE;
	case 0xc:
		return CATEGORY_INTERFACE;
	default:
		return CATEGORY_CLASS;
	}
}

static bool sizes_are_sound(const struct type *type)
{
	if (type->is_free)
		return type->base_size == 24 && type->component_size == 1;
	if (type->category == CATEGORY_INTERFACE && type->base_size == 0)
		return true;
	if (type->base_size == 22)
		return type->component_size == 2;
	return type->base_size >= 24 && type->base_size % 8 == 0;
}

/*
 * EEClass and canonical MethodTable point to each other; only the Free type has no EEClass, and
 * continuation types share that of one of them.
 */
static bool round_trip(const struct runtime *runtime, struct type *type)
{
	uint64_t value, back;
	type->links.canonical = type->method_table;
	if (!coreclr_pointer(runtime, type->method_table, L_MT_CLASS, &value))
		return false;
	if (type->is_free)
		return true;
	if (value & 1) {
		type->links.canonical = value & ~(uint64_t)1;
		if (type->links.canonical % 8 ||
		    type->links.canonical < runtime_arch(runtime)->space.user_begin ||
		    !coreclr_pointer(runtime, type->links.canonical, L_MT_CLASS, &value))
			return false;
	}
	type->links.ee_class = value;
	return value % 8 == 0 && value >= runtime_arch(runtime)->space.user_begin &&
	       coreclr_pointer(runtime, value, L_CLASS_METHOD_TABLE, &back) &&
	       (back == type->links.canonical || continuation_is(runtime, type, value, back));
}

bool type_may_be_missing(const struct runtime *runtime, uint64_t method_table)
{
	uint64_t class = 0;
	uint8_t byte;
	if (method_table < runtime_arch(runtime)->space.user_begin ||
	    method_table >= runtime_arch(runtime)->space.user_end)
		return false;
	return !coreclr_pointer(runtime, method_table, L_MT_CLASS, &class) ||
	       (class && !memory_u8(runtime->memory, class & ~(uint64_t)1, &byte));
}

/*
 * The MethodTable of Free (methodtable.h: 64 bytes and a few more in .NET 8 to 10), and what
 * precedes it.
 */
#define FREE_TABLE_SIZE 128u
#define FREE_DESC_SIZE  16u

void type_touch_free(const struct runtime *runtime)
{
	uint8_t bytes[FREE_TABLE_SIZE + FREE_DESC_SIZE];
	uint64_t at = coreclr_of(runtime)->globals.free_method_table;
	if (at > FREE_DESC_SIZE)
		(void)memory_read(runtime->memory, at - FREE_DESC_SIZE, bytes, sizeof(bytes));
}

static bool read_type_word(const struct runtime *runtime, uint64_t base, enum layout_field field,
			   uint32_t *ret)
{
	return layout_has(&coreclr_of(runtime)->layout, field) &&
	       memory_u32(runtime->memory, base + coreclr_offset(runtime, field), ret);
}

/* Fill everything that needs no allocation and no other type. */
static bool read_type_head(const struct runtime *runtime, uint64_t method_table, struct type *type)
{
	*type = (struct type){ .method_table = method_table };
	if (method_table % 8 || method_table < runtime_arch(runtime)->space.user_begin ||
	    !read_type_word(runtime, method_table, L_MT_FLAGS, &type->flags) ||
	    !read_type_word(runtime, method_table, L_MT_BASE_SIZE, &type->base_size))
		return false;
	uint32_t flags = type->flags;
	type->is_free = method_table == coreclr_of(runtime)->globals.free_method_table;
	if (flags & MT_HAS_COMPONENT_SIZE)
		type->component_size = (uint16_t)flags;
	type->category = (uint8_t)category_of(flags);
	if (!sizes_are_sound(type) || !round_trip(runtime, type))
		return false;
	type->has_pointers = !type->is_free && flags & MT_CONTAINS_GC_POINTERS;
	type->has_finalizer = flags & MT_FINALIZER;
	type->is_collectible =
		flags &
		(coreclr_has(runtime, CORECLR_COLLECTIBLE_BIT_28) ? COLLECTIBLE_8 : COLLECTIBLE_9);
	type->is_string = type->base_size == 22;
	(void)read_type_word(runtime, method_table, L_MT_FLAGS2, &type->links.flags2);
	(void)coreclr_pointer(runtime, method_table, L_MT_PARENT, &type->parent);
	(void)coreclr_pointer(runtime, method_table, L_MT_MODULE, &type->module);
	(void)coreclr_pointer(runtime, method_table, L_MT_AUXILIARY, &type->links.auxiliary);
	(void)coreclr_pointer(runtime, method_table, L_MT_PER_INST, &type->links.per_inst);
	uint32_t rid = coreclr_has(runtime, CORECLR_SHORT_TOKENS) ? type->links.flags2 >> 16
								  : type->links.flags2 >> 8;
	if (rid && type->category != CATEGORY_SZ_ARRAY && type->category != CATEGORY_MD_ARRAY)
		type->token = 0x02000000u | rid;
	return true;
}

/*
 * The object that keeps a collectible type's assembly loaded: that of its loader module, in 8 that
 * of its own module.  Its type must be in CoreLib.
 */
static uint64_t find_loader_allocator(const struct runtime *runtime, const struct type *type)
{
	uint64_t module = type->module, allocator;
	if (layout_has(&coreclr_of(runtime)->layout, L_AUX_LOADER_MODULE) &&
	    !coreclr_pointer(runtime, type->links.auxiliary, L_AUX_LOADER_MODULE, &module))
		return 0;
	if (!coreclr_pointer(runtime, module, L_MODULE_LOADER_ALLOCATOR, &allocator) || !allocator)
		return 0;
	uint64_t object = runtime_loader_object(runtime, allocator), word;
	struct type found, object_type;
	if (!object || object % 8 || !memory_u64(runtime->memory, object, &word) ||
	    !read_type_head(runtime, word & ~(uint64_t)7, &found) || found.base_size == 0 ||
	    found.component_size || found.is_collectible)
		return 0;
	if (coreclr_of(runtime)->globals.object_method_table &&
	    read_type_head(runtime, coreclr_of(runtime)->globals.object_method_table,
			   &object_type) &&
	    found.module != object_type.module)
		return 0;
	return object;
}

bool coreclr_describe_type(const struct runtime *runtime, uint64_t method_table, struct type *ret)
{
	if (!read_type_head(runtime, method_table, ret))
		return false;
	if (ret->is_collectible)
		ret->loader_allocator = find_loader_allocator(runtime, ret);
	return true;
}

/* Called with the lock. */
static struct type *add_loaded_type(struct runtime *runtime, const struct type *head)
{
	struct runtime_type_table *types = coreclr_of(runtime)->types;
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
	struct runtime_type_table *types = coreclr_of(runtime)->types;
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
	return atomic_exchange(&coreclr_of(runtime)->types->failed, false);
}

size_t type_count(const struct runtime *runtime)
{
	return coreclr_of(runtime)->types->count;
}

struct type *type_at(const struct runtime *runtime, size_t index)
{
	const struct runtime_type_table *types = coreclr_of(runtime)->types;
	return &types->blocks[index >> TYPES_SHIFT].types[index % TYPES_PER_BLOCK];
}
