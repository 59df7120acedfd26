/* SPDX-License-Identifier: MIT */
/* Strings, and arrays of numbers, with equal content: doc/report.md 4.13. */
#include "analysis/graph/hash_index.h"
#include "findings/counted.h"
#include "findings/rule.h"
#include "mem/window.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/text.h"

#define STRING        "System.String"
#define STRING_MAX    4096u
#define ARRAY_MIN     32u
#define ARRAY_MAX     65536u
#define PIECE         4096u
#define VALUES_MAX    8000000u
#define SAMPLE        2000u
#define REFERRERS_MAX 4u
/* Objects on the way to the root of a copy. */
#define STEPS_MAX 4096u
/* The managed id of the main thread (Thread.cs). */
#define MAIN_ID 1u
/* Bytes of arrays that are read. */
#define READ_MAX ((uint64_t)512 << 20)
/* So many bytes of copies of which most are young may be gone soon. */
#define YOUNG_MAX (10 * MEGABYTE)

#define LEAST_OF_COPIES                                                         \
	{                                                                       \
		[SEVERITY_MEDIUM] = { .permille = 100, .bytes = 4 * MEGABYTE }, \
		[SEVERITY_LOW] = { .permille = 50, .bytes = MEGABYTE },         \
	}

/* {0}: most of them, or the largest part; {1}: the type of arrays. */
static const struct telling of_strings = {
	.least = LEAST_OF_COPIES,
	.id = "duplicates:{holder}",
	.title = "{bytes} of equal strings",
	.sentence = "{objects} strings are copies of others and take {bytes} ({share} of the live "
		    "heap); {holder} holds {0} of them. The most frequent value is there {count1} "
		    "times.",
	.look_at = "who makes the strings of {holder}: could it share them?",
	.next = "strings -min 100",
};
static const struct telling of_arrays = {
	.least = LEAST_OF_COPIES,
	.id = "duplicates:{holder}:{1}",
	.title = "{bytes} of equal {1}",
	.sentence =
		"{objects} {1} have the same elements as others and take {bytes} ({share} of the "
		"live heap); {holder} holds {0} of them. The most frequent content is there "
		"{count1} times.",
	.look_at = "who makes the arrays of {holder}: could it share them?",
	.next = "dominators",
};

/* One value. */
struct duplicate_value {
	uint64_t hash;
	uint32_t node, count;
};

struct duplicate_values {
	struct duplicate_value *rows;
	size_t rows_count, rows_capacity;
	uint64_t wasted, copies;
	size_t top;
};

static bool is_same_hash(const void *arg, uint32_t index)
{
	const struct duplicate_values *values = arg;
	return values->rows[index].hash == values->rows[values->rows_count].hash;
}

/* Bytes that are hashed, piece by piece. */
static bool hash_bytes(struct window *window, uint64_t at, uint64_t size, uint64_t *hash)
{
	bool is_zero = true;
	while (size) {
		size_t piece = size < PIECE ? (size_t)size : PIECE, i = 0;
		const uint8_t *bytes = window_at(window, at, piece, NULL);
		if (!bytes)
			return false;
		for (; i + 8 <= piece; i += 8) {
			uint64_t word = load_u64(bytes + i);
			is_zero &= !word;
			*hash = hash_mix(*hash, word);
		}
		uint64_t rest = 0;
		for (unsigned int k = 0; i < piece; i++, k++)
			rest |= (uint64_t)bytes[i] << 8 * k;
		is_zero &= !rest;
		*hash = hash_mix(*hash, rest + 1);
		at += piece;
		size -= piece;
	}
	/* Buffers that wait for their use are all equal. */
	return !is_zero;
}

/* A content as a number of 64 bits: two that differ have one number in 1 of 10^19 cases. */
static bool hash_content(struct window *window, const struct object *object, uint64_t *ret)
{
	uint64_t size = (uint64_t)object->length * object->type->component_size;
	*ret = hash_mix(0, object->length);
	if (object->type->is_string) {
		/* The empty string is there once, unless somebody makes others. */
		return size <= STRING_MAX &&
		       (!size || hash_bytes(window, object->address + 12, size, ret));
	}
	return size >= ARRAY_MIN && size <= ARRAY_MAX &&
	       hash_bytes(window, object->address + object->type->base_size - 8, size, ret);
}

/* Is it the array of a collection, which the program cannot share? */
static bool is_of_collection(struct report_facts *facts, uint32_t node)
{
	uint32_t before = path_before(&facts->paths, node);
	return before != HD_NONE && counted_type_of(facts, before) &&
	       !type_is_array(facts_type(facts, before));
}

