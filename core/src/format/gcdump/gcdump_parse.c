/* SPDX-License-Identifier: MIT */
/*
 * Parses a .gcdump file, except its node records (TraceEvent's GCHeapDump.cs, Graph.cs,
 * MemoryGraph.cs).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/gcdump/fast_serialization.h"
#include "format/gcdump/gcdump.h"
#include "format/gcdump/gcdump_cint.h"
#include "util/alloc.h"
#include "util/arena.h"

/* The versions of the classes whose fields are read here. */
#define DUMP_VERSION  10
#define GRAPH_VERSION 1

static const char head[GCDUMP_HEAD_SIZE] = "\x14\0\0\0!FastSerialization.1";

bool gcdump_detect(const char *bytes, size_t size)
{
	return size >= sizeof(head) && memcmp(bytes, head, sizeof(head)) == 0;
}

const uint8_t *gcdump_cint_careful(const uint8_t *at, const uint8_t *end, int32_t *ret)
{
	uint8_t bytes[GCDUMP_CINT_MAX] = { 0 };
	size_t size = 0;
	while (size < GCDUMP_CINT_MAX && at + size < end && (!size || bytes[size - 1] & 0x80)) {
		bytes[size] = at[size];
		size++;
	}
	if (!size || bytes[size - 1] & 0x80)
		return NULL;
	(void)gcdump_cint_there(bytes, ret);
	return at + size;
}

struct parsing {
	struct fast_reader reader;
	struct gcdump *gcdump;
	bool is_wide;
	bool may_be_cut; /* among the records of the nodes, or after them */
};

static enum hd_status parse_types(struct parsing *parsing)
{
	struct fast_reader *reader = &parsing->reader;
	struct gcdump *gcdump = parsing->gcdump;
	uint32_t count;
	TRY(fast_count(reader, false, 12, "types", &count));
	gcdump->types = pages_alloc(count, sizeof(*gcdump->types));
	TRY_MEMORY(gcdump->types, reader->err);
	gcdump->type_count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct gcdump_type *type = &gcdump->types[i];
		TRY(fast_text(reader, &type->name));
		TRY(fast_i32(reader, &type->size));
		TRY(fast_text(reader, &type->module));
	}
	return HD_OK;
}

/* A Module; only its path is used here. */
static enum hd_status parse_module(struct fast_reader *reader, struct gcdump_text *path)
{
	struct fast_object object;
	struct gcdump_text pdb;
	*path = (struct gcdump_text){ 0 };
	TRY(fast_begin_as(reader, "Graphs.Module", 0, &object));
	if (object.is_null)
		return HD_OK;
	TRY(fast_text(reader, path));
	TRY(fast_skip(reader, 24)); /* image base, size, build time */
	TRY(fast_text(reader, &pdb));
	TRY(fast_skip(reader, 20)); /* its GUID and age */
	return fast_end(reader, &object);
}

/* "TypeID(0x..)" and the suffix, as PerfView shows a type whose name it cannot find. */
static enum hd_status name_deferred(struct parsing *parsing, struct gcdump_type *type, uint32_t id,
				    const struct gcdump_text *suffix)
{
	struct gcdump *gcdump = parsing->gcdump;
	if (!gcdump->arena)
		gcdump->arena = arena_create();
	char name[32];
	int size = snprintf(name, sizeof(name), "TypeID(0x%" PRIx32 ")", id);
	char *bytes = gcdump->arena && suffix->size < UINT32_MAX - sizeof(name)
			      ? arena_alloc(gcdump->arena, (size_t)size + suffix->size)
			      : NULL;
	TRY_MEMORY(bytes, parsing->reader.err);
	memcpy(bytes, name, (size_t)size);
	if (suffix->size)
		memcpy(bytes + size, suffix->bytes, suffix->size);
	type->name = (struct gcdump_text){ .bytes = (const uint8_t *)bytes,
					   .size = (uint32_t)size + suffix->size,
					   .units = (uint32_t)size + suffix->units };
	type->has_deferred_name = true;
	return HD_OK;
}

