/* SPDX-License-Identifier: MIT */
/* The objects of an HPROF file become those of a graph: the second pass. */
#include <stdio.h>

#include "format/hprof/hprof_reading.h"
#include "format/read_mapped.h"
#include "util/alloc.h"

/* 0001-01-01 to 1970-01-01 in units of 100 ns, and such units in a millisecond. */
#define UNIX_EPOCH 621355968000000000u
#define UNITS      10000u
#define TIME_MAX   ((uint64_t)253402300799999u) /* the end of the year 9999 */

static uint64_t aligned(uint64_t size)
{
	return (size + 7) & ~(uint64_t)7;
}

/* Bytes in front of an object's fields, and of a reference, as the file counts them: doc/formats.md 10.3. */
static uint64_t header_size(const struct hprof_reading *reading)
{
	unsigned int id = reading->file.id_size;
	return reading->object_size ? reading->object_size : id == 8 ? 16 : 8;
}

static uint64_t reference_size(const struct hprof_reading *reading)
{
	uint64_t id = reading->file.id_size, object = reading->object_size;
	return object > id && object <= 2 * id ? object - id : id;
}

static uint64_t array_size(const struct hprof_reading *reading, uint64_t count, uint64_t width)
{
	return aligned(header_size(reading) + 4 + count * width);
}

static enum hd_status add_target(struct hprof_reading *reading, uint64_t id)
{
	if (!id)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(reading, targets), reading->err);
	reading->targets[reading->targets_count++] = id;
	return HD_OK;
}

/* Add the references of an instance: the fields of its class, then those of its super classes. */
static enum hd_status add_fields(struct hprof_reading *reading, const struct hprof_item *item,
				 uint32_t row)
{
	const struct hprof_file *file = &reading->file;
	uint64_t at = item->data, end = item->data + item->size;
	if (row != HD_NONE && !reading->tables.classes[row].field_count)
		row = reading->tables.classes[row].next;
	for (; row != HD_NONE && at < end; row = reading->tables.classes[row].next) {
		const struct hprof_loaded *of = &reading->tables.classes[row];
		for (uint16_t i = 0; i < of->field_count && at < end; i++) {
			uint64_t field = of->fields + (uint64_t)i * (file->id_size + 1);
			uint8_t type = file->bytes[field + file->id_size];
			unsigned int size = hprof_type_size(type, file->id_size);
			if (size > end - at)
				return HD_OK;
			if (type == HPROF_OBJECT)
				TRY(add_target(reading, hprof_id(file, at)));
			at += size;
		}
	}
	return HD_OK;
}

static enum hd_status add_elements(struct hprof_reading *reading, const struct hprof_item *item)
{
	const struct hprof_file *file = &reading->file;
	for (uint32_t i = 0; i < item->count; i++)
		TRY(add_target(reading, hprof_id(file, item->data + (uint64_t)i * file->id_size)));
	return HD_OK;
}

/* The next static of a class; *@p at goes on. */
static uint64_t next_static(const struct hprof_file *file, uint64_t *at, uint64_t *ret_name,
			    uint8_t *ret_type)
{
	unsigned int id = file->id_size;
	*ret_name = hprof_id(file, *at);
	*ret_type = file->bytes[*at + id];
	unsigned int size = hprof_type_size(*ret_type, id);
	uint64_t value = *ret_type == HPROF_OBJECT ? hprof_id(file, *at + id + 1) : 0;
	*at += id + 1 + size;
	return value;
}

/* Add the references of a class: its super class and loader; its statics, unless they are roots. */
static enum hd_status add_class(struct hprof_reading *reading, const struct hprof_item *item,
				uint32_t row, uint64_t *ret_size)
{
	const struct hprof_file *file = &reading->file;
	uint64_t at = item->statics, size = header_size(reading);
	for (unsigned int i = 0; i < 4; i++)
		TRY(add_target(reading, hprof_id(file, item->data + (uint64_t)i * file->id_size)));
	for (uint16_t i = 0; i < item->static_count; i++) {
		uint64_t name;
		uint8_t type;
		uint64_t value = next_static(file, &at, &name, &type);
		size += hprof_type_size(type, file->id_size);
		if (row == HD_NONE || !reading->tables.classes[row].is_root)
			TRY(add_target(reading, value));
	}
	*ret_size = aligned(size);
	return HD_OK;
}

