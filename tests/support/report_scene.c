/* SPDX-License-Identifier: MIT */
#include "support/report_scene.h"

#include <stdlib.h>

#include "command/call.h"
#include "graph/dominators.h"
#include "roots/root_set.h"
#include "runtime/coreclr/types/field.h"
#include "snapshot/snapshot.h"
#include "support/assert_more.h"
#include "support/command_words.h"

#define SZ_ARRAY 0x000a0000u

#define HELD_MAX    16384u
#define LIST_ITEMS  8u
#define LIST_COUNT  16u
#define ARRAY_ITEMS 16u
#define HEAD        1024u /* room for the list and more */

/* The class that has a static field. */
enum scene_class_of_statics {
	OF_PROGRAM,
	OF_CACHE,
	OF_POOL,
	STATIC_CLASSES
};

/* Where a root comes from, and the slot that it is in. */
static const struct {
	uint8_t source, handle, part;
	const char *field; /* of a static */
	enum scene_class_of_statics class;
} kinds[SCENE_ROOTS] = {
	[SCENE_STATIC] = { .source = ROOT_STATIC, .field = "held" },
	[SCENE_OTHER_STATIC] = { .source = ROOT_STATIC, .field = "other" },
	[SCENE_FRAMEWORK] = { .source = ROOT_STATIC, .field = "s_items", .class = OF_CACHE },
	[SCENE_SCHEDULE] = { .source = ROOT_STATIC, .field = "s_workQueue", .class = OF_POOL },
	[SCENE_THREAD_STATIC] = { .source = ROOT_STATIC, .field = "mine" },
	[SCENE_STACK] = { .source = ROOT_STACK },
	[SCENE_HANDLE] = { .source = ROOT_HANDLE, .handle = HANDLE_STRONG },
	[SCENE_PINNED] = { .source = ROOT_HANDLE, .handle = HANDLE_PINNED },
	[SCENE_WEAK_HANDLE] = { .source = ROOT_HANDLE, .handle = HANDLE_WEAK_SHORT },
	[SCENE_REGISTERED] = { .source = ROOT_FINALIZER, .part = FINALIZER_GEN2 },
	[SCENE_READY] = { .source = ROOT_FINALIZER, .part = FINALIZER_READY },
};

/* An object and what holds it. */
struct scene_held {
	uint64_t object;
	enum scene_root root;
};

struct scene_parts {
	struct scene_held held[HELD_MAX];
	size_t held_count;
	uint64_t static_types[STATIC_CLASSES];
	uint32_t first_token; /* of the statics of both, in the order of kinds */
	struct root_set set;
	struct root rows[HELD_MAX];
	struct handle handles[HELD_MAX];
	struct finalizer_entry finalizers[HELD_MAX];
	struct static_slot statics[HELD_MAX];
	struct stack_root on_stack[HELD_MAX];
	struct stack_frame frame; /* of all threads */
	struct thread_stack stacks[SCENE_THREADS];
	uint32_t on_stacks; /* of on_stack that are used */
	struct hd_graph *graph;
	struct dominators dominators;
	bool is_made;
};

uint64_t scene_class(struct report_scene *scene, const char *space, const char *name,
		     uint32_t references, uint32_t size, const struct fake_field *fields)
{
	const struct gc_series series = { .size = (int64_t)8 * references - (int64_t)size - 16,
					  .offset = 8 };
	return fake_class(scene->types,
			  &(struct fake_class){ .space = space,
						.name = name,
						.fields = fields,
						.type = { .base_size = size + 16,
							  .series = &series,
							  .series_count = references > 0 } });
}

uint64_t scene_bytes_type(struct report_scene *scene)
{
	uint64_t byte = scene_class(scene, "System", "Byte", 0, 8, NULL);
	return fake_type(scene->fake, &(struct fake_type){ .base_size = 24,
							   .component_size = 1,
							   .flags = SZ_ARRAY,
							   .per_inst = byte });
}

