/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/statics/static.h"
#include "runtime/statics.h"
#include "support/assert_more.h"
#include "support/fake_statics.h"
#include "support/suite.h"

static uint64_t address_of(struct fake_statics *statics, uint64_t method_table, const char *name,
			   unsigned int thread)
{
	struct field_list list = { 0 };
	const struct type *type = type_find(statics->runtime, method_table);
	uint64_t address = UINT64_MAX;
	REQUIRE(type);
	ASSERT_UINT(field_list_read(statics->runtime, type, &list, NULL), HD_OK);
	for (size_t i = 0; i < list.count; i++) {
		if (strcmp(list.rows[i].name, name) == 0)
			address = field_thread_static_address(
				statics->runtime, &list.rows[i],
				&statics->runtime->threads.rows[thread]);
	}
	field_list_deinit(&list);
	return address;
}

TEST(test_addresses)
{
	struct fake_statics statics = fake_statics_create();
	for (unsigned int i = 0; i < 2; i++) {
		ASSERT_UINT(address_of(&statics, statics.holder, "mine", i),
			    fake_element(statics.statics[i], 0));
		ASSERT_UINT(address_of(&statics, statics.holder, "own", i),
			    fake_element(statics.statics[i], 1));
		ASSERT_UINT(address_of(&statics, statics.holder, "turns", i),
			    fake_element(statics.numbers[i], 0));
		/* neither of an instance nor of all threads */
		ASSERT_UINT(address_of(&statics, statics.holder, "count", i), 0);
		ASSERT_UINT(address_of(&statics, statics.holder, "cache", i), 0);
	}
	/* collectible: by a handle; thread 1 has none */
	ASSERT_UINT(address_of(&statics, statics.plug, "last", 0),
		    fake_element(statics.plug_statics, 0));
	ASSERT_UINT(address_of(&statics, statics.plug, "last", 1), 0);
	struct thread_local_data data;
	CU_ASSERT(thread_local_data_read(statics.runtime, &statics.runtime->threads.rows[1], 0,
					 &data));
	ASSERT_UINT(data.object, statics.thread_arrays[1]);
	ASSERT_UINT(fake_peek_u64(&statics.fake->memory, data.slot_at), data.object);
	fake_statics_destroy(&statics);
}

/* Some numbers of CoreLib lie inside the ThreadLocalData; a type may have no index at all. */
TEST(test_direct)
{
	struct fake_statics statics = fake_statics_create();
	struct fake_memory *memory = &statics.fake->memory;
	uint64_t info = fake_peek_u64(memory, statics.holder + FAKE_AUXILIARY_OF) - 40;
	fake_poke_u32(memory, info, 0x02000028);
	ASSERT_UINT(address_of(&statics, statics.holder, "turns", 0),
		    statics.locals[0] + 0x28 + 16);
	fake_poke_u32(memory, info, 0xffffffff);
	ASSERT_UINT(address_of(&statics, statics.holder, "turns", 0), 0);
	fake_poke_u32(memory, info, 0x03000001);
	ASSERT_UINT(address_of(&statics, statics.holder, "turns", 0), 0);
	fake_statics_destroy(&statics);
}

