/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/types/field.h"
#include "snapshot/snapshot.h"
#include "support/assert_more.h"
#include "support/fake_types.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Node: next at 8, inner.other at 24 after a number; Pool: no instances, two static variables. */
struct small {
	struct fake_clr *fake;
	struct fake_types *types;
	uint64_t node, pool;
	uint64_t a, b, free_block, c, dead; /* generation 0 */
	uint64_t array;                     /* object[] of static variables, generation 2 */
	uint64_t table;                     /* object[] that refers to it */
	uint64_t frozen[2];
	struct heap *heap;
};

static void make_types(struct small *s)
{
	const struct gc_series series[] = { { .size = 8 - 48, .offset = 8 },
					    { .size = 8 - 48, .offset = 24 } };
	const struct gc_series one = { .size = 8 - 24, .offset = 8 };
	const struct fake_field inner[] = {
		{ .name = "other", .element = ELEMENT_CLASS, .offset = 0 }, { .name = NULL }
	};
	uint64_t pair = fake_class(s->types, &(struct fake_class){ .space = "App",
								   .name = "Inner",
								   .fields = inner,
								   .type = { .base_size = 24,
									     .flags = 0x40000u,
									     .series = &one,
									     .series_count = 1 } });
	const struct fake_field fields[] = {
		{ .name = "next", .element = ELEMENT_CLASS, .offset = 0 },
		{ .name = "number", .element = ELEMENT_I8, .offset = 8 },
		{ .name = "inner", .type = pair, .element = ELEMENT_VALUE, .offset = 16 },
		{ .name = NULL },
	};
	s->node = fake_class(s->types, &(struct fake_class){ .space = "App",
							     .name = "Node",
							     .fields = fields,
							     .type = { .base_size = 48,
								       .series = series,
								       .series_count = 2 } });
	const struct fake_field statics[] = {
		{ .name = "s_first", .element = ELEMENT_CLASS, .is_static = true },
		{ .name = "t_mine", .element = ELEMENT_CLASS, .is_static = true },
		{ .name = NULL },
	};
	s->pool = fake_class(s->types, &(struct fake_class){ .space = "App",
							     .name = "Pool",
							     .fields = statics,
							     .type = { .base_size = 24 } });
	fake_types_attach(s->types);
}

static void make(struct small *s)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct fake_memory *memory = &fake->memory;
	*s = (struct small){ .fake = fake, .types = fake_types_create(fake) };
	make_types(s);
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	s->a = fake_object(fake, s->node, 0);
	s->b = fake_object(fake, s->node, 0);
	s->free_block = fake_free(fake, 64);
	s->c = fake_object(fake, s->node, 0);
	s->dead = fake_object(fake, s->node, 0);
	(void)fake_segment(fake, 0, GENERATION_2, 0x1000);
	s->array = fake_object(fake, fake->object_array_type, 6);
	s->table = fake_object(fake, fake->object_array_type, 2);
	(void)fake_segment(fake, 0, GENERATION_NONGC, 0x1000);
	s->frozen[0] = fake_string(fake, "abc");
	s->frozen[1] = fake_string(fake, "d");
	for (unsigned int i = 0; i < 3; i++)
		(void)fake_thread(fake);
	fake_poke_u64(memory, s->a + 8, s->b);
	fake_poke_u64(memory, s->b + 24, s->c);
	for (unsigned int i = 0; i < 6; i++)
		fake_poke_u64(memory, s->array + 16 + 8 * (uint64_t)i, i % 2 ? s->a : s->b);
	fake_poke_u64(memory, s->table + 24, s->array);
	s->heap = fake_heap(fake);
}

static void unmake(struct small *s)
{
	fake_types_destroy(s->types);
	fake_clr_destroy(s->fake);
}

static struct hd_graph *snapshot(const struct small *s, const struct root_set *roots)
{
	struct job job = { .workers = 2 };
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT_FATAL(snapshot_create(s->heap, roots, &job, &graph, &err), HD_OK);
	REQUIRE(graph);
	return graph;
}

