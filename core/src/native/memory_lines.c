/* SPDX-License-Identifier: MIT */
#include "native/memory_lines.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

/* How lines are ordered. */
struct line_order {
	bool is_live, is_compared, by_owner;
};

static int compare_owners(const char *left, const char *right)
{
	if (!left || !right)
		return (left != NULL) - (right != NULL);
	return strcmp(left, right);
}

/* Lines that are one come together. */
static int compare_line_names(const void *a, const void *b)
{
	const struct memory_line *left = a, *right = b;
	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	int order = compare_owners(left->owner, right->owner);
	return order ? order : (left->place > right->place) - (left->place < right->place);
}

/* A line with a larger weight comes before others of its kind. */
static int64_t line_weight(const struct line_order *order, const struct memory_line *line)
{
	int64_t change = line->now - line->before;
	if (order->is_compared)
		return change < 0 ? -change : change;
	return order->is_live ? line->bytes.resident : (int64_t)line->bytes.captured;
}

static int compare_lines(const void *a, const void *b, void *arg)
{
	const struct line_order *order = arg;
	const struct memory_line *left = a, *right = b;
	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	int64_t mine = line_weight(order, left), other = line_weight(order, right);
	if (order->by_owner && mine != other)
		return mine > other ? -1 : 1;
	return (left->place > right->place) - (left->place < right->place);
}

static void add_line_rows(struct memory_lines *lines, const struct memory_account *account,
			  bool is_before, bool by_owner)
{
	for (size_t i = 0; i < account->rows_count; i++) {
		const struct memory_row *row = &account->rows[i];
		struct memory_line *line = &lines->rows[lines->count];
		int64_t used = memory_bytes_used(account, &row->bytes);
		*line = (struct memory_line){ .kind = row->kind,
					      .place = (uint32_t)lines->count++,
					      .owner = by_owner ? row->owner : NULL };
		if (is_before) {
			line->before = used;
		} else {
			line->now = used;
			line->bytes = row->bytes;
		}
	}
}

/* Make one of those that have the same kind and owner. */
static void merge_lines(struct memory_lines *lines)
{
	size_t kept = 0;
	qsort(lines->rows, lines->count, sizeof(*lines->rows), compare_line_names);
	for (size_t i = 0; i < lines->count; i++) {
		const struct memory_line *line = &lines->rows[i];
		struct memory_line *last = kept ? &lines->rows[kept - 1] : NULL;
		if (last && last->kind == line->kind &&
		    compare_owners(last->owner, line->owner) == 0) {
			memory_bytes_add(&last->bytes, &line->bytes);
			last->now += line->now;
			last->before += line->before;
		} else {
			lines->rows[kept++] = *line;
		}
	}
	lines->count = kept;
}

static bool is_empty_line(const struct memory_line *line)
{
	const struct memory_bytes *bytes = &line->bytes;
	return !bytes->addresses && !bytes->resident && !bytes->pss && !bytes->swap &&
	       !line->before;
}

static void leave_out_empty(struct memory_lines *lines)
{
	size_t kept = 0;
	for (size_t i = 0; i < lines->count; i++) {
		if (!is_empty_line(&lines->rows[i]))
			lines->rows[kept++] = lines->rows[i];
	}
	lines->count = kept;
}

enum hd_status memory_lines_make(const struct memory_account *now,
				 const struct memory_account *before, bool by_owner,
				 struct memory_lines *ret, struct hd_error *err)
{
	struct line_order order = { .is_live = now->is_live,
				    .is_compared = before != NULL,
				    .by_owner = by_owner };
	size_t most = now->rows_count + (before ? before->rows_count : 0);
	struct memory_lines lines = { .rows = mem_alloc(most ? most : 1, sizeof(*lines.rows)) };
	TRY_MEMORY(lines.rows, err);
	add_line_rows(&lines, now, false, by_owner);
	if (before)
		add_line_rows(&lines, before, true, by_owner);
	/* A single account with all owners has one row for each line already. */
	if (before || !by_owner)
		merge_lines(&lines);
	leave_out_empty(&lines);
	qsort_r(lines.rows, lines.count, sizeof(*lines.rows), compare_lines, &order);
	*ret = lines;
	return HD_OK;
}

void memory_lines_deinit(struct memory_lines *lines)
{
	mem_free(lines->rows);
	*lines = (struct memory_lines){ 0 };
}