static enum hd_status parse_deferred_type(struct parsing *parsing, uint32_t index)
{
	struct fast_reader *reader = &parsing->reader;
	struct gcdump *gcdump = parsing->gcdump;
	int32_t id;
	struct gcdump_text module, suffix;
	TRY(fast_i32(reader, &id));
	TRY(parse_module(reader, &module));
	TRY(fast_text(reader, &suffix));
	if (index >= gcdump->type_count)
		return HD_OK;
	struct gcdump_type *type = &gcdump->types[index];
	if (type->name.bytes)
		return HD_OK;
	TRY(name_deferred(parsing, type, (uint32_t)id, &suffix));
	if (!type->module.bytes && module.bytes) {
		type->module = module;
		type->has_deferred_module = true;
	}
	return HD_OK;
}

/* The trailer, which may be cut off, and a tag tell the region's end. */
static enum hd_status parse_deferred(struct parsing *parsing)
{
	struct fast_reader *reader = &parsing->reader;
	uint64_t begin = reader->at, end;
	int32_t forward;
	uint32_t count;
	TRY(fast_i32(reader, &forward));
	TRY(fast_count(reader, false, 9, "deferred types", &count));
	for (uint32_t i = 0; i < count; i++)
		TRY(parse_deferred_type(parsing, i));
	struct fast_reader quiet = *reader;
	quiet.err = NULL;
	if (fast_forward(&quiet, forward, &end) == HD_OK && end >= reader->at) {
		reader->at = end;
	} else if (fast_left(reader) && reader->bytes[reader->at] == FAST_END_OBJECT) {
		reader->at++;
	}
	parsing->gcdump->deferred = reader->bytes + begin;
	parsing->gcdump->deferred_size = reader->at - begin;
	return HD_OK;
}

/* The file ends among the addresses, or before them. */
static enum hd_status pad_addresses(struct parsing *parsing)
{
	struct gcdump *gcdump = parsing->gcdump;
	struct fast_reader *reader = &parsing->reader;
	int32_t count;
	/* Their count comes first. */
	uint64_t lead = parsing->is_wide ? 8 : 4;
	if (fast_left(reader) > lead) {
		uint64_t at = reader->at;
		TRY(fast_i32(reader, &count));
		TRY(fast_skip(reader, lead - 4));
		if (count < 0 || (uint32_t)count != gcdump->node_count) {
			return fast_fail(reader, at, "%" PRId32 " addresses for %" PRIu32 " nodes",
					 count, gcdump->node_count);
		}
		gcdump->cut.address_count = (uint32_t)(fast_left(reader) / 8);
	}
	gcdump->cut.padded = pages_alloc(gcdump->node_count, 8);
	TRY_MEMORY(gcdump->cut.padded, reader->err);
	memcpy(gcdump->cut.padded, reader->bytes + reader->at,
	       (size_t)gcdump->cut.address_count * 8);
	memset(gcdump->cut.padded + (size_t)gcdump->cut.address_count * 8, 0,
	       (size_t)(gcdump->node_count - gcdump->cut.address_count) * 8);
	gcdump->addresses = gcdump->cut.padded;
	gcdump->cut.is_cut = true;
	reader->at = reader->size;
	return HD_OK;
}

/* Parse the addresses, which follow the deferred types. */
static enum hd_status parse_addresses(struct parsing *parsing)
{
	struct fast_reader *reader = &parsing->reader;
	struct gcdump *gcdump = parsing->gcdump;
	uint32_t count;
	uint64_t at = reader->at;
	uint64_t lead = parsing->is_wide ? 8 : 4, left = fast_left(reader);
	if (parsing->may_be_cut && (left < lead || (left - lead) / 8 < gcdump->node_count))
		return pad_addresses(parsing);
	TRY(fast_count(reader, parsing->is_wide, 8, "addresses", &count));
	if (count != gcdump->node_count) {
		return fast_fail(reader, at, "%" PRIu32 " addresses for %" PRIu32 " nodes", count,
				 gcdump->node_count);
	}
	gcdump->addresses = reader->bytes + reader->at;
	TRY(fast_skip(reader, (uint64_t)count * 8));
	if (fast_left(reader) < 2 || reader->bytes[reader->at] != FAST_BYTE)
		return HD_OK;
	gcdump->about.has_is_64bit = true;
	gcdump->about.is_64bit = reader->bytes[reader->at + 1];
	return fast_skip(reader, 2);
}

