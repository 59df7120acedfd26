/* SPDX-License-Identifier: MIT */
/* Writes a graph as an HPROF file: doc/formats.md 10. */
#include <stdio.h>
#include <time.h>

#include "format/hprof/hprof_writer.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/bitmap.h"
#include "util/text.h"

/* How many references a class without known fields has fields for: others are arrays. */
#define PLAIN_FIELDS 64u
/* Bytes of an array in front of its elements, as readers count them: doc/formats.md 10.3. */
#define ARRAY_HEADER 24u
#define IDS_ASKED    1024u

struct property {
	const char *key, *value;
};

void hprof_begin_instance(struct hprof_writer *writer, uint64_t id, uint32_t row, uint32_t size)
{
	struct hprof_out *out = &writer->out;
	hprof_sub(out, HPROF_INSTANCE, HPROF_ID + 4 + HPROF_ID + 4 + (uint64_t)size);
	hprof_u64(out, id);
	hprof_u32(out, 0);
	hprof_u64(out, writer->classes.rows[row].id);
	hprof_u32(out, size);
}

uint32_t hprof_array_length(struct hprof_writer *writer, uint64_t length, unsigned int size)
{
	uint64_t most = (HPROF_SUB_MAX - 64) / size;
	if (most > INT32_MAX)
		most = INT32_MAX;
	writer->cut += length > most;
	return (uint32_t)(length > most ? most : length);
}

void hprof_begin_array(struct hprof_writer *writer, uint64_t id, uint32_t row, uint32_t length)
{
	struct hprof_out *out = &writer->out;
	hprof_sub(out, HPROF_OBJECT_ARRAY,
		  HPROF_ID + 4 + 4 + HPROF_ID + (uint64_t)length * HPROF_ID);
	hprof_u64(out, id);
	hprof_u32(out, 0);
	hprof_u32(out, length);
	hprof_u64(out, writer->classes.rows[row].id);
}

void hprof_begin_primitives(struct hprof_writer *writer, uint64_t id, unsigned int type,
			    uint32_t length)
{
	struct hprof_out *out = &writer->out;
	hprof_sub(out, HPROF_PRIMITIVE_ARRAY,
		  HPROF_ID + 4 + 4 + 1 + (uint64_t)length * hprof_type_size(type, HPROF_ID));
	hprof_u64(out, id);
	hprof_u32(out, 0);
	hprof_u32(out, length);
	hprof_u8(out, (uint8_t)type);
}

/* Characters of UTF-16 that a text becomes; written to @p out if it is not NULL. */
static uint32_t write_utf16(struct hprof_out *out, const char *text)
{
	size_t size = strlen(text);
	uint32_t count = 0;
	for (size_t at = 0; at < size;) {
		size_t length = utf8_length(text + at, size - at);
		uint32_t c = length ? utf8_character(text + at, length) : 0xfffd;
		bool is_pair = c > 0xffff;
		at += length ? length : 1;
		count += is_pair ? 2 : 1;
		if (!out)
			continue;
		if (is_pair) {
			hprof_u16(out, (uint16_t)(0xd800 + ((c - 0x10000) >> 10)));
			c = 0xdc00 + ((c - 0x10000) & 0x3ff);
		}
		hprof_u16(out, (uint16_t)c);
	}
	return count;
}

void hprof_write_text(struct hprof_writer *writer, uint64_t id, const char *text)
{
	hprof_begin_primitives(writer, id + 4, HPROF_CHAR, write_utf16(NULL, text));
	(void)write_utf16(&writer->out, text);
	hprof_begin_instance(writer, id, PRESET_STRING, HPROF_ID + 4);
	hprof_u64(&writer->out, id + 4);
	hprof_u32(&writer->out, 0);
}

