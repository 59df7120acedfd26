/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/method_table.h"
#include "runtime/type.h"
#include "support/assert_more.h"
#include "support/fake_memory.h"
#include "support/suite.h"
#include "targets/target.h"

#define MANAGER 0x4000u

/* A NativeAOT runtime whose MethodTables have two vtable slots and an interface. */
struct fixture {
	struct fake_memory memory;
	struct target target;
	struct nativeaot aot;
	uint64_t manager, table, base;
};

/* @return the address of a MethodTable that leads to the TypeManager. */
static uint64_t make(struct fixture *fixture, uint32_t flags, uint32_t size, uint64_t related)
{
	uint64_t table = fake_alloc(&fixture->memory, 24 + 3 * 8 + 8);
	uint64_t tail = table + 24 + (uint64_t)3 * 8;
	fake_poke_u32(&fixture->memory, table, flags);
	fake_poke_u32(&fixture->memory, table + 4, size);
	fake_poke_u64(&fixture->memory, table + 8, related);
	fake_poke_u32(&fixture->memory, table + 16, 2u | 1u << 16);
	fake_poke_u32(&fixture->memory, tail, (uint32_t)(fixture->manager - tail));
	return table;
}

static void begin(struct fixture *fixture, unsigned int major)
{
	*fixture = (struct fixture){ 0 };
	fake_memory_init(&fixture->memory);
	fixture->target.arch = &arch_x86_64;
	fixture->manager = fake_alloc(&fixture->memory, 8);
	fixture->aot = (struct nativeaot){
		.base = { .target = &fixture->target, .memory = &fixture->memory.memory },
		.major = major,
		.type_manager = fixture->manager,
	};
	fixture->base = make(fixture, 20u << 26, 24, 0);
}

static bool describe(struct fixture *fixture, uint64_t table, struct type *ret)
{
	return aot_describe_type(&fixture->aot.base, table, ret);
}

TEST(a_class_has_its_size_flags_and_base)
{
	struct fixture fixture;
	struct type type;
	begin(&fixture, 10);
	uint64_t table = make(&fixture, 20u << 26 | 0x01000000 | 0x00100000, 40, fixture.base);
	CU_ASSERT_FATAL(describe(&fixture, table, &type));
	ASSERT_UINT(type.base_size, 40);
	ASSERT_UINT(type.parent, fixture.base);
	ASSERT_UINT(type.category, CATEGORY_CLASS);
	CU_ASSERT(type.has_pointers && type.has_finalizer && !type.is_string);
	fake_memory_deinit(&fixture.memory);
}

TEST(the_flag_for_references_moved_in_9)
{
	struct fixture fixture;
	struct type type;
	begin(&fixture, 8);
	uint64_t table = make(&fixture, 20u << 26 | 0x00200000, 40, fixture.base);
	CU_ASSERT_FATAL(describe(&fixture, table, &type));
	CU_ASSERT(type.has_pointers);
	fixture.aot.major = 9;
	CU_ASSERT_FATAL(describe(&fixture, table, &type));
	CU_ASSERT_FALSE(type.has_pointers);
	fake_memory_deinit(&fixture.memory);
}

TEST(arrays_strings_and_structs_are_told_apart)
{
	struct fixture fixture;
	struct type type;
	begin(&fixture, 11);
	uint64_t element = make(&fixture, 16u << 26, 32, fixture.base);
	CU_ASSERT_FATAL(describe(&fixture, element, &type));
	ASSERT_UINT(type.category, CATEGORY_VALUE);
	uint64_t array = make(&fixture, 0x80000000 | 24u << 26 | 2u << 16 | 16, 24, element);
	CU_ASSERT_FATAL(describe(&fixture, array, &type));
	ASSERT_UINT(type.category, CATEGORY_SZ_ARRAY);
	ASSERT_UINT(type.component_size, 16);
	ASSERT_UINT(type.links.per_inst, element);
	ASSERT_UINT(type.parent, 0);
	uint64_t string = make(&fixture, 0x80000000 | 20u << 26 | 2, 22, fixture.base);
	CU_ASSERT_FATAL(describe(&fixture, string, &type));
	CU_ASSERT(type.is_string);
	fake_memory_deinit(&fixture.memory);
}

TEST(an_object_with_static_fields_has_a_short_type)
{
	struct fixture fixture;
	struct type type;
	begin(&fixture, 10);
	uint64_t holder = fake_alloc(&fixture.memory, 24);
	fake_poke_u32(&fixture.memory, holder, 0x01000000);
	fake_poke_u32(&fixture.memory, holder + 4, 48);
	fake_poke_u64(&fixture.memory, holder + 8, fixture.base);
	CU_ASSERT_FATAL(describe(&fixture, holder, &type));
	ASSERT_UINT(type.base_size, 48);
	/* Its base class must be one, and have none itself. */
	fake_poke_u64(&fixture.memory, holder + 8, make(&fixture, 20u << 26, 24, fixture.base));
	CU_ASSERT_FALSE(describe(&fixture, holder, &type));
	fake_poke_u64(&fixture.memory, holder + 8, 0);
	CU_ASSERT_FALSE(describe(&fixture, holder, &type));
	fake_memory_deinit(&fixture.memory);
}

TEST(what_is_no_method_table_is_refused)
{
	struct fixture fixture;
	struct type type;
	begin(&fixture, 10);
	uint64_t table = make(&fixture, 20u << 26, 40, fixture.base);
	CU_ASSERT(describe(&fixture, table, &type));
	CU_ASSERT_FALSE(describe(&fixture, table + 4, &type));
	CU_ASSERT_FALSE(describe(&fixture, 8, &type));
	/* It leads to another word, has no size, or is a generic type without arguments. */
	fake_poke_u32(&fixture.memory, table + 24 + 3 * 8, MANAGER);
	CU_ASSERT_FALSE(describe(&fixture, table, &type));
	CU_ASSERT_FALSE(describe(&fixture, make(&fixture, 20u << 26, 20, fixture.base), &type));
	CU_ASSERT_FALSE(
		describe(&fixture, make(&fixture, 20u << 26 | 3u << 16, 40, fixture.base), &type));
	/* Its slots lead beyond what can be read. */
	fake_poke_u32(&fixture.memory, table + 16, UINT32_MAX);
	CU_ASSERT_FALSE(describe(&fixture, table, &type));
	fake_memory_deinit(&fixture.memory);
}

TEST(free_blocks_have_the_one_type_that_leads_nowhere)
{
	struct fixture fixture;
	struct type type;
	begin(&fixture, 10);
	uint64_t table = fake_alloc(&fixture.memory, 24);
	fake_poke_u32(&fixture.memory, table, 0x80000001);
	fake_poke_u32(&fixture.memory, table + 4, 24);
	CU_ASSERT_FALSE(describe(&fixture, table, &type));
	fixture.aot.base.tables.free = table;
	CU_ASSERT_FATAL(describe(&fixture, table, &type));
	CU_ASSERT(type.is_free && type.component_size == 1 && !type.has_pointers);
	fake_memory_deinit(&fixture.memory);
}

SUITE(.name = "aot_types")
