/* SPDX-License-Identifier: MIT */
/* Rules about memory beside the objects: native memory, and what the GC keeps free. */
#include <string.h>

#include "inspect/value.h"
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/report_scene.h"
#include "support/suite.h"

#define KILO 1024u

static struct report_scene *scene;

static void set_up(void)
{
	scene = scene_create();
}

static void tear_down(void)
{
	scene_destroy(scene);
}

static uint64_t make_large_object(uint32_t megabytes)
{
	uint64_t bytes_type = scene_bytes_type(scene);
	scene_segment(scene, GENERATION_LOH, (uint64_t)(megabytes + 1) * KILO * KILO);
	return fake_object(scene->fake, bytes_type, megabytes * KILO * KILO);
}

/* 332 MB in memory, of which 300 MB are in arenas, and 11 MB of heap. */
static const struct memory_share native_program = {
	.is_live = true,
	.is_malloc = true,
	.all = (uint64_t)332 << 20,
	.native = (uint64_t)300 << 20,
	.gc_committed = (uint64_t)11 << 20,
	.arenas = 61,
};

static void expect_native(struct memory_share share, bool is_told)
{
	scene->native = &share;
	const struct report_finding *finding = scene_finding(scene, "native-memory");
	scene->native = NULL;
	CU_ASSERT_FATAL(!finding == !is_told);
	CU_ASSERT(!finding || finding->severity == SEVERITY_MEDIUM);
	CU_ASSERT(!finding || finding->bytes == share.native);
}

TEST(a_process_that_is_native_memory_is_told)
{
	scene_hold(scene, SCENE_STATIC, make_large_object(1));
	expect_native(native_program, true);
	const struct report_finding *finding = scene_finding(scene, "native-memory");
	CU_ASSERT_STRING_EQUAL(finding->title, "native memory is 90 % of all");
	CU_ASSERT_PTR_NOT_NULL(strstr(finding->sentence,
				      "The process has 332 MB in memory, 30 "
				      "times what the GC heap has committed "
				      "(11 MB); 300 MB are malloc in 61 arenas"));
	CU_ASSERT(finding->confidence == CONFIDENCE_HIGH);
	CU_ASSERT(finding->rule->is_outside);
}

/* Bitmaps of a library, the last of which are alive; each has a native pointer. */
static void make_bitmaps(uint32_t dead, uint32_t alive, uint32_t header)
{
	static const struct fake_field fields[] = { { .name = "handle", .element = ELEMENT_I },
						    { .name = NULL } };
	uint64_t bitmap = scene_class(scene, "Drawing", "Bitmap", 0, 8, fields);
	uint64_t plain = scene_class(scene, "Drawing", "Watcher", 0, 8, NULL);
	scene_segment(scene, GENERATION_2, (uint64_t)(dead + alive) * 48 + KILO);
	for (uint32_t i = 0; i < dead + alive; i++) {
		uint64_t one = fake_object(scene->fake, bitmap, 0);
		uint64_t other = fake_object(scene->fake, plain, 0);
		fake_header(scene->fake, one, header);
		scene_hold(scene, SCENE_REGISTERED, one);
		scene_hold(scene, SCENE_REGISTERED, other);
		if (i >= dead)
			scene_hold(scene, SCENE_STATIC, one);
	}
}

static const struct report_finding *find_bitmaps(void)
{
	scene->native = &native_program;
	const struct report_finding *finding = scene_finding(scene, "native-memory");
	scene->native = NULL;
	CU_ASSERT_PTR_NOT_NULL_FATAL(finding);
	return finding;
}

TEST(objects_with_native_pointers_probably_have_native_memory)
{
	make_bitmaps(0, 200, 0);
	const struct report_finding *finding = find_bitmaps();
	CU_ASSERT_STRING_EQUAL(finding->title,
			       "native memory is 90 % of all, probably of 200 Bitmap");
	CU_ASSERT_PTR_NOT_NULL(strstr(finding->sentence, "Probably 200 Bitmap have it"));
	CU_ASSERT_STRING_EQUAL(finding->next, "gcroot -nostacks -type Drawing.Bitmap");
	ASSERT_UINT(finding->objects, 200);
}

TEST(garbage_that_has_native_memory_is_told)
{
	make_bitmaps(180, 20, 0);
	const struct report_finding *finding = find_bitmaps();
	CU_ASSERT_PTR_NOT_NULL(strstr(finding->sentence, "200 Bitmap (180 of them garbage)"));
	CU_ASSERT_STRING_EQUAL(finding->next, "finalizequeue -stat");
}

TEST(objects_that_were_disposed_have_no_native_memory)
{
	make_bitmaps(0, 200, HEADER_FINALIZER_RUN);
	CU_ASSERT_STRING_EQUAL(find_bitmaps()->title, "native memory is 90 % of all");
}