static void check_row(const struct hd_graph *graph, uint64_t from, const uint64_t *to,
		      uint64_t count)
{
	uint32_t node = hd_graph_find(graph, from), targets[8];
	ASSERT_UINT_FATAL(hd_graph_references(graph, node, 0, targets, 8), count);
	for (uint64_t i = 0; i < count; i++)
		ASSERT_UINT(graph_id(graph, targets[i]), to[i]);
}

static void check_link(const struct hd_graph *graph, uint64_t from, uint64_t to,
		       const char *expected)
{
	/* Twice: what was asked before is remembered. */
	for (unsigned int i = 0; i < 2; i++) {
		struct text text = { 0 };
		graph->places.link(graph->places.arg, hd_graph_find(graph, from),
				   hd_graph_find(graph, to), &text);
		ASSERT_TEXT(text.bytes ? text.bytes : "", expected);
		text_deinit(&text);
	}
}

/* Edges beside objects, claimed slots, and what links are called. */
TEST(test_edges)
{
	struct small s;
	make(&s);
	const struct type *pool = type_find(s.heap->runtime, s.pool);
	struct root_edge edges[] = {
		{ s.a - 8, s.c },        /* before all objects */
		{ s.a, s.c },            /* */
		{ s.a, s.dead },         /* a second one */
		{ s.a + 8, s.c },        /* inside an object */
		{ s.free_block, s.c },   /* of a Free block */
		{ s.c, s.free_block },   /* to a Free block */
		{ s.table, s.c },        /* the last of its segment */
		{ s.frozen[1], s.a },    /* the last of all */
		{ UINT64_MAX - 7, s.a }, /* after all */
	};
	uint64_t claimed[] = {
		8, s.array + 16, s.array + 32, s.array + 40, s.free_block + 8, UINT64_MAX
	};
	/* Not claimed: of a collectible type. */
	struct static_slot slots[] = {
		{ .address = s.array + 48, .type = pool, .token = 0x04000005, .thread = UINT32_MAX }
	};
	claimed[4] = s.array + 4096;
	struct root_set roots = { .heap = s.heap,
				  .edges = edges,
				  .edges_count = COUNT(edges),
				  .claimed = claimed,
				  .claimed_count = COUNT(claimed),
				  .statics = { .rows = slots, .rows_count = 1 } };
	struct hd_graph *graph = snapshot(&s, &roots);
	check_row(graph, s.a, (const uint64_t[]){ s.b, s.c, s.dead }, 3);
	check_row(graph, s.b, (const uint64_t[]){ s.c }, 1);
	check_row(graph, s.c, NULL, 0);
	check_row(graph, s.array, (const uint64_t[]){ s.a, s.b, s.a }, 3);
	check_row(graph, s.table, (const uint64_t[]){ s.array, s.c }, 2);
	check_row(graph, s.frozen[0], NULL, 0);
	check_row(graph, s.frozen[1], (const uint64_t[]){ s.a }, 1);
	check_link(graph, s.a, s.b, ".next");
	check_link(graph, s.b, s.c, ".inner.other");
	check_link(graph, s.a, s.c, " (dependent handle)");
	check_link(graph, s.array, s.a, "[1]");
	check_link(graph, s.array, s.b, " (static variable: App.Pool.s_first)");
	check_link(graph, s.table, s.array, "[1] (statics of App.Pool)");
	check_link(graph, s.c, s.a, "");
	CU_ASSERT(findings_has(&s.fake->target.findings, FINDING_HANDLE_TO_NO_OBJECT));
	const struct graph_places *places = &graph->places;
	ASSERT_UINT(places->generation(places->arg, hd_graph_find(graph, s.a)), GENERATION_0);
	ASSERT_UINT(places->generation(places->arg, hd_graph_find(graph, s.array)), GENERATION_2);
	ASSERT_UINT(places->generation(places->arg, hd_graph_find(graph, s.frozen[1])),
		    GENERATION_NONGC);
	graph_destroy(graph);
	graph = snapshot(&s, NULL);
	check_row(graph, s.a, (const uint64_t[]){ s.b }, 1);
	ASSERT_UINT(csr_degree(&graph->forward, hd_graph_find(graph, s.array)), 6);
	check_link(graph, s.array, s.b, "[0]");
	graph_destroy(graph);
	unmake(&s);
}

