/* SPDX-License-Identifier: MIT */
/* Objects of the program that have several collections or arrays each, nearly all of them empty: doc/report.md 4.30. */
#include "analysis/graph/hash_index.h"
#include "findings/counted.h"
#include "findings/rule.h"
#include "framework/collection_layout.h"
#include "mem/window.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/field_label.h"
#include "util/job.h"
#include "util/text.h"

#define ROWS_MIN     256u
#define FIELDS_MIN   2u
#define FIELDS_NAMED 6u
#define REFERENCES   64u
#define ARRAY_MIN    256u
#define ROOM_MIN     4u
#define ELEMENT_MAX  64u
#define PIECE        4096u
#define BYTES_MIN    (4 * MEGABYTE)
#define PERMILLE_MIN 200u
/* Collections and arrays whose fields are asked for their names. */
#define SAMPLE 20000u
/* Bytes of arrays that are looked at. */
#define READ_MAX ((uint64_t)512 << 20)

/* {0}: the fields; {1}: "collections", "arrays" or both. */
static const struct telling of_rows = {
	.least = { [SEVERITY_HIGH] = { .permille = 400, .bytes = BYTES_MIN },
		   [SEVERITY_MEDIUM] = { .permille = PERMILLE_MIN, .bytes = BYTES_MIN } },
	.id = "empty-fields:{full}",
	.title = "{objects} {type} with {count0} empty {1} each",
	.sentence = "{objects} {type} have {count0} {1} each that are empty, or nearly: {0} "
		    "({bytes}, {share} of the live heap).",
	.look_at = "{full}: make each of them when it gets its first element",
	.next = "dumpheap -stat -type {full}",
};

/* One that is empty, or nearly. */
struct empty {
	uint32_t node, row;
	uint64_t bytes;
};

/* The empty ones that objects of one type have. */
struct empties {
	struct empty *rows;
	size_t rows_count, rows_capacity;
	struct window window;
	uint64_t bytes_left; /* of arrays */
	uint64_t young;
};

static void empties_deinit(struct empties *empties)
{
	pages_free(empties->rows, empties->rows_capacity, sizeof(*empties->rows));
	window_deinit(&empties->window);
}

/* The type of an array of which each element may be looked at: no buffer, which may wait for its use. */
static const struct type *array_class(const struct report_facts *facts, uint32_t node)
{
	const struct graph_type *row = facts_type(facts, node);
	if (!type_is_array(row) || type_is_class(row, "System.Byte[]") ||
	    type_is_class(row, "System.Char[]") || graph_size(facts->graph, node) < ARRAY_MIN)
		return NULL;
	const struct type *type = typed_class(facts, facts->graph->node_types[node]);
	return type && type->component_size && type->component_size <= ELEMENT_MAX ? type : NULL;
}

/*
 * Read the elements of an array: fewer than a quarter are not zero, and they are not the first ones, as in an array that is
 * being filled.
 */
static bool is_empty_array(struct report *report, const struct object *array,
			   struct empties *empties, uint64_t *ret_used)
{
	static const uint8_t zeros[ELEMENT_MAX];
	const struct type *type = array->type;
	uint32_t size = type ? type->component_size : 0, in_piece = size ? PIECE / size : 0;
	if (!in_piece || size > ELEMENT_MAX)
		return false;
	uint64_t at = array->address + type->base_size - 8, used = 0, last = 0;
	for (uint64_t i = 0; i < array->length; i += in_piece) {
		uint64_t count = array->length - i < in_piece ? array->length - i : in_piece;
		if (count * size > empties->bytes_left) {
			rule_limited(report);
			return false;
		}
		empties->bytes_left -= count * size;
		const uint8_t *bytes =
			window_at(&empties->window, at + i * size, count * size, NULL);
		for (uint64_t k = 0; bytes && k < count; k++) {
			if (memcmp(bytes + k * size, zeros, size) != 0) {
				used++;
				last = i + k;
			}
		}
		if (!bytes || used * 4 >= array->length)
			return false;
	}
	*ret_used = used;
	return array->length && (!used || last >= used * 2);
}

