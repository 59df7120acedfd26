/* SPDX-License-Identifier: MIT */
/*
 * covers: core/src/gc/walk.c core/src/gc/resync.c core/src/gc/references.c
 * core/src/gc/starts.c core/src/runtime/gc_desc.c core/src/snapshot
 */
#include <stdlib.h>

#include "gc/references.h"
#include "gc/starts.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/module.h"
#include "snapshot/snapshot.h"
#include "util/alloc.h"
#include "util/sort.h"
#include "util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The image of a heap: its bytes are the memory from BASE on, and its first ones say where things
 * are (make_heap_images.py writes such images).  Places are offsets from BASE, in words.
 */
#define BASE     ((uint64_t)0x10000000)
#define SEGMENTS 3
#define CONTEXTS 3
#define ROOTS    16
#define LINKS    32 /* whose names are asked for */

struct image {
	uint16_t free_type, object_type;
	uint16_t hole_begin, hole_end; /* cannot be read */
	uint8_t flags;                 /* 1: nothing is mapped; 2: .NET 8; 4: an end far away */
	uint8_t use;
	uint8_t unused[6];
	struct range {
		uint16_t begin, end;
	} segments[SEGMENTS], contexts[CONTEXTS];
};

/* The use that is made of the heap. */
enum {
	USE_WALKS,
	USE_SNAPSHOT,
	USE_REVERSE,
	USES
};

struct image_memory {
	struct memory memory;
	const uint8_t *bytes;
	uint64_t size;
	uint64_t hole_begin, hole_end; /* addresses */
	bool is_mapped;
};

/* Bytes at @p address, up to the hole or the end. */
static uint64_t available(const struct image_memory *image, uint64_t address)
{
	if (address < BASE || address >= BASE + image->size)
		return 0;
	uint64_t end = BASE + image->size;
	if (address < image->hole_end && end > image->hole_begin &&
	    image->hole_begin < image->hole_end)
		end = image->hole_begin;
	return address < end ? end - address : 0;
}

static size_t read_image(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	const struct image_memory *image = (const struct image_memory *)memory;
	uint64_t count = available(image, address);
	if (count > size)
		count = size;
	if (count)
		memcpy(buf, image->bytes + (address - BASE), count);
	return count;
}

static const uint8_t *run_image(struct memory *memory, uint64_t address, uint64_t *ret_size)
{
	const struct image_memory *image = (const struct image_memory *)memory;
	uint64_t count = image->is_mapped ? available(image, address) : 0;
	if (!count)
		return NULL;
	*ret_size = count;
	return image->bytes + (address - BASE);
}

static const struct memory_ops image_ops = { .read = read_image, .run = run_image };

/* heap_open() would have seen to it that segments are in order, aligned, and do not overlap. */
static size_t make_segments(const struct image *image, struct segment *segments)
{
	size_t count = 0;
	uint64_t from = BASE;
	for (size_t i = 0; i < SEGMENTS; i++) {
		uint64_t begin = BASE + 8 * (uint64_t)image->segments[i].begin;
		uint64_t end = BASE + 8 * (uint64_t)image->segments[i].end;
		if (image->flags & 4 && i == SEGMENTS - 1)
			end += (uint64_t)1 << 18;
		if (begin < from || end < begin)
			continue;
		segments[count++] = (struct segment){ .begin = begin, .end = end, .reserved = end };
		from = end;
	}
	return count;
}

