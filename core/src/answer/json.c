/* SPDX-License-Identifier: MIT */
/* Answers as JSON: a table is an array of objects, a record an object; also one row a line (NDJSON). */
#include <stdio.h>

#include "answer/answer.h"

/* The names of a set, as an array. */
static void write_set(struct json *json, const char *key, const struct cell *cell)
{
	json_array(json, key);
	for (size_t i = 0; cell->set.names[i]; i++) {
		if (cell->set.bits >> i & 1)
			json_string(json, NULL, cell->set.names[i]);
	}
	json_end(json);
}

static void write_value(struct json *json, const char *key, enum cell_kind kind,
			const struct cell *cell)
{
	if (!cell->is_there) {
		json_null(json, key);
		return;
	}
	if (kind == KIND_ANY)
		kind = (enum cell_kind)cell->kind;
	switch (kind) {
	case KIND_FLAG:
		json_bool(json, key, cell->flag);
		break;
	case KIND_NUMBER:
	case KIND_BYTES:
		json_number(json, key, cell->number);
		break;
	case KIND_SIGNED:
		json_signed(json, key, cell->signed_number);
		break;
	case KIND_PERCENT:
	case KIND_REAL:
	case KIND_SINGLE:
		json_real(json, key, cell->real, kind == KIND_SINGLE);
		break;
	case KIND_ADDRESS:
		json_address(json, key, cell->number);
		break;
	case KIND_TEXT:
	case KIND_TYPE:
		json_text(json, key, cell->text.bytes, cell->text.size);
		break;
	case KIND_SET:
		write_set(json, key, cell);
		break;
	case KIND_ANY:
		break;
	}
}

/* Bytes of the name of the object around a member, as in "context.limit"; 0: none. */
static size_t group_size(const char *name)
{
	const char *point = strchr(name, '.');
	return point ? (size_t)(point - name) : 0;
}

/* Go from the object of the last member to that of the next. */
static size_t change_group(struct json *json, const char *open, size_t open_size, const char *name)
{
	size_t size = name ? group_size(name) : 0;
	if (open_size && (size != open_size || memcmp(open, name, size) != 0)) {
		json_end(json);
		open_size = 0;
	}
	if (size && !open_size) {
		char key[64];
		(void)snprintf(key, sizeof(key), "%.*s", (int)size, name);
		json_object(json, key);
	}
	return size;
}

static bool has_groups(const struct schema *schema)
{
	for (size_t i = 0; i < schema->count; i++) {
		if (schema->columns[i].name && group_size(schema->columns[i].name))
			return true;
	}
	return false;
}

/* How many columns from @p i on are members of one object of which none is there, so that it is null. */
static size_t absent_group(const struct schema *schema, const struct cell *cells, size_t i)
{
	const char *name = schema->columns[i].name;
	size_t size = group_size(name), count = 0;
	if (!(schema->columns[i].look & LOOK_WHOLE))
		return 0;
	for (; i + count < schema->count; count++) {
		const char *next = schema->columns[i + count].name;
		if (!next || strncmp(next, name, size + 1) != 0)
			break;
		if (cells[i + count].is_there)
			return 0;
	}
	return count;
}

static void write_null_group(struct json *json, const char *name)
{
	char key[64];
	(void)snprintf(key, sizeof(key), "%.*s", (int)group_size(name), name);
	json_null(json, key);
}

static void write_members(struct json *json, const struct schema *schema, const struct cell *cells,
			  bool groups)
{
	const char *last = NULL;
	size_t group = 0;
	for (size_t i = 0; i < schema->count; i++) {
		const struct column *column = &schema->columns[i];
		bool is_shown =
			cells[i].is_there || cells[i].is_null || !(column->look & LOOK_LEAVE_OUT);
		if (!column->name || !is_shown)
			continue;
		size_t absent = absent_group(schema, cells, i);
		if (groups)
			group = change_group(json, last, group, absent ? NULL : column->name);
		if (absent) {
			write_null_group(json, column->name);
			i += absent - 1;
			continue;
		}
		last = column->name;
		write_value(json, group ? column->name + group + 1 : column->name, column->kind,
			    &cells[i]);
	}
	if (group)
		(void)change_group(json, last, group, NULL);
}

static void begin_table(struct answer *answer)
{
	struct answer_level *level = &answer->levels[answer->depth - 1];
	level->has_groups = has_groups(level->schema);
	json_array(answer->json, level->schema->name);
}