/* Write java.lang.System.props: readers need it, and show what it says. */
static enum hd_status write_properties(struct hprof_writer *writer, uint64_t id,
				       const struct property *rows, size_t count)
{
	struct hprof_out *out = &writer->out;
	struct hprof_classes *classes = &writer->classes;
	uint64_t first = classes->next_id, table = first + 24 * (uint64_t)count;
	for (size_t i = 0; i < 3 * count + 1; i++) {
		if (!hprof_new_id(classes)) {
			return fail(writer->err, HD_ERR_UNSUPPORTED, 0,
				    "no ids are left for what a .hprof must have");
		}
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t key = first + 24 * (uint64_t)i;
		hprof_write_text(writer, key, rows[i].key);
		hprof_write_text(writer, key + 8, rows[i].value);
		hprof_begin_instance(writer, key + 16, PRESET_ENTRY, 3 * HPROF_ID);
		hprof_u64(out, key);
		hprof_u64(out, key + 8);
		hprof_u64(out, 0);
	}
	hprof_begin_array(writer, table, PRESET_ENTRIES, (uint32_t)count);
	for (size_t i = 0; i < count; i++)
		hprof_u64(out, first + 24 * (uint64_t)i + 16);
	hprof_begin_instance(writer, id, PRESET_PROPERTIES, 2 * HPROF_ID);
	hprof_u64(out, 0);
	hprof_u64(out, table);
	return HD_OK;
}

static enum hd_status write_all_properties(struct hprof_writer *writer, uint64_t id)
{
	const struct hprof_contents *contents = writer->contents;
	const struct graph_info *info = &writer->graph->info;
	const char *lacks = writer->options ? writer->options->lacks : NULL;
	char pid[24], cut[80];
	struct property rows[8];
	size_t count = 0;
	(void)snprintf(pid, sizeof(pid), "%llu", (unsigned long long)info->pid);
	(void)snprintf(cut, sizeof(cut), "%llu arrays, which are too long for this format",
		       (unsigned long long)writer->cut);
	rows[count++] =
		(struct property){ "java.version",
				   contents && *contents->version ? contents->version : "unknown" };
	rows[count++] = (struct property){ "java.vm.name", contents ? contents->flavor : ".NET" };
	rows[count++] = (struct property){ "os.name", contents ? "Linux" : "unknown" };
	rows[count++] =
		(struct property){ "heapdump.contents",
				   contents ? "fields, arrays and texts"
					    : "only references and sizes: fields have no names, "
					      "and null fills objects up to their size" };
	if (info->process)
		rows[count++] = (struct property){ "heapdump.process", info->process };
	if (info->pid)
		rows[count++] = (struct property){ "heapdump.pid", pid };
	if (lacks && *lacks)
		rows[count++] = (struct property){ "heapdump.lacks", lacks };
	if (writer->cut)
		rows[count++] = (struct property){ "heapdump.cut", cut };
	return write_properties(writer, id, rows, count);
}

static bool is_kept(const struct hprof_writer *writer, uint32_t node)
{
	const struct write_options *options = writer->options;
	return !options || !options->live_only || bitmap_has(options->live, node);
}

static uint32_t limited(uint64_t size)
{
	return size < INT32_MAX ? (uint32_t)size : INT32_MAX;
}

/* Find out what the objects of each type have in common. */
static enum hd_status survey_plain(struct hprof_writer *writer)
{
	const struct hd_graph *graph = writer->graph;
	writer->plain = pages_alloc(graph->type_count, sizeof(*writer->plain));
	TRY_MEMORY(writer->plain, writer->err);
	for (uint32_t i = 0; i < graph->object_count; i++) {
		struct hprof_plain *plain = &writer->plain[graph->node_types[i]];
		uint64_t size = graph_size(graph, i), degree = csr_degree(&graph->forward, i);
		plain->varies |= plain->is_met && plain->size != size;
		plain->is_met = true;
		plain->size = size;
		if (degree > plain->degree)
			plain->degree = (uint32_t)degree;
		if (i % JOB_STRIDE == 0)
			TRY(job_check(writer->job, 0, writer->err));
	}
	return HD_OK;
}

static enum hd_status add_plain_class(struct hprof_writer *writer, uint32_t type)
{
	const struct graph_type *from = &writer->graph->types[type];
	struct hprof_plain *plain = &writer->plain[type];
	struct hprof_classes *classes = &writer->classes;
	struct hprof_class row = { .super = classes->rows[PRESET_OBJECT].id };
	char unnamed[40];
	uint32_t index;
	plain->varies |= plain->degree > PLAIN_FIELDS;
	row.size = limited(plain->varies && from->count ? from->size / from->count : plain->size);
	if (from->name) {
		TRY(hprof_class_name(classes, from->name, from->name_size, "", &row.name));
	} else {
		(void)snprintf(unnamed, sizeof(unnamed), "UNKNOWN 0x%llx",
			       (unsigned long long)from->id);
		TRY(hprof_class_name(classes, unnamed, strlen(unnamed), "", &row.name));
	}
	TRY(hprof_add_class(classes, &row, &index));
	writer->type_classes[type] = index;
	for (uint32_t i = 0; !plain->varies && i < plain->degree; i++) {
		char name[24];
		(void)snprintf(name, sizeof(name), "reference %u", i + 1);
		TRY(hprof_add_named(classes, index, name, HPROF_OBJECT));
	}
	return HD_OK;
}

