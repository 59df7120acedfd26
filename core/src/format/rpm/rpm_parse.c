/* SPDX-License-Identifier: MIT */
/*
 * Parses one line of the text log, with any content: elements, checks, and messages when one is
 * wrong.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format/rpm/rpm_chunk.h"
#include "format/rpm/rpm_name.h"
#include "util/alloc.h"
#include "util/text.h"

/* A line, and the position in it. */
struct line {
	struct rpm_chunk *chunk;
	const char *start, *at, *end;
};

/* The result of a line, or of an element. */
enum line_outcome {
	TAKEN,
	REFUSED,
	SKIPPED,
	EXHAUSTED
};

static const enum finding_kind problem_findings[RPM_PROBLEM_COUNT] = {
	[RPM_BAD_HEX] = FINDING_BAD_HEX,
	[RPM_OVERFLOW] = FINDING_OVERFLOW,
	[RPM_MISSING_ELEMENT] = FINDING_MISSING_ELEMENT,
	[RPM_SURPLUS_ELEMENT] = FINDING_SURPLUS_ELEMENT,
	[RPM_ROOT_KIND] = FINDING_BAD_ROOT_KIND,
	[RPM_ROOT_FLAGS] = FINDING_BAD_ROOT_FLAGS,
	[RPM_VERSION] = FINDING_BAD_VERSION,
	[RPM_UNKNOWN_RECORD] = FINDING_UNKNOWN_RECORD,
	[RPM_OUTSIDE_SECTION] = FINDING_OUTSIDE_SECTION,
	[RPM_LONG_LINE] = FINDING_LONG_LINE,
	[RPM_DUPLICATE_TYPE] = FINDING_DUPLICATE_TYPE,
	[RPM_DUPLICATE_OBJECT] = FINDING_DUPLICATE_OBJECT,
};

enum finding_kind rpm_problem_finding(enum rpm_problem_kind kind)
{
	return problem_findings[kind];
}