static void end_table(struct answer *answer)
{
	json_end(answer->json);
}

static void write_row(struct answer *answer, const struct cell *cells)
{
	const struct answer_level *level = &answer->levels[answer->depth - 1];
	if (level->schema->is_list && !level->is_in_row) {
		write_value(answer->json, NULL, level->schema->columns[0].kind, &cells[0]);
		return;
	}
	json_object(answer->json, NULL);
	write_members(answer->json, level->schema, cells, level->has_groups);
	if (!level->is_in_row)
		json_end(answer->json);
}

static void end_row(struct answer *answer)
{
	json_end(answer->json);
}

static void begin_record(struct answer *answer, const struct schema *schema,
			 const struct cell *cells)
{
	json_object(answer->json, schema->name);
	write_members(answer->json, schema, cells, has_groups(schema));
}

static void write_record(struct answer *answer, const struct schema *schema,
			 const struct cell *cells)
{
	if (schema->name)
		json_object(answer->json, schema->name);
	write_members(answer->json, schema, cells, has_groups(schema));
	if (schema->name)
		json_end(answer->json);
}

static void write_list(struct answer *answer, const char *name, const char *const *items,
		       size_t count)
{
	json_array(answer->json, name);
	for (size_t i = 0; i < count; i++)
		json_string(answer->json, NULL, items[i]);
	json_end(answer->json);
}

static void write_none(struct answer *answer, const char *name)
{
	json_null(answer->json, name);
}

static void begin_object(struct answer *answer, const char *name)
{
	json_object(answer->json, name);
}

static void end_object(struct answer *answer)
{
	json_end(answer->json);
}

const struct renderer json_renderer = {
	.table = begin_table,
	.table_end = end_table,
	.row = write_row,
	.row_end = end_row,
	.record = write_record,
	.record_begin = begin_record,
	.list = write_list,
	.none = write_none,
	.object = begin_object,
	.object_end = end_object,
};

/* Tables in a row of the main one are arrays of it; all else is left out. */
static bool is_in_main(const struct answer *answer)
{
	return answer->main_depth && answer->depth >= answer->main_depth;
}

static bool is_in_main_row(const struct answer *answer)
{
	return is_in_main(answer) && answer->levels[answer->depth - 1].is_in_row;
}

static void begin_main(struct answer *answer)
{
	struct answer_level *level = &answer->levels[answer->depth - 1];
	level->has_groups = has_groups(level->schema);
	if (is_in_main(answer)) {
		begin_table(answer);
	} else {
		(void)answer_enter_main(answer);
	}
}

static void end_main(struct answer *answer)
{
	if (is_in_main(answer) && answer->depth > answer->main_depth)
		end_table(answer);
	answer_leave_main(answer);
}

static void write_main_row(struct answer *answer, const struct cell *cells)
{
	const struct answer_level *level = &answer->levels[answer->depth - 1];
	if (!is_in_main(answer))
		return;
	write_row(answer, cells);
	if (answer->depth == answer->main_depth && level->schema->is_list && !level->is_in_row) {
		answer->json->has_items = 0;
		out_puts(answer->out, "\n");
	}
}

static void end_main_row(struct answer *answer)
{
	if (is_in_main(answer))
		end_row(answer);
}

static void write_main_record(struct answer *answer, const struct schema *schema,
			      const struct cell *cells)
{
	if (is_in_main_row(answer))
		write_record(answer, schema, cells);
}

static void begin_main_record(struct answer *answer, const struct schema *schema,
			      const struct cell *cells)
{
	if (is_in_main(answer))
		begin_record(answer, schema, cells);
}

static void write_main_list(struct answer *answer, const char *name, const char *const *items,
			    size_t count)
{
	if (is_in_main_row(answer))
		write_list(answer, name, items, count);
}

static void write_main_none(struct answer *answer, const char *name)
{
	if (is_in_main_row(answer))
		write_none(answer, name);
}

static void begin_main_object(struct answer *answer, const char *name)
{
	if (is_in_main_row(answer))
		begin_object(answer, name);
}

static void end_main_object(struct answer *answer)
{
	if (is_in_main_row(answer))
		end_object(answer);
}

const struct renderer ndjson_renderer = {
	.table = begin_main,
	.table_end = end_main,
	.row = write_main_row,
	.row_end = end_main_row,
	.record = write_main_record,
	.record_begin = begin_main_record,
	.list = write_main_list,
	.none = write_main_none,
	.object = begin_main_object,
	.object_end = end_main_object,
};