/* A set of roots of all sources. */
struct many {
	struct small s;
	struct handle handles[8];
	struct finalizer_entry finalizers[1];
	struct static_slot statics[2];
	struct stack_frame frames[2][3];
	struct stack_root on_stack[2][5];
	struct thread_stack stacks[2];
	struct root rows[32];
	struct root_set set;
};

static struct root *add(struct many *m, uint8_t source, uint32_t index, uint64_t value)
{
	struct root *root = &m->rows[m->set.rows_count++];
	*root = (struct root){
		.value = value, .index = index, .source = source, .thread = UINT32_MAX
	};
	return root;
}

static struct root *add_stack(struct many *m, uint32_t stack, uint32_t index)
{
	struct root *root = add(m, ROOT_STACK, index, m->on_stack[stack][index].value);
	root->stack = stack;
	root->thread = stack + 1;
	return root;
}

static void add_runtime(struct many *m, uint32_t index, uint64_t value, uint8_t record)
{
	struct root *root = add(m, ROOT_RUNTIME, index, value);
	root->thread = 2;
	root->record = record;
}

static void make_stacks(struct many *m)
{
	const struct small *s = &m->s;
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t k = 0; k < 3; k++) {
			m->frames[i][k] = (struct stack_frame){ .kind = STACK_EXPLICIT,
								.sp = 0x1000 * (i + 1) + k,
								.ip = 0x77 + k,
								.name = k == 1 ? "InlinedCallFrame"
									       : "OtherFrame" };
		}
		m->on_stack[i][0] = (struct stack_root){
			.value = s->b, .frame = 1, .base = 3, .is_register = true
		};
		m->on_stack[i][1] = (struct stack_root){
			.address = 0x1010 + i, .value = s->c, .frame = 1, .base = 5, .offset = -32
		};
		m->on_stack[i][2] = (struct stack_root){
			.address = 0x1020 + i, .value = s->c + 24, .frame = 2, .base = 4
		};
		m->on_stack[i][3] = (struct stack_root){ .address = 0x1030 + i,
							 .value = s->c + 8,
							 .frame = UINT32_MAX,
							 .base = UINT8_MAX,
							 .is_beyond = true };
		m->on_stack[i][4] = (struct stack_root){ .address = 0x1038 + i,
							 .value = s->c,
							 .frame = UINT32_MAX,
							 .kind = STACK_ROOT_GC_FRAME,
							 .base = UINT8_MAX };
		m->stacks[i] =
			(struct thread_stack){ .thread = &s->heap->runtime->threads.rows[i + 1],
					       .frames = m->frames[i],
					       .frames_count = 3,
					       .roots = m->on_stack[i],
					       .roots_count = 5 };
	}
	m->set.stacks = m->stacks;
	m->set.stack_count = 2;
	(void)add_stack(m, 0, 0);
	(void)add_stack(m, 0, 1);
	add_stack(m, 0, 2)->is_interior = true;
	add_stack(m, 0, 3)->is_conservative = true;
	(void)add_stack(m, 0, 4);
	(void)add_stack(m, 1, 0);
	(void)add_stack(m, 0, 1); /* once more */
	m->on_stack[1][3].kind = STACK_ROOT_EXCEPTION;
	add_stack(m, 1, 3)->source = ROOT_EXCEPTION;
	m->rows[m->set.rows_count - 1].value = s->a;
}