/* The type and size of an object, and its references. */
static enum hd_status read_item(struct hprof_reading *reading, const struct hprof_item *item,
				uint32_t *ret_type, uint64_t *ret_size)
{
	uint32_t row = hprof_class_row(reading, item->kind == ITEM_CLASS ? item->id : item->of);
	*ret_type = row == HD_NONE ? reading->types.unknown : row;
	switch ((enum hprof_item_kind)item->kind) {
	case ITEM_CLASS:
		*ret_type = reading->types.of_classes;
		return add_class(reading, item, row, ret_size);
	case ITEM_INSTANCE: {
		uint64_t fields = row == HD_NONE ? item->size : reading->tables.classes[row].total;
		*ret_size = aligned(header_size(reading) + fields);
		if (reading->object_size && row != HD_NONE)
			*ret_size = reading->tables.classes[row].instance_size;
		return add_fields(reading, item, row);
	}
	case ITEM_OBJECTS:
		*ret_size = array_size(reading, item->count, reference_size(reading));
		return add_elements(reading, item);
	case ITEM_NUMBERS:
		*ret_type = reading->types.numbers[item->type];
		*ret_size = array_size(reading, item->count,
				       hprof_type_size(item->type, reading->file.id_size));
		return HD_OK;
	default:
		return HD_OK;
	}
}

static enum hd_status read_objects(struct hprof_reading *reading)
{
	struct hprof_walk walk;
	struct hprof_item item;
	struct raw_graph *raw = &reading->raw;
	uint64_t at = 0;
	uint32_t index = 0, steps = 0;
	job_begin(reading->job, "Reading objects", reading->file.size);
	hprof_begin(&walk, &reading->file);
	for (hprof_next(&walk, &item); item.kind != ITEM_END; hprof_next(&walk, &item)) {
		if (++steps % JOB_STRIDE == 0) {
			TRY(job_check(reading->job, walk.at - at, reading->err));
			TRY(job_check_memory(reading->job,
					     8 * reading->targets_capacity +
						     20 * (uint64_t)raw->object_count,
					     reading->err));
			at = walk.at;
		}
		if (item.kind < ITEM_CLASS || index == raw->object_count)
			continue;
		uint64_t size = 0;
		size_t before = reading->targets_count;
		raw->ids[index] = item.id;
		TRY(read_item(reading, &item, &raw->types[index], &size));
		TRY_MEMORY(raw_graph_set_size(raw, index, size), reading->err);
		raw->degrees[index] = (uint32_t)(reading->targets_count - before);
		index++;
	}
	return HD_OK;
}

static void read_targets(const void *arg, uint64_t begin, size_t count, uint64_t *ret)
{
	const struct hprof_reading *reading = arg;
	for (size_t i = 0; i < count; i++)
		ret[i] = reading->targets[begin + i];
}

static enum hd_status make_findings(struct hprof_reading *reading)
{
	struct hd_graph *graph = reading->graph;
	uint32_t missing = graph->node_count - graph->object_count;
	if (reading->is_cut) {
		graph->info.is_partial = true;
		TRY(raw_graph_finding(graph, FINDING_CUT_FILE, 1,
				      "the file is cut short: objects and roots may be missing",
				      reading->err));
	}
	if (reading->bad) {
		graph->info.is_partial = true;
		TRY(raw_graph_finding(graph, FINDING_BAD_RECORD, reading->bad,
				      "segments whose records are damaged end there",
				      reading->err));
	}
	graph->info.is_partial |= missing != 0;
	return HD_OK;
}