/* Is it a collection or an array that may be empty?  *@p ret gets its bytes. */
static bool may_be_empty(struct report_facts *facts, uint32_t node, uint64_t *ret)
{
	if (type_is_array(facts_type(facts, node))) {
		*ret = graph_size(facts->graph, node);
		return array_class(facts, node) != NULL;
	}
	if (!counted_type_of(facts, node))
		return false;
	*ret = waste_own_bytes(facts, node);
	return true;
}

/* One that was full once is not empty for good. */
static bool is_empty_collection(struct report_facts *facts, uint32_t node, uint64_t *ret_used)
{
	struct counted counted;
	if (!counted_read(facts, node, &counted) || !counted.has_count || counted_turns(&counted))
		return false;
	*ret_used = counted.count;
	return !counted.count ||
	       (counted.has_room && counted.room > ROOM_MIN && counted.count * 4 < counted.room);
}

static bool is_empty(struct report *report, uint32_t node, struct empties *empties,
		     struct empty *ret)
{
	struct report_facts *facts = &report->facts;
	uint64_t bytes, used = 0, size = sizeof(uint64_t);
	if (!may_be_empty(facts, node, &bytes))
		return false;
	if (type_is_array(facts_type(facts, node))) {
		struct object array;
		const struct type *type = array_class(facts, node);
		if (!facts_object(facts, node, &array) || array.type != type ||
		    !is_empty_array(report, &array, empties, &used))
			return false;
		size = type->component_size;
	} else if (!is_empty_collection(facts, node, &used)) {
		return false;
	}
	*ret = (struct empty){ .node = node,
			       .bytes = used < bytes / size ? bytes - used * size : 0 };
	return true;
}

/* The references of one object. */
struct parts {
	const uint32_t *nodes;
	uint64_t count;
};

static struct parts parts_of(const struct report_facts *facts, uint32_t row)
{
	const struct csr *forward = &facts->graph->forward;
	uint64_t begin = csr_begin(forward, row), count = csr_begin(forward, row + 1) - begin;
	return (struct parts){ forward->targets + begin, count > REFERENCES ? 0 : count };
}

/* Is it an object that only the row has? */
static bool is_part(const struct report_facts *facts, uint32_t row, uint32_t node)
{
	return node < facts->graph->object_count && facts_idom(facts, node) == row;
}

/* Are all collections and arrays of the objects together enough for a finding?  Reads no field. */
static bool may_be_enough(struct report_facts *facts, const struct typed_nodes *all)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < all->count; i++) {
		struct parts parts = parts_of(facts, all->nodes[i]);
		if (i % JOB_STRIDE == 0 && !job_step(facts->job, 0, 0))
			return false;
		for (uint64_t k = 0; k < parts.count; k++) {
			uint64_t part = 0;
			if (is_part(facts, all->nodes[i], parts.nodes[k]) &&
			    may_be_empty(facts, parts.nodes[k], &part))
				bytes += part;
		}
	}
	return bytes >= BYTES_MIN && facts_permille(facts, bytes) >= PERMILLE_MIN;
}

/* Two fields may refer to one list. */
static bool is_counted(const struct empties *empties, uint32_t row, uint32_t node)
{
	for (size_t i = empties->rows_count; i && empties->rows[i - 1].row == row; i--) {
		if (empties->rows[i - 1].node == node)
			return true;
	}
	return false;
}

