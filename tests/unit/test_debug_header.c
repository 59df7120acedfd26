/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/debug_header.h"
#include "support/assert_more.h"
#include "support/fake_memory.h"
#include "support/suite.h"

#define TYPE_ENTRY 24u
#define GLOBAL     16u

/* A header of .NET 10 with three fields and two globals. */
struct fixture {
	struct fake_memory memory;
	uint64_t header, types, globals;
	struct aot_layout layout;
	struct aot_globals found;
	uint64_t free_table;
};

static void put_field(struct fixture *fixture, unsigned int row, const char *type,
		      const char *field, uint32_t offset)
{
	uint64_t at = fixture->types + row * TYPE_ENTRY;
	fake_poke_u64(&fixture->memory, at, fake_text(&fixture->memory, type));
	fake_poke_u64(&fixture->memory, at + 8, fake_text(&fixture->memory, field));
	fake_poke_u32(&fixture->memory, at + 16, offset);
}

static void put_global(struct fixture *fixture, unsigned int row, const char *name, uint64_t value)
{
	uint64_t at = fixture->globals + row * GLOBAL;
	fake_poke_u64(&fixture->memory, at, fake_text(&fixture->memory, name));
	fake_poke_u64(&fixture->memory, at + 8, value);
}

static void begin(struct fixture *fixture)
{
	*fixture = (struct fixture){ 0 };
	fake_memory_init(&fixture->memory);
	fixture->header = fake_alloc(&fixture->memory, 32);
	fixture->types = fake_alloc(&fixture->memory, 8 * TYPE_ENTRY);
	fixture->globals = fake_alloc(&fixture->memory, 8 * GLOBAL);
	fake_poke(&fixture->memory, fixture->header, "DNDH", 4);
	fake_poke_u32(&fixture->memory, fixture->header + 4, 5);
	fake_poke_u32(&fixture->memory, fixture->header + 8, 1);
	fake_poke_u64(&fixture->memory, fixture->header + 16, fixture->types);
	fake_poke_u64(&fixture->memory, fixture->header + 24, fixture->globals);
	aot_layout_init(&fixture->layout, 10);
}

static bool take(struct fixture *fixture)
{
	struct debug_header header;
	if (!debug_header_read(&fixture->memory.memory, fixture->header, &header))
		return false;
	debug_header_take(&fixture->memory.memory, &header, &fixture->layout, &fixture->found,
			  &fixture->free_table);
	return true;
}

TEST(offsets_and_addresses_are_those_of_the_header)
{
	struct fixture fixture;
	begin(&fixture);
	put_field(&fixture, 0, "RuntimeThreadLocals", "m_pNext", 1024);
	put_field(&fixture, 1, "StressLog", "m_threadId", 1);
	put_field(&fixture, 2, "ThreadStore", "m_ThreadList", 16);
	put_global(&fixture, 0, "g_gcDacGlobals", 0x7000);
	put_global(&fixture, 1, "g_pFreeObjectEEType", 0x8000);
	CU_ASSERT_FATAL(take(&fixture));
	ASSERT_UINT(fixture.layout.offsets[AOT_THREAD_NEXT], 1024);
	ASSERT_UINT(fixture.layout.offsets[AOT_STORE_FIRST], 16);
	/* A field of that name in another structure, and what the header does not tell. */
	ASSERT_UINT(fixture.layout.offsets[AOT_THREAD_OS_ID], 184);
	ASSERT_UINT(fixture.layout.offsets[AOT_THREAD_FRAME], 72);
	ASSERT_UINT(fixture.found.gc_vars, 0x7000);
	ASSERT_UINT(fixture.found.instance, 0);
	ASSERT_UINT(fixture.free_table, 0x8000);
	fake_memory_deinit(&fixture.memory);
}

TEST(offsets_that_cannot_be_are_not_taken)
{
	struct fixture fixture;
	begin(&fixture);
	put_field(&fixture, 0, "ThreadStore", "m_ThreadList", 0x10000);
	put_field(&fixture, 1, "Thread", "m_pNext", UINT32_MAX);
	CU_ASSERT_FATAL(take(&fixture));
	ASSERT_UINT(fixture.layout.offsets[AOT_STORE_FIRST], 0);
	ASSERT_UINT(fixture.layout.offsets[AOT_THREAD_NEXT], 96);
	fake_memory_deinit(&fixture.memory);
}

TEST(lists_end_where_they_cannot_be_read)
{
	struct fixture fixture;
	begin(&fixture);
	for (unsigned int i = 0; i < 8; i++) {
		put_field(&fixture, i, "ThreadStore", "m_ThreadList", i);
		put_global(&fixture, i, "g_pTheRuntimeInstance", i);
	}
	CU_ASSERT(take(&fixture));
	ASSERT_UINT(fixture.layout.offsets[AOT_STORE_FIRST], 7);
	ASSERT_UINT(fixture.found.instance, 7);
	/* A name that is nowhere is left out; those that follow are read. */
	fake_poke_u64(&fixture.memory, fixture.types + 7 * TYPE_ENTRY, 0x10);
	fake_poke_u64(&fixture.memory, fixture.globals + 6 * GLOBAL, 0x10);
	fixture.found.instance = 0;
	CU_ASSERT(take(&fixture));
	ASSERT_UINT(fixture.layout.offsets[AOT_STORE_FIRST], 6);
	ASSERT_UINT(fixture.found.instance, 7);
	fake_memory_deinit(&fixture.memory);
}

TEST(what_is_no_header_is_refused)
{
	struct fixture fixture;
	begin(&fixture);
	struct debug_header header;
	struct memory *memory = &fixture.memory.memory;
	CU_ASSERT(debug_header_read(memory, fixture.header, &header));
	ASSERT_UINT(debug_header_release(header.major), 10);
	CU_ASSERT_FALSE(debug_header_read(memory, fixture.header + 8, &header));
	CU_ASSERT_FALSE(debug_header_read(memory, 0, &header));
	/* The runtime fills the lists when it starts. */
	fake_poke_u64(&fixture.memory, fixture.header + 16, 0);
	CU_ASSERT_FALSE(debug_header_read(memory, fixture.header, &header));
	fake_poke_u64(&fixture.memory, fixture.header + 16, fixture.types);
	fake_poke_u32(&fixture.memory, fixture.header + 8, 0);
	CU_ASSERT_FALSE(debug_header_read(memory, fixture.header, &header));
	fake_memory_deinit(&fixture.memory);
}

TEST(releases_are_those_of_the_header)
{
	static const unsigned int releases[] = { 0, 0, 0, 8, 9, 10, 0, 0 };
	for (uint16_t major = 0; major < 8; major++)
		ASSERT_UINT(debug_header_release(major), releases[major]);
	ASSERT_UINT(debug_header_release(UINT16_MAX), 0);
}

SUITE(.name = "debug_header")