/* Fail if the file has nothing to answer about, or too much. */
static enum hd_status check_counts(const struct hprof_reading *reading)
{
	if (!reading->objects) {
		return fail(reading->err, HD_ERR_FORMAT, 0,
			    "%s: no objects: the file has no heap dump, or is cut short",
			    reading->path);
	}
	if (reading->objects >= UINT32_MAX - 1 || reading->tables.classes_count >= UINT32_MAX / 2) {
		return fail(reading->err, HD_ERR_UNSUPPORTED, 0, "%s: over 4 billion objects",
			    reading->path);
	}
	return HD_OK;
}

/* Put objects, references and roots into the graph. */
static enum hd_status finish_graph(struct hprof_reading *reading)
{
	size_t count = reading->raw_roots_count;
	HD_FREE uint64_t *ids = mem_alloc(count + 1, sizeof(*ids));
	TRY_MEMORY(ids, reading->err);
	for (size_t i = 0; i < count; i++)
		ids[i] = reading->raw_roots[i].id;
	reading->raw.read_ids = read_targets;
	reading->raw.read_arg = reading;
	TRY(raw_graph_finish(&reading->raw, ids, count, reading->graph, reading->job,
			     reading->err));
	return raw_graph_roots(reading->graph, reading->raw_roots, count, reading->err);
}

static enum hd_status read_graph(struct hprof_reading *reading)
{
	struct hd_graph *graph = reading->graph;
	TRY(hprof_scan(reading));
	TRY(check_counts(reading));
	TRY(hprof_make_types(reading));
	TRY(raw_graph_init(&reading->raw, (uint32_t)reading->objects, 0, reading->job,
			   reading->err));
	TRY(read_objects(reading));
	TRY(raw_graph_set_edge_count(&reading->raw, reading->targets_count, reading->job,
				     reading->err));
	TRY(hprof_make_roots(reading));
	TRY(finish_graph(reading));
	graph->info.is_32bit = reading->file.id_size == 4;
	if (reading->file.time && reading->file.time <= TIME_MAX - UNIX_EPOCH / UNITS)
		graph->info.time = UNIX_EPOCH + reading->file.time * UNITS;
	return make_findings(reading);
}

static void reading_deinit(struct hprof_reading *reading)
{
	type_table_deinit(&reading->tables.ids);
	pages_free(reading->tables.strings, reading->tables.strings_capacity,
		   sizeof(*reading->tables.strings));
	pages_free(reading->tables.classes, reading->tables.classes_capacity,
		   sizeof(*reading->tables.classes));
	pages_free(reading->tables.methods, reading->tables.methods_capacity,
		   sizeof(*reading->tables.methods));
	pages_free(reading->tables.traces, reading->tables.traces_capacity,
		   sizeof(*reading->tables.traces));
	pages_free(reading->tables.roots, reading->tables.roots_capacity,
		   sizeof(*reading->tables.roots));
	pages_free(reading->raw_roots, reading->raw_roots_capacity, sizeof(*reading->raw_roots));
	pages_free(reading->targets, reading->targets_capacity, sizeof(*reading->targets));
	raw_graph_deinit(&reading->raw);
}

enum hd_status hprof_read_bytes(const struct dump_input *input,
				const struct format_options *options, struct job *job,
				struct hd_graph **ret, struct hd_error *err)
{
	struct hprof_reading reading = {
		.path = input->path, .job = job, .err = err, .lenient = options && options->lenient
	};
	JOB_STAGE(job);
	if (!hprof_open(input->bytes, input->size, &reading.file)) {
		return fail(err, HD_ERR_FORMAT, 0,
			    "%s: the head of this .hprof is damaged, or its ids have another size "
			    "than 4 or 8 bytes",
			    input->path);
	}
	reading.graph = mem_calloc(1, sizeof(*reading.graph));
	TRY_MEMORY(reading.graph, err);
	enum hd_status status = read_graph(&reading);
	reading_deinit(&reading);
	return graph_hand_over(reading.graph, status, ret);
}

enum hd_status hprof_read(const struct dump_input *input, const struct format_options *options,
			  struct job *job, struct hd_graph **ret, struct hd_error *err)
{
	return read_mapped(input, hprof_read_bytes, options, job, ret, err);
}