static void make_many(struct many *m)
{
	*m = (struct many){ .set.rows = m->rows };
	struct small *s = &m->s;
	make(s);
	const struct type *pool = type_find(s->heap->runtime, s->pool);
	m->set.heap = s->heap;
	s->heap->runtime->tables.exception = s->node;
	for (uint32_t i = 0; i < COUNT(m->handles); i++)
		m->handles[i] = (struct handle){ .address = 0x5000 + 8 * (uint64_t)i };
	m->handles[0].type = HANDLE_PINNED;
	m->handles[1].type = HANDLE_WEAK_SHORT;
	m->handles[2].type = HANDLE_DEPENDENT;
	m->handles[3].type = m->handles[4].type = HANDLE_STRONG;
	m->handles[5].type = HANDLE_WEAK_INTERIOR;
	m->handles[6].type = m->handles[7].type = HANDLE_STRONG;
	m->set.handles.rows = m->handles;
	m->finalizers[0].address = 0x6000;
	m->set.finalizers.rows = m->finalizers;
	m->statics[0] = (struct static_slot){
		.address = s->array + 16, .type = pool, .token = 0x04000005, .thread = UINT32_MAX
	};
	m->statics[1] = (struct static_slot){
		.address = s->array + 24, .type = pool, .token = 0x04000006, .thread = 2
	};
	m->set.statics.rows = m->statics;
	m->set.statics.rows_count = 2;
	make_stacks(m);
	add(m, ROOT_HANDLE, 0, s->a)->is_pinned = true;
	add(m, ROOT_HANDLE, 1, s->a)->is_weak = true;
	(void)add(m, ROOT_HANDLE, 2, s->a);
	add_runtime(m, 3, s->dead, RECORD_LAST_THROWN);
	add_runtime(m, 4, s->b, RECORD_THREAD);
	add_runtime(m, 6, s->b, RECORD_EXCEPTION);
	add_runtime(m, 7, s->array, RECORD_LAST_THROWN); /* it is none */
	struct root *inside = add(m, ROOT_HANDLE, 5, s->b + 47);
	inside->is_weak = inside->is_interior = true;
	(void)add(m, ROOT_STATIC, 0, s->b);
	add(m, ROOT_STATIC, 1, s->a)->thread = 2;
	(void)add(m, ROOT_FINALIZER, 0, s->dead);
	/* Roots that do not refer to an object. */
	(void)add(m, ROOT_HANDLE, 3, s->free_block);
	add(m, ROOT_HANDLE, 3, s->free_block + 8)->is_interior = true;
	add(m, ROOT_HANDLE, 3, 0x123)->is_conservative = true;
	add(m, ROOT_HANDLE, 3, UINT64_MAX)->is_interior = true;
	(void)add(m, ROOT_HANDLE, 3, s->c + 8);
}

/* A root that is expected. */
struct expected {
	uint64_t object, address;
	const char *name, *slot;
	uint32_t thread, frame; /* + 1 */
	uint8_t kind, flags, handle;
	bool repeated;
};

