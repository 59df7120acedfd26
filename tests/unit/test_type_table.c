/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/types/method_table.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/job.h"

#define MT_CLASS_OFFSET  40
#define MT_AUX_OFFSET    32
#define AUX_MODULE       8
#define MODULE_ALLOCATOR 176
#define ALLOCATOR_HANDLE 752
#define COLLECTIBLE      0x00200000u

TEST(test_fields)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	const struct gc_series series = { .size = 8 - 40, .offset = 16 };
	uint64_t parent = fake_type(fake, &(struct fake_type){ .base_size = 24, .token = 7 });
	uint64_t address = fake_type(fake, &(struct fake_type){ .base_size = 40,
								.flags = MT_FINALIZER | COLLECTIBLE,
								.parent = parent,
								.per_inst = 0x1230,
								.token = 0x123456,
								.series = &series,
								.series_count = 1 });
	struct runtime *runtime = fake_runtime(fake);
	const struct type *type = type_find(runtime, address);
	REQUIRE(type);
	CU_ASSERT(type_find(runtime, address) == type);
	ASSERT_UINT(type->method_table, address);
	ASSERT_UINT(type->base_size, 40);
	ASSERT_UINT(type->component_size, 0);
	CU_ASSERT(type->has_pointers && type->has_finalizer && type->is_collectible);
	CU_ASSERT(!type->is_free && !type->is_string && !type->has_bad_desc);
	ASSERT_UINT(type->category, CATEGORY_CLASS);
	ASSERT_UINT(type->token, 0x02123456);
	ASSERT_UINT(type->parent, parent);
	ASSERT_UINT(type->module, fake->module);
	ASSERT_UINT(type->links.canonical, address);
	ASSERT_UINT(type->links.per_inst, 0x1230);
	ASSERT_UINT(type->desc.series_count, 1);
	ASSERT_UINT(type->loader_allocator, 0);
	ASSERT_UINT(type_count(runtime), 1);
	CU_ASSERT(type_at(runtime, type->index) == type);
	const struct type *array = type_find(runtime, fake->object_array_type);
	REQUIRE(array);
	ASSERT_UINT(array->component_size, 8);
	ASSERT_UINT(array->category, CATEGORY_SZ_ARRAY);
	ASSERT_UINT(array->token, 0);
	const struct type *string = type_find(runtime, fake->string_type);
	REQUIRE(string);
	CU_ASSERT(string->is_string && !string->has_pointers);
	const struct type *free_type = type_find(runtime, fake->free_type);
	REQUIRE(free_type);
	CU_ASSERT(free_type->is_free && !free_type->has_pointers);
	ASSERT_UINT(type_count(runtime), 4);
	fake_clr_destroy(fake);
}

TEST(test_categories)
{
	static const struct {
		uint32_t flags;
		uint8_t category;
	} cases[] = {
		{ 0x00000000, CATEGORY_CLASS },          { 0x00040000, CATEGORY_VALUE },
		{ 0x00050000, CATEGORY_NULLABLE },       { 0x00060000, CATEGORY_PRIMITIVE },
		{ 0x00070000, CATEGORY_TRUE_PRIMITIVE }, { 0x000c0000, CATEGORY_INTERFACE },
		{ 0x00080000, CATEGORY_MD_ARRAY },       { 0x000a0000, CATEGORY_SZ_ARRAY },
	};
	struct fake_clr *fake = fake_clr_create(NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t address = fake_type(
			fake, &(struct fake_type){ .base_size = 24, .flags = cases[i].flags });
		const struct type *type = type_find(fake_runtime(fake), address);
		REQUIRE(type);
		ASSERT_UINT(type->category, cases[i].category);
	}
	fake_clr_destroy(fake);
}

static uint64_t made(struct fake_clr *fake, uint32_t base_size, uint16_t component_size,
		     uint32_t flags)
{
	return fake_type(fake, &(struct fake_type){ .base_size = base_size,
						    .component_size = component_size,
						    .flags = flags });
}

TEST(test_sizes)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct runtime *runtime = fake_runtime(fake);
	CU_ASSERT(!type_find(runtime, made(fake, 0, 0, 0)));
	CU_ASSERT(!type_find(runtime, made(fake, 16, 0, 0)));
	CU_ASSERT(!type_find(runtime, made(fake, 25, 0, 0)));
	CU_ASSERT(!type_find(runtime, made(fake, 28, 4, 0)));
	CU_ASSERT(!type_find(runtime, made(fake, 22, 0, 0)));
	CU_ASSERT(!type_find(runtime, made(fake, 22, 4, 0)));
	CU_ASSERT(!type_find(runtime, made(fake, 8, 0, 0x000c0000)));
	CU_ASSERT(type_find(runtime, made(fake, 24, 0xffff, 0)) != NULL);
	CU_ASSERT(type_find(runtime, made(fake, 0xfffffff8, 0, 0)) != NULL);
	/* An interface has no size of its own. */
	CU_ASSERT(type_find(runtime, made(fake, 0, 0, 0x000c0000)) != NULL);
	fake_clr_destroy(fake);
}

