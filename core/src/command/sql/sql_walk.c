/* SPDX-License-Identifier: MIT */
/* Objects one by one, in the order of their addresses. */
#include <sqlite3.h>
#include <string.h>

#include "analysis/heap/heap_gaps.h"
#include "answer/tables.h"
#include "command/sql/sql_objects.h"
#include "inspect/locate.h"
#include "util/alloc.h"

enum type_verdict {
	VERDICT_UNKNOWN,
	VERDICT_NO,
	VERDICT_YES,
};

struct sql_objects {
	struct sql_source *source;
	struct sql_choice choice;
	struct walker walker; /* of a heap */
	size_t segment;       /* next one to walk */
	bool is_walking, is_done;
	uint8_t *verdicts; /* by index of a type; enum type_verdict */
	size_t verdicts_count, verdicts_capacity;
	uint32_t node; /* of a dump file: the next one */
	uint32_t steps;
	struct sql_object row;
};

static bool matches(const struct sql_choice *choice, const char *name, size_t size)
{
	switch (choice->match) {
	case SQL_MATCH_ALL:
		return true;
	case SQL_MATCH_EQUAL:
		return strlen(choice->text) == size && memcmp(choice->text, name, size) == 0;
	case SQL_MATCH_LIKE:
		return sqlite3_strlike(choice->text, name, 0) == 0;
	}
	return false;
}

/* SQLite asks again: what is too much does no harm.  Names of dump files need not end with a NUL. */
static bool may_match(const struct sql_choice *choice, const char *name, size_t size)
{
	return choice->match == SQL_MATCH_LIKE || matches(choice, name, size);
}

static bool judge_type(const struct sql_objects *objects, const struct type *type)
{
	struct runtime *runtime = objects->source->heap->runtime;
	const struct sql_choice *choice = &objects->choice;
	size_t size;
	if (choice->method_table && type->method_table != choice->method_table)
		return false;
	if (choice->match != SQL_MATCH_ALL) {
		const char *name = type_name(runtime, type, &size);
		if (!matches(choice, name, size))
			return false;
	}
	return !choice->accepts || choice->accepts(runtime, type);
}

/* Is an object of @p type met?  *@p ret_failed: memory is exhausted. */
static bool is_accepted(struct sql_objects *objects, const struct type *type, bool *ret_failed)
{
	while (objects->verdicts_count <= type->index) {
		if (!PAGES_RESERVE(objects, verdicts)) {
			*ret_failed = true;
			return false;
		}
		objects->verdicts[objects->verdicts_count++] = VERDICT_UNKNOWN;
	}
	uint8_t *verdict = &objects->verdicts[type->index];
	if (*verdict == VERDICT_UNKNOWN)
		*verdict = judge_type(objects, type) ? VERDICT_YES : VERDICT_NO;
	return *verdict == VERDICT_YES;
}

static void fill_heap_row(struct sql_objects *objects, const struct object *object,
			  const struct segment *segment)
{
	struct sql_object *row = &objects->row;
	row->address = object->address;
	row->size = object->size;
	row->type_id = object->type->method_table;
	row->is_free = object->type->is_free;
	row->object = *object;
	row->segment = segment;
	row->type_name = type_name(objects->source->heap->runtime, object->type, &row->type_size);
}

static enum hd_status fail_exhausted(const struct sql_objects *objects)
{
	return fail_nomem(objects->source->call->err);
}

/* With the graph at hand an object need not be looked for. */
static bool read_known(const struct sql_objects *objects, struct object *ret)
{
	const struct sql_source *source = objects->source;
	const struct hd_graph *graph = source->call->session->graph;
	uint64_t address = objects->choice.address;
	if (!graph || hd_graph_find(graph, address) == HD_NONE)
		return false;
	HD_CLEANUP(window) struct window window = { .memory = source->heap->memory };
	bool is_read = object_read(source->heap, &window, address, ret);
	return is_read;
}

/* The object at one address, if it is one that a walk meets. */
static enum hd_status find_one(struct sql_objects *objects, bool *ret)
{
	struct sql_source *source = objects->source;
	struct location location = { .place = PLACE_OBJECT };
	bool failed = false;
	objects->is_done = true;
	if (!read_known(objects, &location.object)) {
		TRY(object_locate(source->heap, objects->choice.address, &source->call->job,
				  &location, source->call->err));
	}
	*ret = location.place == PLACE_OBJECT &&
	       is_accepted(objects, location.object.type, &failed);
	if (failed)
		return fail_exhausted(objects);
	if (*ret) {
		fill_heap_row(objects, &location.object,
			      heap_segment_at(source->heap, location.object.address));
	}
	return HD_OK;
}

static enum hd_status poll(struct sql_objects *objects)
{
	if (++objects->steps % JOB_STRIDE)
		return HD_OK;
	return call_check(objects->source->call);
}

