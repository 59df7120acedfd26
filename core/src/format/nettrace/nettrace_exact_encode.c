/* SPDX-License-Identifier: MIT */
/* The records of objects and pseudo-nodes, handed to gcdump_encode(). */
#include <string.h>

#include "format/nettrace/nettrace_exact.h"
#include "util/alloc.h"

/* The position in the records. */
struct exact_reading {
	const struct exact_dump *exact;
	size_t next_record, next_child; /* index in objects */
	uint32_t next_pseudo;           /* HD_NONE: none is left */
	uint32_t passes;                /* number of passes begun; the second one frees records on
					 * the way */
};

static void source_type(void *arg, uint32_t type, struct gcdump_type *ret)
{
	const struct exact_reading *reading = arg;
	*ret = reading->exact->types.types[type];
}

static void source_rewind(void *arg)
{
	struct exact_reading *reading = arg;
	reading->next_record = reading->next_child = 0;
	reading->next_pseudo = 0;
	reading->passes++;
}

/* They are not needed again. */
static void give_back(const struct exact_reading *reading)
{
	const struct exact_objects *objects = &reading->exact->objects;
	pages_discard(objects->records, objects->records_capacity, 0, reading->next_record,
		      sizeof(*objects->records));
	pages_discard(objects->children, objects->children_capacity, 0, reading->next_child,
		      sizeof(*objects->children));
}

static bool next_exact_object(struct exact_reading *reading, struct gcdump_node *ret)
{
	const struct exact_objects *objects = &reading->exact->objects;
	if (reading->next_record == objects->records_count)
		return false;
	if (reading->passes > 1 && reading->next_record % JOB_STRIDE == 0)
		give_back(reading);
	const struct exact_record *record = &objects->records[reading->next_record++];
	*ret = (struct gcdump_node){ .index = record->node,
				     .type = record->type,
				     .size = record->size,
				     .child_count = record->child_count,
				     .children = record->child_count
							 ? objects->children + reading->next_child
							 : NULL };
	reading->next_child += record->child_count;
	return true;
}

static bool source_next(void *arg, struct gcdump_node *ret)
{
	struct exact_reading *reading = arg;
	const struct exact_tree *tree = &reading->exact->tree;
	if (next_exact_object(reading, ret))
		return true;
	if (reading->next_pseudo == HD_NONE)
		return false;
	const struct exact_pseudo *pseudo = &tree->pseudos[reading->next_pseudo];
	*ret = (struct gcdump_node){ .index = pseudo->node,
				     .type = pseudo->type,
				     .child_count = pseudo->child_count,
				     .children = tree->pseudo_children + pseudo->first_child };
	reading->next_pseudo = exact_after(tree, reading->next_pseudo);
	return true;
}

static uint64_t source_address(void *arg, uint32_t node)
{
	const struct exact_reading *reading = arg;
	return reading->exact->nodes.addresses[node];
}

enum hd_status exact_encode(const struct exact_dump *exact, format_write_fn write, void *arg)
{
	const char *tool = "dotnet-gcdump";
	struct gcdump_about about = { .version = 10,
				      .min_reader = 8,
				      .is_64bit = exact->pointer_size == 8,
				      .has_is_64bit = true,
				      .sampling = { .average_count = 1, .average_size = 1 },
				      .has_tool = true,
				      .interop = { .is_there = true } };
	TRY_MEMORY(gcdump_text_of(exact->names.arena, tool, strlen(tool), &about.tool), exact->err);
	struct exact_reading reading = { .exact = exact };
	const struct gcdump_source source = { .about = &about,
					      .root = 0,
					      .type_count = (uint32_t)exact->types.types_count,
					      .node_count = (uint32_t)exact->nodes.addresses_count,
					      .type = source_type,
					      .rewind = source_rewind,
					      .next = source_next,
					      .address = source_address,
					      .arg = &reading };
	return gcdump_encode(&source, exact->job, write, arg, exact->err);
}