static enum hd_status add_plain_classes(struct hprof_writer *writer)
{
	TRY(survey_plain(writer));
	for (uint32_t i = 0; i < writer->graph->type_count; i++)
		TRY(add_plain_class(writer, i));
	return HD_OK;
}

static void write_plain(struct hprof_writer *writer, uint32_t node, uint64_t id)
{
	const struct hd_graph *graph = writer->graph;
	struct hprof_out *out = &writer->out;
	uint32_t type = graph->node_types[node], row = writer->type_classes[type];
	const struct hprof_plain *plain = &writer->plain[type];
	uint64_t begin = csr_begin(&graph->forward, node);
	uint64_t degree = csr_begin(&graph->forward, node + 1) - begin;
	uint64_t slots = plain->degree, size = graph_size(graph, node);
	if (plain->varies) {
		slots = size > ARRAY_HEADER ? (size - ARRAY_HEADER + 7) / 8 : 0;
		slots = hprof_array_length(writer, slots > degree ? slots : degree, HPROF_ID);
		hprof_begin_array(writer, id, row, (uint32_t)slots);
	} else {
		hprof_begin_instance(writer, id, row, (uint32_t)slots * HPROF_ID);
	}
	for (uint64_t i = 0; i < degree && i < slots; i++)
		hprof_u64(out, graph_id(graph, graph->forward.targets[begin + i]));
	if (slots > degree)
		hprof_zeros(out, (slots - degree) * HPROF_ID);
}

/* Write @p count objects from node @p first on. */
static enum hd_status write_some(struct hprof_writer *writer, uint32_t first, uint32_t count)
{
	const struct hd_graph *graph = writer->graph;
	const struct hprof_contents *contents = writer->contents;
	uint64_t ids[IDS_ASKED];
	bool is_asked = graph->places.ids != NULL;
	if (is_asked)
		graph->places.ids(graph->places.arg, first, ids, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = first + i;
		uint64_t id = is_asked ? ids[i] : graph_id(graph, node);
		if (!is_kept(writer, node))
			continue;
		if (contents) {
			TRY(contents->write_object(contents->arg, writer, node, id));
		} else {
			write_plain(writer, node, id);
		}
	}
	return HD_OK;
}

static enum hd_status write_objects(struct hprof_writer *writer)
{
	const struct hd_graph *graph = writer->graph;
	struct job *job = writer->job;
	JOB_STAGE(job);
	job_begin(job, "Writing objects", graph->object_count);
	for (uint32_t first = 0; first < graph->object_count;) {
		uint32_t left = graph->object_count - first;
		uint32_t count = left < IDS_ASKED ? left : IDS_ASKED;
		TRY(write_some(writer, first, count));
		TRY(job_check(writer->job, count, writer->err));
		if (writer->out.stopped)
			return fail_cancelled(writer->err);
		first += count;
	}
	return HD_OK;
}

static void write_header(struct hprof_writer *writer)
{
	struct timespec now = { 0 };
	(void)clock_gettime(CLOCK_REALTIME, &now);
	/* Viewers keep what they computed beside a file, and know it by this time. */
	uint64_t time = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	static const char magic[] = "JAVA PROFILE 1.0.2";
	hprof_put(&writer->out, magic, sizeof(magic));
	hprof_u32(&writer->out, HPROF_ID);
	hprof_u64(&writer->out, time);
}

static uint64_t lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Find ids for what the graph has not: below all others, or above. */
static enum hd_status find_free_ids(const struct hprof_writer *writer, uint64_t *ret_first,
				    uint64_t *ret_last)
{
	const struct hd_graph *graph = writer->graph;
	const struct hprof_contents *contents = writer->contents;
	uint64_t lowest = contents ? contents->lowest_class : UINT64_MAX, highest = 0;
	uint64_t need = 8 * (1024 + 4 * ((uint64_t)graph->type_count + graph->origins.thread_count +
					 graph->origins.frame_count));
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t first = i ? graph->object_count : 0;
		uint32_t end = i ? graph->node_count : graph->object_count;
		if (first == end)
			continue;
		lowest = lower(lowest, graph_id(graph, first));
		if (graph_id(graph, end - 1) > highest)
			highest = graph_id(graph, end - 1);
	}
	if (lowest > need + 16) {
		*ret_first = 8;
		*ret_last = lowest - 8;
		return HD_OK;
	}
	if (contents || highest > UINT64_MAX - need - 64) {
		return fail(writer->err, HD_ERR_UNSUPPORTED, 0,
			    "the objects leave no ids for what a .hprof must have");
	}
	*ret_first = (highest | 15) + 1;
	*ret_last = UINT64_MAX;
	return HD_OK;
}