/* Do the records of all nodes begin in a blob of @p size bytes? */
static bool are_inside(const struct gcdump *gcdump, uint32_t size)
{
	for (uint32_t i = 0; i < gcdump->node_count; i++) {
		if (load_u32(gcdump->offsets + (size_t)i * 4) >= size)
			return false;
	}
	return true;
}

/* The blob, or as much of it as the file has. */
static enum hd_status parse_blob(struct parsing *parsing)
{
	struct fast_reader *reader = &parsing->reader;
	struct gcdump *gcdump = parsing->gcdump;
	uint64_t at = reader->at;
	int32_t size;
	TRY(fast_i32(reader, &size));
	uint64_t left = fast_left(reader);
	if (size >= 0 && (uint64_t)size <= left) {
		gcdump->blob_size = (uint32_t)size;
	} else if (size < 0 || !left || !parsing->may_be_cut || parsing->is_wide ||
		   !are_inside(gcdump, (uint32_t)size)) {
		return fast_fail(reader, at, "%" PRId32 " bytes of nodes, and %" PRIu64 " are left",
				 size, left);
	} else {
		gcdump->blob_size = (uint32_t)left;
		gcdump->cut.lacks_records = true;
	}
	gcdump->blob = reader->bytes + reader->at;
	return fast_skip(reader, gcdump->blob_size);
}

static enum hd_status parse_nodes(struct parsing *parsing)
{
	struct fast_reader *reader = &parsing->reader;
	struct gcdump *gcdump = parsing->gcdump;
	TRY(fast_count(reader, parsing->is_wide, parsing->may_be_cut ? 4 : 12, "nodes",
		       &gcdump->node_count));
	gcdump->offsets = reader->bytes + reader->at;
	TRY(fast_skip(reader, (uint64_t)gcdump->node_count * 4));
	return parse_blob(parsing);
}

static enum hd_status parse_graph_fields(struct parsing *parsing, int32_t min_reader)
{
	struct fast_reader *reader = &parsing->reader;
	struct gcdump *gcdump = parsing->gcdump;
	int32_t root;
	TRY(fast_i64(reader, &gcdump->total_size));
	uint64_t root_at = reader->at;
	TRY(fast_i32(reader, &root));
	TRY(parse_types(parsing));
	TRY(parse_nodes(parsing));
	if (min_reader >= 1)
		TRY(parse_deferred(parsing));
	TRY(parse_addresses(parsing));
	if (root < 0 || (uint32_t)root >= gcdump->node_count) {
		return fast_fail(reader, root_at, "the root is node %" PRId32 " of %" PRIu32, root,
				 gcdump->node_count);
	}
	gcdump->root = (uint32_t)root;
	return HD_OK;
}

static void forget_graph(struct gcdump *gcdump)
{
	pages_free(gcdump->types, gcdump->type_count, sizeof(*gcdump->types));
	arena_destroy(gcdump->arena);
	pages_free(gcdump->cut.padded, gcdump->node_count, 8);
	gcdump->cut.padded = NULL;
	gcdump->cut.is_cut = gcdump->cut.lacks_records = false;
	gcdump->cut.address_count = 0;
	gcdump->addresses = NULL;
	gcdump->types = NULL;
	gcdump->type_count = 0;
	gcdump->arena = NULL;
	gcdump->deferred = NULL;
	gcdump->deferred_size = 0;
	gcdump->about.has_is_64bit = false;
}

static enum hd_status parse_graph_body(struct parsing *parsing, const struct fast_object *object)
{
	TRY(parse_graph_fields(parsing, object->type.min_reader));
	struct gcdump *gcdump = parsing->gcdump;
	bool *ran_out = parsing->reader.ran_out;
	if (gcdump->cut.is_cut)
		return HD_OK;
	*ran_out = false;
	enum hd_status status = fast_end(&parsing->reader, object);
	if (status == HD_ERR_FORMAT && parsing->may_be_cut && *ran_out) {
		gcdump->cut.is_cut = true;
		return HD_OK;
	}
	return status;
}

