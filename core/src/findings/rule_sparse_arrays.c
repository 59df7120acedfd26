/* SPDX-License-Identifier: MIT */
/* Arrays of the program that are nearly empty: doc/report.md 4.18. */
#include "findings/counted.h"
#include "findings/rule.h"
#include "mem/window.h"
#include "util/job.h"

#define SIZE_MIN      1024u
#define ZERO_SIZE_MIN 4096u
#define ZEROS_MIN     256u
#define BYTES_MIN     (4 * MEGABYTE)
#define HOLDER_LEVELS 4u
#define PIECE         4096u
/* Bytes of arrays that are looked at for one that is not zero. */
#define READ_MAX ((uint64_t)512 << 20)

static const struct waste_telling of_arrays = {
	.telling = {
		.least = { [SEVERITY_MEDIUM] = { .permille = 250, .bytes = BYTES_MIN },
			   [SEVERITY_LOW] = { .permille = 100, .bytes = BYTES_MIN } },
		.id = "sparse-arrays:{holder}:{full}",
		.title = "{objects} nearly empty {type} in {holder}",
		.sentence_of_one = "{objects} {type} in {holder} uses {count1} of its {count2} "
				   "slots; {bytes} are empty.",
		.sentence = "{objects} {type} in {holder} use {count1} of their {count2} slots; "
			    "{bytes} are empty.",
		.look_at = "whether {holder} needs all of its arrays: a dictionary, or arrays "
			   "made when they are used",
		.next = "dumpheap -type {full}",
	},
	.counts = { "arrays", "used", "slots" },
	.has_blamed = true,
};

static const struct waste_telling of_buffers = {
	.telling = {
		.least = { [SEVERITY_LOW] = { .permille = 100, .bytes = BYTES_MIN } },
		.id = "sparse-arrays:{holder}:{full}",
		.title = "{objects} {type} of zeros in {holder}",
		.sentence_of_one = "{objects} {type} in {holder} has only zeros ({bytes}): a buffer that "
				   "waits for its use, or one that nobody needs.",
		.sentence = "{objects} {type} in {holder} have only zeros ({bytes}): buffers that wait for "
			    "their use, or that nobody needs.",
		.look_at = "whether each object in {holder} needs a buffer of its own all the time",
		.next = "dumpheap -type {full}",
	},
	.counts = { "arrays", "used", "slots" },
	.has_blamed = true,
};

/* Bytes or characters that are all zero are buffers, which may wait for their use: nobody knows whether they are waste. */
static bool is_buffer(const struct graph_type *type)
{
	return type_is_class(type, "System.Byte[]") || type_is_class(type, "System.Char[]");
}

/* The arrays of one type. */
struct sparse_type {
	const struct type *class;
	bool has_references; /* else its elements are numbers */
	struct window *window;
	uint64_t bytes_left;
};

/*
 * Find the holder of an array, through arrays of arrays: an object of the program, or a static
 * field of it (HD_NONE).  False: something of the framework, a pool for example, or a collection.
 */
static bool own_holder(struct report *report, uint32_t node, uint32_t *ret)
{
	struct report_facts *facts = &report->facts;
	for (unsigned int i = 0; i < HOLDER_LEVELS; i++) {
		node = path_before(&facts->paths, node);
		if (node == HD_NONE)
			break;
		if (!type_is_array(facts_type(facts, node))) {
			*ret = node;
			return type_is_own(facts_type(facts, node)) &&
			       !counted_type_of(facts, node);
		}
	}
	*ret = HD_NONE;
	return node == HD_NONE;
}

/* Are all bytes of the array zero?  Ends with the first one that is not. */
static bool is_zero_array(struct report *report, struct sparse_type *type,
			  const struct object *array)
{
	static const uint8_t zeros[PIECE];
	uint64_t at = array->address + type->class->base_size - 8;
	uint64_t left = array->size - type->class->base_size;
	while (left) {
		size_t size = left < PIECE ? (size_t)left : PIECE;
		if (size > type->bytes_left) {
			rule_limited(report);
			return false;
		}
		type->bytes_left -= size;
		const uint8_t *bytes = window_at(type->window, at, size, NULL);
		if (!bytes || memcmp(bytes, zeros, size) != 0)
			return false;
		at += size;
		left -= size;
	}
	return true;
}