static enum hd_status collect(struct report *report, const struct typed_nodes *all,
			      struct empties *ret, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	for (uint32_t i = 0; i < all->count; i++) {
		uint32_t row = all->nodes[i];
		struct parts parts = parts_of(facts, row);
		if (i % JOB_STRIDE == 0 && !job_step(facts->job, 0, 0))
			return fail_cancelled(err);
		if (facts->classes[row] != CLASS_PROCESS || waste_is_explained(report, row))
			continue;
		for (uint64_t k = 0; k < parts.count; k++) {
			struct empty one;
			if (!is_part(facts, row, parts.nodes[k]) ||
			    is_counted(ret, row, parts.nodes[k]) ||
			    !is_empty(report, parts.nodes[k], ret, &one))
				continue;
			one.row = row;
			ret->young += facts_generation(facts, one.node) < GENERATION_2;
			TRY_MEMORY(PAGES_RESERVE(ret, rows), err);
			ret->rows[ret->rows_count++] = one;
		}
	}
	return HD_OK;
}

/* ".field" of the object that refers to it. */
static void append_field(const struct report_facts *facts, const struct empty *one,
			 struct text *text)
{
	if (facts->graph->places.link)
		facts->graph->places.link(facts->graph->places.arg, one->row, one->node, text);
}

/* The fields of a part of the objects, which is taken at random.  Returns one of how many was asked. */
static uint64_t count_fields(const struct report_facts *facts, const struct empties *empties,
			     struct tally *ret)
{
	uint64_t stride = empties->rows_count / SAMPLE + 1;
	for (size_t i = 0; i < empties->rows_count; i++) {
		HD_CLEANUP(text) struct text text = { 0 };
		uint64_t hash = 0;
		if (hash_mix(stride, empties->rows[i].row) % stride != 0)
			continue;
		append_field(facts, &empties->rows[i], &text);
		for (size_t k = 0; k < text.size; k++)
			hash = hash_mix(hash, (uint8_t)text.bytes[k]);
		/* The place of its row, in place of a node. */
		tally_add(ret, hash, (uint32_t)i, empties->rows[i].bytes);
	}
	return stride;
}

/* Fields that are empty in three quarters of the objects: the others become empty rows. */
static size_t keep_fields(struct tally *fields, uint64_t stride, uint64_t rows)
{
	size_t kept = 0;
	for (size_t i = 0; i < fields->count; i++) {
		/* A part at random may be a little small. */
		if (fields->counts[i] * stride * 100 < rows * (stride > 1 ? 72 : 75)) {
			fields->counts[i] = 0;
		} else {
			kept++;
		}
	}
	return kept;
}

/* Their part of all bytes. */
static uint64_t kept_bytes(const struct empties *empties, const struct tally *fields)
{
	uint64_t bytes = 0, asked = 0, kept = 0;
	for (size_t i = 0; i < empties->rows_count; i++)
		bytes += empties->rows[i].bytes;
	for (size_t i = 0; i < fields->count; i++) {
		asked += fields->bytes[i];
		kept += fields->counts[i] ? fields->bytes[i] : 0;
	}
	return kept == asked ? bytes : (uint64_t)((double)bytes * (double)kept / (double)asked);
}

/* The kept field with most bytes that is not named yet. */
static size_t next_field(const struct tally *fields, uint64_t named)
{
	size_t best = fields->count;
	for (size_t i = 0; i < fields->count; i++) {
		bool is_left = fields->counts[i] && !(named >> i & 1);
		if (is_left && (best == fields->count || fields->bytes[i] > fields->bytes[best]))
			best = i;
	}
	return best;
}

/* "tags, notes, ..." */
static const char *field_names(struct report *report, const struct empties *empties,
			       const struct tally *fields, size_t kept)
{
	HD_CLEANUP(text) struct text text = { 0 };
	uint64_t named = 0;
	for (size_t i = 0; i < kept && i < FIELDS_NAMED; i++) {
		HD_CLEANUP(text) struct text one = { 0 };
		size_t field = next_field(fields, named), size = 0;
		named |= (uint64_t)1 << field;
		append_field(&report->facts, &empties->rows[fields->first[field]], &one);
		text_puts(&text, i ? ", " : "");
		if (one.size > 1) {
			const char *label = field_label(one.bytes + 1, one.size - 1, &size);
			text_puts(&text, report_name(report, label, size));
		}
	}
	if (kept > FIELDS_NAMED)
		text_puts(&text, report_text(report, " and %zu more", kept - FIELDS_NAMED));
	report->lacks_text |= text.failed;
	return report_text(report, "%s", text.size ? text.bytes : "?");
}