bool rpm_problem(struct rpm_chunk *chunk, enum rpm_problem_kind kind, size_t column,
		 const char *format, ...)
{
	bool is_lenient = chunk->range.lenient;
	struct rpm_problem *problem =
		is_lenient ? &chunk->problems.counted[kind] : &chunk->problems.first;
	if (problem->count++)
		return is_lenient;
	problem->line = chunk->lines;
	problem->column = column;
	va_list args;
	va_start(args, format);
	(void)vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
	return is_lenient;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

size_t rpm_line_max(const struct job *job, const char *line, size_t size)
{
	size_t at = 0;
	while (at < size && is_blank(line[at]))
		at++;
	if (at + 1 >= size || line[at] != 'o' || !is_blank(line[at + 1]))
		return RPM_LINE_MAX;
	uint64_t quarter = job && job->max_mem ? job->max_mem / 4 : RPM_OBJECT_LINE_MAX;
	return quarter > RPM_LINE_MAX ? (size_t)quarter : RPM_LINE_MAX;
}

bool rpm_problem_long_line(struct rpm_chunk *chunk, size_t limit)
{
	return rpm_problem(chunk, RPM_LONG_LINE, limit + 1,
			   "a line of over %zu MiB; is this a text heap dump? Those of objects may "
			   "take a quarter of max-mem",
			   limit >> 20);
}

static void skip_line_blanks(struct line *line)
{
	while (line->at < line->end && is_blank(*line->at))
		line->at++;
}

/* The element at line->at as a message shows it. */
static const char *found(const struct line *line, char *buf, size_t size)
{
	if (line->at == line->end)
		return "the end of the line";
	size_t length = 0;
	while (line->at + length < line->end && !is_blank(line->at[length]) && length < 24)
		length++;
	HD_CLEANUP(text) struct text text = { 0 };
	text_escape(&text, line->at, length);
	(void)snprintf(buf, size, "\"%s\"", text.bytes ? text.bytes : "");
	return buf;
}

/* Note that something else than @p expected is at line->at. */
static enum line_outcome refuse_element(struct line *line, enum rpm_problem_kind kind,
					const char *expected)
{
	char buf[112];
	size_t column = (size_t)(line->at - line->start) + 1;
	bool goes_on = rpm_problem(line->chunk, kind, column, "expected %s, found %s", expected,
				   found(line, buf, sizeof(buf)));
	return goes_on ? SKIPPED : REFUSED;
}

/* One hexadecimal element; @p what names it in messages. */
static enum line_outcome take_hex_element(struct line *line, const char *what, uint64_t *ret)
{
	skip_line_blanks(line);
	if (line->at == line->end)
		return refuse_element(line, RPM_MISSING_ELEMENT, what);
	uint64_t value = 0;
	const char *at = line->at;
	bool overflow = false;
	for (; at < line->end && !is_blank(*at); at++) {
		int digit = hex_value(*at);
		if (digit < 0)
			return refuse_element(line, RPM_BAD_HEX, what);
		overflow = overflow || value >> 60;
		value = value << 4 | (unsigned int)digit;
	}
	if (overflow) {
		char expected[96];
		(void)snprintf(expected, sizeof(expected), "%s of at most 64 bits", what);
		return refuse_element(line, RPM_OVERFLOW, expected);
	}
	line->at = at;
	*ret = value;
	return TAKEN;
}

/* Nothing may follow; lenient reading ignores what does. */
static enum line_outcome take_end(struct line *line)
{
	skip_line_blanks(line);
	if (line->at == line->end)
		return TAKEN;
	return refuse_element(line, RPM_SURPLUS_ELEMENT, "the end of the line") == REFUSED ? REFUSED
											   : TAKEN;
}

#define TAKE(expr)                                        \
	do {                                              \
		enum line_outcome take_outcome_ = (expr); \
		if (take_outcome_ != TAKEN)               \
			return take_outcome_;             \
	} while (0)

static struct rpm_segment *open_segment(struct rpm_chunk *chunk)
{
	return &chunk->sections.segments[chunk->sections.segments_count - 1];
}

static bool chunk_add_segment(struct rpm_chunk *chunk)
{
	if (!PAGES_RESERVE(&chunk->sections, segments))
		return false;
	chunk->sections.segments[chunk->sections.segments_count++] = (struct rpm_segment){ 0 };
	chunk->sections.is_open = true;
	chunk->sections.has_records = false;
	return true;
}

/* A t, o or r record must be in a section; lenient reading makes one with the name "?". */
static enum line_outcome need_section(struct line *line)
{
	struct rpm_chunk *chunk = line->chunk;
	if (!chunk->sections.is_open) {
		if (refuse_element(line, RPM_OUTSIDE_SECTION, "an \"a\" record before this one") ==
		    REFUSED)
			return REFUSED;
		if (!chunk_add_segment(chunk))
			return EXHAUSTED;
		open_segment(chunk)->name = "?";
		open_segment(chunk)->name_size = 1;
	}
	open_segment(chunk)->has_records = true;
	chunk->sections.has_records = true;
	return TAKEN;
}

/* The type of an id that is not among the recent ones. */
static uint32_t chunk_find_type(struct rpm_chunk *chunk, uint32_t segment, uint64_t id)
{
	if (chunk->types.rows_count >= HD_NONE - 2 || !PAGES_RESERVE(&chunk->types, rows)) {
		return HD_NONE;
	}
	uint32_t index =
		type_table_add(&chunk->types.table, segment, id, (uint32_t)chunk->types.rows_count);
	if (index != HD_NONE && index == chunk->types.rows_count) {
		chunk->types.rows[chunk->types.rows_count++] =
			(struct rpm_type){ .id = id, .segment = segment };
	}
	return index;
}

uint32_t rpm_chunk_type(struct rpm_chunk *chunk, uint64_t id)
{
	uint32_t segment = (uint32_t)chunk->sections.segments_count - 1;
	struct recent_type *recent = &chunk->types.recent[id % RPM_RECENT_TYPES];
	if (recent->type && recent->id == id && recent->segment == segment) {
		return recent->type - 1;
	}
	uint32_t index = chunk_find_type(chunk, segment, id);
	if (index != HD_NONE) {
		*recent = (struct recent_type){ .id = id, .segment = segment, .type = index + 1 };
	}
	return index;
}

static enum line_outcome type_record(struct line *line)
{
	TAKE(need_section(line));
	line->at++;
	struct rpm_chunk *chunk = line->chunk;
	uint64_t id;
	TAKE(take_hex_element(line, "a hexadecimal type id", &id));
	skip_line_blanks(line);
	if (line->at == line->end)
		return refuse_element(line, RPM_MISSING_ELEMENT, "a type name");
	uint32_t index = rpm_chunk_type(chunk, id);
	if (index == HD_NONE)
		return EXHAUSTED;
	struct rpm_type *type = &chunk->types.rows[index];
	const char *name;
	uint32_t size;
	if (!rpm_name_copy(chunk->arena, line->at, (size_t)(line->end - line->at), &name, &size))
		return EXHAUSTED;
	if (type->name) {
		if (type->name_size == size && memcmp(type->name, name, size) == 0)
			return TAKEN;
		return refuse_element(line, RPM_DUPLICATE_TYPE,
				      "the name that this type id has already");
	}
	type->name = name;
	type->name_size = size;
	return TAKEN;
}

static enum hd_status chunk_add_object(struct rpm_chunk *chunk, uint64_t id, uint32_t type,
				       uint64_t size)
{
	struct rpm_objects *objects = &chunk->objects;
	if (objects->count == objects->capacity)
		TRY(rpm_objects_grow(objects, &chunk->range, &chunk->err));
	if (size >= SIZE_LARGE) {
		TRY_MEMORY(PAGES_RESERVE(objects, large), &chunk->err);
		objects->large[objects->large_count++] =
			(struct rpm_large){ .object = objects->count, .size = size };
		size = SIZE_LARGE;
	}
	size_t n = objects->count;
	objects->ascending = objects->ascending && (!n || objects->ids[n - 1] < id);
	objects->ids[n] = id;
	objects->types[n] = type;
	objects->sizes[n] = (uint32_t)size;
	objects->degrees[n] = 0;
	objects->count++;
	return HD_OK;
}

static enum line_outcome object_record(struct line *line)
{
	TAKE(need_section(line));
	line->at++;
	struct rpm_chunk *chunk = line->chunk;
	struct rpm_objects *objects = &chunk->objects;
	uint64_t id, type_id, size, ref;
	TAKE(take_hex_element(line, "a hexadecimal object id", &id));
	TAKE(take_hex_element(line, "a hexadecimal type id", &type_id));
	TAKE(take_hex_element(line, "a hexadecimal object size", &size));
	size_t first = objects->refs_count;
	if (rpm_objects_reserve_refs(objects, (size_t)(line->end - line->at) / 2 + 1, &chunk->range,
				     &chunk->err) != HD_OK)
		return EXHAUSTED;
	for (skip_line_blanks(line); line->at < line->end; skip_line_blanks(line)) {
		enum line_outcome outcome = take_hex_element(line, "a hexadecimal object id", &ref);
		if (outcome != TAKEN) {
			objects->refs_count = first;
			return outcome;
		}
		objects->refs[objects->refs_count++] = ref;
	}
	uint32_t type = rpm_chunk_type(chunk, type_id);
	if (type == HD_NONE || chunk_add_object(chunk, id, type, size) != HD_OK)
		return EXHAUSTED;
	objects->degrees[objects->count - 1] = (uint32_t)(objects->refs_count - first);
	return TAKEN;
}

/*
 * A hexadecimal element of at most @p max; if it is wrong and lenient reading goes on, *@p ret is
 * @p instead.
 */
static enum line_outcome take_small(struct line *line, enum rpm_problem_kind kind, const char *what,
				    uint64_t max, uint64_t *ret)
{
	skip_line_blanks(line);
	struct line at = *line;
	TAKE(take_hex_element(line, what, ret));
	return *ret <= max ? TAKEN : refuse_element(&at, kind, what);
}

/* The container of a static root; none if it is missing in lenient reading. */
static enum line_outcome take_container(struct line *line, uint32_t *ret)
{
	uint64_t id;
	enum line_outcome outcome =
		take_hex_element(line, "the type id of a static root's container", &id);
	if (outcome == SKIPPED) {
		line->at = line->end;
		return TAKEN;
	}
	TAKE(outcome);
	*ret = rpm_chunk_type(line->chunk, id);
	return *ret == HD_NONE ? EXHAUSTED : TAKEN;
}

static enum line_outcome root_record(struct line *line)
{
	TAKE(need_section(line));
	line->at++;
	struct rpm_chunk *chunk = line->chunk;
	uint64_t id, kind = 0, flags = 0;
	uint32_t container = HD_NONE;
	TAKE(take_hex_element(line, "a hexadecimal object id", &id));
	enum line_outcome outcome =
		take_small(line, RPM_ROOT_KIND, "a root kind (0 to 5)", HD_ROOT_GC, &kind);
	if (outcome == SKIPPED && kind > HD_ROOT_GC) {
		kind = HD_ROOT_INTERNAL; /* some root keeps the object alive */
	} else {
		TAKE(outcome);
	}
	outcome = take_small(line, RPM_ROOT_FLAGS, "root flags (0 to 7)", 7, &flags);
	if (outcome == SKIPPED && flags > 7) {
		flags &= 7;
	} else {
		TAKE(outcome);
	}
	if (kind == HD_ROOT_STATIC) {
		TAKE(take_container(line, &container));
		/* A static root always has a container, so that what is read can be written. */
		if (container == HD_NONE) {
			kind = HD_ROOT_INTERNAL;
		}
	}
	TAKE(take_end(line));
	if (!PAGES_RESERVE(chunk, roots) || chunk->roots_count >= HD_NONE - 1) {
		return EXHAUSTED;
	}
	chunk->roots[chunk->roots_count++] =
		(struct rpm_root){ .id = id,
				   .container = container,
				   .segment = (uint32_t)chunk->sections.segments_count - 1,
				   .kind = (uint8_t)kind,
				   .flags = (uint8_t)flags };
	return TAKEN;
}

/* The name and, when its last of two or more words is all hex digits, the timestamp. */
static enum line_outcome take_domain_name(struct line *line, const char **name, uint32_t *size,
					  bool *has_time, uint64_t *time)
{
	skip_line_blanks(line);
	if (line->at == line->end)
		return refuse_element(line, RPM_MISSING_ELEMENT, "the name of an AppDomain");
	const char *last = line->end;
	bool hex = true;
	while (last > line->at && !is_blank(last[-1]))
		hex = hex_value(*--last) >= 0 && hex;
	*has_time = false;
	size_t length = (size_t)(line->end - line->at);
	if (last > line->at && hex) {
		struct line word = { line->chunk, line->start, last, line->end };
		TAKE(take_hex_element(&word, "a hexadecimal timestamp", time));
		*has_time = true;
		while (is_blank(last[-1]))
			last--;
		length = (size_t)(last - line->at);
	}
	return rpm_name_copy(line->chunk->arena, line->at, length, name, size) ? TAKEN : EXHAUSTED;
}

static enum line_outcome domain_record(struct line *line)
{
	struct rpm_chunk *chunk = line->chunk;
	line->at++;
	skip_line_blanks(line);
	struct line at_version = *line;
	uint64_t version;
	TAKE(take_hex_element(line, "the version, 2", &version));
	if (version != 2 && refuse_element(&at_version, RPM_VERSION, "version 2") == REFUSED)
		return REFUSED;
	const char *cr = memchr(line->at, '\r', (size_t)(line->end - line->at));
	if (cr) {
		line->at = cr;
		return refuse_element(
			line, RPM_SURPLUS_ELEMENT,
			"line feeds after carriage returns (tr '\\r' '\\n' makes them)");
	}
	struct rpm_segment segment = { .version = (uint32_t)version };
	TAKE(take_domain_name(line, &segment.name, &segment.name_size, &segment.has_start,
			      &segment.start));
	if (!chunk_add_segment(chunk))
		return EXHAUSTED;
	*open_segment(chunk) = segment;
	return TAKEN;
}

static enum line_outcome end_record(struct line *line)
{
	struct rpm_chunk *chunk = line->chunk;
	if (!chunk->sections.is_open)
		return refuse_element(line, RPM_OUTSIDE_SECTION, "an \"a\" record before this one");
	line->at++;
	struct rpm_segment *segment = open_segment(chunk);
	TAKE(take_domain_name(line, &segment->end_name, &segment->end_name_size, &segment->has_end,
			      &segment->end));
	segment->has_records = true;
	segment->closed = true;
	chunk->sections.is_open = false;
	chunk->sections.has_records = false;
	return TAKEN;
}

static enum line_outcome parse_record(struct line *line)
{
	bool one_letter = line->end - line->at == 1 || is_blank(line->at[1]);
	switch (one_letter ? *line->at : '\0') {
	case 'a':
		return domain_record(line);
	case 't':
		return type_record(line);
	case 'o':
		return object_record(line);
	case 'r':
		return root_record(line);
	case 'c':
		return end_record(line);
	default:
		return refuse_element(line, RPM_UNKNOWN_RECORD, "a record: a, t, o, r or c");
	}
}

enum hd_status rpm_parse_line(struct rpm_chunk *chunk, const char *line, size_t size)
{
	struct line at = { chunk, line, line, line + size };
	if (size && at.end[-1] == '\r')
		at.end--;
	while (at.end > at.at && is_blank(at.end[-1]))
		at.end--;
	if (size > RPM_LINE_MAX) {
		size_t limit = rpm_line_max(chunk->range.job, line, size);
		if (size > limit)
			return rpm_problem_long_line(chunk, limit) ? HD_OK : HD_ERR_FORMAT;
	}
	bool first_line = chunk->range.begin == 0 && chunk->lines == 1;
	if (first_line && at.end - at.at >= 3 && memcmp(at.at, "\xef\xbb\xbf", 3) == 0)
		at.at += 3;
	skip_line_blanks(&at);
	if (at.at == at.end)
		return HD_OK;
	switch (parse_record(&at)) {
	case TAKEN:
	case SKIPPED:
		return HD_OK;
	case REFUSED:
		return HD_ERR_FORMAT;
	case EXHAUSTED:
		break;
	}
	if (chunk->err.status)
		return (enum hd_status)chunk->err.status;
	return fail_nomem(&chunk->err);
}
