/* SPDX-License-Identifier: MIT */
/* Reading a range of the text log: its lines, and the fast path for plain object records. */
#include <string.h>

#include "format/rpm/rpm_chunk.h"
#include "util/alloc.h"
#include "util/arena.h"

/* Value of a hexadecimal digit, plus 1; 0 for every other byte. */
static const uint8_t digit_values[256] = {
	['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* Parse 1 to 16 digits at *@p at; false if there are none or more.  Never goes past a newline. */
static inline bool fast_hex(const char **at, uint64_t *ret)
{
	const unsigned char *start = (const unsigned char *)*at, *p = start;
	uint64_t value = 0;
	for (uint8_t digit; (digit = digit_values[*p]) != 0; p++)
		value = (value << 4) + digit - 1;
	*at = (const char *)p;
	*ret = value;
	return (size_t)(p - start) - 1 < 16;
}

static inline bool fast_field(const char **at, uint64_t *ret)
{
	if (**at != ' ')
		return false;
	(*at)++;
	return fast_hex(at, ret);
}

/*
 * Parse the kind of record that makes up nearly all of a file, in the form that writers use: one
 * space between elements, no space at the end.
 *
 * @return the place after the line's newline, or NULL: the line does not have that form, and
 * nothing is changed.
 */
static const char *fast_object(struct rpm_chunk *chunk, const char *line)
{
	struct rpm_objects *objects = &chunk->objects;
	const char *at = line + 1;
	uint64_t id, type_id, size;
	if (!fast_field(&at, &id) || !fast_field(&at, &type_id) || !fast_field(&at, &size))
		return NULL;
	uint64_t *refs = objects->refs + objects->refs_count, *next = refs;
	while (*at == ' ') {
		at++;
		if (!fast_hex(&at, next))
			return NULL;
		next++;
	}
	if (*at == '\r')
		at++;
	if (*at != '\n' || size >= SIZE_LARGE || !chunk->sections.has_records ||
	    (size_t)(at - line) > RPM_LINE_MAX)
		return NULL;
	uint32_t type = rpm_chunk_type(chunk, type_id);
	if (type == HD_NONE)
		return NULL;
	size_t n = objects->count;
	objects->ascending = objects->ascending && (!n || objects->ids[n - 1] < id);
	objects->ids[n] = id;
	objects->types[n] = type;
	objects->sizes[n] = (uint32_t)size;
	objects->degrees[n] = (uint32_t)(next - refs);
	objects->refs_count += (size_t)(next - refs);
	objects->count = n + 1;
	return at + 1;
}

/* Parse the complete lines in [at, end); each ends with a newline. */
static enum hd_status parse_lines(struct rpm_chunk *chunk, const char *at, const char *end)
{
	struct rpm_objects *objects = &chunk->objects;
	TRY(rpm_objects_reserve_refs(objects, (size_t)(end - at) / 2 + 1, &chunk->range,
				     &chunk->err));
	while (at < end) {
		chunk->lines++;
		if (*at == 'o' && objects->count < objects->capacity) {
			const char *next = fast_object(chunk, at);
			if (next) {
				at = next;
				if (objects->count == chunk->find_object)
					return HD_ERR_CANCELLED;
				continue;
			}
		}
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		TRY(rpm_parse_line(chunk, at, (size_t)(newline - at)));
		if (chunk->find_object && objects->count == chunk->find_object)
			return HD_ERR_CANCELLED;
		at = newline + 1;
	}
	return HD_OK;
}

/* A line without end: report it, then go to the next. */
static enum hd_status skip_long_line(struct rpm_chunk *chunk, struct rpm_window *window,
				     size_t limit)
{
	chunk->lines++;
	if (!rpm_problem_long_line(chunk, limit))
		return HD_ERR_FORMAT;
	return rpm_window_skip_line(window, &chunk->range, true, &chunk->err);
}

static enum hd_status parse_last_line(struct rpm_chunk *chunk, struct rpm_window *window)
{
	if (!window->bytes)
		return HD_OK;
	window->bytes[window->used] = '\n';
	return parse_lines(chunk, window->bytes, window->bytes + window->used + 1);
}

static enum hd_status read_chunk_lines(struct rpm_chunk *chunk, struct rpm_window *window)
{
	struct rpm_range *range = &chunk->range;
	TRY(rpm_window_first_line(window, range, &chunk->err));
	while (window->offset < range->end) {
		bool at_end = window->offset + window->used >= range->file_size;
		size_t whole = window->used ? rpm_window_whole_lines(window, range) : 0;
		range->position = window->offset + window->used;
		if (whole) {
			TRY(parse_lines(chunk, window->bytes, window->bytes + whole));
			rpm_window_drop(window, whole);
			if (!job_step(range->job, range->worker, whole))
				return fail_cancelled(&chunk->err);
		} else if (window->used > RPM_LINE_MAX &&
			   window->used > rpm_line_max(range->job, window->bytes, window->used)) {
			TRY(skip_long_line(chunk, window,
					   rpm_line_max(range->job, window->bytes, window->used)));
		} else if (at_end) {
			return parse_last_line(chunk, window);
		} else {
			TRY(rpm_window_read(window, range, &chunk->err));
		}
	}
	return HD_OK;
}

void rpm_chunk_read(struct rpm_chunk *chunk)
{
	struct rpm_window window = { 0 };
	struct rpm_sections *sections = &chunk->sections;
	chunk->objects.ascending = true;
	/* A later chunk's first line may continue a section; the merge knows whether one is open. */
	sections->is_open = chunk->range.begin > 0;
	chunk->arena = arena_create();
	bool made = chunk->arena && PAGES_RESERVE(sections, segments);
	if (made) {
		sections->segments[sections->segments_count++] = (struct rpm_segment){ 0 };
		chunk->status = read_chunk_lines(chunk, &window);
	} else {
		chunk->status = fail_nomem(&chunk->err);
	}
	chunk->parsed_objects = chunk->objects.count;
	/* A malformed line ends the work of others only if none of them can have an earlier one. */
	bool ends_all = chunk->status != HD_ERR_FORMAT || chunk->range.worker == 0;
	if (chunk->status != HD_OK && ends_all && chunk->range.job)
		atomic_store(&chunk->range.job->stop, true);
	mem_free(window.bytes);
}

uint64_t rpm_line_of_object(const struct rpm_chunk *chunks, size_t count, uint64_t index)
{
	uint64_t lines = 0;
	for (size_t i = 0; i < count; i++) {
		if (index >= chunks[i].parsed_objects) {
			index -= chunks[i].parsed_objects;
			lines += chunks[i].lines;
			continue;
		}
		struct rpm_chunk again = { .range = chunks[i].range, .find_object = index + 1 };
		again.range.worker = 1;
		again.range.job = NULL;
		again.range.position = 0;
		rpm_chunk_read(&again);
		bool found = again.objects.count == again.find_object;
		lines += again.lines;
		rpm_chunk_deinit(&again);
		return found ? lines : 0;
	}
	return 0;
}

void rpm_chunk_deinit(struct rpm_chunk *chunk)
{
	struct rpm_types *types = &chunk->types;
	rpm_objects_deinit(&chunk->objects);
	pages_free(chunk->roots, chunk->roots_capacity, sizeof(*chunk->roots));
	struct rpm_sections *sections = &chunk->sections;
	pages_free(sections->segments, sections->segments_capacity, sizeof(*sections->segments));
	pages_free(types->rows, types->rows_capacity, sizeof(*types->rows));
	type_table_deinit(&types->table);
	arena_destroy(chunk->arena);
	*chunk = (struct rpm_chunk){ 0 };
}