TEST(test_no_types)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct fake_memory *memory = &fake->memory;
	struct runtime *runtime = fake_runtime(fake);
	uint64_t good = made(fake, 24, 0, 0), other = made(fake, 24, 0, 0);
	CU_ASSERT(!type_find(runtime, 0));
	CU_ASSERT(!type_find(runtime, good + 4));
	CU_ASSERT(!type_find(runtime, good + 8));
	CU_ASSERT(!type_find(runtime, 0x41414141414141f0));
	CU_ASSERT(!type_find(runtime, UINT64_MAX & ~(uint64_t)7));
	/* EEClass and MethodTable do not name each other. */
	uint64_t ee_class = fake_peek_u64(memory, good + MT_CLASS_OFFSET);
	fake_poke_u64(memory, ee_class + 16, other);
	CU_ASSERT(!type_find(runtime, good));
	uint64_t crossed = made(fake, 24, 0, 0);
	fake_poke_u64(memory, crossed + MT_CLASS_OFFSET, ee_class);
	CU_ASSERT(!type_find(runtime, crossed));
	static const uint64_t bad[] = { 0, 8, 0x1004, 0x123456789abc0, UINT64_MAX - 7 };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t type = made(fake, 24, 0, 0);
		fake_poke_u64(memory, type + MT_CLASS_OFFSET, bad[i]);
		CU_ASSERT(!type_find(runtime, type));
		/* As a canonical MethodTable. */
		type = made(fake, 24, 0, 0);
		fake_poke_u64(memory, type + MT_CLASS_OFFSET, bad[i] | 1);
		CU_ASSERT(!type_find(runtime, type));
	}
	ASSERT_UINT(type_count(runtime), 0);
	CU_ASSERT(!runtime_type_table_failed(runtime));
	fake_clr_destroy(fake);
}

TEST(test_canonical)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct runtime *runtime = fake_runtime(fake);
	uint64_t canonical = made(fake, 24, 0, 0), instance = made(fake, 32, 0, 0);
	fake_poke_u64(&fake->memory, instance + MT_CLASS_OFFSET, canonical | 1);
	const struct type *type = type_find(runtime, instance);
	REQUIRE(type);
	ASSERT_UINT(type->links.canonical, canonical);
	ASSERT_UINT(type->links.ee_class,
		    fake_peek_u64(&fake->memory, canonical + MT_CLASS_OFFSET));
	/* One step, no more: also one that points at itself. */
	uint64_t twice = made(fake, 24, 0, 0), self = made(fake, 24, 0, 0);
	fake_poke_u64(&fake->memory, twice + MT_CLASS_OFFSET, instance | 1);
	fake_poke_u64(&fake->memory, self + MT_CLASS_OFFSET, self | 1);
	CU_ASSERT(!type_find(runtime, twice));
	CU_ASSERT(!type_find(runtime, self));
	fake_clr_destroy(fake);
}

#define MANY 5000u

TEST(test_many)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct runtime *runtime = fake_runtime(fake);
	static uint64_t addresses[MANY];
	static const struct type *types[MANY];
	for (size_t i = 0; i < MANY; i++)
		addresses[i] = made(fake, 24 + 8 * (uint32_t)i, 0, 0);
	for (size_t i = 0; i < MANY; i++) {
		types[i] = type_find(runtime, addresses[i]);
		REQUIRE(types[i]);
		ASSERT_UINT(types[i]->index, i);
	}
	ASSERT_UINT(type_count(runtime), MANY);
	struct type_cache *cache = calloc(1, sizeof(*cache));
	REQUIRE(cache);
	for (size_t i = 0; i < MANY; i++) {
		CU_ASSERT(type_find(runtime, addresses[i]) == types[i]);
		CU_ASSERT(type_cached(cache, runtime, addresses[i]) == types[i]);
		CU_ASSERT(type_cached(cache, runtime, addresses[i]) == types[i]);
		CU_ASSERT(type_at(runtime, i) == types[i]);
		ASSERT_UINT(types[i]->base_size, 24 + 8 * i);
	}
	CU_ASSERT(type_cached(cache, runtime, 0) == NULL);
	free(cache);
	fake_clr_destroy(fake);
}

/* All threads look this up at once. */
struct race {
	struct runtime *runtime;
	const uint64_t *addresses;
	const struct type *found[4][MANY];
};

static void look_up_all(void *arg, unsigned int index)
{
	struct race *race = arg;
	for (size_t i = 0; i < MANY; i++) {
		size_t at = index % 2 ? MANY - 1 - i : i;
		race->found[index][at] = type_find(race->runtime, race->addresses[at]);
		(void)type_find(race->runtime, race->addresses[at] + 8);
	}
}