static void make_collections(struct report_scene *scene)
{
	const struct fake_field list[] = {
		{ .name = "_items", .element = ELEMENT_CLASS },
		{ .name = "_size", .element = ELEMENT_I4, .offset = 8 },
		{ .name = "_version", .element = ELEMENT_I4, .offset = 12 },
		{ .name = NULL },
	};
	scene->list_type = scene_class(scene, "System.Collections.Generic", "List", 1, 16, list);
	scene->string_array_type = fake_array_type(scene->fake, scene->fake->string_type);
}

/* The classes of the static fields; their tokens count from 0x04000001. */
static void make_statics(struct report_scene *scene)
{
	struct scene_parts *parts = scene->parts;
	const struct fake_field program[] = {
		{ .name = "held", .element = ELEMENT_CLASS, .is_static = true },
		{ .name = "other", .element = ELEMENT_CLASS, .is_static = true },
		{ .name = "mine", .element = ELEMENT_CLASS, .is_static = true },
		{ .name = NULL },
	};
	const struct fake_field cache[] = {
		{ .name = "s_items", .element = ELEMENT_CLASS, .is_static = true },
		{ .name = NULL },
	};
	const struct fake_field pool[] = {
		{ .name = "s_workQueue", .element = ELEMENT_CLASS, .is_static = true },
		{ .name = NULL },
	};
	parts->static_types[OF_PROGRAM] = scene_class(scene, "Shop", "Program", 0, 8, program);
	parts->static_types[OF_CACHE] = scene_class(scene, "System", "Cache", 0, 8, cache);
	parts->static_types[OF_POOL] =
		scene_class(scene, "System.Threading", "ThreadPool", 0, 8, pool);
}

struct report_scene *scene_create(void)
{
	struct report_scene *scene = calloc(1, sizeof(*scene));
	struct scene_parts *parts = calloc(1, sizeof(*parts));
	if (!scene || !parts)
		abort();
	scene->parts = parts;
	scene->fake = fake_clr_create(NULL);
	scene->types = fake_types_create(scene->fake);
	make_statics(scene);
	make_collections(scene);
	(void)fake_thread(scene->fake);
	return scene;
}

void scene_destroy(struct report_scene *scene)
{
	report_deinit(&scene->report);
	dominators_deinit(&scene->parts->dominators);
	graph_destroy(scene->parts->graph);
	fake_types_destroy(scene->types);
	fake_clr_destroy(scene->fake);
	free(scene->parts);
	free(scene);
}

void scene_segment(struct report_scene *scene, enum generation generation, uint64_t size)
{
	(void)fake_segment(scene->fake, 0, generation, size);
}

void scene_set(struct report_scene *scene, uint64_t object, uint32_t index, uint64_t target)
{
	fake_poke_u64(&scene->fake->memory, object + 8 + 8 * (uint64_t)index, target);
}

void scene_set_element(struct report_scene *scene, uint64_t array, uint32_t index, uint64_t target)
{
	fake_poke_u64(&scene->fake->memory, array + ARRAY_ITEMS + 8 * (uint64_t)index, target);
}

uint64_t scene_list(struct report_scene *scene, uint32_t count, uint32_t room, uint32_t version)
{
	struct fake_clr *fake = scene->fake;
	uint64_t list = fake_object(fake, scene->list_type, 0);
	fake_poke_u64(&fake->memory, list + LIST_ITEMS,
		      fake_object(fake, fake->object_array_type, room));
	fake_poke_u32(&fake->memory, list + LIST_COUNT, count);
	fake_poke_u32(&fake->memory, list + LIST_COUNT + 4, version);
	return list;
}

void scene_list_set(struct report_scene *scene, uint64_t list, uint32_t index, uint64_t object)
{
	scene_set_element(scene, fake_peek_u64(&scene->fake->memory, list + LIST_ITEMS), index,
			  object);
}

uint64_t scene_full_list(struct report_scene *scene, uint64_t type, uint32_t size,
			 const uint32_t old_and_young[2], uint32_t version)
{
	uint32_t old = old_and_young[0], count = old + old_and_young[1];
	scene_segment(scene, GENERATION_2, (uint64_t)old * size + (uint64_t)count * 8 + HEAD);
	uint64_t list = scene_list(scene, count, count, version);
	for (uint32_t i = 0; i < old; i++)
		scene_list_set(scene, list, i, fake_object(scene->fake, type, 0));
	scene_segment(scene, GENERATION_0, (uint64_t)old_and_young[1] * size + HEAD);
	for (uint32_t i = old; i < count; i++)
		scene_list_set(scene, list, i, fake_object(scene->fake, type, 0));
	return list;
}