/* Does the process hold it, or a thread that has had it over collections? */
static bool is_kept(const struct report_facts *facts, uint32_t node)
{
	return facts->classes[node] == CLASS_PROCESS ||
	       (facts->classes[node] == CLASS_THREAD &&
		facts_generation(facts, node) >= GENERATION_2 &&
		facts_generation(facts, node) < GENERATION_UNKNOWN);
}

/* Go through those that are kept, up to the limit of values. */
static enum hd_status count_values(struct report *report, const struct typed_nodes *all,
				   struct duplicate_values *values, uint8_t *again,
				   struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	HD_CLEANUP(window) struct window window = { .memory = facts->heap->memory };
	HD_CLEANUP(hash_index) struct hash_index index = { 0 };
	uint64_t left = READ_MAX;
	for (uint32_t i = 0; i < all->count; i++) {
		struct object object;
		uint64_t hash;
		if (i % JOB_STRIDE == 0 && !job_step(facts->job, 0, 0))
			return fail_cancelled(err);
		if (!is_kept(facts, all->nodes[i]) ||
		    !facts_object(facts, all->nodes[i], &object) ||
		    !hash_content(&window, &object, &hash) ||
		    (!object.type->is_string && is_of_collection(facts, all->nodes[i])))
			continue;
		left = object.size < left ? left - object.size : 0;
		if (values->rows_count >= VALUES_MAX || (!object.type->is_string && !left)) {
			rule_limited(report);
			return HD_OK;
		}
		TRY_MEMORY(PAGES_RESERVE(values, rows), err);
		values->rows[values->rows_count] =
			(struct duplicate_value){ hash, all->nodes[i], 0 };
		uint32_t row = hash_index_add(&index, hash, (uint32_t)values->rows_count,
					      is_same_hash, values);
		TRY_MEMORY(row != UINT32_MAX, err);
		values->rows_count += row == values->rows_count;
		struct duplicate_value *value = &values->rows[row];
		again[i] = value->count > 0;
		if (value->count++) {
			values->wasted += object.size;
			values->copies++;
		}
		if (value->count > values->rows[values->top].count)
			values->top = row;
	}
	return HD_OK;
}

/* Who refers to a part of the copies. */
struct duplicate_holders {
	struct tally types, fields;
	uint64_t young, passing, all; /* copies that were asked */
};

/* Does the main thread hold it, which lives as long as the process? */
static bool is_of_main(const struct report *report, uint32_t node)
{
	const struct graph_origins *origins = &report->facts.graph->origins;
	uint64_t steps = STEPS_MAX;
	uint32_t root = holder_root(report, node, &steps);
	uint32_t thread = root == HD_NONE ? HD_NONE : origins->details[root].thread;
	return thread < origins->thread_count && origins->threads[thread].id == MAIN_ID;
}

/* A number for the field, or the element of an array, by which @p from refers to @p to. */
static uint64_t field_key(const struct hd_graph *graph, uint32_t from, uint32_t to)
{
	HD_CLEANUP(text) struct text text = { 0 };
	uint64_t hash = graph->node_types[from];
	if (graph->places.link && !type_is_array(&graph->types[hash]))
		graph->places.link(graph->places.arg, from, to, &text);
	for (size_t i = 0; i < text.size; i++)
		hash = hash_mix(hash, (uint8_t)text.bytes[i]);
	return hash;
}

static void note_holder(const struct report_facts *facts, uint32_t node, uint32_t from,
			struct duplicate_holders *ret)
{
	const struct hd_graph *graph = facts->graph;
	uint64_t size = graph_size(graph, node);
	if (from >= graph->object_count)
		return;
	tally_add(&ret->types, graph->node_types[from], node, size);
	tally_add(&ret->fields, field_key(graph, from, node), node, size);
}

/*
 * The types and fields that refer to a part of the copies; what is explained is taken off the sums.  The part is taken at
 * random: each object may have strings in several fields, in turns.
 */
static void count_holders(struct report *report, const struct typed_nodes *all,
			  struct duplicate_values *values, const uint8_t *again,
			  struct duplicate_holders *ret)
{
	const struct report_facts *facts = &report->facts;
	const struct csr *reverse = &facts->graph->reverse;
	uint64_t stride = values->copies / SAMPLE + 1, at = 0, asked = 0, claimed = 0;
	for (uint32_t i = 0; i < all->count; i++) {
		if (!again[i] || hash_mix(stride, at++) % stride != 0)
			continue;
		uint32_t node = all->nodes[i];
		uint64_t begin = csr_begin(reverse, node), end = csr_begin(reverse, node + 1);
		asked++;
		if (waste_is_explained(report, node)) {
			claimed++;
			continue;
		}
		ret->all++;
		ret->young += facts_generation(facts, node) < GENERATION_2;
		ret->passing += facts->classes[node] == CLASS_THREAD && !is_of_main(report, node);
		if (begin < end && end - begin <= REFERRERS_MAX)
			note_holder(facts, node, reverse->targets[begin], ret);
	}
	if (asked) {
		double rest = (double)(asked - claimed) / (double)asked;
		values->wasted = (uint64_t)((double)values->wasted * rest);
		values->copies = (uint64_t)((double)values->copies * rest);
	}
}