static void check_roots(const struct many *m, const struct hd_graph *graph)
{
	const struct small *s = &m->s;
	const struct expected roots[] = {
		{ s->b, 0, NULL, "rbx", 1, 1, HD_ROOT_STACK, 0, 0, false },
		{ s->c, 0x1010, NULL, "rbp-20", 1, 1, HD_ROOT_STACK, 0, 0, false },
		{ s->c, 0x1020, NULL, "rsp+0", 1, 2, HD_ROOT_STACK, HD_ROOT_INTERIOR, 0, false },
		{ s->c, 0x1030, "beyond the last frame that could be walked", NULL, 1, 0,
		  HD_ROOT_STACK, HD_ROOT_CONSERVATIVE, 0, false },
		{ s->c, 0x1038, "GC frame of the runtime", NULL, 1, 0, HD_ROOT_STACK, 0, 0, false },
		{ s->b, 0, NULL, "rbx", 2, 3, HD_ROOT_STACK, 0, 0, false },
		{ s->c, 0x1010, NULL, "rbp-20", 1, 1, HD_ROOT_STACK, 0, 0, true },
		{ s->a, 0x1031, "exception in flight", NULL, 2, 0, HD_ROOT_INTERNAL, 0, 0, false },
		{ s->a, 0x5000, NULL, NULL, 0, 0, HD_ROOT_HANDLE, HD_ROOT_PINNED,
		  GRAPH_HANDLE_PINNED, false },
		{ s->a, 0x5008, NULL, NULL, 0, 0, HD_ROOT_HANDLE, HD_ROOT_WEAK,
		  GRAPH_HANDLE_WEAK_SHORT, false },
		{ s->dead, 0x5018, "last thrown exception", NULL, 2, 0, HD_ROOT_INTERNAL, 0,
		  GRAPH_HANDLE_STRONG, false },
		{ s->b, 0x5020, "in the runtime's Thread", NULL, 2, 0, HD_ROOT_INTERNAL, 0,
		  GRAPH_HANDLE_STRONG, false },
		{ s->b, 0x5030, "exception in flight", NULL, 2, 0, HD_ROOT_INTERNAL, 0,
		  GRAPH_HANDLE_STRONG, false },
		{ s->array, 0x5038, "in the runtime's Thread", NULL, 2, 0, HD_ROOT_INTERNAL, 0,
		  GRAPH_HANDLE_STRONG, false },
		{ s->b, 0x5028, NULL, NULL, 0, 0, HD_ROOT_HANDLE, HD_ROOT_WEAK | HD_ROOT_INTERIOR,
		  GRAPH_HANDLE_WEAK_INTERIOR, false },
		{ s->b, s->array + 16, "App.Pool.s_first", NULL, 0, 0, HD_ROOT_STATIC, 0, 0,
		  false },
		{ s->a, s->array + 24, "App.Pool.t_mine", NULL, 2, 0, HD_ROOT_THREAD_STATIC, 0, 0,
		  false },
		{ s->dead, 0x6000, NULL, NULL, 0, 0, HD_ROOT_FINALIZER, 0, 0, false },
		{ s->frozen[0], 0, NULL, NULL, 0, 0, HD_ROOT_GC, 0, 0, false },
		{ s->frozen[1], 0, NULL, NULL, 0, 0, HD_ROOT_GC, 0, 0, false },
	};
	ASSERT_UINT_FATAL(graph->root_count, COUNT(roots));
	for (uint32_t i = 0; i < COUNT(roots); i++) {
		const struct graph_root *root = &graph->roots[i];
		const struct graph_root_detail *detail = &graph->origins.details[i];
		ASSERT_UINT(graph_id(graph, root->node), roots[i].object);
		ASSERT_UINT(root->kind, roots[i].kind);
		ASSERT_UINT(root->flags, roots[i].flags);
		ASSERT_UINT(root->repeated, roots[i].repeated);
		ASSERT_UINT(detail->address, roots[i].address);
		ASSERT_UINT(detail->handle, roots[i].handle);
		ASSERT_TEXT(detail->name, roots[i].name);
		ASSERT_TEXT(detail->slot, roots[i].slot);
		ASSERT_UINT(detail->thread + 1, roots[i].thread);
		ASSERT_UINT(detail->frame + 1, roots[i].frame);
		bool has_container =
			root->kind == HD_ROOT_STATIC || root->kind == HD_ROOT_THREAD_STATIC;
		ASSERT_UINT_FATAL(root->container != HD_NONE, has_container);
		if (has_container) {
			const struct graph_type *type = &graph->types[root->container];
			ASSERT_UINT(type->id, s->pool);
			ASSERT_UINT(type->count, 0);
			ASSERT_UINT(type->name_size, strlen("App.Pool"));
		}
	}
}

TEST(test_roots)
{
	struct many m;
	make_many(&m);
	struct hd_graph *graph = snapshot(&m.s, &m.set);
	check_roots(&m, graph);
	ASSERT_UINT_FATAL(graph->origins.thread_count, 2);
	ASSERT_UINT(graph->origins.threads[0].os_id, 1002);
	ASSERT_UINT(graph->origins.threads[0].id, 2);
	ASSERT_UINT(graph->origins.threads[1].os_id, 1003);
	ASSERT_UINT_FATAL(graph->origins.frame_count, 3);
	ASSERT_UINT(graph->origins.frames[0].sp, 0x1001);
	ASSERT_UINT(graph->origins.frames[0].ip, 0x78);
	ASSERT_UINT(graph->origins.frames[0].thread, 0);
	ASSERT_TEXT(graph->origins.frames[0].method, "InlinedCallFrame");
	ASSERT_UINT(graph->origins.frames[1].sp, 0x1002);
	ASSERT_UINT(graph->origins.frames[2].sp, 0x2001);
	ASSERT_UINT(graph->origins.frames[2].thread, 1);
	CU_ASSERT(findings_has(&m.s.fake->target.findings, FINDING_ROOT_TO_NO_OBJECT));
	for (size_t i = 0; i < m.s.fake->target.findings.count; i++) {
		const struct finding *finding = &m.s.fake->target.findings.rows[i];
		if (finding->kind == FINDING_ROOT_TO_NO_OBJECT)
			CU_ASSERT(strncmp(finding->detail, "2 roots ", 8) == 0);
	}
	/* Others in their place, and back. */
	struct root_set few = { .heap = m.s.heap };
	struct job job = { .workers = 1 };
	ASSERT_UINT(snapshot_set_roots(graph, &few, &job, NULL), HD_OK);
	ASSERT_UINT(graph->root_count, 2);
	ASSERT_UINT(graph->origins.thread_count + graph->origins.frame_count, 0);
	ASSERT_UINT(snapshot_set_roots(graph, NULL, &job, NULL), HD_OK);
	ASSERT_UINT(graph->root_count, 0);
	ASSERT_UINT(snapshot_set_roots(graph, &m.set, &job, NULL), HD_OK);
	check_roots(&m, graph);
	job.max_mem = 100;
	ASSERT_UINT(snapshot_set_roots(graph, &m.set, &job, NULL), HD_ERR_NOMEM);
	ASSERT_UINT(graph->root_count, 0);
	struct job stopped = { .stop = true };
	ASSERT_UINT(snapshot_set_roots(graph, &m.set, &stopped, NULL), HD_ERR_CANCELLED);
	graph_destroy(graph);
	unmake(&m.s);
}