static size_t make_contexts(const struct image *image, struct context *contexts)
{
	size_t count = 0;
	for (size_t i = 0; i < CONTEXTS; i++) {
		struct context context = { .pointer = BASE + 8 * (uint64_t)image->contexts[i].begin,
					   .limit = BASE + 8 * (uint64_t)image->contexts[i].end };
		if (count == 0 || contexts[count - 1].pointer <= context.pointer)
			contexts[count++] = context;
	}
	return count;
}

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void walk_segment(struct heap *heap, const struct segment *segment,
			 const struct starts *starts, uint64_t *rank)
{
	struct walker walker;
	check(walker_init(&walker, heap, NULL) == HD_OK);
	walker_begin(&walker, segment, segment->begin, segment->end);
	uint64_t at = segment->begin;
	for (enum walk_result result; (result = walker_next(&walker)) != WALK_END;) {
		uint64_t address =
			result == WALK_OBJECT ? walker.object.address : walker.damage.address;
		check(address >= at && walker.next > address && walker.next <= segment->end);
		at = walker.next;
		if (result != WALK_OBJECT)
			continue;
		check(starts_has(starts, address) && starts_address(starts, *rank) == address);
		check(starts_rank(starts, address) == *rank);
		check(starts_at_or_before(starts, at - 1) == address);
		(*rank)++;
		struct references references;
		struct reference reference;
		references_begin(&references, &walker.window, &walker.object);
		while (references_next(&references, &reference))
			check(!reference.slot ||
			      (reference.slot > address && reference.slot + 8 <= at));
	}
	check(walker.next == segment->end);
	walker_deinit(&walker);
}

/* Roots, edges and claimed slots out of any bytes. */
struct made_roots {
	struct root rows[ROOTS];
	struct handle handles[ROOTS];
	struct root_edge edges[ROOTS];
	uint64_t claimed[ROOTS];
	struct root_set set;
};

static uint64_t number_at(const struct image_memory *memory, size_t index)
{
	uint64_t at = sizeof(struct image) + 2 * index;
	uint16_t number = 0;
	if (at + sizeof(number) <= memory->size)
		memcpy(&number, memory->bytes + at, sizeof(number));
	return number;
}

static void make_roots(struct heap *heap, struct made_roots *made)
{
	const struct image_memory *memory = (const struct image_memory *)heap->memory;
	uint64_t from[ROOTS];
	*made = (struct made_roots){ .set = { .heap = heap,
					      .rows = made->rows,
					      .rows_count = ROOTS,
					      .handles = { .rows = made->handles },
					      .edges = made->edges,
					      .edges_count = ROOTS,
					      .claimed = made->claimed,
					      .claimed_count = ROOTS } };
	for (uint32_t i = 0; i < ROOTS; i++) {
		uint64_t number = number_at(memory, i);
		made->handles[i] = (struct handle){ .address = number, .type = number & 15 };
		made->rows[i] = (struct root){ .value = BASE + 4 * number,
					       .index = i,
					       .source = ROOT_HANDLE,
					       .is_interior = i & 1,
					       .thread = (uint32_t)number };
		from[i] = BASE + 8 * number;
		made->claimed[i] = BASE + 8 * number_at(memory, ROOTS + i);
	}
	sort_u64(from, ROOTS);
	sort_u64(made->claimed, ROOTS);
	for (size_t i = 0; i < ROOTS; i++)
		made->edges[i] = (struct root_edge){ .from = from[i], .to = from[ROOTS - 1 - i] };
}

static void use_graph(struct hd_graph *graph)
{
	const struct graph_places *places = &graph->places;
	for (uint32_t node = 0; node < graph->node_count; node++) {
		check(hd_graph_find(graph, graph_id(graph, node)) == node);
		check(places->generation(places->arg, node) < GENERATION_COUNT);
		uint64_t end = csr_begin(&graph->forward, node + 1);
		for (uint64_t i = csr_begin(&graph->forward, node); i < end && i < LINKS; i++) {
			struct text text = { 0 };
			check(graph->forward.targets[i] < graph->node_count);
			places->link(places->arg, node, graph->forward.targets[i], &text);
			text_deinit(&text);
		}
	}
	for (uint32_t i = 0; i < graph->root_count; i++)
		check(graph->roots[i].node < graph->node_count);
}

