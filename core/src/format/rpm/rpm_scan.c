/* SPDX-License-Identifier: MIT */
/* Reading a range of the text log: blocks, lines, and the fast path for plain object records. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "format/rpm/rpm_chunk.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/fuzzed.h"

#define READ_BLOCK_SIZE ((size_t)FUZZED(256 << 10, 512))

/* Value of a hexadecimal digit, plus 1; 0 for every other byte. */
static const uint8_t digit_values[256] = {
	['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* Parse 1 to 16 digits at *@p at; false for none or more.  Stops at a newline at the latest. */
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
 * The record that makes up nearly all of a file, in the form that writers give it: one blank
 * between elements, no blank at the end.
 *
 * @return behind the line's newline, or NULL: the line is not of that form, nothing is changed.
 */
static const char *fast_object(struct rpm_chunk *chunk, const char *line)
{
	const char *at = line + 1;
	uint64_t id, type_id, size;
	if (!fast_field(&at, &id) || !fast_field(&at, &type_id) || !fast_field(&at, &size))
		return NULL;
	uint64_t *refs = chunk->refs + chunk->refs_count, *next = refs;
	while (*at == ' ') {
		at++;
		if (!fast_hex(&at, next))
			return NULL;
		next++;
	}
	if (*at == '\r')
		at++;
	if (*at != '\n' || size >= SIZE_LARGE || !chunk->in_records ||
	    (size_t)(at - line) > RPM_LINE_MAX)
		return NULL;
	uint32_t type = rpm_chunk_type(chunk, type_id);
	if (type == HD_NONE)
		return NULL;
	size_t n = chunk->object_count;
	chunk->ascending = chunk->ascending && (!n || chunk->ids[n - 1] < id);
	chunk->ids[n] = id;
	chunk->types[n] = type;
	chunk->sizes[n] = (uint32_t)size;
	chunk->degrees[n] = (uint32_t)(next - refs);
	chunk->refs_count += (size_t)(next - refs);
	chunk->object_count = n + 1;
	return at + 1;
}

/* Parse the whole lines in [at, end); each ends with a newline. */
static enum hd_status parse_lines(struct rpm_chunk *chunk, const char *at, const char *end)
{
	TRY(rpm_chunk_reserve_refs(chunk, (size_t)(end - at) / 2 + 1));
	while (at < end) {
		chunk->lines++;
		if (*at == 'o' && chunk->object_count < chunk->object_capacity) {
			const char *next = fast_object(chunk, at);
			if (next) {
				at = next;
				if (chunk->object_count == chunk->find_object)
					return HD_ERR_CANCELLED;
				continue;
			}
		}
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		TRY(rpm_parse_line(chunk, at, (size_t)(newline - at)));
		if (chunk->find_object && chunk->object_count == chunk->find_object)
			return HD_ERR_CANCELLED;
		at = newline + 1;
	}
	return HD_OK;
}

/*
 * Capacity for @p count elements that fill @p capacity by now: as many as the whole range will need
 * if it goes on like this.  The first worker's arrays become those of all.
 */
static size_t extrapolate(const struct rpm_chunk *chunk, size_t count, size_t capacity)
{
	uint64_t behind = chunk->position - chunk->begin + 1;
	uint64_t all = (chunk->worker ? chunk->end : chunk->file_size) - chunk->begin;
	double scale = all > behind ? (double)all / (double)behind : 1.0;
	size_t least = grown_capacity(capacity, sizeof(uint64_t));
	size_t guess = (size_t)((double)count * scale * 1.02) + 4096;
	return guess > least ? guess : least;
}

static bool within_budget(struct rpm_chunk *chunk, size_t objects, size_t refs)
{
	size_t per_object = sizeof(*chunk->ids) + sizeof(*chunk->types) + sizeof(*chunk->sizes) +
			    sizeof(*chunk->degrees);
	return job_check_memory(chunk->job, objects * per_object + refs * sizeof(*chunk->refs),
				&chunk->err) == HD_OK;
}

static bool resize_array(void **array, size_t old_capacity, size_t capacity, size_t size)
{
	void *ptr = pages_resize(*array, old_capacity, capacity, size);
	if (ptr)
		*array = ptr;
	return ptr;
}

enum hd_status rpm_chunk_grow_objects(struct rpm_chunk *chunk)
{
	size_t old = chunk->object_capacity;
	size_t capacity = extrapolate(chunk, chunk->object_count, old);
	if (!within_budget(chunk, capacity, chunk->refs_capacity))
		return HD_ERR_NOMEM;
	if (chunk->object_count >= HD_NONE - 1)
		return fail(&chunk->err, HD_ERR_UNSUPPORTED, 0, "over 4 billion objects");
	/* On failure the arrays differ in size, so each gets the old size back. */
	struct {
		void **array;
		size_t size;
	} arrays[] = {
		{ (void **)&chunk->ids, sizeof(*chunk->ids) },
		{ (void **)&chunk->types, sizeof(*chunk->types) },
		{ (void **)&chunk->sizes, sizeof(*chunk->sizes) },
		{ (void **)&chunk->degrees, sizeof(*chunk->degrees) },
	};
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		if (resize_array(arrays[i].array, old, capacity, arrays[i].size))
			continue;
		for (size_t k = 0; k < i; k++) {
			pages_free(*arrays[k].array, capacity, arrays[k].size);
			*arrays[k].array = NULL;
		}
		for (size_t k = i; k < sizeof(arrays) / sizeof(arrays[0]); k++) {
			pages_free(*arrays[k].array, old, arrays[k].size);
			*arrays[k].array = NULL;
		}
		chunk->object_capacity = 0;
		chunk->object_count = 0;
		return fail_nomem(&chunk->err);
	}
	chunk->object_capacity = capacity;
	return HD_OK;
}

enum hd_status rpm_chunk_reserve_refs(struct rpm_chunk *chunk, size_t count)
{
	if (chunk->refs_capacity - chunk->refs_count >= count)
		return HD_OK;
	size_t capacity = extrapolate(chunk, chunk->refs_count, chunk->refs_capacity);
	if (capacity < chunk->refs_count + count)
		capacity = chunk->refs_count + count;
	if (!within_budget(chunk, chunk->object_capacity, capacity))
		return HD_ERR_NOMEM;
	if (!resize_array((void **)&chunk->refs, chunk->refs_capacity, capacity,
			  sizeof(*chunk->refs)))
		return fail_nomem(&chunk->err);
	chunk->refs_capacity = capacity;
	return HD_OK;
}

/* A growing window on the file. */
struct line_window {
	char *bytes;
	size_t used, capacity;
	uint64_t offset; /* in the file, of bytes[0] */
	size_t searched; /* no newline before here */
};

static enum hd_status shrank(struct rpm_chunk *chunk)
{
	errno = ENODATA;
	return fail(&chunk->err, HD_ERR_OS, 0, "%s: the file shrank while it was read",
		    chunk->path);
}

/* Read up to READ_BLOCK_SIZE more bytes behind what is there. */
static enum hd_status read_more(struct rpm_chunk *chunk, struct line_window *window)
{
	uint64_t left = chunk->file_size - window->offset - window->used;
	size_t want = left < READ_BLOCK_SIZE ? (size_t)left : READ_BLOCK_SIZE;
	if (window->capacity - window->used < want + 1) {
		size_t capacity = window->capacity + window->capacity / 2 + want + 1;
		char *bytes = mem_realloc(window->bytes, capacity, 1);
		if (!bytes)
			return fail_nomem(&chunk->err);
		window->bytes = bytes;
		window->capacity = capacity;
	}
	ssize_t got;
	do {
		got = pread(chunk->fd, window->bytes + window->used, want,
			    (off_t)(window->offset + window->used));
	} while (got < 0 && errno == EINTR);
	if (got < 0) {
		return fail(&chunk->err, HD_ERR_OS, 0, "%s: cannot read: %s", chunk->path,
			    strerrordesc_np(errno));
	}
	if (got == 0)
		return shrank(chunk);
	window->used += (size_t)got;
	return HD_OK;
}

static void drop_parsed(struct line_window *window, size_t size)
{
	memmove(window->bytes, window->bytes + size, window->used - size);
	window->used -= size;
	window->offset += size;
	window->searched = window->searched > size ? window->searched - size : 0;
}

/* A line without end: report it, then skip to behind its newline (or the end of the file). */
static enum hd_status skip_long_line(struct rpm_chunk *chunk, struct line_window *window,
				     size_t limit)
{
	chunk->lines++;
	if (!rpm_problem_long_line(chunk, limit))
		return HD_ERR_FORMAT;
	for (;;) {
		const char *newline = memchr(window->bytes, '\n', window->used);
		if (newline) {
			drop_parsed(window, (size_t)(newline - window->bytes) + 1);
			return HD_OK;
		}
		drop_parsed(window, window->used);
		if (window->offset >= chunk->file_size)
			return HD_OK;
		TRY(read_more(chunk, window));
		if (!job_step(chunk->job, chunk->worker, READ_BLOCK_SIZE))
			return fail_cancelled(&chunk->err);
	}
}

/* How many bytes of the window are whole lines that begin before chunk->end. */
static size_t whole_lines(const struct rpm_chunk *chunk, struct line_window *window)
{
	size_t limit = window->used;
	if (window->offset + limit > chunk->end) {
		/* The last line of the range ends at the first newline at or behind end - 1. */
		size_t from = (size_t)(chunk->end - 1 - window->offset);
		if (from < window->searched)
			from = window->searched;
		const char *newline = memchr(window->bytes + from, '\n', limit - from);
		if (newline)
			return (size_t)(newline - window->bytes) + 1;
	}
	const char *newline =
		memrchr(window->bytes + window->searched, '\n', limit - window->searched);
	/* A line of many blocks is searched once, not once for each block. */
	if (!newline)
		window->searched = limit;
	return newline ? (size_t)(newline - window->bytes) + 1 : 0;
}

/* Find where the first line that begins at or behind chunk->begin begins. */
static enum hd_status find_first_line(struct rpm_chunk *chunk, struct line_window *window)
{
	if (chunk->begin == 0)
		return HD_OK;
	window->offset = chunk->begin - 1;
	for (;;) {
		const char *newline =
			window->used ? memchr(window->bytes, '\n', window->used) : NULL;
		if (newline) {
			drop_parsed(window, (size_t)(newline - window->bytes) + 1);
			return HD_OK;
		}
		if (window->used)
			drop_parsed(window, window->used);
		if (window->offset >= chunk->file_size)
			return HD_OK;
		TRY(read_more(chunk, window));
		if (!job_step(chunk->job, chunk->worker, 0))
			return fail_cancelled(&chunk->err);
	}
}

static enum hd_status parse_last_line(struct rpm_chunk *chunk, struct line_window *window)
{
	if (!window->bytes)
		return HD_OK;
	window->bytes[window->used] = '\n';
	return parse_lines(chunk, window->bytes, window->bytes + window->used + 1);
}

static enum hd_status read_chunk_lines(struct rpm_chunk *chunk, struct line_window *window)
{
	TRY(find_first_line(chunk, window));
	while (window->offset < chunk->end) {
		bool at_end = window->offset + window->used >= chunk->file_size;
		size_t whole = window->used ? whole_lines(chunk, window) : 0;
		chunk->position = window->offset + window->used;
		if (whole) {
			TRY(parse_lines(chunk, window->bytes, window->bytes + whole));
			drop_parsed(window, whole);
			if (!job_step(chunk->job, chunk->worker, whole))
				return fail_cancelled(&chunk->err);
		} else if (window->used > RPM_LINE_MAX &&
			   window->used > rpm_line_max(chunk, window->bytes, window->used)) {
			TRY(skip_long_line(chunk, window,
					   rpm_line_max(chunk, window->bytes, window->used)));
		} else if (at_end) {
			return parse_last_line(chunk, window);
		} else {
			TRY(read_more(chunk, window));
		}
	}
	return HD_OK;
}

void rpm_chunk_read(struct rpm_chunk *chunk)
{
	struct line_window window = { 0 };
	chunk->ascending = true;
	/* A later chunk's first line may continue a section; the merge knows whether one is open. */
	chunk->in_section = chunk->begin > 0;
	chunk->arena = arena_create();
	bool made = chunk->arena && PAGES_RESERVE(chunk, segments);
	if (made) {
		chunk->segments[chunk->segments_count++] = (struct rpm_segment){ 0 };
		chunk->status = read_chunk_lines(chunk, &window);
	} else {
		chunk->status = fail_nomem(&chunk->err);
	}
	chunk->parsed_objects = chunk->object_count;
	/* A malformed line ends the work of others only when none of them can hold an earlier one. */
	bool ends_all = chunk->status != HD_ERR_FORMAT || chunk->worker == 0;
	if (chunk->status != HD_OK && ends_all && chunk->job)
		atomic_store(&chunk->job->stop, true);
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
		struct rpm_chunk again = { .fd = chunks[i].fd,
					   .path = chunks[i].path,
					   .begin = chunks[i].begin,
					   .end = chunks[i].end,
					   .file_size = chunks[i].file_size,
					   .lenient = chunks[i].lenient,
					   .worker = 1,
					   .find_object = index + 1 };
		rpm_chunk_read(&again);
		bool found = again.object_count == again.find_object;
		lines += again.lines;
		rpm_chunk_deinit(&again);
		return found ? lines : 0;
	}
	return 0;
}

void rpm_chunk_deinit(struct rpm_chunk *chunk)
{
	pages_free(chunk->ids, chunk->object_capacity, sizeof(*chunk->ids));
	pages_free(chunk->types, chunk->object_capacity, sizeof(*chunk->types));
	pages_free(chunk->sizes, chunk->object_capacity, sizeof(*chunk->sizes));
	pages_free(chunk->degrees, chunk->object_capacity, sizeof(*chunk->degrees));
	pages_free(chunk->refs, chunk->refs_capacity, sizeof(*chunk->refs));
	pages_free(chunk->large, chunk->large_capacity, sizeof(*chunk->large));
	pages_free(chunk->roots, chunk->roots_capacity, sizeof(*chunk->roots));
	pages_free(chunk->segments, chunk->segments_capacity, sizeof(*chunk->segments));
	pages_free(chunk->type, chunk->type_capacity, sizeof(*chunk->type));
	type_table_deinit(&chunk->table);
	arena_destroy(chunk->arena);
	*chunk = (struct rpm_chunk){ 0 };
}