/* The field whose copies take most; its sample is what is shown. */
static size_t largest_field(const struct tally *fields, uint64_t *ret_all)
{
	size_t best = 0;
	*ret_all = 0;
	for (size_t i = 0; i < fields->count; i++) {
		*ret_all += fields->bytes[i];
		best = fields->bytes[i] > fields->bytes[best] ? i : best;
	}
	return best;
}

/* Is it in a pile that is told?  If it is not, young copies are there for a moment: a burst of requests has left them. */
static bool is_in_pile(const struct report *report, uint32_t node)
{
	for (size_t i = 0; i < report->findings_count; i++) {
		const struct report_finding *finding = &report->findings[i];
		if (finding->severity <= SEVERITY_MEDIUM && finding->rule->turn < TURN_WASTE &&
		    finding_is_around(finding, &report->facts, node))
			return true;
	}
	return false;
}

static enum hd_status judge_values(struct report *report, const struct duplicate_values *values,
				   const struct duplicate_holders *of, uint32_t type,
				   struct hd_error *err)
{
	const struct graph_type *row = &report->facts.graph->types[type];
	bool is_string = type_is_class(row, STRING);
	const struct telling *telling = is_string ? &of_strings : &of_arrays;
	const struct tally *holders = &of->types, *fields = &of->fields;
	struct report_finding finding = { .bytes = values->wasted, .objects = values->copies };
	size_t top = tally_top(holders);
	if (!finding_weigh(report, telling, &finding) || top == holders->count ||
	    waste_is_told(report, holders->first[top], values->wasted))
		return HD_OK;
	uint64_t bytes_all;
	size_t field = largest_field(fields, &bytes_all);
	bool is_most = fields->bytes[field] * 2 > bytes_all;
	bool is_young = finding.bytes < YOUNG_MAX && of->young * 2 > of->all;
	if ((is_young && !is_in_pile(report, fields->first[field])) || of->passing * 2 > of->all)
		finding.severity = SEVERITY_LOW;
	finding.member_type = (uint32_t)holders->keys[top];
	holder_find(report, fields->first[field], &finding.holder);
	finding_count(&finding, "copies", values->copies);
	finding_count(&finding, "copies of the most frequent", values->rows[values->top].count);
	finding_sample(&finding, fields->first[field]);
	const char *texts[] = { is_most ? "most" : "the largest part",
				report_short_name(report, type) };
	return finding_tell(report, &finding, telling, texts, err);
}

static enum hd_status check_type(struct report *report, uint32_t type, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct duplicate_values values = { 0 };
	struct duplicate_holders holders = { .types.count = 0 };
	struct typed_nodes all = typed_nodes(facts, type);
	uint8_t *again = pages_alloc(all.count, 1);
	enum hd_status status =
		again ? count_values(report, &all, &values, again, err) : fail_nomem(err);
	rule_met(report, facts_permille(facts, values.wasted) / 10);
	if (status == HD_OK && values.copies) {
		count_holders(report, &all, &values, again, &holders);
		status = judge_values(report, &values, &holders, type, err);
	}
	pages_free(again, all.count, 1);
	pages_free(values.rows, values.rows_capacity, sizeof(*values.rows));
	return status;
}

/* Is it a type of arrays of numbers that are enough for a finding? */
static bool is_large_array_type(const struct report_facts *facts, uint32_t type)
{
	if (!type_is_array(&facts->graph->types[type]))
		return false;
	const struct type *class = typed_class(facts, type);
	struct typed_nodes all = typed_nodes(facts, type);
	uint64_t bytes = 0;
	if (!class || !class->component_size || class->has_pointers)
		return false;
	for (uint32_t i = 0; i < all.count; i++)
		bytes += graph_size(facts->graph, all.nodes[i]);
	return bytes >= MEGABYTE && facts_permille(facts, bytes) >= 50;
}

static enum hd_status find_duplicates(struct report *report, struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	for (uint32_t type = 0; type < facts->graph->type_count; type++) {
		bool is_string = type_is_class(&facts->graph->types[type], STRING);
		if (facts_live_count(facts, type) &&
		    (is_string || is_large_array_type(facts, type)))
			TRY(check_type(report, type, err));
	}
	return HD_OK;
}

const struct report_rule duplicates_rule = {
	.name = "duplicates",
	.turn = TURN_WASTE,
	.threshold =
		"copies of strings, or of arrays of one type, with 10 % of the live heap and 4 MB",
	.needs = RULE_FIELDS,
	.find = find_duplicates,
};