void scene_hold(struct report_scene *scene, enum scene_root root, uint64_t object)
{
	struct scene_parts *parts = scene->parts;
	if (parts->held_count >= HELD_MAX)
		abort();
	parts->held[parts->held_count++] = (struct scene_held){ object, root };
}

static uint32_t token_of(enum scene_root root)
{
	static const uint32_t tokens[SCENE_ROOTS] = { [SCENE_STATIC] = 1,
						      [SCENE_OTHER_STATIC] = 2,
						      [SCENE_THREAD_STATIC] = 3,
						      [SCENE_FRAMEWORK] = 4,
						      [SCENE_SCHEDULE] = 5 };
	return 0x04000000u | tokens[root];
}

static uint32_t add_static(struct scene_parts *parts, struct runtime *runtime, enum scene_root kind)
{
	uint64_t type = parts->static_types[kinds[kind].class];
	size_t index = parts->set.statics.rows_count++;
	parts->statics[index] =
		(struct static_slot){ .address = 0x10000 + 8 * (uint64_t)index,
				      .type = type_find(runtime, type),
				      .token = token_of(kind),
				      .thread = kind == SCENE_THREAD_STATIC ? 0 : UINT32_MAX };
	return (uint32_t)index;
}

static uint32_t add_handle(struct scene_parts *parts, const struct scene_held *held)
{
	size_t index = parts->set.handles.rows_count++;
	parts->handles[index] = (struct handle){ .address = 0x90000 + 8 * (uint64_t)index,
						 .object = held->object,
						 .type = kinds[held->root].handle };
	return (uint32_t)index;
}

static uint32_t add_finalizer(struct scene_parts *parts, const struct scene_held *held)
{
	size_t index = parts->set.finalizers.rows_count++;
	parts->finalizers[index] =
		(struct finalizer_entry){ .address = 0xd0000 + 8 * (uint64_t)index,
					  .object = held->object,
					  .part = kinds[held->root].part };
	return (uint32_t)index;
}

/* Each thread has a part of the roots on stacks: one after the other. */
static uint32_t add_on_stack(struct scene_parts *parts, const struct scene_held *held,
			     struct root *root)
{
	uint32_t thread = parts->on_stacks % (uint32_t)parts->set.stack_count;
	struct thread_stack *stack = &parts->stacks[thread];
	parts->on_stacks++;
	root->stack = root->thread = thread;
	stack->roots[stack->roots_count] =
		(struct stack_root){ .value = held->object, .base = UINT8_MAX };
	return (uint32_t)stack->roots_count++;
}

static void add_root(struct scene_parts *parts, struct runtime *runtime,
		     const struct scene_held *held)
{
	enum scene_root kind = held->root;
	bool has_thread = kind == SCENE_THREAD_STATIC;
	struct root root = { .value = held->object,
			     .source = kinds[kind].source,
			     .thread = has_thread ? 0 : UINT32_MAX,
			     .is_weak = kind == SCENE_WEAK_HANDLE };
	if (root.source == ROOT_STATIC) {
		root.index = add_static(parts, runtime, kind);
	} else if (root.source == ROOT_STACK) {
		root.index = add_on_stack(parts, held, &root);
	} else if (root.source == ROOT_HANDLE) {
		root.index = add_handle(parts, held);
	} else {
		root.index = add_finalizer(parts, held);
	}
	if (kind != SCENE_REGISTERED)
		parts->rows[parts->set.rows_count++] = root;
}

