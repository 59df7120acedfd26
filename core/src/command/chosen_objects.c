/* SPDX-License-Identifier: MIT */
#include "command/chosen_objects.h"

#include <inttypes.h>

#include "analysis/graph/filter.h"
#include "command/type_words.h"
#include "util/alloc.h"

static enum hd_status add_node(struct call *call, struct chosen_objects *objects, uint32_t node)
{
	TRY_MEMORY(PAGES_RESERVE(objects, nodes), call->err);
	objects->nodes[objects->nodes_count++] = node;
	return HD_OK;
}

static enum hd_status choose_of_type(struct call *call, struct chosen_objects *objects)
{
	const struct value *type = objects->of_type;
	struct filter filter = { .has_mt = type,
				 .mt = type ? type->number : 0,
				 .type_part = objects->part };
	enum hd_status status = HD_OK;
	TRY(filter_prepare(&filter, call->graph, call->err));
	for (uint32_t node = 0; status == HD_OK; node++) {
		node = filter_next(&filter, call->graph, node);
		if (node >= filter.last)
			break;
		status = add_node(call, objects, node);
	}
	filter_deinit(&filter, call->graph);
	if (status == HD_OK && !objects->nodes_count && !type)
		TRY(call_check_pattern(call, objects->part));
	if (status == HD_OK && !objects->nodes_count) {
		return !type ? fail(call->err, HD_ERR_NOTFOUND, 0,
				    "no objects of a type whose name contains \"%.200s\"; types lists "
				    "the types",
				    objects->part)
			     : fail(call->err, HD_ERR_NOTFOUND, filter.mt,
				    "no objects of a type %" PRIx64 "; types lists the types",
				    filter.mt);
	}
	return status;
}

enum hd_status chosen_objects_init(struct call *call, const struct value *mt,
				   const struct value *part, struct chosen_objects *ret)
{
	const struct value *word = &call->words[0];
	HD_CLEANUP(chosen_objects) struct chosen_objects objects = { 0 };
	if (word->is_type)
		objects.of_type = word;
	if (!word->given && mt->given)
		objects.of_type = mt;
	if (!word->given && !objects.of_type)
		objects.part = part->text;
	if (objects.of_type || objects.part) {
		TRY(choose_of_type(call, &objects));
	} else {
		uint32_t node;
		TRY(call_object(call, 0, &node));
		TRY(add_node(call, &objects, node));
	}
	objects.type = call->graph->node_types[objects.nodes[0]];
	*ret = objects;
	objects = (struct chosen_objects){ 0 };
	return HD_OK;
}

void chosen_objects_deinit(struct chosen_objects *objects)
{
	pages_free(objects->nodes, objects->nodes_capacity, sizeof(*objects->nodes));
	*objects = (struct chosen_objects){ 0 };
}