/* A stack overflow: names are shared, and what repeats is found. */
TEST(test_overflow)
{
	enum {
		FRAMES = 175000
	};
	struct small s;
	make(&s);
	struct thread_stack stack = { .thread = &s.heap->runtime->threads.rows[0],
				      .frames_count = FRAMES,
				      .roots_count = 2 * (size_t)FRAMES };
	stack.frames = calloc(FRAMES, sizeof(*stack.frames));
	stack.roots = calloc(stack.roots_count, sizeof(*stack.roots));
	struct root *rows = calloc(stack.roots_count, sizeof(*rows));
	REQUIRE(stack.frames);
	REQUIRE(stack.roots);
	REQUIRE(rows);
	for (uint32_t i = 0; i < stack.roots_count; i++) {
		stack.frames[i / 2] =
			(struct stack_frame){ .method_desc = 0x999, .sp = 0x1000 + i };
		stack.roots[i] = (struct stack_root){ .address = 0x8000 + 8 * (uint64_t)(i / 4),
						      .value = s.a,
						      .frame = i / 2,
						      .base = 5,
						      .offset = -8 };
		rows[i] = (struct root){ .value = s.a, .index = i, .source = ROOT_STACK };
	}
	struct root_set set = { .heap = s.heap,
				.stacks = &stack,
				.stack_count = 1,
				.rows = rows,
				.rows_count = stack.roots_count };
	struct hd_graph *graph = snapshot(&s, &set);
	ASSERT_UINT_FATAL(graph->root_count, stack.roots_count + 2);
	ASSERT_UINT(graph->origins.frame_count, FRAMES);
	for (uint32_t i = 0; i < stack.roots_count; i++) {
		ASSERT_UINT(graph->roots[i].repeated, i % 4 != 0);
		ASSERT_UINT(graph->origins.details[i].frame, i / 2);
	}
	REQUIRE(graph->origins.frames[0].method);
	CU_ASSERT(graph->origins.frames[0].method == graph->origins.frames[FRAMES - 1].method);
	graph_destroy(graph);
	free(stack.frames);
	free(stack.roots);
	free(rows);
	unmake(&s);
}

TEST(test_failures)
{
	struct many m;
	make_many(&m);
	graph_destroy(snapshot(&m.s, &m.set));
	uint64_t nth = 1;
	for (; nth < 300; nth++) {
		struct job job = { .workers = 1 };
		struct hd_graph *graph = NULL;
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		enum hd_status status = snapshot_create(m.s.heap, &m.set, &job, &graph, &err);
		bool failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		/* A name or a finding that finds no memory is done without. */
		CU_ASSERT(status == HD_OK || (failed && status == HD_ERR_NOMEM));
		ASSERT_UINT(graph != NULL, status == HD_OK);
		if (graph && !failed)
			check_roots(&m, graph);
		graph_destroy(graph);
		if (!failed)
			break;
	}
	CU_ASSERT(nth > 30 && nth < 300);
	unmake(&m.s);
}

SUITE(.name = "snapshot roots")
