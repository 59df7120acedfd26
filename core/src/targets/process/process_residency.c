/* SPDX-License-Identifier: MIT */
/*
 * Finds which part of a process is in memory: smaps, and the pages that are there (doc/memory.md
 * 1.3).
 */
#include "targets/process/process_residency.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

/* Mappings with less between them are asked about together. */
#define GAP_MAX ((uint64_t)1 << 24)

/* Values of a mapping: "Rss:                 8 kB". */
static const struct {
	const char *name;
	size_t offset;
} fields[] = {
	{ "Rss:", offsetof(struct residency_row, rss) },
	{ "Pss:", offsetof(struct residency_row, pss) },
	{ "Swap:", offsetof(struct residency_row, swap) },
	{ "Private_Dirty:", offsetof(struct residency_row, dirty) },
};

static void take_value(struct residency_row *row, const char *line, size_t length)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		size_t size = strlen(fields[i].name);
		if (length <= size || memcmp(line, fields[i].name, size) != 0)
			continue;
		uint64_t value = 0;
		for (const char *at = line + size; at < line + length; at++) {
			if (*at >= '0' && *at <= '9' && value < UINT64_MAX >> 14)
				value = value * 10 + (uint64_t)(*at - '0');
		}
		memcpy((char *)row + fields[i].offset, &(uint64_t){ value << 10 }, sizeof(value));
	}
}

/* The first line of a mapping begins with its address; those of its values with a capital letter. */
static bool is_first_line(const char *line)
{
	return (*line >= '0' && *line <= '9') || (*line >= 'a' && *line <= 'f');
}

static bool add_residency_row(struct process_residency *ret, const char *line, size_t length)
{
	struct residency_row row = { 0 };
	HD_FREE char *copy = mem_strndup(line, length);
	bool good = copy != NULL;
	const struct residency_row *last = ret->rows_count ? &ret->rows[ret->rows_count - 1] : NULL;
	if (good && proc_map_parse(copy, &row.map) && (!last || row.map.start >= last->map.end)) {
		row.map.path = mem_strndup(row.map.path, strlen(row.map.path));
		good = row.map.path && PAGES_RESERVE(ret, rows) && ret->rows;
		if (good) {
			ret->rows[ret->rows_count++] = row;
		} else {
			mem_free(row.map.path);
		}
	}
	return good;
}

bool process_residency_parse(const char *text, size_t size, struct process_residency *ret)
{
	bool is_taken = false; /* the mapping that values follow */
	for (size_t at = 0; at < size;) {
		const char *line = text + at, *end = memchr(line, '\n', size - at);
		size_t length = end ? (size_t)(end - line) : size - at;
		if (is_first_line(line)) {
			size_t before = ret->rows_count;
			if (!add_residency_row(ret, line, length))
				return false;
			is_taken = ret->rows_count > before;
		} else if (is_taken) {
			take_value(&ret->rows[ret->rows_count - 1], line, length);
		}
		at += length + 1;
	}
	return true;
}

/* The pages of [start, end); *@p ret is false if the kernel does not tell. */
static enum hd_status add_pages(struct process_server *server, struct process_residency *residency,
				uint64_t start, uint64_t end, bool *ret, struct hd_error *err)
{
	while (start < end && *ret) {
		struct server_pages_found found;
		enum hd_status status = process_server_pages(server, SERVER_PAGES_RESIDENT, start,
							     end, &found, err);
		*ret = status != HD_ERR_NOTFOUND;
		if (!*ret)
			return HD_OK;
		TRY(status);
		for (size_t i = 0; i < found.count; i++) {
			/* They are used as a list that ascends. */
			if (found.rows[i].start < start ||
			    found.rows[i].end <= found.rows[i].start ||
			    found.rows[i].end > found.end)
				continue;
			start = found.rows[i].end;
			TRY_MEMORY(PAGES_RESERVE(residency, pages), err);
			residency->pages[residency->pages_count++] = found.rows[i];
		}
		start = found.end;
	}
	return HD_OK;
}

static enum hd_status read_resident_pages(struct process_server *server,
					  struct process_residency *residency, struct hd_error *err)
{
	residency->has_pages = true;
	uint64_t start = 0, end = 0;
	for (size_t i = 0; i < residency->rows_count && residency->has_pages; i++) {
		const struct residency_row *row = &residency->rows[i];
		/* The guard page between two stacks does not part them. */
		if (!row->rss && !row->swap)
			continue;
		if (row->map.start - end > GAP_MAX) {
			TRY(add_pages(server, residency, start, end, &residency->has_pages, err));
			start = row->map.start;
		}
		end = row->map.end;
	}
	return add_pages(server, residency, start, end, &residency->has_pages, err);
}

static enum hd_status fill_residency(struct process_server *server,
				     struct process_residency *residency, struct hd_error *err)
{
	HD_CLEANUP(text) struct text text = { 0 };
	TRY(process_server_file(server, SERVER_FILE_SMAPS, &text, err));
	TRY_MEMORY(process_residency_parse(text.bytes, text.size, residency), err);
	return read_resident_pages(server, residency, err);
}

enum hd_status process_residency_read(struct process_server *server, struct process_residency **ret,
				      struct hd_error *err)
{
	struct process_residency *residency = mem_calloc(1, sizeof(*residency));
	TRY_MEMORY(residency, err);
	residency->has_group =
		cgroup_memory_read("", process_server_pid(server), &residency->group);
	enum hd_status status = fill_residency(server, residency, err);
	if (status != HD_OK) {
		process_residency_destroy(residency);
		return status;
	}
	*ret = residency;
	return HD_OK;
}

void process_residency_destroy(struct process_residency *residency)
{
	if (!residency)
		return;
	for (size_t i = 0; i < residency->rows_count; i++)
		mem_free(residency->rows[i].map.path);
	pages_free(residency->rows, residency->rows_capacity, sizeof(*residency->rows));
	pages_free(residency->pages, residency->pages_capacity, sizeof(*residency->pages));
	if (residency->has_group)
		cgroup_memory_deinit(&residency->group);
	mem_free(residency);
}
