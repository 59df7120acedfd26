/* SPDX-License-Identifier: MIT */
#include "analysis/heap/exception_counts.h"

#include <stdlib.h>

#include "framework/exception_trace.h"
#include "util/alloc.h"

/* The answer about a type, which is remembered. */
enum {
	KIND_NOT_ASKED,
	KIND_EXCEPTION,
	KIND_ANOTHER
};

/* The exception that is added, and the rows that it is compared with. */
struct exception_key {
	const struct exception_counts *counts;
	struct exception_count row; /* its texts are in counts->message and counts->remote */
	struct exception_frame frames[EXCEPTION_FRAMES_MAX];
};

void exception_counts_deinit(struct exception_counts *counts)
{
	for (size_t i = 0; i < counts->rows_count; i++) {
		mem_free(counts->rows[i].message.bytes);
		mem_free(counts->rows[i].remote.bytes);
		mem_free(counts->rows[i].frames);
	}
	pages_free(counts->rows, counts->rows_capacity, sizeof(*counts->rows));
	hash_index_deinit(&counts->index);
	type_kinds_deinit(&counts->kinds);
	text_deinit(&counts->message);
	text_deinit(&counts->remote);
	*counts = (struct exception_counts){ 0 };
}

/* The field of System.Exception itself: a derived class may have one of the same name. */
static uint64_t exception_word(struct exception_counts *counts, const struct object *object,
			       enum fact fact)
{
	return fact_of_struct(counts->members, counts->base, object->address + OBJECT_FIELDS, fact)
		.bits;
}

/* A string of the exception, in @p buffer; of a longer one, its first @p max units. */
static struct exception_text read_text(struct exception_counts *counts, const struct object *object,
				       enum fact fact, uint32_t max, struct text *buffer)
{
	struct exception_text text = { 0 };
	uint64_t address = exception_word(counts, object, fact);
	uint32_t length = 0;
	buffer->size = 0;
	if (!address)
		return text;
	if (!string_value(counts->heap, address, max, buffer, &length)) {
		buffer->size = 0;
		text.is_lost = true;
		return text;
	}
	text.size = buffer->size;
	/* An empty text is not null. */
	char *room = buffer->bytes ? NULL : text_extend_more(buffer, 1);
	if (room)
		*room = ' ';
	text.bytes = buffer->bytes;
	text.is_cut = length > max;
	return text;
}

static void read_frames(struct exception_counts *counts, const struct object *object,
			struct exception_key *key)
{
	struct exception_info info = {
		.address = object->address,
		.stack_trace_array = exception_trace_of(counts->members, object, counts->base),
	};
	struct exception_frame more;
	uint32_t count = 0;
	while (info.stack_trace_array && count < EXCEPTION_FRAMES_MAX &&
	       exception_frame_at(counts->heap, &info, count, &key->frames[count])) {
		/* Where the stack was does not matter. */
		key->frames[count++].sp = 0;
	}
	key->row.frames_count = count;
	key->row.is_stack_cut = count == EXCEPTION_FRAMES_MAX
					? exception_frame_at(counts->heap, &info, count, &more)
					: exception_frames_lost(counts->heap, &info, count);
}

static bool is_same_exception_frame(const struct exception_frame *a,
				    const struct exception_frame *b)
{
	return a->method_desc == b->method_desc && a->ip == b->ip;
}

static bool is_same_text(const struct exception_text *a, const struct exception_text *b)
{
	return !a->bytes == !b->bytes && a->size == b->size && a->is_lost == b->is_lost &&
	       a->is_cut == b->is_cut && (!a->bytes || memcmp(a->bytes, b->bytes, a->size) == 0);
}

static bool is_same_exception(const void *arg, uint32_t index)
{
	const struct exception_key *key = arg;
	const struct exception_count *a = &key->row, *b = &key->counts->rows[index];
	if (a->type != b->type || a->frames_count != b->frames_count ||
	    a->is_stack_cut != b->is_stack_cut || !is_same_text(&a->message, &b->message) ||
	    !is_same_text(&a->remote, &b->remote))
		return false;
	for (uint32_t i = 0; i < a->frames_count; i++) {
		if (!is_same_exception_frame(&key->frames[i], &b->frames[i]))
			return false;
	}
	return true;
}

