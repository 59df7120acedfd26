/* SPDX-License-Identifier: MIT */
/*
 * Everything of a graph except its objects and types, from a .gcdump: texts, sizes, ranges, findings.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/gcdump/gcdump_reading.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/sort.h"
#include "util/text.h"

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

enum hd_status gcdump_keep_text(struct gcdump_reading *reading, const struct gcdump_text *text,
				const char **ret)
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
	TRY(gcdump_keep_text(reading, &about->process, &info->process));
	TRY(gcdump_keep_text(reading, &about->machine, &info->machine));
	TRY(gcdump_keep_text(reading, &about->tool, &info->tool));
	info->pid = about->process_id > 0 ? (uint64_t)about->process_id : 0;
	info->time = about->time > 0 && about->time <= TIME_MAX ? (uint64_t)about->time : 0;
	info->is_32bit = is_32bit(reading);
	struct ranges ranges = { 0 };
	enum hd_status status = make_gcdump_ranges(reading, &ranges);
	pages_free(ranges.rows, ranges.rows_capacity, sizeof(*ranges.rows));
	return status == HD_OK ? report_all(reading) : status;
}
