/* SPDX-License-Identifier: MIT */
/* Heaps whose fields lie: a report has findings or is silent, and ends. */
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/report_scene.h"
#include "support/suite.h"
#include "support/turns.h"

#define KILO       1024u
#define OBJECTS    1100u /* of each class: more than most rules ask for */
#define ROUNDS     60u
#define STRUCT     0x00040000u
#define GENERIC    "System.Collections.Generic"
#define CONCURRENT "System.Collections.Concurrent"
#define THREADING  "System.Threading"
#define CACHING    "Microsoft.Extensions.Caching.Memory"
#define CONTAINER  "Microsoft.Extensions.DependencyInjection.ServiceLookup"

/* A class that rules look for; its first words are references. */
static const struct {
	const char *space, *name;
	uint32_t references, size;
	struct fake_field fields[6];
} classes[] = {
	{ GENERIC,
	  "Dictionary",
	  1,
	  32,
	  { { .name = "_entries", .element = ELEMENT_CLASS },
	    { .name = "_count", .element = ELEMENT_I4, .offset = 8 },
	    { .name = "_freeCount", .element = ELEMENT_I4, .offset = 12 },
	    { .name = "_version", .element = ELEMENT_I4, .offset = 16 } } },
	{ GENERIC,
	  "LinkedList",
	  1,
	  16,
	  { { .name = "head", .element = ELEMENT_CLASS },
	    { .name = "count", .element = ELEMENT_I4, .offset = 8 },
	    { .name = "version", .element = ELEMENT_I4, .offset = 12 } } },
	{ CONCURRENT,
	  "ConcurrentDictionary",
	  1,
	  8,
	  { { .name = "_tables", .element = ELEMENT_CLASS } } },
	{ CONCURRENT,
	  "ConcurrentDictionary+Tables",
	  2,
	  16,
	  { { .name = "_buckets", .element = ELEMENT_CLASS },
	    { .name = "_countPerLock", .element = ELEMENT_CLASS, .offset = 8 } } },
	{ CONCURRENT,
	  "BlockingCollection",
	  1,
	  16,
	  { { .name = "_collection", .element = ELEMENT_CLASS },
	    { .name = "_boundedCapacity", .element = ELEMENT_I4, .offset = 8 } } },
	{ "System.Threading.Channels",
	  "BoundedChannel",
	  1,
	  16,
	  { { .name = "_items", .element = ELEMENT_CLASS },
	    { .name = "_bufferedCapacity", .element = ELEMENT_I4, .offset = 8 } } },
	{ "System",
	  "Delegate",
	  2,
	  40,
	  { { .name = "_target", .element = ELEMENT_CLASS },
	    { .name = "_invocationList", .element = ELEMENT_CLASS, .offset = 8 },
	    { .name = "_methodPtr", .element = ELEMENT_I, .offset = 16 },
	    { .name = "_methodPtrAux", .element = ELEMENT_I, .offset = 24 },
	    { .name = "_invocationCount", .element = ELEMENT_I, .offset = 32 } } },
	{ THREADING,
	  "TimerQueueTimer",
	  1,
	  16,
	  { { .name = "_timerCallback", .element = ELEMENT_CLASS },
	    { .name = "_dueTime", .element = ELEMENT_U4, .offset = 8 },
	    { .name = "_canceled", .element = ELEMENT_BOOLEAN, .offset = 12 } } },
	{ THREADING,
	  "CancellationTokenSource",
	  1,
	  16,
	  { { .name = "_registrations", .element = ELEMENT_CLASS },
	    { .name = "_state", .element = ELEMENT_I4, .offset = 8 } } },
	{ THREADING,
	  "CancellationTokenSource+Registrations",
	  1,
	  8,
	  { { .name = "Source", .element = ELEMENT_CLASS } } },
	{ THREADING,
	  "CancellationTokenSource+CallbackNode",
	  3,
	  32,
	  { { .name = "Registrations", .element = ELEMENT_CLASS },
	    { .name = "CallbackState", .element = ELEMENT_CLASS, .offset = 8 },
	    { .name = "Next", .element = ELEMENT_CLASS, .offset = 16 },
	    { .name = "Id", .element = ELEMENT_I8, .offset = 24 } } },
	{ CONTAINER,
	  "ServiceProviderEngineScope",
	  1,
	  16,
	  { { .name = "_disposables", .element = ELEMENT_CLASS },
	    { .name = "_disposed", .element = ELEMENT_BOOLEAN, .offset = 8 },
	    { .name = "<IsRootScope>k__BackingField", .element = ELEMENT_BOOLEAN, .offset = 9 } } },
	{ CACHING,
	  "MemoryCache",
	  2,
	  16,
	  { { .name = "_options", .element = ELEMENT_CLASS },
	    { .name = "_coherentState", .element = ELEMENT_CLASS, .offset = 8 } } },
	{ CACHING,
	  "MemoryCacheOptions",
	  0,
	  8,
	  { { .name = "_sizeLimit", .element = ELEMENT_I8 } } },
	{ CACHING,
	  "CacheEntry",
	  0,
	  16,
	  { { .name = "_absoluteExpirationTicks", .element = ELEMENT_I8 },
	    { .name = "_slidingExpiration", .element = ELEMENT_I4, .offset = 8 } } },
	{ "System",
	  "Memory`1",
	  1,
	  16,
	  { { .name = "_object", .element = ELEMENT_CLASS },
	    { .name = "_index", .element = ELEMENT_I4, .offset = 8 },
	    { .name = "_length", .element = ELEMENT_I4, .offset = 12 } } },
	{ "System.Buffers",
	  "ReadOnlySequence`1",
	  2,
	  24,
	  { { .name = "_startObject", .element = ELEMENT_CLASS },
	    { .name = "_endObject", .element = ELEMENT_CLASS, .offset = 8 },
	    { .name = "_startInteger", .element = ELEMENT_I4, .offset = 16 },
	    { .name = "_endInteger", .element = ELEMENT_I4, .offset = 20 } } },
	{ "System", "WeakReference", 0, 8, { { .name = "_taggedHandle", .element = ELEMENT_I } } },
	{ "Shop",
	  "PluginLoadContext",
	  0,
	  8,
	  { { .name = "_state", .element = ELEMENT_I4 },
	    { .name = "_isCollectible", .element = ELEMENT_BOOLEAN, .offset = 4 } } },
	{ "Shop",
	  "Session",
	  1,
	  16,
	  { { .name = "owner", .element = ELEMENT_CLASS },
	    { .name = "_disposed", .element = ELEMENT_BOOLEAN, .offset = 8 } } },
	{ "Shop",
	  "Till+<>c__DisplayClass1_0",
	  2,
	  16,
	  { { .name = "<>4__this", .element = ELEMENT_CLASS },
	    { .name = "order", .element = ELEMENT_CLASS, .offset = 8 } } },
	{ "System.Net.Sockets",
	  "Socket",
	  0,
	  8,
	  { { .name = "_disposed", .element = ELEMENT_BOOLEAN } } },
	{ "System",
	  "Exception",
	  1,
	  8,
	  { { .name = "_innerException", .element = ELEMENT_CLASS } } },
	{ "System.Buffers",
	  "SharedArrayPoolPartitions",
	  1,
	  8,
	  { { .name = "_partitions", .element = ELEMENT_CLASS } } },
};
#define CLASSES (sizeof(classes) / sizeof(classes[0]))