TEST(a_few_objects_are_not_named)
{
	make_bitmaps(0, 31, 0);
	CU_ASSERT_STRING_EQUAL(find_bitmaps()->title, "native memory is 90 % of all");
}

/* 415 MB of a workstation GC, of which a megabyte is an object. */
static const struct memory_share free_program = {
	.is_live = true,
	.all = (uint64_t)450 << 20,
	.gc = (uint64_t)415 << 20,
	.gc_committed = (uint64_t)430 << 20,
	.heaps = 1,
	.settings = { .has_environment = true,
		      .has_config = true,
		      .rows = { [MEMORY_SETTING_CONSERVE] = { "DOTNET_GCConserveMemory",
							      MEMORY_SET_IN_ENVIRONMENT, "5" },
				[MEMORY_SETTING_DATAS] = { .name = "datas" },
				[MEMORY_SETTING_LIMIT] = { .name = "limit" },
				[MEMORY_SETTING_LIMIT_PERCENT] = { .name = "percent" } },
		      .limits = { .is_known = true, .heap = (uint64_t)600 << 20 } },
};

static const struct report_finding *find_free(const struct memory_share *share)
{
	scene->native = share;
	const struct report_finding *finding = scene_finding(scene, "gc-memory");
	scene->native = NULL;
	return finding;
}

TEST(free_memory_that_the_gc_keeps_is_told_with_its_settings)
{
	scene_hold(scene, SCENE_STATIC, make_large_object(1));
	const struct report_finding *finding = find_free(&free_program);
	CU_ASSERT_PTR_NOT_NULL_FATAL(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	CU_ASSERT_PTR_NOT_NULL(strstr(finding->title, "MB of the GC's memory are free"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(finding->sentence, "The GC has 415 MB in memory for 1 MB of objects"));
	CU_ASSERT_PTR_NOT_NULL(strstr(finding->sentence, "It is a workstation GC; "));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(finding->sentence, "DOTNET_GCConserveMemory is 0x5 in its environment"));
	CU_ASSERT_PTR_NOT_NULL(strstr(finding->sentence, "limit is not set"));
	CU_ASSERT_PTR_NOT_NULL(strstr(finding->sentence, "the GC lets the heap have 600 MB"));
}

TEST(room_for_new_objects_of_each_heap_is_no_waste)
{
	struct memory_share share = free_program;
	share.heaps = 6;
	scene_hold(scene, SCENE_STATIC, make_large_object(1));
	CU_ASSERT_PTR_NULL(find_free(&share));
}

TEST(a_small_heap_without_objects_is_no_waste)
{
	struct memory_share share = free_program;
	share.gc = (uint64_t)120 << 20;
	scene_hold(scene, SCENE_STATIC, make_large_object(1));
	CU_ASSERT_PTR_NULL(find_free(&share));
}

TEST(memory_of_objects_is_not_free)
{
	scene_hold(scene, SCENE_STATIC, make_large_object(150));
	CU_ASSERT_PTR_NULL(find_free(&free_program));
}

TEST(a_core_without_malloc_has_native_memory)
{
	struct memory_share share = native_program;
	share.is_live = share.is_malloc = false;
	share.arenas = 0;
	expect_native(share, true);
	const struct report_finding *finding = scene_finding(scene, "native-memory");
	CU_ASSERT_PTR_NOT_NULL(
		strstr(finding->sentence, "The core has 332 MB in pages that are not zero"));
	CU_ASSERT_PTR_NOT_NULL(strstr(finding->sentence, "300 MB are native memory"));
	CU_ASSERT(finding->confidence == CONFIDENCE_MEDIUM);
}

TEST(native_memory_is_not_compared_with_a_heap_that_is_not_known)
{
	struct memory_share share = native_program;
	share.gc_committed = 0;
	expect_native(share, false);
}

TEST(a_process_that_is_images_is_not_told)
{
	struct memory_share share = native_program;
	share.native = share.all / 2 - 1;
	expect_native(share, false);
}

TEST(a_process_that_is_mostly_heap_is_not_told)
{
	struct memory_share share = native_program;
	share.gc_committed = share.all / 3 + 1;
	expect_native(share, false);
}

TEST(a_small_process_with_native_memory_is_not_told)
{
	struct memory_share share = native_program;
	share.all = share.native = ((uint64_t)64 << 20) - 1;
	share.gc_committed = 1;
	expect_native(share, false);
}

TEST(what_is_not_known_to_be_in_memory_is_not_told)
{
	CU_ASSERT_PTR_NULL(scene_finding(scene, "native-memory"));
	const struct report *report = scene_report(scene);
	for (size_t i = 0; i < report_rule_count(); i++) {
		if (strcmp(report_rule_at(i)->name, "native-memory") == 0)
			CU_ASSERT(!report->results[i].has_run);
	}
}

SUITE(.name = "report_memory", .set_up = set_up, .tear_down = tear_down)