TEST(test_damage)
{
	struct fake_statics statics = fake_statics_create();
	struct fake_memory *memory = &statics.fake->memory;
	/* what is in flight leads back to itself; the handle is not there */
	uint64_t other = fake_peek_u64(memory, statics.locals[1] + 32);
	uint64_t flight = fake_peek_u64(memory, other);
	fake_poke_u64(memory, flight + 16, 0x123450);
	ASSERT_UINT(address_of(&statics, statics.holder, "mine", 1), 0);
	fake_poke_u64(memory, other, other);
	ASSERT_UINT(address_of(&statics, statics.holder, "mine", 1), 0);
	fake_poke_u64(memory, statics.locals[1] + 32, 0x123450);
	ASSERT_UINT(address_of(&statics, statics.holder, "mine", 1), 0);
	/* an index after the arrays' ends, arrays that are not there */
	uint64_t info = fake_peek_u64(memory, statics.holder + FAKE_AUXILIARY_OF) - 40;
	fake_poke_u32(memory, info + 4, 0x00ffffff);
	ASSERT_UINT(address_of(&statics, statics.holder, "mine", 0), 0);
	fake_poke_u32(memory, info + 4, 1);
	ASSERT_UINT(address_of(&statics, statics.holder, "mine", 0), 0);
	fake_poke_u64(memory, statics.locals[0] + 16, 0x123450);
	ASSERT_UINT(address_of(&statics, statics.plug, "last", 0), 0);
	/* no thread data */
	fake_poke_u64(memory, statics.runtime->threads.rows[0].address + 568, 0);
	ASSERT_UINT(address_of(&statics, statics.holder, "turns", 0), 0);
	struct thread_local_data data;
	CU_ASSERT(!thread_local_data_read(statics.runtime, &statics.runtime->threads.rows[0], 0,
					  &data));
	fake_statics_destroy(&statics);
}

/*
 * .NET 8 (threadstatics.h, appdomain.hpp of 8): Thread + 1080 is a table of ThreadLocalModules by the
 * index at Module + 1232.
 */
struct fixture_8 {
	struct fake_statics statics;
	uint64_t local;    /* ThreadLocalModule */
	uint64_t rows;     /* its dynamic classes */
	uint64_t optional; /* EEClassOptionalFields of Ns.Holder */
	struct runtime_thread thread;
	struct field field;
};

static struct fixture_8 set_up_8(void)
{
	struct fixture_8 fixture = { .statics = fake_statics_create() };
	struct fake_clr *fake = fixture.statics.fake;
	struct fake_memory *memory = &fake->memory;
	struct runtime *runtime = fixture.statics.runtime;
	coreclr_of(runtime)->major = 8;
	layout_init(&coreclr_of(runtime)->layout);
	layout_fill(&coreclr_of(runtime)->layout, 8, ORIGIN_SERIES);
	uint64_t table = fake_alloc(memory, 32), handle = fake_alloc(memory, 8);
	fixture.local = fake_alloc(memory, 256);
	fixture.rows = fake_alloc(memory, 64);
	fixture.thread.address = fake_alloc(memory, 2048);
	fake_poke_u64(memory, fixture.thread.address + 1080, table);
	fake_poke_u64(memory, fixture.thread.address + 1088, 3);
	fake_poke_u32(memory, fake->module + 1232, 2);
	fake_poke_u64(memory, table + 16, fixture.local);
	fake_poke_u64(memory, fixture.local, fixture.rows);
	fake_poke_u64(memory, fixture.local + 8, 4);
	fake_poke_u64(memory, fixture.local + 16, handle);
	fake_poke_u64(memory, handle, fixture.statics.statics[0]);
	fixture.optional = fake_alloc(memory, 32);
	fake_poke_u32(memory, fixture.optional + 16, 0xffffffff);
	fake_poke_u64(memory, fake_peek_u64(memory, fixture.statics.holder + 40) + 8,
		      fixture.optional);
	fixture.field = (struct field){ .declaring = type_find(runtime, fixture.statics.holder),
					.offset = 8,
					.element_type = ELEMENT_CLASS,
					.is_static = true,
					.is_thread_static = true };
	return fixture;
}

static uint64_t find_8(const struct fixture_8 *fixture, uint8_t element)
{
	struct field field = fixture->field;
	field.element_type = element;
	return field_thread_static_address(fixture->statics.runtime, &field, &fixture->thread);
}