static struct report_scene *scene;
static uint64_t types[CLASSES], numbers_type, session_type;

static void make_world(void)
{
	scene = scene_create();
	for (size_t i = 0; i < CLASSES; i++) {
		types[i] = scene_class(scene, classes[i].space, classes[i].name,
				       classes[i].references, classes[i].size, classes[i].fields);
		if (strcmp(classes[i].name, "Session") == 0)
			session_type = types[i];
	}
	const struct fake_field number[] = { { .name = "m_value", .element = ELEMENT_I4 },
					     { .name = NULL } };
	uint64_t int_type = fake_class(
		scene->types, &(struct fake_class){ .space = "System",
						    .name = "Int32",
						    .fields = number,
						    .type = { .base_size = 24, .flags = STRUCT } });
	numbers_type = fake_type(scene->fake, &(struct fake_type){ .base_size = 24,
								   .component_size = 4,
								   .flags = 0x000a0000u,
								   .per_inst = int_type });
}

/* Check what must be true of all findings, whatever the heap says. */
static void check_findings(void)
{
	const struct report *report = scene_report(scene);
	const struct report_facts *facts = &report->facts;
	for (size_t i = 0; i < report->findings_count; i++) {
		const struct report_finding *finding = &report->findings[i];
		REQUIRE(finding->id);
		REQUIRE(finding->title);
		REQUIRE(finding->sentence);
		REQUIRE(finding->look_at);
		REQUIRE(finding->next);
		REQUIRE(finding->holder.name);
		CU_ASSERT(finding->bytes <=
			  facts->sums.all_live + facts->sums.all_dead + facts->sums.free_loh);
		CU_ASSERT(finding->member_type == HD_NONE ||
			  finding->member_type < facts->graph->type_count);
		for (size_t j = 0; j < finding->sample_count; j++)
			CU_ASSERT(finding->samples[j] < facts->graph->object_count);
		for (size_t j = 0; j < finding->holder.step_count; j++)
			CU_ASSERT(finding->holder.steps[j].node < facts->graph->object_count);
	}
	scene_destroy(scene);
	scene = NULL;
}