/* The lists that the roots are in; the runtime knows the types by now. */
static void list_held(struct scene_parts *parts, struct heap *heap)
{
	parts->set = (struct root_set){ .heap = heap,
					.rows = parts->rows,
					.handles.rows = parts->handles,
					.finalizers.rows = parts->finalizers,
					.statics.rows = parts->statics,
					.stacks = parts->stacks,
					.stack_count = heap->runtime->threads.count };
	size_t room = HELD_MAX / parts->set.stack_count;
	parts->frame = (struct stack_frame){ .kind = STACK_EXPLICIT,
					     .sp = 0x1000,
					     .name = "Shop.Poller.Run()" };
	for (size_t i = 0; i < parts->set.stack_count; i++) {
		parts->stacks[i] = (struct thread_stack){ .thread = &heap->runtime->threads.rows[i],
							  .frames = &parts->frame,
							  .frames_count = 1,
							  .roots = &parts->on_stack[i * room] };
	}
	for (size_t i = 0; i < parts->held_count; i++)
		add_root(parts, heap->runtime, &parts->held[i]);
}

/* The next command of each finding is one that there is, with its options. */
static void check_commands(const struct report *report)
{
	for (size_t i = 0; i < report->findings_count; i++) {
		char buf[1024];
		const char *argv[8];
		int argc = command_words(report->findings[i].next, buf, sizeof(buf), argv, 8);
		struct call call = { .command = command_find(argv[0]) };
		REQUIRE(call.command);
		ASSERT_UINT(arguments_parse(&call, argc, argv), HD_OK);
		text_deinit(&call.joined);
	}
}

static void check_same_finding(const struct report_finding *a, const struct report_finding *b)
{
	ASSERT_TEXT(a->id, b->id);
	ASSERT_TEXT(a->title, b->title);
	ASSERT_TEXT(a->sentence, b->sentence);
	ASSERT_TEXT(a->look_at, b->look_at);
	ASSERT_TEXT(a->next, b->next);
	ASSERT_UINT(a->severity, b->severity);
	ASSERT_UINT(a->confidence, b->confidence);
	ASSERT_UINT(a->bytes, b->bytes);
	ASSERT_UINT(a->objects, b->objects);
	ASSERT_UINT_FATAL(a->explains.count, b->explains.count);
	for (size_t i = 0; i < a->explains.count; i++)
		ASSERT_TEXT(a->explains.ids[i], b->explains.ids[i]);
}

void check_any_order(const struct report *report, const struct facts_of *of, struct job *job)
{
	struct facts_of reversed = *of;
	struct report other;
	reversed.is_reversed = true;
	ASSERT_UINT_FATAL(report_make(&other, &reversed, job, NULL), HD_OK);
	ASSERT_UINT_FATAL(report->findings_count, other.findings_count);
	for (size_t i = 0; i < report->findings_count; i++)
		check_same_finding(&report->findings[i], &other.findings[i]);
	for (size_t i = 0; i < report_rule_count(); i++) {
		ASSERT_UINT(report->results[i].met, other.results[i].met);
		ASSERT_UINT(report->results[i].is_limited, other.results[i].is_limited);
	}
	report_deinit(&other);
}

const struct report *scene_report(struct report_scene *scene)
{
	struct scene_parts *parts = scene->parts;
	struct job job = { .workers = 1 };
	if (parts->is_made)
		return &scene->report;
	parts->is_made = true;
	for (uint32_t i = 0; i < scene->more_threads; i++)
		(void)fake_thread(scene->fake);
	fake_types_attach(scene->types);
	struct heap *heap = fake_heap(scene->fake);
	list_held(parts, heap);
	ASSERT_UINT_FATAL(snapshot_create(heap, &parts->set, &job, &parts->graph, NULL), HD_OK);
	REQUIRE(parts->graph);
	ASSERT_UINT_FATAL(dominators_init(parts->graph, &job, &parts->dominators, NULL), HD_OK);
	const struct facts_of of = { .graph = parts->graph,
				     .heap = heap,
				     .roots = &parts->set,
				     .dominators = &parts->dominators,
				     .native = scene->native,
				     .is_complete = !scene->is_partial };
	ASSERT_UINT_FATAL(report_make(&scene->report, &of, &job, NULL), HD_OK);
	check_commands(&scene->report);
	check_any_order(&scene->report, &of, &job);
	return &scene->report;
}

const struct report_finding *scene_finding(struct report_scene *scene, const char *rule)
{
	const struct report *report = scene_report(scene);
	for (size_t i = 0; i < report->findings_count; i++) {
		if (strcmp(report->findings[i].rule->name, rule) == 0)
			return &report->findings[i];
	}
	return NULL;
}
