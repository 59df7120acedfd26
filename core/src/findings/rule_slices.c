/* SPDX-License-Identifier: MIT */
/* Arrays that small slices of them keep alive: doc/report.md 4.26. */
#include "findings/rule.h"
#include "inspect/value.h"
#include "util/alloc.h"
#include "util/job.h"

#define ARRAY_MIN  1024u
#define BYTES_MIN  (4 * MEGABYTE)
#define SMALL_PART 10u /* slices are less than one in this many bytes of their array */
/* Structs in a type, and structs of slices in it. */
#define NESTED_MAX 64u
#define SLOTS_MAX  16u
/* Places of slices that are looked at. */
#define PLACES_MAX FUZZED(8000000u, 10000u)
/* The high bit of an index is a flag. */
#define INDEX_MASK 0x7fffffffu

static const struct waste_telling of_slices = {
	.telling = {
		.least = { [SEVERITY_MEDIUM] = { .permille = 100, .half_limits = 2, .bytes = BYTES_MIN },
			   [SEVERITY_LOW] = { .bytes = BYTES_MIN } },
		.id = "slices:{holder}:{full}",
		.title = "{objects} {type} for small slices in {holder}",
		.sentence_of_one =
			"{objects} {type} with {size2} is alive only because of slices of it in "
			"{holder}, which use {size1}: the other {bytes} ({share} of the live heap) "
			"are kept without a use.",
		.sentence =
			"{objects} {type} with {size2} are alive only because of slices of them in "
			"{holder}, which use {size1}: the other {bytes} ({share} of the live heap) "
			"are kept without a use.",
		.look_at = "where {holder} is set: a copy (ToArray) of what is needed frees the "
			   "large array",
		.next = "gcroot -type {full}",
	},
	.counts = { "arrays", "bytes in slices", "bytes of the arrays" },
	.is_met_in_bytes = true,
};

/* A struct that refers to a part of an array, by its fields. */
static const struct slice_kind {
	enum net_type class;
	enum fact array, begin, count;
	enum fact
		last; /* the second reference of a struct whose count is where the slice ends; or FACTS */
} slice_kinds[] = {
	{ NET_MEMORY, FACT_MEMORY_OBJECT, FACT_MEMORY_BEGIN, FACT_MEMORY_COUNT, FACTS },
	{ NET_READ_ONLY_MEMORY, FACT_READ_ONLY_MEMORY_OBJECT, FACT_READ_ONLY_MEMORY_BEGIN,
	  FACT_READ_ONLY_MEMORY_COUNT, FACTS },
	{ NET_ARRAY_SEGMENT, FACT_ARRAY_SEGMENT_ARRAY, FACT_ARRAY_SEGMENT_BEGIN,
	  FACT_ARRAY_SEGMENT_COUNT, FACTS },
	{ NET_READ_ONLY_SEQUENCE, FACT_SEQUENCE_FIRST, FACT_SEQUENCE_BEGIN, FACT_SEQUENCE_END,
	  FACT_SEQUENCE_LAST },
};

/* Where a struct is in objects of a type: offset from its first field. */
struct slot {
	const struct type *type;
	const struct slice_kind *kind; /* NULL: a struct whose fields are still to be looked at */
	uint32_t offset;
};

/* The slots of one type. */
struct slots {
	struct slot rows[SLOTS_MAX];
	size_t count;
};

/* An array with slices; of the object that has the first one, the type. */
struct sliced {
	uint32_t node, holder;
	uint64_t used, references; /* bytes in slices, and references to it in these */
	bool is_root;              /* a root refers to it, too */
};

struct slices {
	struct sliced *rows;
	size_t rows_count, rows_capacity;
	uint32_t *row_of; /* by node: its row, + 1; NULL until one was found */
	uint32_t node_count;
	uint32_t places_left;
	uint32_t holder; /* type whose objects are read */
};

static void slices_deinit(struct slices *slices)
{
	pages_free(slices->rows, slices->rows_capacity, sizeof(*slices->rows));
	if (slices->row_of)
		pages_free(slices->row_of, slices->node_count, sizeof(*slices->row_of));
}

static const struct slice_kind *kind_of_struct(struct report *report, const struct type *type)
{
	size_t size = 0;
	const char *name = type_name(report->facts.heap->runtime, type, &size);
	for (size_t i = 0; i < sizeof(slice_kinds) / sizeof(slice_kinds[0]); i++) {
		if (name && net_type_is(slice_kinds[i].class, name, size))
			return &slice_kinds[i];
	}
	return NULL;
}