static void use_walks(struct heap *heap, struct job *job)
{
	struct starts *starts = NULL;
	uint64_t rank = 0;
	check(starts_create(heap, true, job, &starts, NULL) == HD_OK);
	for (size_t i = 0; i < heap->segment_count; i++)
		walk_segment(heap, &heap->segments[i], starts, &rank);
	check(rank == starts_count(starts));
	starts_destroy(starts);
	struct window window = { .memory = heap->memory };
	struct object object;
	for (uint64_t i = 0; i < 256; i++)
		(void)object_read(heap, &window, BASE + 4 * i, &object);
	window_deinit(&window);
}

static void use_snapshot(struct heap *heap, struct job *job)
{
	struct hd_graph *graph = NULL;
	struct made_roots roots;
	make_roots(heap, &roots);
	check(snapshot_create(heap, &roots.set, job, &graph, NULL) == HD_OK);
	use_graph(graph);
	check(snapshot_set_roots(graph, NULL, job, NULL) == HD_OK);
	graph_destroy(graph);
}

/* References in reverse, made at once and made of those that are there. */
static void use_reverse(struct heap *heap, struct job *job)
{
	const struct csr *reverse, *again;
	struct hd_graph *graph = NULL, *nodes = NULL;
	struct made_roots roots;
	make_roots(heap, &roots);
	check(snapshot_create(heap, &roots.set, job, &graph, NULL) == HD_OK);
	check(snapshot_create_nodes(heap, &roots.set, job, &nodes, NULL) == HD_OK);
	check(graph_reverse(nodes, job, &again, NULL) == HD_OK);
	check(graph_reverse(graph, job, &reverse, NULL) == HD_OK);
	check(csr_is_sound(again) && again->edge_count == reverse->edge_count);
	for (uint64_t i = 0; i < reverse->edge_count; i++)
		check(again->targets[i] == reverse->targets[i]);
	graph_destroy(nodes);
	graph_destroy(graph);
}

static void use_heap(struct heap *heap, uint8_t use)
{
	struct job job = { .workers = 1, .max_mem = (uint64_t)1 << 28 };
	switch (use % USES) {
	case USE_WALKS:
		use_walks(heap, &job);
		break;
	case USE_SNAPSHOT:
		use_snapshot(heap, &job);
		break;
	default:
		use_reverse(heap, &job);
		break;
	}
}

/* Any image: method tables, GCDescs, objects, contexts; no crash, no hang, walks in order. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image image;
	if (size < sizeof(image) || size > 65536)
		return 0;
	memcpy(&image, data, sizeof(image));
	struct image_memory memory = {
		.memory = { .ops = &image_ops },
		.bytes = data,
		.size = size,
		.hole_begin = BASE + 8 * (uint64_t)image.hole_begin,
		.hole_end = BASE + 8 * (uint64_t)image.hole_end,
		.is_mapped = !(image.flags & 1),
	};
	struct target target = { .arch = &arch_x86_64,
				 .kind = TARGET_CORE,
				 .memory = &memory.memory,
				 .own = &memory.memory };
	struct coreclr runtime = {
		.base.ops = &coreclr_ops,
		.base.target = &target,
		.base.memory = &memory.memory,
		.major = image.flags & 2 ? 8 : 10,
		.base.tables.free = BASE + 8 * (uint64_t)image.free_type,
		.base.tables.object = BASE + 8 * (uint64_t)image.object_type,
	};
	layout_init(&runtime.layout);
	layout_fill(&runtime.layout, runtime.major, ORIGIN_SERIES);
	struct segment segments[SEGMENTS];
	struct context contexts[CONTEXTS];
	struct heap heap = { .runtime = &runtime.base,
			     .space = arch_x86_64.space,
			     .memory = &memory.memory,
			     .heap_count = 1,
			     .segments = segments,
			     .segment_count = make_segments(&image, segments),
			     .contexts = contexts,
			     .context_count = make_contexts(&image, contexts) };
	check(runtime_type_table_create(&runtime.base.types, NULL) == HD_OK);
	check(module_table_create(&runtime.base, &runtime.modules, NULL) == HD_OK);
	use_heap(&heap, image.use);
	module_table_destroy(runtime.modules);
	runtime_base_deinit(&runtime.base);
	findings_deinit(&target.findings);
	return 0;
}