static enum hd_status parse_graph(struct parsing *parsing)
{
	struct fast_reader *reader = &parsing->reader;
	struct fast_object object;
	uint64_t at = reader->at;
	TRY(fast_begin_as(reader, "Graphs.MemoryGraph", GRAPH_VERSION, &object));
	if (object.is_null)
		return fast_fail(reader, at, "there is no graph in this file");
	struct hd_error err = { 0 };
	struct parsing narrow = *parsing, wide = *parsing;
	narrow.reader.err = &err;
	enum hd_status status = parse_graph_body(&narrow, &object);
	if (status == HD_OK) {
		reader->at = narrow.reader.at;
		return HD_OK;
	}
	if (status == HD_ERR_FORMAT) {
		/* Some dotnet-gcdump of 2022 wrote 8 bytes (dotnet/diagnostics PR 3475). */
		wide.reader.err = NULL;
		wide.is_wide = true;
		forget_graph(parsing->gcdump);
		enum hd_status again = parse_graph_body(&wide, &object);
		if (again == HD_OK) {
			parsing->gcdump->has_wide_counts = true;
			reader->at = wide.reader.at;
			return HD_OK;
		}
		if (again == HD_ERR_NOMEM)
			return fail_nomem(reader->err);
	}
	if (reader->err)
		*reader->err = err;
	return status;
}

static enum hd_status parse_segment(struct parsing *parsing, size_t *capacity)
{
	struct fast_reader *reader = &parsing->reader;
	struct gcdump_heap *heap = &parsing->gcdump->about.heap;
	struct fast_object object;
	TRY(fast_begin_as(reader, "GCHeapDumpSegment", 1, &object));
	if (object.is_null)
		return HD_OK;
	size_t ends = object.type.version >= 1 ? 5 : 4;
	int64_t values[7] = { 0 };
	for (size_t i = 0; i < 2 + ends; i++)
		TRY(fast_i64(reader, &values[i]));
	TRY(fast_end(reader, &object));
	if (heap->segment_count == *capacity &&
	    !pages_grow((void **)&heap->segments, capacity, sizeof(*heap->segments)))
		return fail_nomem(reader->err);
	struct gcdump_segment *segment = &heap->segments[heap->segment_count++];
	segment->start = (uint64_t)values[0];
	segment->end = (uint64_t)values[1];
	for (size_t i = 0; i < ends; i++)
		segment->ends[i] = (uint64_t)values[2 + i];
	heap->version = object.type.version;
	return HD_OK;
}

static enum hd_status parse_segments(struct parsing *parsing)
{
	struct gcdump_heap *heap = &parsing->gcdump->about.heap;
	uint32_t count;
	size_t capacity = 0;
	TRY(fast_count(&parsing->reader, false, 1, "segments", &count));
	enum hd_status status = HD_OK;
	for (uint32_t i = 0; status == HD_OK && i < count; i++)
		status = parse_segment(parsing, &capacity);
	/* To the size that gcdump_deinit() knows. */
	void *fit = pages_resize(heap->segments, capacity, heap->segment_count,
				 sizeof(*heap->segments));
	if (fit) {
		heap->segments = fit;
		return status;
	}
	pages_free(heap->segments, capacity, sizeof(*heap->segments));
	heap->segments = NULL;
	heap->segment_count = 0;
	return status == HD_OK ? fail_nomem(parsing->reader.err) : status;
}

static enum hd_status parse_heap_info(struct parsing *parsing)
{
	struct gcdump_heap *heap = &parsing->gcdump->about.heap;
	struct fast_object object;
	TRY(fast_begin_as(&parsing->reader, "DotNetHeapInfo", 0, &object));
	if (object.is_null)
		return HD_OK;
	heap->is_there = true;
	TRY(fast_i64(&parsing->reader, &heap->bytes));
	TRY(parse_segments(parsing));
	return fast_end(&parsing->reader, &object);
}

/* From the log to the working set. */
static enum hd_status parse_process(struct parsing *parsing)
{
	struct fast_reader *reader = &parsing->reader;
	struct gcdump_about *about = &parsing->gcdump->about;
	TRY(fast_text(reader, &about->log));
	TRY(fast_i64(reader, &about->time));
	TRY(fast_text(reader, &about->machine));
	TRY(fast_text(reader, &about->process));
	TRY(fast_i32(reader, &about->process_id));
	TRY(fast_i64(reader, &about->commit));
	return fast_i64(reader, &about->working_set);
}

