/* SPDX-License-Identifier: MIT */
/*
 * Everything of a graph except its objects, from a .gcdump: types, texts, sizes, ranges, findings.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/gcdump/gcdump_reading.h"
#include "format/type_table.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/sort.h"
#include "util/text.h"

/* Paths of modules that are cached: the types of one module come together. */
#define RECENT_MODULES 64u
/* DateTime.MaxValue.Ticks */
#define TIME_MAX 3155378975999999999

/* One unit at @p at, and where the next one is. */
static const uint8_t *take_unit(const uint8_t *at, const uint8_t *end, uint32_t *ret)
{
	size_t size = *at < 0x80 ? 1 : *at < 0xe0 ? 2 : 3;
	if ((size_t)(end - at) < size) {
		*ret = 0xfffd;
		return end;
	}
	*ret = size == 1   ? at[0]
	       : size == 2 ? (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu)
			   : (at[0] & 0xfu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
	return at + size;
}

static void put_utf8(struct text *text, uint32_t value)
{
	char bytes[4];
	size_t size = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
	static const uint8_t leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	for (size_t i = size; i-- > 1; value >>= 6)
		bytes[i] = (char)(0x80 | (value & 0x3f));
	bytes[0] = (char)(leads[size] | value);
	text_append(text, bytes, size);
}

static void convert_utf16(struct text *text, const uint8_t *at, const uint8_t *end)
{
	while (at < end) {
		uint32_t unit, low;
		at = take_unit(at, end, &unit);
		if (unit >> 10 == 0xd800 >> 10 && at < end) {
			const uint8_t *next = take_unit(at, end, &low);
			if (low >> 10 == 0xdc00 >> 10) {
				unit = 0x10000 + ((unit & 0x3ff) << 10 | (low & 0x3ff));
				at = next;
			}
		}
		put_utf8(text, unit ? unit : 0xfffd);
	}
}

bool gcdump_utf8(struct arena *arena, const struct gcdump_text *text, char **ret,
		 uint32_t *ret_size)
{
	HD_CLEANUP(text) struct text converted = { 0 };
	const char *bytes = (const char *)text->bytes;
	size_t size = text->size;
	bool is_ascii = true;
	for (size_t i = 0; i < size; i++)
		is_ascii &= text->bytes[i] - 1u < 0x7f;
	if (!is_ascii) {
		convert_utf16(&converted, text->bytes, text->bytes + size);
		bytes = converted.bytes;
		size = converted.size;
	}
	char *copy = converted.failed || size >= UINT32_MAX ? NULL : arena_alloc(arena, size + 1);
	if (copy) {
		if (size)
			memcpy(copy, bytes, size);
		copy[size] = '\0';
		*ret = copy;
		*ret_size = (uint32_t)size;
	}
	return copy;
}

/* A text; NULL if it is null or empty. */
static enum hd_status keep_gcdump_text(struct gcdump_reading *reading,
				       const struct gcdump_text *text, const char **ret)
{
	char *copy;
	uint32_t size;
	*ret = NULL;
	if (!text->size)
		return HD_OK;
	TRY_MEMORY(gcdump_utf8(reading->graph->arena, text, &copy, &size), reading->err);
	*ret = copy;
	return HD_OK;
}

/* A module's path as the file has it, and as the graph does. */
struct gcdump_module {
	struct gcdump_text text;
	const char *path;
};

static enum hd_status module_path(struct gcdump_reading *reading, struct gcdump_module *recent,
				  const struct gcdump_text *text, const char **ret)
{
	uint32_t hash = text->size;
	for (uint32_t i = 0; i < text->size && i < 64; i++)
		hash = hash * 31 + text->bytes[text->size - 1 - i];
	struct gcdump_module *module = &recent[hash % RECENT_MODULES];
	if (!text->size || module->text.size != text->size ||
	    memcmp(module->text.bytes, text->bytes, text->size) != 0) {
		module->text = *text;
		TRY(keep_gcdump_text(reading, text, &module->path));
	}
	*ret = module->path;
	return HD_OK;
}

/* Types that are put into the graph. */
struct typing {
	struct gcdump_reading *reading;
	struct gcdump_module recent[RECENT_MODULES];
	struct type_table table; /* by name and module */
	struct text name;
	bool is_foreign; /* the file's names are not those of the heap */
};

static enum hd_status convert_name(struct typing *typing, struct graph_type *type)
{
	struct text *name = &typing->name;
	name->size = 0;
	gcdump_type_name(name, type->name, type->name_size);
	if (name->failed)
		return fail_nomem(typing->reading->err);
	if (name->size == type->name_size && memcmp(name->bytes, type->name, name->size) == 0)
		return HD_OK;
	char *copy = arena_alloc(typing->reading->graph->arena, name->size + 1);
	TRY_MEMORY(copy, typing->reading->err);
	memcpy(copy, name->bytes, name->size);
	copy[name->size] = '\0';
	type->name = copy;
	type->name_size = (uint32_t)name->size;
	return HD_OK;
}

static bool is_same_type(const struct graph_type *a, const struct graph_type *b)
{
	const char *x = a->module ? a->module : "", *y = b->module ? b->module : "";
	return a->name_size == b->name_size && memcmp(a->name, b->name, a->name_size) == 0 &&
	       strcmp(x, y) == 0;
}

/* Index of the type with the same name and module, or of @p type itself, which then is new. */
static enum hd_status merge_type(struct typing *typing, const struct graph_type *type,
				 uint32_t *ret)
{
	struct hd_graph *graph = typing->reading->graph;
	const char *module = type->module ? type->module : "";
	uint64_t key = type_table_hash(type->name, type->name_size) ^
		       type_table_hash(module, strlen(module)) * 0x9e3779b97f4a7c15u;
	uint32_t index = type_table_add(&typing->table, 0, key, graph->type_count);
	if (index == UINT32_MAX)
		return fail_nomem(typing->reading->err);
	*ret = index < graph->type_count && is_same_type(&graph->types[index], type)
		       ? index
		       : graph->type_count;
	return HD_OK;
}

static enum hd_status add_gcdump_type(struct typing *typing, uint32_t index)
{
	struct gcdump_reading *reading = typing->reading;
	struct hd_graph *graph = reading->graph;
	const struct gcdump_type *type = &reading->file.types[index];
	struct graph_type to = { .id = (uint64_t)index + 1 };
	uint32_t place = graph->type_count;
	TRY(module_path(reading, typing->recent, &type->module, &to.module));
	if (type->name.size) {
		char *name;
		TRY_MEMORY(gcdump_utf8(graph->arena, &type->name, &name, &to.name_size),
			   reading->err);
		to.name = name;
		if (typing->is_foreign) {
			TRY(convert_name(typing, &to));
			TRY(merge_type(typing, &to, &place));
		}
	}
	reading->type_map[index] = place;
	if (place == graph->type_count)
		graph->types[graph->type_count++] = to;
	return HD_OK;
}

/* As many as there are, which the graph frees. */
static enum hd_status fit_types(struct gcdump_reading *reading, uint32_t count)
{
	struct hd_graph *graph = reading->graph;
	struct graph_type *fit =
		pages_resize(graph->types, count, graph->type_count, sizeof(*graph->types));
	TRY_MEMORY(fit, reading->err);
	graph->types = fit;
	return HD_OK;
}

/* The part before the last dot in the name of a static's node; size 0: it is not a static. */
static struct gcdump_text container_of(const struct gcdump_text *name)
{
	static const char begin[] = "[static var ";
	struct gcdump_text container = { .bytes = name->bytes, .size = name->size };
	if (name->size < sizeof(begin) || memcmp(name->bytes, begin, sizeof(begin) - 1) != 0)
		return (struct gcdump_text){ 0 };
	while (container.size && container.bytes[container.size - 1] != '.')
		container.size--;
	if (container.size <= sizeof(begin))
		return (struct gcdump_text){ 0 };
	container.bytes += sizeof(begin) - 1;
	container.size -= (uint32_t)sizeof(begin); /* and the dot */
	return container;
}

/* Types without objects are kept if they declare statics. */
static enum hd_status use_containers(struct gcdump_reading *reading)
{
	const struct gcdump *file = &reading->file;
	HD_CLEANUP(type_table) struct type_table table = { 0 };
	bool made = true;
	for (uint32_t i = 0; made && i < file->type_count; i++) {
		struct gcdump_text name = container_of(&file->types[i].name);
		if (name.size) {
			uint64_t key = type_table_hash((const char *)name.bytes, name.size);
			made = type_table_add(&table, 0, key, 1) != UINT32_MAX;
		}
	}
	for (uint32_t i = 0; made && table.count && i < file->type_count; i++) {
		const struct gcdump_text *name = &file->types[i].name;
		if (reading->used[i] || !name->size)
			continue;
		uint64_t key = type_table_hash((const char *)name->bytes, name->size);
		/* A new one is recognised by its different number. */
		uint32_t found = type_table_add(&table, 0, key, 0);
		made = found != UINT32_MAX;
		reading->used[i] = found == 1;
	}
	return made ? HD_OK : fail_nomem(reading->err);
}

enum hd_status gcdump_make_types(struct gcdump_reading *reading)
{
	struct hd_graph *graph = reading->graph;
	uint32_t count = 0;
	TRY(use_containers(reading));
	for (uint32_t i = 0; i < reading->file.type_count; i++)
		count += reading->used[i];
	/* A second reading of the nodes may add more. */
	pages_free(graph->types, graph->type_count, sizeof(*graph->types));
	graph->type_count = 0;
	graph->types = pages_alloc(count, sizeof(*graph->types));
	TRY_MEMORY(graph->types, reading->err);
	struct typing typing = { .reading = reading, .is_foreign = gcdump_is_foreign(reading) };
	enum hd_status status = HD_OK;
	for (uint32_t i = 0; status == HD_OK && i < reading->file.type_count; i++) {
		if (reading->used[i])
			status = add_gcdump_type(&typing, i);
	}
	type_table_deinit(&typing.table);
	text_deinit(&typing.name);
	if (status == HD_OK && graph->type_count < count)
		status = fit_types(reading, count);
	if (status != HD_OK) {
		pages_free(graph->types, count, sizeof(*graph->types));
		graph->types = NULL;
		graph->type_count = 0;
	}
	return status;
}

/* Most findings that are taken from a log. */
#define LOGGED_MAX 8u

/* The real size of an object with the largest size that the format can have. */
struct true_size {
	uint64_t address, size;
};

struct true_sizes {
	struct true_size *rows;
	size_t rows_count, rows_capacity;
};

ORDER_BY(compare_addresses, struct true_size, address)

/* Read a hexadecimal number at *@p at, and the character after it. */
static bool take_hex_until(const uint8_t **at, const uint8_t *end, char behind, uint64_t *ret)
{
	*ret = 0;
	const uint8_t *begin = *at;
	for (; *at < end && hex_value((char)**at) >= 0 && *at - begin < 16; (*at)++)
		*ret = *ret << 4 | (uint64_t)hex_value((char)**at);
	if (*at == begin || *at >= end || **at != (uint8_t)behind)
		return false;
	(*at)++;
	return true;
}

static enum hd_status parse_sizes(struct gcdump_reading *reading, struct true_sizes *sizes)
{
	static const char first[] = "heapdump: true sizes\n";
	const struct gcdump_text *log = &reading->file.about.log;
	if (log->size < sizeof(first) || memcmp(log->bytes, first, sizeof(first) - 1) != 0)
		return HD_OK;
	const uint8_t *at = log->bytes + sizeof(first) - 1, *end = log->bytes + log->size;
	struct true_size row;
	while (take_hex_until(&at, end, ' ', &row.address) &&
	       take_hex_until(&at, end, '\n', &row.size)) {
		TRY_MEMORY(PAGES_RESERVE(sizes, rows), reading->err);
		sizes->rows[sizes->rows_count++] = row;
	}
	if (sizes->rows_count)
		qsort(sizes->rows, sizes->rows_count, sizeof(row), compare_addresses);
	return HD_OK;
}

static enum hd_status apply_sizes(struct gcdump_reading *reading, const struct true_sizes *sizes)
{
	struct raw_graph *raw = &reading->raw;
	for (uint32_t i = 0; sizes->rows_count && i < raw->object_count; i++) {
		if (raw->sizes[i] != INT32_MAX)
			continue;
		const struct true_size key = { .address = raw->ids[i] };
		const struct true_size *row = bsearch(&key, sizes->rows, sizes->rows_count,
						      sizeof(key), compare_addresses);
		if (row && row->size > INT32_MAX && !raw_graph_set_size(raw, i, row->size))
			return fail_nomem(reading->err);
	}
	return HD_OK;
}

enum hd_status gcdump_true_sizes(struct gcdump_reading *reading)
{
	struct true_sizes sizes = { 0 };
	enum hd_status status = parse_sizes(reading, &sizes);
	if (status == HD_OK)
		status = apply_sizes(reading, &sizes);
	pages_free(sizes.rows, sizes.rows_capacity, sizeof(*sizes.rows));
	return status;
}

static enum hd_status add_gcdump_domain(struct gcdump_reading *reading)
{
	struct hd_graph *graph = reading->graph;
	graph->domains.rows = pages_alloc(1, sizeof(*graph->domains.rows));
	TRY_MEMORY(graph->domains.rows, reading->err);
	graph->domains.count = 1;
	return HD_OK;
}

struct ranges {
	struct graph_range *rows;
	size_t rows_count, rows_capacity;
};

/* The generations of a segment; the last one is tested first, see GenerationFor(). */
static bool add_segment_ranges(struct ranges *ranges, const struct gcdump_segment *segment)
{
	uint64_t start = segment->start;
	for (unsigned int generation = 5; generation-- > 0;) {
		uint64_t end = segment->ends[generation];
		end = end < segment->end ? end : segment->end;
		if (start >= end)
			continue;
		if (!PAGES_RESERVE(ranges, rows))
			return false;
		ranges->rows[ranges->rows_count++] = (struct graph_range){
			.start = start, .end = end, .generation = generation
		};
		start = end;
	}
	return true;
}

ORDER_BY2(compare_gcdump_ranges, struct graph_range, start, generation)

/* Make them ascending and not overlapping: if ranges overlap, the first one is used. */
static enum hd_status make_gcdump_ranges(struct gcdump_reading *reading, struct ranges *ranges)
{
	const struct gcdump_heap *heap = &reading->file.about.heap;
	struct graph_info *info = &reading->graph->info;
	for (uint32_t i = 0; i < heap->segment_count; i++) {
		TRY_MEMORY(add_segment_ranges(ranges, &heap->segments[i]), reading->err);
	}
	if (!ranges->rows_count)
		return HD_OK;
	qsort(ranges->rows, ranges->rows_count, sizeof(*ranges->rows), compare_gcdump_ranges);
	size_t kept = 0;
	for (size_t i = 0; i < ranges->rows_count; i++) {
		struct graph_range range = ranges->rows[i];
		if (kept && range.start < ranges->rows[kept - 1].end)
			range.start = ranges->rows[kept - 1].end;
		if (range.start < range.end)
			ranges->rows[kept++] = range;
	}
	info->ranges = pages_alloc(kept, sizeof(*info->ranges));
	TRY_MEMORY(info->ranges, reading->err);
	memcpy(info->ranges, ranges->rows, kept * sizeof(*info->ranges));
	info->range_count = kept;
	return HD_OK;
}

/* Is it a dump of which only some objects were kept? */
static bool is_sampled(const struct gcdump_sampling *sampling)
{
	for (uint32_t i = 0; i < sampling->multiplier_count; i++) {
		uint32_t bits = load_u32(sampling->multipliers + 4 * (size_t)i);
		float multiplier;
		memcpy(&multiplier, &bits, sizeof(multiplier));
		if (multiplier > 1)
			return true;
	}
	return sampling->average_count > 1;
}

static enum hd_status report_sampled(struct gcdump_reading *reading)
{
	struct hd_graph *graph = reading->graph;
	const struct gcdump_sampling *sampling = &reading->file.about.sampling;
	if (!is_sampled(sampling))
		return HD_OK;
	graph->info.is_partial = true;
	char detail[160];
	(void)snprintf(detail, sizeof(detail),
		       "the file holds a sample of the objects (1 of %.4g): counts and sizes are "
		       "those of the sample",
		       (double)(sampling->average_count > 1 ? sampling->average_count : 1));
	return raw_graph_finding(graph, FINDING_SAMPLED, graph->object_count, detail, reading->err);
}

static enum hd_status report_sizes(struct gcdump_reading *reading)
{
	const struct gcdump *file = &reading->file;
	struct gcdump_record root;
	int64_t total = reading->sums.total_size;
	if (reading->pseudo.tree_count &&
	    gcdump_record(file, gcdump_offset(file, file->root), &root) && root.size > 0)
		total += root.size;
	if (reading->sums.cut_sizes) {
		TRY(raw_graph_finding(reading->graph, FINDING_CUT_SIZE, reading->sums.cut_sizes,
				      "objects of over 4 GiB, of whose sizes the file has only "
				      "the low 32 bits",
				      reading->err));
	}
	if (total == file->total_size)
		return HD_OK;
	char detail[160];
	(void)snprintf(detail, sizeof(detail),
		       "the file says that its nodes have %" PRId64 " bytes, they have %" PRId64,
		       file->total_size, total);
	return raw_graph_finding(reading->graph, FINDING_TOTAL_SIZE, 1, detail, reading->err);
}

bool gcdump_is_logged(enum finding_kind kind)
{
	return kind == FINDING_PARTIAL_HEAP || kind == FINDING_UNRESOLVED_TYPE;
}

/* The kind in the log whose name ends at @p end; FINDING_KINDS: there is none. */
static enum finding_kind logged_kind(const uint8_t *name, const uint8_t *end)
{
	const size_t size = (size_t)(end - name);
	for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++) {
		const char *known = finding_name(kind);
		if (gcdump_is_logged(kind) && strlen(known) == size &&
		    memcmp(known, name, size) == 0)
			return kind;
	}
	return FINDING_KINDS;
}