/* Begin with the next segment; false: there is none. */
static bool begin_next_segment(struct sql_objects *objects)
{
	const struct heap *heap = objects->source->heap;
	if (objects->segment >= heap->segment_count)
		return false;
	const struct segment *segment = &heap->segments[objects->segment++];
	walker_begin(&objects->walker, segment, segment->begin, segment->end);
	objects->is_walking = true;
	return true;
}

static enum hd_status next_of_heap(struct sql_objects *objects, bool *ret)
{
	bool failed = false;
	*ret = false;
	if (objects->choice.has_address && !objects->is_done)
		return find_one(objects, ret);
	if (objects->is_done)
		return HD_OK;
	for (;;) {
		if (!objects->is_walking && !begin_next_segment(objects)) {
			objects->is_done = true;
			return HD_OK;
		}
		TRY(poll(objects));
		enum walk_result result = walker_next(&objects->walker);
		if (result == WALK_END) {
			objects->is_walking = false;
			continue;
		}
		if (result == WALK_DAMAGE) {
			gaps_add(objects->source->gaps, objects->source->heap,
				 &objects->walker.damage);
		}
		const struct object *object = &objects->walker.object;
		if (result != WALK_OBJECT || !is_accepted(objects, object->type, &failed)) {
			if (failed)
				return fail_exhausted(objects);
			continue;
		}
		fill_heap_row(objects, object, objects->walker.segment);
		*ret = true;
		return HD_OK;
	}
}

static bool is_accepted_node(const struct sql_objects *objects, const struct graph_type *type)
{
	const struct sql_choice *choice = &objects->choice;
	const char *name = type->name ? type->name : "";
	if (choice->method_table && type->id != choice->method_table)
		return false;
	if (choice->type_name && strcmp(choice->type_name, name) != 0)
		return false;
	return may_match(choice, name, type->name_size);
}

static enum hd_status next_of_dump(struct sql_objects *objects, bool *ret)
{
	const struct hd_graph *graph = objects->source->call->graph;
	const struct sql_choice *choice = &objects->choice;
	uint32_t end = graph->object_count;
	*ret = false;
	if (choice->has_address && !objects->is_done) {
		objects->node = hd_graph_find(graph, choice->address);
		end = objects->node < end ? objects->node + 1 : 0;
	} else if (choice->has_address) {
		return HD_OK;
	}
	objects->is_done = true;
	for (; objects->node < end && !*ret; objects->node++) {
		TRY(poll(objects));
		const struct graph_type *type = &graph->types[graph->node_types[objects->node]];
		if (!is_accepted_node(objects, type))
			continue;
		objects->row = (struct sql_object){
			.address = graph_id(graph, objects->node),
			.size = graph_size(graph, objects->node),
			.type_id = type->id,
			.type_name = type->name,
			.type_size = type->name_size,
			.node = objects->node,
		};
		*ret = true;
	}
	return HD_OK;
}

enum hd_status sql_objects_open(struct sql_source *source, const struct sql_choice *choice,
				struct sql_objects **ret)
{
	struct sql_objects *objects = mem_calloc(1, sizeof(*objects));
	TRY_MEMORY(objects, source->call->err);
	objects->source = source;
	objects->choice = *choice;
	if (source->heap) {
		enum hd_status status =
			walker_init(&objects->walker, source->heap, source->call->err);
		if (status != HD_OK) {
			mem_free(objects);
			return status;
		}
	}
	*ret = objects;
	return HD_OK;
}

enum hd_status sql_objects_next(struct sql_objects *objects, const struct sql_object **ret)
{
	bool is_there = false;
	if (objects->source->heap) {
		TRY(next_of_heap(objects, &is_there));
	} else {
		TRY(next_of_dump(objects, &is_there));
	}
	*ret = is_there ? &objects->row : NULL;
	return HD_OK;
}

void sql_objects_close(struct sql_objects *objects)
{
	if (!objects)
		return;
	if (objects->source->heap)
		walker_deinit(&objects->walker);
	pages_free(objects->verdicts, objects->verdicts_capacity, sizeof(*objects->verdicts));
	mem_free(objects);
}

double sql_objects_estimate(const struct sql_source *source)
{
	double bytes = 0;
	if (!source->heap)
		return source->call->graph->object_count;
	for (size_t i = 0; i < source->heap->segment_count; i++)
		bytes += (double)(source->heap->segments[i].end - source->heap->segments[i].begin);
	return bytes / 64 + 1;
}

struct cell sql_generation(const struct sql_source *source, const struct sql_object *object)
{
	if (!source->heap)
		return cell_string(generation_of_node(source->call->graph, object->node));
	if (!object->segment)
		return (struct cell){ 0 };
	return cell_string(
		generation_name(segment_generation_at(object->segment, object->address)));
}