/* Is the array nearly empty?  Sets used, room and bytes. */
static bool is_sparse(struct report *report, struct sparse_type *type, uint32_t node,
		      struct waste *ret)
{
	struct report_facts *facts = &report->facts;
	struct object array;
	if (graph_size(facts->graph, node) < (type->has_references ? SIZE_MIN : ZERO_SIZE_MIN) ||
	    facts->classes[node] != CLASS_PROCESS || !facts_object(facts, node, &array) ||
	    array.type != type->class || !array.length)
		return false;
	ret->room = array.length;
	ret->used = type->has_references ? csr_degree(&facts->graph->forward, node) : 0;
	ret->bytes = (array.length - ret->used) * type->class->component_size;
	return ret->used * 4 < array.length &&
	       (type->has_references || is_zero_array(report, type, &array));
}

static enum hd_status check_sparse_type(struct report *report, uint32_t index,
					struct sparse_type *type, struct wastes *wastes,
					struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct typed_nodes all = typed_nodes(facts, index);
	size_t begin = wastes->rows_count;
	for (uint32_t i = 0; i < all.count; i++) {
		uint32_t node = all.nodes[i], holder;
		struct waste waste = { .type = index, .sample = node };
		if (i % JOB_STRIDE == 0 && !job_step(facts->job, 0, 0))
			return fail_cancelled(err);
		if (!is_sparse(report, type, node, &waste) || !own_holder(report, node, &holder) ||
		    waste_is_explained(report, node))
			continue;
		waste.holder = holder == HD_NONE ? HD_NONE : facts->graph->node_types[holder];
		TRY(wastes_add(wastes, begin, &waste, err));
	}
	/* A few buffers of zeros wait for their use; many are one in each of many objects. */
	for (size_t i = begin; !type->has_references && i < wastes->rows_count; i++) {
		if (wastes->rows[i].count < ZEROS_MIN || wastes->rows[i].holder == HD_NONE)
			wastes->rows[i].bytes = 0;
	}
	return HD_OK;
}

static enum hd_status collect_sparse(struct report *report, struct wastes *wastes,
				     struct wastes *buffers, struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	HD_CLEANUP(window) struct window window = { .memory = facts->heap->memory };
	struct sparse_type type = { .window = &window, .bytes_left = READ_MAX };
	for (uint32_t i = 0; i < facts->graph->type_count; i++) {
		if (!type_is_array(&facts->graph->types[i]))
			continue;
		type.class = typed_class(facts, i);
		if (!type.class || !type.class->component_size)
			continue;
		type.has_references = type.class->has_pointers;
		/* Structs with references in them have no count of empty elements. */
		if (!type.has_references ||
		    (type.class->component_size == 8 && !type.class->desc.run_count)) {
			TRY(check_sparse_type(report, i, &type,
					      is_buffer(&facts->graph->types[i]) ? buffers : wastes,
					      err));
		}
	}
	return HD_OK;
}

static enum hd_status find_sparse_arrays(struct report *report, struct hd_error *err)
{
	HD_CLEANUP(wastes) struct wastes wastes = { 0 };
	HD_CLEANUP(wastes) struct wastes buffers = { 0 };
	TRY(collect_sparse(report, &wastes, &buffers, err));
	TRY(wastes_tell(report, &wastes, &of_arrays, err));
	return wastes_tell(report, &buffers, &of_buffers, err);
}

const struct report_rule sparse_arrays_rule = {
	.name = "sparse-arrays",
	.turn = TURN_WASTE,
	.threshold =
		"arrays used under 25 %, with empty elements of 10 % of the live heap and 4 MB",
	.needs = RULE_FIELDS,
	.find = find_sparse_arrays,
};