/* "partial-heap 12 objects came ..." */
static enum hd_status report_line(struct gcdump_reading *reading, const uint8_t *at,
				  const uint8_t *end)
{
	const uint8_t *blank = memchr(at, ' ', (size_t)(end - at));
	const enum finding_kind kind = blank ? logged_kind(at, blank) : FINDING_KINDS;
	uint64_t count;
	at = blank ? blank + 1 : at;
	if (kind == FINDING_KINDS || !take_hex_until(&at, end, ' ', &count))
		return HD_OK;
	char detail[256];
	size_t size = 0;
	for (; at < end && size < sizeof(detail) - 1; at++)
		detail[size++] = (char)(*at >= ' ' && *at <= '~' ? *at : '?');
	detail[size] = '\0';
	if (kind == FINDING_PARTIAL_HEAP)
		reading->graph->info.is_partial = true;
	return raw_graph_finding(reading->graph, kind, count, detail, reading->err);
}

/* Read what our log says. */
static enum hd_status report_logged(struct gcdump_reading *reading)
{
	static const char first[] = GCDUMP_LOG_FINDING;
	const struct gcdump_text *log = &reading->file.about.log;
	const uint8_t *at = log->bytes, *log_end = at ? at + log->size : NULL;
	for (unsigned int found = 0; at && at < log_end && found < LOGGED_MAX;) {
		const uint8_t *end = memchr(at, '\n', (size_t)(log_end - at));
		if (!end)
			break;
		if ((size_t)(end - at) > sizeof(first) - 1 &&
		    memcmp(at, first, sizeof(first) - 1) == 0) {
			TRY(report_line(reading, at + sizeof(first) - 1, end));
			found++;
		}
		at = end + 1;
	}
	return HD_OK;
}