TEST(test_threads)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	static uint64_t addresses[MANY];
	static struct race race;
	for (size_t i = 0; i < MANY; i++)
		addresses[i] = made(fake, 24, 0, 0);
	race.runtime = fake_runtime(fake);
	race.addresses = addresses;
	run_parallel(4, NULL, look_up_all, &race);
	ASSERT_UINT(type_count(race.runtime), MANY);
	for (size_t i = 0; i < MANY; i++) {
		REQUIRE(race.found[0][i]);
		ASSERT_UINT(race.found[0][i]->method_table, addresses[i]);
		for (size_t k = 1; k < 4; k++)
			CU_ASSERT(race.found[k][i] == race.found[0][i]);
		CU_ASSERT(type_at(race.runtime, race.found[0][i]->index) == race.found[0][i]);
	}
	fake_clr_destroy(fake);
}

/* A collectible type whose loader module leads by a handle to an object of @p allocator_type. */
static uint64_t collectible(struct fake_clr *fake, uint64_t allocator_type, uint64_t *ret_handle)
{
	struct fake_memory *memory = &fake->memory;
	uint64_t type = made(fake, 24, 0, COLLECTIBLE);
	uint64_t auxiliary = fake_alloc(memory, 64), module = fake_alloc(memory, 2048);
	uint64_t allocator = fake_alloc(memory, 2048), handle = fake_alloc(memory, 8);
	fake_poke_u64(memory, type + MT_AUX_OFFSET, auxiliary);
	fake_poke_u64(memory, auxiliary + AUX_MODULE, module);
	fake_poke_u64(memory, module + MODULE_ALLOCATOR, allocator);
	fake_poke_u64(memory, allocator + ALLOCATOR_HANDLE, handle | 1);
	fake_expose(fake, handle, fake_object(fake, allocator_type, 0), allocator);
	*ret_handle = handle;
	return type;
}

static uint64_t allocator_of(struct fake_clr *fake, uint64_t address)
{
	const struct type *type = type_find(fake_runtime(fake), address);
	REQUIRE(type);
	return type->loader_allocator;
}

TEST(test_loader_allocator)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct fake_memory *memory = &fake->memory;
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	uint64_t handle, allocator_type = made(fake, 40, 0, 0);
	uint64_t type = collectible(fake, allocator_type, &handle);
	ASSERT_UINT(allocator_of(fake, type), fake_peek_u64(memory, handle));
	/* Collected, or a handle into nowhere. */
	type = collectible(fake, allocator_type, &handle);
	fake_poke_u64(memory, handle, 0);
	ASSERT_UINT(allocator_of(fake, type), 0);
	type = collectible(fake, allocator_type, &handle);
	fake_poke_u64(memory, handle, 0x414141414140);
	ASSERT_UINT(allocator_of(fake, type), 0);
	type = collectible(fake, allocator_type, &handle);
	fake_unmap(memory, handle);
	ASSERT_UINT(allocator_of(fake, type), 0);
	/* There is an object that cannot be one: of another module, collectible, an array. */
	uint64_t foreign = made(fake, 40, 0, 0);
	fake_poke_u64(memory, foreign + 24, fake->module + 8);
	ASSERT_UINT(allocator_of(fake, collectible(fake, foreign, &handle)), 0);
	uint64_t odd = made(fake, 40, 0, COLLECTIBLE);
	ASSERT_UINT(allocator_of(fake, collectible(fake, odd, &handle)), 0);
	ASSERT_UINT(allocator_of(fake, collectible(fake, fake->string_type, &handle)), 0);
	fake_clr_destroy(fake);
}

/* Each allocation fails once: the type is not found and the table says why, or it is found. */
TEST(test_no_memory)
{
	const struct gc_series series = { .size = -24, .offset = 8 };
	for (uint64_t nth = 1; nth < 100; nth++) {
		struct fake_clr *fake = fake_clr_create(NULL);
		uint64_t address = fake_type(fake, &(struct fake_type){ .base_size = 40,
									.series = &series,
									.series_count = 1 });
		struct runtime *runtime = fake_runtime(fake);
		alloc_fail_at(nth);
		struct runtime_type_table *types = NULL;
		enum hd_status status = runtime_type_table_create(&types, NULL);
		ASSERT_UINT(types != NULL, status == HD_OK);
		runtime_type_table_destroy(types);
		const struct type *type = type_find(runtime, address);
		bool failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || status == HD_ERR_NOMEM);
		ASSERT_UINT(type == NULL, runtime_type_table_failed(runtime));
		CU_ASSERT(failed || type);
		CU_ASSERT(type_find(runtime, address) != NULL);
		fake_clr_destroy(fake);
		if (!failed)
			return;
	}
	CU_FAIL("it never succeeded");
}

SUITE(.name = "type table")