static uint64_t hash_of_text(const struct exception_text *text)
{
	uint64_t hash = 0;
	for (size_t i = 0; i < text->size; i++)
		hash = hash * 31 + (unsigned char)text->bytes[i];
	return hash;
}

static uint64_t hash_of_exception(const struct exception_key *key)
{
	uint64_t hash = hash_mix(0, key->row.type->index);
	hash = hash_mix(hash, hash_of_text(&key->row.message));
	hash = hash_mix(hash, hash_of_text(&key->row.remote));
	for (uint32_t i = 0; i < key->row.frames_count; i++)
		hash = hash_mix(hash_mix(hash, key->frames[i].method_desc), key->frames[i].ip);
	return hash;
}

/* A copy of the text; false when memory is exhausted. */
static bool copy_text(struct exception_text *text)
{
	const char *bytes = text->bytes;
	text->bytes = bytes ? mem_strndup(bytes, text->size) : NULL;
	return !bytes || text->bytes;
}

/* A row of its own, with copies of what the key has. */
static enum hd_status append_exception_row(struct exception_counts *counts,
					   const struct exception_key *key, struct hd_error *err)
{
	struct exception_count row = key->row;
	size_t size = row.frames_count * sizeof(*row.frames);
	bool is_copied = copy_text(&row.message);
	is_copied &= copy_text(&row.remote);
	if (row.frames_count)
		row.frames = mem_alloc(row.frames_count, sizeof(*row.frames));
	if (!is_copied || (row.frames_count && !row.frames) || !PAGES_RESERVE(counts, rows)) {
		mem_free(row.message.bytes);
		mem_free(row.remote.bytes);
		mem_free(row.frames);
		return fail_nomem(err);
	}
	if (size)
		memcpy(row.frames, key->frames, size);
	counts->rows[counts->rows_count++] = row;
	counts->bytes += row.message.size + row.remote.size + size + sizeof(row);
	return HD_OK;
}

enum hd_status exception_counts_add(struct exception_counts *counts, const struct object *object,
				    struct hd_error *err)
{
	uint8_t *kind = type_kinds_at(&counts->kinds, object->type);
	TRY_MEMORY(kind, err);
	if (*kind == KIND_NOT_ASKED) {
		bool is_exception = type_is_exception(counts->heap->runtime, object->type);
		*kind = is_exception ? KIND_EXCEPTION : KIND_ANOTHER;
		if (is_exception && !counts->base)
			counts->base = type_exception_base(counts->heap->runtime, object->type);
	}
	if (*kind != KIND_EXCEPTION)
		return HD_OK;
	struct exception_key key = {
		.counts = counts,
		.row = { .type = object->type, .first = object->address },
	};
	key.row.message = read_text(counts, object, FACT_EXCEPTION_MESSAGE, EXCEPTION_MESSAGE_MAX,
				    &counts->message);
	key.row.remote = read_text(counts, object, FACT_EXCEPTION_REMOTE_TRACE,
				   EXCEPTION_REMOTE_MAX, &counts->remote);
	read_frames(counts, object, &key);
	if (counts->message.failed || counts->remote.failed)
		return fail_nomem(err);
	uint32_t row = hash_index_add(&counts->index, hash_of_exception(&key),
				      (uint32_t)counts->rows_count, is_same_exception, &key);
	if (row == UINT32_MAX)
		return fail_nomem(err);
	if (row == counts->rows_count)
		TRY(append_exception_row(counts, &key, err));
	counts->rows[row].count++;
	counts->total++;
	return HD_OK;
}

static int compare_exception_counts(const void *left, const void *right)
{
	const struct exception_count *a = left, *b = right;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

void exception_counts_sort(struct exception_counts *counts)
{
	if (counts->rows_count) {
		qsort(counts->rows, counts->rows_count, sizeof(*counts->rows),
		      compare_exception_counts);
	}
}