/* The structs among the fields of @p in go to @p open. */
static void open_struct(struct report *report, const struct slot *in, struct slot *open,
			size_t *open_count)
{
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	if (field_list_read(report->facts.heap->runtime, in->type, &list, NULL) != HD_OK)
		return;
	for (size_t i = 0; i < list.count; i++) {
		const struct field *field = &list.rows[i];
		if (field->is_static || field->element_type != ELEMENT_VALUE || !field->type ||
		    !field->type->has_pointers)
			continue;
		if (*open_count == NESTED_MAX) {
			rule_limited(report);
			break;
		}
		open[(*open_count)++] =
			(struct slot){ .type = field->type, .offset = in->offset + field->offset };
	}
}

/* Where slices are in the fields of @p type, through structs in structs; once for each type. */
static void find_slots(struct report *report, const struct type *type, struct slots *ret)
{
	struct slot open[NESTED_MAX] = { { .type = type } };
	size_t open_count = 1, steps = NESTED_MAX;
	ret->count = 0;
	for (; open_count && steps; steps--) {
		struct slot slot = open[--open_count];
		slot.kind = kind_of_struct(report, slot.type);
		if (!slot.kind) {
			open_struct(report, &slot, open, &open_count);
		} else if (ret->count < SLOTS_MAX) {
			ret->rows[ret->count++] = slot;
		} else {
			rule_limited(report);
		}
	}
	if (open_count)
		rule_limited(report);
}

/* The row of an array; NULL: no memory. */
static struct sliced *sliced_row(struct slices *slices, uint32_t node)
{
	if (!slices->row_of) {
		slices->row_of = pages_alloc(slices->node_count, sizeof(*slices->row_of));
	}
	if (!slices->row_of)
		return NULL;
	if (!slices->row_of[node]) {
		if (slices->rows_count == UINT32_MAX || !PAGES_RESERVE(slices, rows))
			return NULL;
		slices->rows[slices->rows_count++] =
			(struct sliced){ .node = node, .holder = slices->holder };
		slices->row_of[node] = (uint32_t)slices->rows_count;
	}
	return &slices->rows[slices->row_of[node] - 1];
}

/* A reference or a number of a slice. */
static bool read_part(struct report *report, const struct slot *slot, uint64_t address,
		      enum fact fact, uint64_t *ret)
{
	struct member member = fact_of_struct(report->facts.members, slot->type, address, fact);
	*ret = member.bits;
	return member.state == MEMBER_READ;
}

/* Count the slice in the struct at @p address. */
static enum hd_status add_slice(struct report *report, struct slices *slices,
				const struct slot *slot, uint64_t address, struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	const struct slice_kind *kind = slot->kind;
	uint64_t target, last, begin, count;
	struct object array;
	if (!read_part(report, slot, address, kind->array, &target) || !target ||
	    !read_part(report, slot, address, kind->begin, &begin) ||
	    !read_part(report, slot, address, kind->count, &count))
		return HD_OK;
	/* A sequence of several segments: each has a slice of its own. */
	if (kind->last != FACTS &&
	    (!read_part(report, slot, address, kind->last, &last) || last != target))
		return HD_OK;
	uint32_t node = facts_node(facts, target);
	if (node == HD_NONE || facts->classes[node] != CLASS_PROCESS ||
	    graph_size(facts->graph, node) < ARRAY_MIN || !facts_object(facts, node, &array) ||
	    !array.type->component_size)
		return HD_OK;
	struct sliced *row = sliced_row(slices, node);
	TRY_MEMORY(row, err);
	begin &= INDEX_MASK;
	count &= INDEX_MASK;
	if (kind->last != FACTS)
		count = count > begin ? count - begin : 0;
	/* A slice that is not inside of the array may be anything. */
	bool is_inside = begin <= array.length && count <= array.length - begin;
	row->used += is_inside ? count * array.type->component_size : array.size;
	row->references += kind->last != FACTS ? 2 : 1;
	return HD_OK;
}

static enum hd_status add_slots(struct report *report, struct slices *slices,
				const struct slots *slots, uint64_t address, struct hd_error *err)
{
	for (size_t i = 0; i < slots->count; i++) {
		if (!slices->places_left) {
			rule_limited(report);
			return HD_OK;
		}
		slices->places_left--;
		TRY(add_slice(report, slices, &slots->rows[i], address + slots->rows[i].offset,
			      err));
	}
	return HD_OK;
}

