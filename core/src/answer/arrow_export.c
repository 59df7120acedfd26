/* SPDX-License-Identifier: MIT */
#include "answer/arrow_export.h"

#include "util/alloc.h"

/* The private data of a schema: its texts, and room for its children. */
struct schema_room {
	char *texts;
	struct ArrowSchema **pointers;
	struct ArrowSchema children[];
};

static void release_schema(struct ArrowSchema *schema)
{
	struct schema_room *room = schema->private_data;
	for (int64_t i = 0; i < schema->n_children; i++) {
		struct ArrowSchema *child = schema->children[i];
		if (child->release)
			child->release(child);
	}
	mem_free(room->texts);
	mem_free(room->pointers);
	mem_free(room);
	schema->release = NULL;
}

static void put_int32(struct text *text, size_t value)
{
	int32_t number = (int32_t)value;
	text_append(text, (const char *)&number, sizeof(number));
}

static void put_sized(struct text *text, const char *value)
{
	put_int32(text, strlen(value));
	text_puts(text, value);
}

/* In the order of bytes of this machine: the number of pairs, and of each the key and the value. */
static void put_metadata(struct text *text, const struct arrow_metadata *metadata)
{
	size_t count = 0;
	while (metadata[count].key)
		count++;
	put_int32(text, count);
	for (size_t i = 0; i < count; i++) {
		put_sized(text, metadata[i].key);
		put_sized(text, metadata[i].value);
	}
}

bool arrow_schema_make(const char *format, const char *name, const struct arrow_metadata *metadata,
		       size_t children, struct ArrowSchema *ret)
{
	struct schema_room *room =
		mem_calloc(1, sizeof(*room) + children * sizeof(struct ArrowSchema));
	struct ArrowSchema **pointers = mem_calloc(children + 1, sizeof(struct ArrowSchema *));
	struct text texts = { 0 };
	put_metadata(&texts, metadata);
	size_t name_at = texts.size;
	text_append(&texts, name, strlen(name) + 1);
	if (!room || !pointers || texts.failed) {
		text_deinit(&texts);
		mem_free(pointers);
		mem_free(room);
		return false;
	}
	for (size_t i = 0; i < children; i++)
		pointers[i] = &room->children[i];
	room->texts = texts.bytes;
	room->pointers = pointers;
	*ret = (struct ArrowSchema){
		.format = format,
		.name = texts.bytes + name_at,
		.metadata = texts.bytes,
		.flags = children ? 0 : ARROW_FLAG_NULLABLE,
		.n_children = (int64_t)children,
		.children = children ? pointers : NULL,
		.release = release_schema,
		.private_data = room,
	};
	return true;
}

const char *arrow_format(enum column_type type)
{
	static const char *const formats[] = {
		[COLUMN_NULL] = "n",     [COLUMN_BOOL] = "b", [COLUMN_SIGNED] = "l",
		[COLUMN_UNSIGNED] = "L", [COLUMN_REAL] = "g", [COLUMN_TEXT] = "u",
	};
	return formats[type];
}

/* The buffers of an array: validity, values or ends, text. */
#define BUFFERS_MAX 3

struct array_room {
	const void *buffers[BUFFERS_MAX];
	void *owned[BUFFERS_MAX];
};

static void release_column(struct ArrowArray *array)
{
	struct array_room *room = array->private_data;
	for (size_t i = 0; i < BUFFERS_MAX; i++)
		mem_free(room->owned[i]);
	mem_free(room);
	array->release = NULL;
}

struct batch_room {
	const void *buffers[1]; /* a struct that is never null has no validity */
	struct ArrowArray **pointers;
	struct ArrowArray children[];
};

static void release_batch(struct ArrowArray *array)
{
	struct batch_room *room = array->private_data;
	for (int64_t i = 0; i < array->n_children; i++) {
		struct ArrowArray *child = array->children[i];
		if (child->release)
			child->release(child);
	}
	mem_free(room->pointers);
	mem_free(room);
	array->release = NULL;
}

/* A bit for each word, in their place: the bits of a row are written after its word was read. */
static void pack_flags(uint64_t *words, uint32_t rows)
{
	uint8_t *bytes = (uint8_t *)words;
	for (uint32_t i = 0; i < rows; i += 8) {
		uint8_t byte = 0;
		for (uint32_t bit = 0; bit < 8 && i + bit < rows; bit++)
			byte |= (uint8_t)((words[i + bit] & 1u) << bit);
		bytes[i / 8] = byte;
	}
}

static void take_column(struct chunk_column *column, enum column_type type, uint32_t rows,
			struct array_room *room, struct ArrowArray *ret)
{
	static const char nothing[8] = { 0 };
	bool is_null = type == COLUMN_NULL, is_text = type == COLUMN_TEXT;
	if (type == COLUMN_BOOL)
		pack_flags(column->words, rows);
	*room = (struct array_room){ .owned = { column->validity } };
	room->owned[1] = is_text ? (void *)column->ends : column->words;
	room->owned[2] = column->text.bytes;
	column->text = (struct text){ 0 };
	if (is_text) {
		column->ends = NULL;
	} else {
		column->words = NULL;
	}
	column->validity = NULL;
	room->buffers[0] = column->null_count ? room->owned[0] : NULL;
	room->buffers[1] = room->owned[1];
	room->buffers[2] = room->owned[2] ? room->owned[2] : nothing;
	*ret = (struct ArrowArray){
		.length = rows,
		.null_count = column->null_count,
		.n_buffers = is_null   ? 0
			     : is_text ? 3
				       : 2,
		.buffers = is_null ? NULL : room->buffers,
		.release = release_column,
		.private_data = room,
	};
}

/* Memory for the columns; false when it is exhausted. */
static bool make_rooms(struct array_room **rooms, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		rooms[i] = mem_alloc(1, sizeof(**rooms));
		if (!rooms[i])
			return false;
	}
	return true;
}

bool arrow_batch_make(struct chunk *chunk, const enum column_type *types, struct ArrowArray *ret)
{
	uint32_t count = chunk->count;
	struct batch_room *batch =
		mem_calloc(1, sizeof(*batch) + count * sizeof(struct ArrowArray));
	struct ArrowArray **pointers = mem_calloc((size_t)count + 1, sizeof(struct ArrowArray *));
	struct array_room **rooms = mem_calloc((size_t)count + 1, sizeof(struct array_room *));
	if (!batch || !pointers || !rooms || !make_rooms(rooms, count)) {
		for (uint32_t i = 0; rooms && i < count; i++)
			mem_free(rooms[i]);
		mem_free(rooms);
		mem_free(pointers);
		mem_free(batch);
		return false;
	}
	batch->pointers = pointers;
	for (uint32_t i = 0; i < count; i++) {
		pointers[i] = &batch->children[i];
		take_column(&chunk->columns[i], types[i], chunk->rows, rooms[i], pointers[i]);
	}
	*ret = (struct ArrowArray){
		.length = chunk->rows,
		.n_buffers = 1,
		.buffers = batch->buffers,
		.n_children = count,
		.children = pointers,
		.release = release_batch,
		.private_data = batch,
	};
	mem_free(rooms);
	chunk_destroy(chunk);
	return true;
}
