/* SPDX-License-Identifier: MIT */
#include "hangs/wait_reach.h"

#include "analysis/async/async_graph.h"
#include "gc/references.h"

#define OBJECT_MAX 1024u

bool reach_is_object(const struct wait_reach *reach, const struct object *object)
{
	return object->address == reach->wanted;
}

bool reach_is_source(const struct wait_reach *reach, const struct object *object)
{
	struct member task = fact_of(reach->waits->members, object, FACT_COMPLETION_SOURCE_TASK);
	return task.state == MEMBER_READ && task.bits == reach->wanted;
}

static bool is_followed(const struct waits *waits, const struct object *object)
{
	return object->type->has_pointers && !object->type->component_size &&
	       object->size <= OBJECT_MAX &&
	       !async_type_is_task(async_graph_type(waits->async, object->type));
}

bool wait_reaches(struct wait_reach *reach, uint64_t address, unsigned int levels)
{
	const struct waits *waits = reach->waits;
	HD_CLEANUP(window) struct window window = { .memory = waits->heap->memory };
	size_t count = 1;
	reach->ways[0] = (struct reach_way){ .address = address, .levels = levels };
	for (size_t i = 0; i < count; i++) {
		const struct reach_way *way = &reach->ways[i];
		struct references references;
		struct reference reference;
		struct object object;
		if (!member_object(waits->members, way->address, &object))
			continue;
		if (reach->is_wanted(reach, &object)) {
			reach->found = way->address;
			reach->from = way->from;
			return true;
		}
		if (!way->levels || !is_followed(waits, &object))
			continue;
		references_begin(&references, &window, &object);
		while (count < REACH_OBJECTS_MAX && references_next(&references, &reference)) {
			reach->ways[count++] =
				(struct reach_way){ reference.value, way->levels - 1, object };
		}
	}
	return false;
}
