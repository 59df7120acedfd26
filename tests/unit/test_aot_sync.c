/* SPDX-License-Identifier: MIT */
/* The table of locks of a made-up program. */
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/sync.h"
#include "support/fake_memory.h"
#include "support/suite.h"

#define ENTRIES ((uint64_t)0x7f4000000000)
#define HANDLES ((uint64_t)0x7f4001000000)
#define OBJECTS ((uint64_t)0x7f4002000000)
#define LOCKS   ((uint64_t)0x7f4003000000)

static struct fake_memory memory;
static struct nativeaot aot;

static void set_up(void)
{
	fake_memory_init(&memory);
	fake_map(&memory, ENTRIES, 4096);
	fake_map(&memory, HANDLES, 4096);
	fake_map(&memory, OBJECTS, 4096);
	aot = (struct nativeaot){ .sync_entries = ENTRIES, .sync_count = 4 };
	aot.base.memory = &memory.memory;
	aot.base.ops = &nativeaot_ops;
}

static void tear_down(void)
{
	fake_memory_deinit(&memory);
}

static uint64_t object_at(uint32_t index)
{
	return OBJECTS + 64 * (uint64_t)index + 8;
}

/* Entry @p index, whose object has the header word @p header. */
static void put_entry(uint32_t index, uint32_t header)
{
	uint64_t entry = ENTRIES + 32 * (uint64_t)index, handle = HANDLES + 8 * (uint64_t)index;
	fake_poke_u64(&memory, entry, LOCKS + 64 * (uint64_t)index);
	fake_poke_u64(&memory, entry + 24, handle);
	fake_poke_u64(&memory, handle, object_at(index));
	fake_poke_u32(&memory, object_at(index) - 4, header);
}

TEST(an_entry_is_its_object_s_if_the_object_has_its_number)
{
	struct sync_block block;
	put_entry(1, 0x08000001);
	put_entry(2, 0x08000001);
	put_entry(3, 0x0c000003);
	CU_ASSERT_FATAL(runtime_sync_block(&aot.base, 1, &block));
	CU_ASSERT_EQUAL(block.object, object_at(1));
	CU_ASSERT_EQUAL(block.lock, LOCKS + 64);
	CU_ASSERT_FALSE(block.has_monitor);
	for (uint32_t i = 2; i < 4; i++) {
		CU_ASSERT_FATAL(runtime_sync_block(&aot.base, i, &block));
		CU_ASSERT_EQUAL(block.object, 0);
		CU_ASSERT_EQUAL(block.lock, 0);
	}
	CU_ASSERT_FALSE(runtime_sync_block(&aot.base, 0, &block));
	CU_ASSERT_FALSE(runtime_sync_block(&aot.base, 4, &block));
}

TEST(the_header_of_an_object_leads_to_its_lock)
{
	struct sync_info info;
	put_entry(1, 0x08000001);
	CU_ASSERT_FATAL(runtime_sync_info(&aot.base, object_at(1), &info));
	CU_ASSERT_EQUAL(info.index, 1);
	CU_ASSERT_EQUAL(info.owner, object_at(1));
	CU_ASSERT_EQUAL(info.block, LOCKS + 64);
	aot.sync_entries = 0;
	CU_ASSERT_FALSE(runtime_has_sync_table(&aot.base));
	CU_ASSERT_FATAL(runtime_sync_info(&aot.base, object_at(1), &info));
	CU_ASSERT_EQUAL(info.block, 0);
}

SUITE(.name = "aot_sync", .set_up = set_up, .tear_down = tear_down)