static const char *kind_of(const struct report_facts *facts, const struct empties *empties,
			   const struct tally *fields)
{
	bool has_arrays = false, has_collections = false;
	for (size_t i = 0; i < fields->count; i++) {
		bool is_array =
			type_is_array(facts_type(facts, empties->rows[fields->first[i]].node));
		has_arrays |= fields->counts[i] && is_array;
		has_collections |= fields->counts[i] && !is_array;
	}
	if (has_arrays && has_collections)
		return "collections and arrays";
	return has_arrays ? "arrays" : "collections";
}

static enum hd_status judge(struct report *report, uint32_t type, const struct empties *empties,
			    struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct tally fields = { .count = 0 }; /* at most 64 */
	uint32_t rows = facts_live_count(facts, type);
	uint64_t stride = count_fields(facts, empties, &fields);
	size_t kept = keep_fields(&fields, stride, rows);
	if (kept < FIELDS_MIN || empties->young * 2 > empties->rows_count)
		return HD_OK;
	struct report_finding finding = { .bytes = kept_bytes(empties, &fields),
					  .objects = rows,
					  .member_type = type };
	rule_met(report, facts_permille(facts, finding.bytes) / 10);
	if (!finding_weigh(report, &of_rows, &finding))
		return HD_OK;
	uint32_t sample = empties->rows[empties->rows_count / 2].node;
	holder_find(report, sample, &finding.holder);
	finding_count(&finding, "fields", kept);
	finding_count(&finding, "empty", empties->rows_count);
	finding_sample(&finding, sample);
	for (size_t i = 0; i < empties->rows_count; i++)
		(void)bitmap_add(report->wasted, empties->rows[i].node);
	const char *texts[] = { field_names(report, empties, &fields, kept),
				kind_of(facts, empties, &fields) };
	return finding_tell(report, &finding, &of_rows, texts, err);
}

/* A type of the program, and no variables of its methods. */
static bool is_row_type(struct report *report, uint32_t type)
{
	struct report_facts *facts = &report->facts;
	const struct graph_type *row = &facts->graph->types[type];
	enum variables_kind kind;
	if (facts_live_count(facts, type) < ROWS_MIN || !type_is_own(row) || type_is_array(row) ||
	    counted_type_of(facts, typed_nodes(facts, type).nodes[0]))
		return false;
	(void)report_variables_of(report, type, &kind);
	return kind == VARIABLES_NONE;
}

static enum hd_status find_empty_fields(struct report *report, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	uint64_t bytes_left = READ_MAX;
	for (uint32_t type = 0; type < facts->graph->type_count; type++) {
		struct typed_nodes all = typed_nodes(facts, type);
		if (!is_row_type(report, type) || !may_be_enough(facts, &all))
			continue;
		struct empties empties = { .window = { .memory = facts->heap->memory },
					   .bytes_left = bytes_left };
		enum hd_status status = collect(report, &all, &empties, err);
		bytes_left = empties.bytes_left;
		if (status == HD_OK && empties.rows_count)
			status = judge(report, type, &empties, err);
		empties_deinit(&empties);
		TRY(status);
	}
	return HD_OK;
}

const struct report_rule empty_fields_rule = {
	.name = "empty-fields",
	.turn = TURN_ROWS,
	.threshold =
		"256 objects of one type, several fields of which have collections or arrays that are "
		"empty in three quarters of them: 20 % of the live heap and 4 MB; high: 40 %",
	.needs = RULE_FIELDS,
	.find = find_empty_fields,
};