TEST(test_module_8)
{
	struct fixture_8 fixture = set_up_8();
	struct fake_memory *memory = &fixture.statics.fake->memory;
	uint64_t slots = fake_element(fixture.statics.statics[0], 0);
	ASSERT_UINT(find_8(&fixture, ELEMENT_CLASS), slots + 8);
	ASSERT_UINT(find_8(&fixture, ELEMENT_VALUE), slots + 8);
	ASSERT_UINT(find_8(&fixture, ELEMENT_I4), fixture.local + 8);
	/* the thread has not touched the module, or its table ends before it */
	fake_poke_u64(memory, fixture.local + 16, 0);
	ASSERT_UINT(find_8(&fixture, ELEMENT_CLASS), 0);
	fake_poke_u64(memory, fixture.thread.address + 1088, 2);
	ASSERT_UINT(find_8(&fixture, ELEMENT_I4), 0);
	fake_poke_u64(memory, fixture.thread.address + 1088, UINT64_MAX);
	ASSERT_UINT(find_8(&fixture, ELEMENT_I4), 0);
	struct thread_local_data data;
	CU_ASSERT(!thread_local_data_read(fixture.statics.runtime, &fixture.thread, 0, &data));
	fake_statics_destroy(&fixture.statics);
}

/* A type made by Reflection.Emit has its number in EEClassOptionalFields. */
TEST(test_dynamic_8)
{
	struct fixture_8 fixture = set_up_8();
	struct fake_memory *memory = &fixture.statics.fake->memory;
	uint64_t entry = fake_alloc(memory, 64), handle = fake_alloc(memory, 8);
	fake_poke_u32(memory, fixture.optional + 16, 3);
	ASSERT_UINT(find_8(&fixture, ELEMENT_CLASS), 0);
	fake_poke_u64(memory, fixture.rows + 48, entry);
	fake_poke_u64(memory, entry, handle);
	fake_poke_u64(memory, handle, fixture.statics.statics[1]);
	ASSERT_UINT(find_8(&fixture, ELEMENT_CLASS),
		    fake_element(fixture.statics.statics[1], 0) + 8);
	ASSERT_UINT(find_8(&fixture, ELEMENT_I4), entry + 8);
	fake_poke_u32(memory, fixture.optional + 16, 4);
	ASSERT_UINT(find_8(&fixture, ELEMENT_I4), 0);
	fake_statics_destroy(&fixture.statics);
}

/*
 * The statics of a collectible type are behind LOADERHANDLEs: elements of its LoaderAllocator's
 * m_slots.
 */
TEST(test_collectible_8)
{
	struct fixture_8 fixture = set_up_8();
	struct fake_memory *memory = &fixture.statics.fake->memory;
	struct type type = *fixture.field.declaring;
	uint64_t entry = fake_alloc(memory, 64), loader = fake_alloc(memory, 64);
	uint64_t slots = fixture.statics.thread_arrays[0];
	fixture.field.declaring = &type;
	type.is_collectible = true;
	type.loader_allocator = loader;
	fake_poke_u64(memory, loader + 16, slots);
	fake_poke_u64(memory, fake_element(slots, 0), fixture.statics.statics[1]);
	fake_poke_u64(memory, fake_element(slots, 2), fixture.statics.numbers[1]);
	fake_poke_u32(memory, fixture.optional + 16, 1);
	fake_poke_u64(memory, fixture.rows + 16, entry);
	fake_poke_u32(memory, fixture.rows + 24, 0x9);
	fake_poke_u64(memory, entry, 2);     /* the first */
	fake_poke_u64(memory, entry + 8, 6); /* the third */
	ASSERT_UINT(find_8(&fixture, ELEMENT_CLASS),
		    fake_element(fixture.statics.statics[1], 0) + 8);
	/* offsets count from before the entry's own blob, at 8 */
	ASSERT_UINT(find_8(&fixture, ELEMENT_I4), fake_element(fixture.statics.numbers[1], 0));
	fake_poke_u64(memory, entry, 8);
	ASSERT_UINT(find_8(&fixture, ELEMENT_CLASS), 0);
	fake_poke_u64(memory, entry + 8, 0);
	ASSERT_UINT(find_8(&fixture, ELEMENT_I4), 0);
	fake_statics_destroy(&fixture.statics);
}

SUITE(.name = "thread_static")