static enum hd_status parse_interop_fields(struct fast_reader *reader)
{
	int32_t total;
	uint32_t counts[4];
	static const uint8_t sizes[] = { 40, 32, 33, 20 }; /* of a module at least */
	static const char *const names[] = { "RCWs", "CCWs", "interfaces", "modules" };
	TRY(fast_i32(reader, &total));
	if (!total)
		return HD_OK;
	for (size_t i = 0; i < 4; i++)
		TRY(fast_count(reader, false, sizes[i], names[i], &counts[i]));
	for (size_t i = 0; i < 3; i++)
		TRY(fast_skip(reader, (uint64_t)counts[i] * sizes[i]));
	for (uint32_t i = 0; i < counts[3]; i++) {
		struct gcdump_text name;
		TRY(fast_skip(reader, 16));
		TRY(fast_text(reader, &name));
	}
	return HD_OK;
}

/* The tagged items of a GCHeapDump. */
static enum hd_status parse_tagged(struct parsing *parsing)
{
	struct fast_reader *reader = &parsing->reader;
	struct gcdump_about *about = &parsing->gcdump->about;
	if (fast_left(reader) && reader->bytes[reader->at] == FAST_SKIP_REGION) {
		struct fast_object object;
		TRY(fast_skip(reader, 5));
		TRY(fast_begin_as(reader, "InteropInfo", 0, &object));
		about->interop.is_there = true;
		if (!object.is_null) {
			about->interop.fields = reader->bytes + reader->at;
			uint64_t begin = reader->at;
			TRY(parse_interop_fields(reader));
			about->interop.size = reader->at - begin;
		}
		TRY(fast_end(reader, &object));
	}
	if (!fast_left(reader) || reader->bytes[reader->at] != FAST_STRING)
		return HD_OK;
	TRY(fast_skip(reader, 1));
	about->has_tool = true;
	return fast_text(reader, &about->tool);
}

/* From is64Bit, which the graph also has, to the JSHeapInfo. */
static enum hd_status parse_averages(struct parsing *parsing)
{
	struct fast_reader *reader = &parsing->reader;
	struct fast_object script;
	TRY(fast_skip(reader, 1));
	TRY(fast_float(reader, &parsing->gcdump->about.sampling.average_count));
	TRY(fast_float(reader, &parsing->gcdump->about.sampling.average_size));
	TRY(fast_begin_as(reader, "JSHeapInfo", 0, &script));
	return fast_end(reader, &script);
}

static enum hd_status parse_fields(struct parsing *parsing)
{
	struct fast_reader *reader = &parsing->reader;
	struct gcdump_about *about = &parsing->gcdump->about;
	TRY(parse_graph(parsing));
	TRY(parse_averages(parsing));
	TRY(parse_heap_info(parsing));
	TRY(parse_process(parsing));
	TRY(fast_count(reader, false, 4, "multipliers", &about->sampling.multiplier_count));
	about->sampling.multipliers = reader->bytes + reader->at;
	TRY(fast_skip(reader, (uint64_t)about->sampling.multiplier_count * 4));
	return parse_tagged(parsing);
}

/* Versions 4 to 7. */
static enum hd_status parse_old_fields(struct parsing *parsing)
{
	struct fast_reader *reader = &parsing->reader;
	struct gcdump_about *about = &parsing->gcdump->about;
	about->sampling.average_count = about->sampling.average_size = 1;
	TRY(parse_graph(parsing));
	about->heap.is_there = true;
	TRY(fast_i64(reader, &about->heap.bytes));
	TRY(fast_skip(reader, 17));
	if (about->version >= 5)
		TRY(parse_process(parsing));
	if (about->version >= 6)
		TRY(parse_segments(parsing));
	return about->version >= 7 ? fast_skip(reader, 1) : HD_OK;
}