/* Any word: a number at a limit, an object, the middle of one, or an address of nothing. */
static uint64_t any_word(struct random *random, const uint64_t *objects, size_t count)
{
	static const uint64_t limits[] = { 0,
					   1,
					   2,
					   31,
					   32,
					   1000,
					   0x7fffffff,
					   0x80000000,
					   0xffffffff,
					   0x7fffffffffffffff,
					   0x8000000000000000,
					   UINT64_MAX };
	uint64_t object = objects[random_below(random, count)];
	switch (random_below(random, 8)) {
	case 0:
		return limits[random_below(random, sizeof(limits) / sizeof(limits[0]))];
	case 1:
		return random_next(random);
	case 2:
		return object + 8;
	case 3:
		return random_below(random, 5000);
	default:
		return object;
	}
}

static uint64_t any_object(struct random *random)
{
	struct fake_clr *fake = scene->fake;
	uint64_t kind = random_below(random, CLASSES + 4);
	if (kind < CLASSES)
		return fake_object(fake, types[kind], 0);
	if (kind == CLASSES)
		return fake_object(fake, fake->object_array_type,
				   (uint32_t)random_below(random, 300));
	if (kind == CLASSES + 1)
		return fake_object(fake, numbers_type, (uint32_t)random_below(random, 300));
	return kind == CLASSES + 2 ? fake_object(fake, scene->list_type, 0)
				   : fake_string(fake, "EUR");
}

/* Objects of all classes with any words in their fields; some of them are roots of any kind. */
static void make_any_heap(uint64_t seed)
{
	struct random random = { seed | 1 };
	size_t count = OBJECTS * 8, made = 0;
	uint64_t *objects = calloc(count, sizeof(*objects));
	REQUIRE(objects);
	static const enum generation generations[] = { GENERATION_2, GENERATION_1, GENERATION_0 };
	for (size_t i = 0; i < 3; i++) {
		scene_segment(scene, generations[i], (uint64_t)4 * KILO * KILO);
		while (made < count * (i + 1) / 3)
			objects[made++] = any_object(&random);
	}
	for (size_t i = 0; i + 1 < count; i++) {
		/* The fields of an object, up to the next one; not beyond the end of a segment. */
		uint64_t size = objects[i + 1] - objects[i];
		for (uint64_t at = 8; size < 8 * KILO && at + 8 < size; at += 8) {
			fake_poke_u64(&scene->fake->memory, objects[i] + at,
				      any_word(&random, objects, count));
		}
	}
	for (size_t i = 0; i < 400; i++) {
		scene_hold(scene, (enum scene_root)random_below(&random, SCENE_ROOTS),
			   objects[random_below(&random, count)]);
	}
	free(objects);
}

TEST(any_words_in_all_fields_are_findings_or_silence)
{
	for (uint64_t round = 0; round < ROUNDS; round++) {
		if (!is_turn(round, share_of(4, 12)))
			continue;
		make_world();
		make_any_heap(round * 0x9e3779b97f4a7c15u + 1);
		check_findings();
	}
}