/* Give java.lang.System its static "props". */
static enum hd_status add_properties(struct hprof_writer *writer, uint64_t object)
{
	struct hprof_classes *classes = &writer->classes;
	struct hprof_static properties = { .object = object };
	TRY(hprof_string(classes, "props", 5, &properties.name));
	TRY_MEMORY(PAGES_RESERVE(classes, statics), writer->err);
	classes->rows[PRESET_SYSTEM].first_static = classes->statics_count;
	classes->rows[PRESET_SYSTEM].static_count = 1;
	classes->statics[classes->statics_count++] = properties;
	return HD_OK;
}

static enum hd_status prepare_classes(struct hprof_writer *writer, uint64_t *ret_properties)
{
	const struct hd_graph *graph = writer->graph;
	struct hprof_classes *classes = &writer->classes;
	uint64_t first = 0, last = 0;
	TRY(find_free_ids(writer, &first, &last));
	TRY(hprof_classes_init(classes, first, last, writer->err));
	*ret_properties = hprof_new_id(classes);
	writer->type_classes = pages_alloc(graph->type_count, sizeof(*writer->type_classes));
	TRY_MEMORY(writer->type_classes, writer->err);
	for (uint32_t i = 0; i < graph->type_count; i++)
		writer->type_classes[i] = HD_NONE;
	if (writer->contents) {
		TRY(writer->contents->add_classes(writer->contents->arg, writer));
	} else {
		TRY(add_plain_classes(writer));
	}
	TRY(hprof_add_statics(writer));
	return add_properties(writer, *ret_properties);
}

static enum hd_status prepare_stacks(struct hprof_writer *writer)
{
	writer->stacks.arena = arena_create();
	TRY_MEMORY(writer->stacks.arena, writer->err);
	TRY(hprof_stacks_of_graph(writer));
	if (writer->contents && writer->contents->add_stacks)
		TRY(writer->contents->add_stacks(writer->contents->arg, writer));
	hprof_stacks_sort(&writer->stacks);
	return HD_OK;
}

static enum hd_status write_file(struct hprof_writer *writer)
{
	uint64_t properties = 0;
	HD_FREE uint32_t *frame_rows = NULL;
	TRY(prepare_classes(writer, &properties));
	TRY(prepare_stacks(writer));
	TRY(hprof_add_frame_classes(writer, &frame_rows));
	write_header(writer);
	TRY(hprof_write_names(&writer->classes, &writer->out));
	TRY(hprof_write_traces(writer, frame_rows));
	hprof_write_classes(&writer->classes, &writer->out);
	TRY(write_objects(writer));
	TRY(write_all_properties(writer, properties));
	TRY(hprof_write_roots(writer));
	hprof_record(&writer->out, HPROF_END, 0);
	hprof_flush(&writer->out);
	return writer->out.stopped ? fail_cancelled(writer->err) : HD_OK;
}

enum hd_status hprof_write_with(struct hprof_writer *writer, format_write_fn write, void *arg)
{
	uint32_t types = writer->graph->type_count;
	enum hd_status status = hprof_out_init(&writer->out, write, arg, writer->err);
	if (status == HD_OK)
		status = write_file(writer);
	hprof_out_deinit(&writer->out);
	hprof_classes_deinit(&writer->classes);
	hprof_stacks_deinit(&writer->stacks);
	pages_free(writer->type_classes, types, sizeof(*writer->type_classes));
	pages_free(writer->plain, types, sizeof(*writer->plain));
	return status;
}

enum hd_status hprof_write(const struct hd_graph *graph, const struct write_options *options,
			   struct job *job, format_write_fn write, void *arg, struct hd_error *err)
{
	struct hprof_writer writer = { .graph = graph, .options = options, .job = job, .err = err };
	return hprof_write_with(&writer, write, arg);
}
