/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "snapshot/snapshot.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/fake_module.h"
#include "support/suite.h"
#include "util/alloc.h"

static struct hd_graph *snapshot(struct fake_clr *fake)
{
	struct job job = { 0 };
	struct hd_graph *graph = NULL;
	ASSERT_UINT_FATAL(snapshot_create_nodes(fake_heap(fake), NULL, &job, &graph, NULL), HD_OK);
	REQUIRE(graph);
	return graph;
}

static void check_range(const struct graph_range *range, uint64_t start, uint64_t end,
			unsigned int generation)
{
	ASSERT_UINT(range->start, start);
	ASSERT_UINT(range->end, end);
	ASSERT_UINT(range->generation, generation);
}

TEST(regions_are_ranges_of_their_generation)
{
	static const enum generation generations[] = { GENERATION_0,   GENERATION_1,
						       GENERATION_2,   GENERATION_LOH,
						       GENERATION_POH, GENERATION_NONGC };
	struct fake_clr *fake = fake_clr_create(NULL);
	uint64_t first[6];
	for (size_t i = 0; i < 6; i++) {
		(void)fake_segment(fake, 0, generations[i], 0x1000);
		first[i] = fake_object(fake, fake->object_type, 0);
		(void)fake_object(fake, fake->object_type, 0);
	}
	/* One without objects is no range. */
	(void)fake_segment(fake, 0, GENERATION_2, 0x1000);
	struct hd_graph *graph = snapshot(fake);
	ASSERT_UINT_FATAL(graph->info.range_count, 5);
	for (unsigned int i = 0; i < 5; i++)
		check_range(&graph->info.ranges[i], first[i], first[i] + 48, i);
	graph_destroy(graph);
	fake_clr_destroy(fake);
}

TEST(the_ephemeral_segment_has_three)
{
	struct fake_clr *fake = fake_clr_create(&(struct fake_options){ .has_segments = true });
	(void)fake_segment(fake, 0, GENERATION_EPHEMERAL, 0x1000);
	uint64_t in2 = fake_object(fake, fake->object_type, 0);
	fake_begin_generation(fake, 0, GENERATION_1);
	uint64_t in1 = fake_object(fake, fake->object_type, 0);
	fake_begin_generation(fake, 0, GENERATION_0);
	uint64_t in0 = fake_object(fake, fake->object_type, 0);
	struct hd_graph *graph = snapshot(fake);
	ASSERT_UINT_FATAL(graph->info.range_count, 3);
	check_range(&graph->info.ranges[0], in2, in1, 2);
	check_range(&graph->info.ranges[1], in1, in0, 1);
	check_range(&graph->info.ranges[2], in0, in0 + 24, 0);
	graph_destroy(graph);
	fake_clr_destroy(fake);
}

/* The kernel's name of the process, the path of its file, and the name in the graph. */
static const struct {
	const char *name, *path, *process;
} processes[] = {
	{ "", NULL, NULL },
	{ "", "/usr/bin/dotnet", NULL },
	{ "dotnet", NULL, "dotnet" },
	{ "dotnet", "", "dotnet" },
	{ "dotnet", "/usr/bin/dotnet", "dotnet" },
	{ "A.Long.Program.", "/app/A.Long.Program.Name", "A.Long.Program.Name" },
	{ "renamed", "/app/A.Long.Program.Name", "renamed" },
	{ "app", "app.x", "app.x" },
};

