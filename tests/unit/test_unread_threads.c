/* SPDX-License-Identifier: MIT */
/* A list of threads that cannot be read, or leads to something else: no damage follows from it. */
#include "support/assert_more.h"
#include "support/fake_descriptor.h"
#include "support/fake_export.h"
#include "support/suite.h"
#include "verify/verify.h"

struct fixture {
	struct fake_clr *fake;
	struct runtime *runtime;
	struct heap *heap;
	struct verify_result result;
};

/*
 * A heap with a thin lock of thread 2, and the context of a thread between two objects; of a release
 * that has no table which would fill in what its descriptor lacks.
 */
static struct fake_clr *make(void)
{
	struct layout layout;
	layout_init(&layout);
	layout_fill(&layout, 11, ORIGIN_SERIES);
	struct fake_clr *fake =
		fake_clr_create(&(struct fake_options){ .release = 12, .layout = &layout });
	fake_segment(fake, 0, GENERATION_0, 0x1000);
	(void)fake_thread(fake);
	(void)fake_thread(fake);
	fake_header(fake, fake_object(fake, fake->object_type, 0), 2);
	(void)fake_context(fake, 256);
	for (unsigned int i = 0; i < 8; i++)
		(void)fake_object(fake, fake->object_type, 0);
	return fake;
}

static void open(struct fixture *fixture, struct fake_clr *fake, const char *const *without)
{
	struct fake_descriptor descriptor = fake_descriptor_make(fake, without);
	*fixture = (struct fixture){ .fake = fake };
	fake_export(fake, &(struct fake_export){ .json = descriptor.json.bytes,
						 .pointers = descriptor.pointers,
						 .pointer_count = descriptor.pointer_count });
	fake_descriptor_free(&descriptor);
	/* The SyncBlockCache comes after the table: the first unused entry, and how many there are. */
	uint64_t cache = fake_alloc(&fake->memory, 256);
	uint64_t index = fake_at(fake, cache, L_SYNC_CACHE_INDEX);
	fake_poke_u32(&fake->memory, index, fake->sync_count + 1);
	fake_poke_u32(&fake->memory, index + 12, 64);
	fake_set_global(fake, (enum fake_global)(FAKE_SYNC_TABLE + FAKE_SYNC_TABLE_MOVED + 1),
			cache);
	ASSERT_UINT_FATAL(runtime_open(&fake->target, NULL, &fixture->runtime, NULL), HD_OK);
	ASSERT_UINT_FATAL(heap_open(fixture->runtime, &fixture->heap, NULL), HD_OK);
	ASSERT_UINT_FATAL(verify_heap(fixture->heap, NULL, NULL, &fixture->result, NULL), HD_OK);
}

static void close(struct fixture *fixture)
{
	verify_result_deinit(&fixture->result);
	heap_destroy(fixture->heap);
	runtime_destroy(fixture->runtime);
	fake_clr_destroy(fixture->fake);
}

TEST(locks_and_contexts_of_known_threads_are_checked)
{
	struct fixture fixture;
	open(&fixture, make(), NULL);
	CU_ASSERT_TRUE(runtime_knows_all_threads(fixture.runtime));
	ASSERT_UINT(fixture.result.count, 0);
	close(&fixture);
	/* A lock of a thread that there is not is damage. */
	struct fake_clr *fake = make();
	fake_header(fake, fake_object(fake, fake->object_type, 0), 77);
	open(&fixture, fake, NULL);
	ASSERT_UINT(fixture.result.damage_count, 1);
	close(&fixture);
}

TEST(locks_of_threads_that_are_not_known_are_no_damage)
{
	static const char *const fields[] = { "Thread.LinkNext", "Thread.Id",
					      "ThreadStore.FirstThreadLink" };
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const char *const without[] = { fields[i], NULL };
		struct fixture fixture;
		open(&fixture, make(), without);
		CU_ASSERT_FALSE(runtime_knows_all_threads(fixture.runtime));
		CU_ASSERT_TRUE(findings_has(&fixture.fake->target.findings, FINDING_THREAD_LIST));
		ASSERT_UINT(fixture.result.damage_count, 0);
		ASSERT_UINT_FATAL(fixture.result.count, 1);
		ASSERT_UINT(fixture.result.findings[0].verdict, VERDICT_UNOWNED_CONTEXT);
		close(&fixture);
	}
}

/* Objects with sync blocks whose entries lie elsewhere: the table is left out, and no object is damaged. */
TEST(a_table_of_sync_blocks_that_does_not_fit_is_left_out)
{
	for (unsigned int sound = 0; sound < 2; sound++) {
		struct fixture fixture;
		struct fake_clr *fake = make();
		uint64_t objects[9];
		for (unsigned int i = 0; i < 9; i++) {
			objects[i] = fake_object(fake, fake->object_type, 0);
			(void)fake_sync_block(fake, objects[i]);
		}
		for (unsigned int i = sound; i < 9; i++)
			fake_poke_u64(&fake->memory, fake->sync_table + 16 * (i + 1ull) + 8,
				      objects[(i + 1) % 9]);
		open(&fixture, fake, NULL);
		ASSERT_UINT(runtime_has_sync_table(fixture.runtime), sound);
		ASSERT_UINT(findings_has(&fake->target.findings, FINDING_MISSING_SYMBOLS), !sound);
		ASSERT_UINT(fixture.result.damage_count, sound ? 8 : 0);
		close(&fixture);
	}
}

/* The list leads to things that are not threads. */
TEST(threads_with_impossible_ids_are_left_out)
{
	struct fixture fixture;
	struct fake_clr *fake = make();
	for (size_t i = 0; i < fake->thread_count; i++)
		fake->threads[i].os_id = 0x7f0000000000 + i;
	open(&fixture, fake, NULL);
	ASSERT_UINT(runtime_thread_count(fixture.runtime), 0);
	CU_ASSERT_FALSE(runtime_knows_all_threads(fixture.runtime));
	CU_ASSERT_TRUE(findings_has(&fixture.fake->target.findings, FINDING_THREAD_LIST));
	ASSERT_UINT(fixture.result.damage_count, 0);
	close(&fixture);
	/* One of three may be damaged: the others are threads. */
	fake = make();
	fake->threads[1].id = 0x7fffffff;
	open(&fixture, fake, NULL);
	ASSERT_UINT(runtime_thread_count(fixture.runtime), 3);
	CU_ASSERT_FALSE(runtime_knows_all_threads(fixture.runtime));
	ASSERT_UINT(fixture.result.damage_count, 0);
	close(&fixture);
}

SUITE(.name = "unread_threads")