/* The same heap, where objects of one class are most of it: their rules meet their thresholds. */
TEST(any_words_in_many_objects_of_one_class_are_findings_or_silence)
{
	for (size_t i = 0; i < CLASSES; i++) {
		struct random random = { 77 + i };
		uint64_t objects[OBJECTS];
		make_world();
		scene_segment(scene, GENERATION_2, (uint64_t)OBJECTS * 80 + 64 * KILO);
		uint64_t list = scene_list(scene, OBJECTS, OBJECTS, OBJECTS);
		for (uint32_t j = 0; j < OBJECTS; j++) {
			objects[j] = fake_object(scene->fake, types[i], 0);
			scene_list_set(scene, list, j, objects[j]);
		}
		for (uint32_t j = 0; j < OBJECTS; j++) {
			for (uint64_t at = 8; at < 8 + classes[i].size; at += 8)
				fake_poke_u64(&scene->fake->memory, objects[j] + at,
					      any_word(&random, objects, OBJECTS));
		}
		scene_hold(scene, SCENE_STATIC, list);
		check_findings();
	}
}

TEST(a_list_that_contains_itself_is_no_trap)
{
	make_world();
	scene_segment(scene, GENERATION_2, (uint64_t)64 * KILO);
	uint64_t list = scene_list(scene, 1000, 1000, 1000);
	for (uint32_t i = 0; i < 1000; i++)
		scene_list_set(scene, list, i, list);
	scene_hold(scene, SCENE_STATIC, list);
	check_findings();
}

/* A list of so many sessions says that it has @p count. */
static void make_liar(uint32_t count, uint32_t version)
{
	make_world();
	scene_segment(scene, GENERATION_2, (uint64_t)OBJECTS * 40 + 64 * KILO);
	uint64_t list = scene_list(scene, count, OBJECTS, version);
	for (uint32_t i = 0; i < OBJECTS; i++)
		scene_list_set(scene, list, i, fake_object(scene->fake, session_type, 0));
	scene_hold(scene, SCENE_STATIC, list);
	CU_ASSERT_PTR_NULL(scene_finding(scene, "collections"));
	check_findings();
}

TEST(counts_that_are_negative_or_more_than_the_room_are_not_believed)
{
	make_liar(UINT32_MAX, UINT32_MAX);
	make_liar(0x80000000u, 7);
	make_liar(0x7fffffffu, 0x7fffffffu);
	make_liar(OBJECTS + 1, 0);
}

/* Many delegates that say that they have the handlers of one array. */
TEST(delegates_that_share_their_handlers_meet_a_limit_and_say_so)
{
	make_world();
	uint64_t delegate_type = 0;
	for (size_t i = 0; i < CLASSES; i++) {
		if (strcmp(classes[i].name, "Delegate") == 0)
			delegate_type = types[i];
	}
	scene_segment(scene, GENERATION_2, (uint64_t)3000 * 200 + (uint64_t)20000 * 8 + 64 * KILO);
	uint64_t list = fake_object(scene->fake, scene->fake->object_array_type, 20000);
	for (uint32_t i = 0; i < 3000; i++) {
		uint64_t one = fake_object(scene->fake, delegate_type, 0);
		scene_set(scene, one, 1, list);
		fake_poke_u64(&scene->fake->memory, one + 8 + 32, 20000);
		scene_set_element(scene, list, i, one);
		scene_hold(scene, SCENE_STATIC, one);
	}
	const struct report *report = scene_report(scene);
	bool is_limited = false;
	for (size_t i = 0; i < report_rule_count(); i++)
		is_limited |= report->results[i].is_limited;
	CU_ASSERT(is_limited);
	check_findings();
}

/* Objects that dominate each other in a chain of great length, and refer back to the first. */
TEST(a_long_chain_that_leads_back_ends)
{
	make_world();
	const uint32_t count = 100000;
	scene_segment(scene, GENERATION_2, (uint64_t)count * 32 + 64 * KILO);
	uint64_t first = fake_object(scene->fake, session_type, 0), last = first;
	for (uint32_t i = 1; i < count; i++) {
		uint64_t next = fake_object(scene->fake, session_type, 0);
		scene_set(scene, last, 0, next);
		last = next;
	}
	scene_set(scene, last, 0, first);
	scene_hold(scene, SCENE_STACK, first);
	check_findings();
}

SUITE(.name = "report_hostile")