TEST(the_process_has_its_whole_name)
{
	for (size_t i = 0; i < sizeof(processes) / sizeof(processes[0]); i++) {
		struct fake_clr *fake = fake_clr_create(NULL);
		(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
		struct heap *heap = fake_heap(fake);
		struct target_module module = { 0 };
		struct target_module *modules = fake->target.modules;
		size_t count = fake->target.module_count;
		char path[64] = "";
		if (processes[i].path)
			(void)snprintf(path, sizeof(path), "%s", processes[i].path);
		module.path = path;
		fake->target.modules = &module;
		fake->target.module_count = processes[i].path ? 1 : 0;
		(void)snprintf(fake->target.name, sizeof(fake->target.name), "%s",
			       processes[i].name);
		fake->target.pid = 4711;
		struct hd_graph *graph = NULL;
		struct job job = { 0 };
		ASSERT_UINT_FATAL(snapshot_create_nodes(heap, NULL, &job, &graph, NULL), HD_OK);
		REQUIRE(graph);
		ASSERT_TEXT(graph->info.process, processes[i].process);
		ASSERT_UINT(graph->info.pid, 4711);
		CU_ASSERT(!graph->info.is_32bit && !graph->info.is_partial);
		CU_ASSERT(graph->info.tool == NULL);
		graph_destroy(graph);
		fake->target.modules = modules;
		fake->target.module_count = count;
		fake_clr_destroy(fake);
	}
}

TEST(only_a_process_is_on_this_machine)
{
	static const enum target_kind kinds[] = { TARGET_CORE, TARGET_DEBUGGER, TARGET_PROCESS };
	char name[256] = "";
	ASSERT_UINT((uint64_t)gethostname(name, sizeof(name) - 1), 0);
	for (size_t i = 0; i < 3; i++) {
		struct fake_clr *fake = fake_clr_create(NULL);
		(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
		struct heap *heap = fake_heap(fake);
		fake->target.kind = kinds[i];
		struct hd_graph *graph = NULL;
		struct job job = { 0 };
		ASSERT_UINT_FATAL(snapshot_create_nodes(heap, NULL, &job, &graph, NULL), HD_OK);
		REQUIRE(graph);
		ASSERT_TEXT(graph->info.machine, kinds[i] == TARGET_PROCESS ? name : NULL);
		graph_destroy(graph);
		fake_clr_destroy(fake);
	}
}

/* Ticks of .NET: new DateTime(2023, 11, 14, 22, 13, 20).Ticks is 638355968000000000. */
static const struct {
	struct timespec time;
	const char *zone;
	uint64_t ticks;
} times[] = {
	{ { 0, 0 }, "UTC0", 0 },
	{ { 1700000000, 0 }, "UTC0", 638355968000000000 },
	{ { 1700000000, 123456789 }, "UTC0", 638355968001234567 },
	{ { 1700000000, 0 }, "XXX-02:30", 638356058000000000 },
	{ { 1700000000, 0 }, "XXX5", 638355788000000000 },
	{ { -1, 0 }, "UTC0", 621355967990000000 },
	{ { INT64_MAX, 0 }, "UTC0", 0 },
	{ { INT64_MIN, 0 }, "UTC0", 0 },
	{ { INT64_C(253402300799), 0 }, "XXX-14", 0 },
};

TEST(the_time_is_local_in_ticks)
{
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct fake_clr *fake = fake_clr_create(NULL);
		(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
		(void)setenv("TZ", times[i].zone, 1);
		tzset();
		fake->target.time = times[i].time;
		struct hd_graph *graph = snapshot(fake);
		ASSERT_UINT(graph->info.time, times[i].ticks);
		graph_destroy(graph);
		fake_clr_destroy(fake);
	}
	(void)unsetenv("TZ");
	tzset();
}

/* The one Module has no path: a type's is not known, and nothing fails. */
TEST(a_module_without_a_path_is_not_known)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	(void)fake_object(fake, fake->object_type, 0);
	struct hd_graph *graph = snapshot(fake);
	ASSERT_UINT_FATAL(graph->type_count, 1);
	CU_ASSERT(graph->types[0].module == NULL);
	graph_destroy(graph);
	fake_clr_destroy(fake);
}

TEST(types_have_the_path_of_their_module)
{
	static const uint16_t path[] = { '/', 'a', '/', 0xe9, '.', 'd', 'l', 'l', 0 };
	struct fake_clr *fake = fake_clr_create(NULL);
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	(void)fake_object(fake, fake->object_type, 0);
	(void)fake_object(fake, fake->string_type, 3);
	uint64_t units = fake_alloc(&fake->memory, sizeof(path));
	fake_poke(&fake->memory, units, path, sizeof(path));
	fake_poke_u64(&fake->memory, fake->module + FAKE_MODULE_PATH, units);
	struct hd_graph *graph = snapshot(fake);
	ASSERT_UINT_FATAL(graph->type_count, 2);
	ASSERT_TEXT(graph->types[0].module, "/a/\xc3\xa9.dll");
	CU_ASSERT(graph->types[0].module == graph->types[1].module);
	graph_destroy(graph);
	fake_clr_destroy(fake);
}

TEST(each_failed_allocation_is_reported)
{
	uint64_t nth = 1;
	enum hd_status status = HD_ERR_NOMEM;
	for (; status != HD_OK && nth < 100; nth++) {
		struct fake_clr *fake = fake_clr_create(NULL);
		(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
		(void)fake_object(fake, fake->object_type, 0);
		(void)snprintf(fake->target.name, sizeof(fake->target.name), "app");
		struct heap *heap = fake_heap(fake);
		fake->target.kind = TARGET_PROCESS;
		struct job job = { 0 };
		struct hd_graph *graph = NULL;
		alloc_fail_at(nth);
		status = snapshot_create_nodes(heap, NULL, &job, &graph, NULL);
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || (status == HD_ERR_NOMEM && !graph));
		if (status == HD_OK)
			ASSERT_TEXT(graph->info.process, "app");
		graph_destroy(graph);
		fake_clr_destroy(fake);
	}
	CU_ASSERT(nth > 10 && status == HD_OK);
}

SUITE(.name = "snapshot info")