static enum hd_status parse_dump(struct parsing *parsing)
{
	struct fast_reader *reader = &parsing->reader;
	struct gcdump_about *about = &parsing->gcdump->about;
	struct fast_object object;
	uint64_t at = reader->at;
	TRY(fast_begin_as(reader, "GCHeapDump", DUMP_VERSION, &object));
	if (object.is_null)
		return fast_fail(reader, at, "there is no heap dump in this file");
	about->version = object.type.version;
	about->min_reader = object.type.min_reader;
	if (about->version < 4 || about->version == 8) {
		return fail(reader->err, HD_ERR_UNSUPPORTED, at,
			    "%s: offset 0x%" PRIx64 ": a GCHeapDump of version %" PRId32
			    ", which only the tool that wrote it can read; make it again",
			    reader->path, at, about->version);
	}
	TRY(about->version < 8 ? parse_old_fields(parsing) : parse_fields(parsing));
	return fast_end(reader, &object);
}

/* Is everything there, except what is missing at the end of the file? */
static enum hd_status parse_file(struct parsing *parsing)
{
	struct gcdump *gcdump = parsing->gcdump;
	bool ran_out = false;
	parsing->reader.at = GCDUMP_HEAD_SIZE;
	parsing->reader.ran_out = &ran_out;
	enum hd_status status = parse_dump(parsing);
	if (status == HD_ERR_FORMAT && parsing->may_be_cut && ran_out && gcdump->addresses) {
		gcdump->cut.is_cut = true;
		status = HD_OK;
	}
	if (status != HD_OK)
		gcdump_deinit(gcdump);
	return status;
}

static enum hd_status parse_gcdump(const uint8_t *bytes, uint64_t size, const char *path,
				   bool may_be_cut, struct gcdump *ret, struct hd_error *err)
{
	*ret = (struct gcdump){ .bytes = bytes, .size = size, .path = path };
	struct parsing parsing = {
		.reader = { .bytes = bytes, .size = size, .path = path, .err = err },
		.gcdump = ret,
		.may_be_cut = may_be_cut,
	};
	if (!gcdump_detect((const char *)bytes, size)) {
		return fast_fail(&parsing.reader, 0,
				 "not a .gcdump: it does not begin with !FastSerialization.1");
	}
	return parse_file(&parsing);
}

enum hd_status gcdump_parse(const uint8_t *bytes, uint64_t size, const char *path,
			    struct gcdump *ret, struct hd_error *err)
{
	return parse_gcdump(bytes, size, path, false, ret, err);
}

/*
 * A complete file ends with the label of the trailer.  The trailer has the label of a table, which
 * ends before it.
 */
static bool has_end(const uint8_t *bytes, uint64_t size)
{
	uint64_t trailer = load_u32(bytes + size - 4);
	uint64_t table = trailer <= size - 8 ? load_u32(bytes + trailer) : 0;
	return table >= GCDUMP_HEAD_SIZE && table + 4 <= trailer &&
	       trailer - table == 4 + 4 * (uint64_t)load_u32(bytes + table);
}

/* Add a finding that the end is missing. */
static void explain_cut(struct hd_error *err)
{
	static const char cut[] = "; it is cut short before the records of its objects, or damaged";
	size_t size = strlen(err->message);
	if (!strstr(err->message, "cut short") && size + sizeof(cut) <= sizeof(err->message))
		memcpy(err->message + size, cut, sizeof(cut));
}

enum hd_status gcdump_parse_cut(const uint8_t *bytes, uint64_t size, const char *path,
				struct gcdump *ret, struct hd_error *err)
{
	struct hd_error first = { 0 };
	enum hd_status status = parse_gcdump(bytes, size, path, false, ret, &first);
	if (status != HD_ERR_FORMAT || parse_gcdump(bytes, size, path, true, ret, NULL) != HD_OK) {
		if (status == HD_ERR_FORMAT && gcdump_detect((const char *)bytes, size) &&
		    !has_end(bytes, size))
			explain_cut(&first);
		if (status != HD_OK && err)
			*err = first;
		return status;
	}
	return HD_OK;
}

void gcdump_deinit(struct gcdump *gcdump)
{
	forget_graph(gcdump);
	pages_free(gcdump->about.heap.segments, gcdump->about.heap.segment_count,
		   sizeof(*gcdump->about.heap.segments));
	*gcdump = (struct gcdump){ 0 };
}