static enum hd_status report_unnamed(struct gcdump_reading *reading)
{
	const struct hd_graph *graph = reading->graph;
	uint64_t types = 0, objects = 0;
	for (uint32_t i = 0; i < graph->type_count; i++) {
		types += !graph->types[i].name;
		objects += graph->types[i].name ? 0 : graph->types[i].count;
	}
	if (!types)
		return HD_OK;
	char detail[80];
	(void)snprintf(detail, sizeof(detail),
		       "types without a name; %" PRIu64 " objects have one of them", objects);
	return raw_graph_finding(reading->graph, FINDING_UNRESOLVED_TYPE, types, detail,
				 reading->err);
}

/* Do the addresses fit in 32 bits?  Old files do not say how wide they are. */
static bool is_32bit(const struct gcdump_reading *reading)
{
	const struct hd_graph *graph = reading->graph;
	if (reading->file.about.has_is_64bit)
		return !reading->file.about.is_64bit;
	return graph->object_count && graph->ids[graph->object_count - 1] <= UINT32_MAX;
}

static enum hd_status report_all(struct gcdump_reading *reading)
{
	TRY(report_sampled(reading));
	TRY(report_sizes(reading));
	TRY(report_unnamed(reading));
	return report_logged(reading);
}

enum hd_status gcdump_make_info(struct gcdump_reading *reading)
{
	const struct gcdump_about *about = &reading->file.about;
	struct graph_info *info = &reading->graph->info;
	TRY(add_gcdump_domain(reading));
	TRY(keep_gcdump_text(reading, &about->process, &info->process));
	TRY(keep_gcdump_text(reading, &about->machine, &info->machine));
	TRY(keep_gcdump_text(reading, &about->tool, &info->tool));
	info->pid = about->process_id > 0 ? (uint64_t)about->process_id : 0;
	info->time = about->time > 0 && about->time <= TIME_MAX ? (uint64_t)about->time : 0;
	info->is_32bit = is_32bit(reading);
	struct ranges ranges = { 0 };
	enum hd_status status = make_gcdump_ranges(reading, &ranges);
	pages_free(ranges.rows, ranges.rows_capacity, sizeof(*ranges.rows));
	return status == HD_OK ? report_all(reading) : status;
}