/* The slices in the elements of an array. */
static enum hd_status add_elements(struct report *report, struct slices *slices,
				   const struct slots *slots, const struct object *object,
				   struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	struct array_info array;
	if (!array_read(facts->heap, object, &array))
		return HD_OK;
	for (uint32_t i = 0; i < array.length && slices->places_left; i++) {
		if (i % JOB_STRIDE == 0 && !job_step(facts->job, 0, 0))
			return fail_cancelled(err);
		TRY(add_slots(report, slices, slots, array.data + (uint64_t)i * array.element_size,
			      err));
	}
	return HD_OK;
}

/* The struct or class whose fields the objects of a type have, or their elements; NULL: none with references. */
static const struct type *type_of_fields(const struct report_facts *facts, uint32_t type)
{
	struct object object;
	struct array_info array;
	const struct type *class = typed_class(facts, type);
	if (!class || !class->has_pointers || !class->component_size)
		return class && class->has_pointers ? class : NULL;
	if (!facts_object(facts, facts->type_nodes[facts->type_begin[type]], &object) ||
	    !array_read(facts->heap, &object, &array) || array.element_type != ELEMENT_VALUE)
		return NULL;
	return array.element;
}

static enum hd_status collect_type(struct report *report, uint32_t type, struct slices *slices,
				   struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	const struct type *fields = type_of_fields(facts, type);
	struct typed_nodes all = typed_nodes(facts, type);
	struct slots slots = { .count = 0 };
	if (fields)
		find_slots(report, fields, &slots);
	slices->holder = type;
	for (uint32_t i = 0; slots.count && i < all.count; i++) {
		struct object object;
		if (i % JOB_STRIDE == 0 && !job_step(facts->job, 0, 0))
			return fail_cancelled(err);
		if (!facts_object(facts, all.nodes[i], &object))
			continue;
		if (object.type->component_size) {
			TRY(add_elements(report, slices, &slots, &object, err));
		} else {
			TRY(add_slots(report, slices, &slots, object.address + OBJECT_FIELDS, err));
		}
	}
	return HD_OK;
}

/* An array that a root refers to is used as a whole. */
static void note_roots(const struct hd_graph *graph, struct slices *slices)
{
	for (uint32_t i = 0; slices->row_of && i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		uint32_t row = root->node < graph->node_count ? slices->row_of[root->node] : 0;
		if (row && !(root->flags & HD_ROOT_WEAK))
			slices->rows[row - 1].is_root = true;
	}
}

/* Do only slices refer to the array?  What is dead does not count. */
static bool is_only_sliced(const struct report_facts *facts, const struct csr *reverse,
			   const struct sliced *row)
{
	uint64_t references = 0, end = csr_begin(reverse, row->node + 1);
	for (uint64_t i = csr_begin(reverse, row->node); i < end; i++)
		references += facts_is_live(facts, reverse->targets[i]);
	return !row->is_root && references == row->references;
}

/* Add up, by the type of what has the slices, the arrays of which small parts are used. */
static enum hd_status judge_arrays(struct report *report, struct slices *slices,
				   struct wastes *wastes, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	const struct csr *reverse;
	note_roots(facts->graph, slices);
	TRY(graph_reverse(facts->graph, facts->job, &reverse, err));
	for (size_t i = 0; i < slices->rows_count; i++) {
		const struct sliced *row = &slices->rows[i];
		uint64_t size = graph_size(facts->graph, row->node);
		if (row->used >= size / SMALL_PART || !is_only_sliced(facts, reverse, row) ||
		    waste_is_explained(report, row->node))
			continue;
		const struct waste one = { .holder = row->holder,
					   .type = facts->graph->node_types[row->node],
					   .sample = row->node,
					   .used = row->used,
					   .room = size,
					   .bytes = size - row->used };
		TRY(wastes_add(wastes, 0, &one, err));
	}
	return HD_OK;
}

static enum hd_status find_slices(struct report *report, struct hd_error *err)
{
	HD_CLEANUP(slices) struct slices slices = { .places_left = PLACES_MAX };
	HD_CLEANUP(wastes) struct wastes wastes = { 0 };
	slices.node_count = report->facts.graph->node_count;
	for (uint32_t i = 0; i < report->facts.graph->type_count; i++)
		TRY(collect_type(report, i, &slices, err));
	TRY(judge_arrays(report, &slices, &wastes, err));
	return wastes_tell(report, &wastes, &of_slices, err);
}

const struct report_rule slices_rule = {
	.name = "slices",
	.turn = TURN_WASTE,
	.threshold =
		"arrays that only slices of under 10 % keep alive, and 4 MB more than the slices use",
	.needs = RULE_FIELDS,
	.find = find_slices,
};
