/* SPDX-License-Identifier: MIT */
/*
 * Answers as JSON: a table is an array of objects, a record is an object; also with one row per
 * line (NDJSON).
 */

#include "answer/answering.h"
#include "output/json.h"

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

/* Most bytes of the name of an object in an object. */
#define GROUP_SIZE_MAX 63u

static void find_groups(const struct schema *schema, struct json_groups *ret)
{
	size_t last = 0, count = schema->count;
	*ret = (struct json_groups){ 0 };
	for (size_t i = 0; i < count && i < SCHEMA_COLUMNS_MAX; i++) {
		const char *name = schema->columns[i].name;
		const char *point = name ? strchr(name, '.') : NULL;
		if (!point || point == name || point - name > (ptrdiff_t)GROUP_SIZE_MAX)
			continue;
		size_t size = (size_t)(point - name);
		bool is_same = ret->sizes[last] == size &&
			       memcmp(schema->columns[last].name, name, size) == 0;
		ret->are_there = true;
		ret->ids[i] = is_same ? ret->ids[last] : (uint8_t)(i + 1);
		ret->sizes[i] = (uint8_t)size;
		last = i;
	}
}

/* The object that a column is a member of; 0: none. */
static unsigned int group_of(const struct json_groups *groups, size_t i)
{
	return i < SCHEMA_COLUMNS_MAX ? groups->ids[i] : 0;
}

/* The key of the object that a column is a member of. */
static void group_key(const struct schema *schema, const struct json_groups *groups, size_t i,
		      char ret[GROUP_SIZE_MAX + 1])
{
	memcpy(ret, schema->columns[i].name, groups->sizes[i]);
	ret[groups->sizes[i]] = '\0';
}

/*
 * How many columns, beginning with @p i, belong to one inner object and are all absent, so that the
 * object is null.
 */
static size_t absent_group(const struct schema *schema, const struct json_groups *groups,
			   const struct cell *cells, size_t i)
{
	size_t count = 0;
	if (!(schema->columns[i].look & LOOK_WHOLE) || !group_of(groups, i))
		return 0;
	for (; i + count < schema->count; count++) {
		if (group_of(groups, i + count) != group_of(groups, i))
			break;
		if (cells[i + count].is_there)
			return 0;
	}
	return count;
}

/*
 * Close the object of the last member and open that of column @p i, if they differ; @return the
 * latter.
 */
static unsigned int change_group(struct json *json, const struct schema *schema,
				 const struct json_groups *groups, unsigned int open, size_t i)
{
	unsigned int group = group_of(groups, i);
	if (group == open)
		return group;
	if (open)
		json_end(json);
	if (group) {
		char key[GROUP_SIZE_MAX + 1];
		group_key(schema, groups, i, key);
		json_object(json, key);
	}
	return group;
}

static void write_absent_group(struct json *json, const struct schema *schema,
			       const struct json_groups *groups, size_t i)
{
	char key[GROUP_SIZE_MAX + 1];
	group_key(schema, groups, i, key);
	json_null(json, key);
}

static bool is_written(const struct column *column, const struct cell *cell)
{
	return column->name &&
	       (cell->is_there || cell->is_null || !(column->look & LOOK_LEAVE_OUT));
}

static void write_grouped(struct json *json, const struct schema *schema,
			  const struct json_groups *groups, const struct cell *cells)
{
	unsigned int open = 0;
	for (size_t i = 0; i < schema->count; i++) {
		const struct column *column = &schema->columns[i];
		if (!is_written(column, &cells[i]))
			continue;
		size_t absent = absent_group(schema, groups, cells, i);
		if (absent) {
			if (open)
				json_end(json);
			open = 0;
			write_absent_group(json, schema, groups, i);
			i += absent - 1;
			continue;
		}
		open = change_group(json, schema, groups, open, i);
		write_value(json, column->name + (open ? groups->sizes[i] + 1 : 0), column->kind,
			    &cells[i]);
	}
	if (open)
		json_end(json);
}

static void write_members(struct json *json, const struct schema *schema,
			  const struct json_groups *groups, const struct cell *cells)
{
	if (groups->are_there) {
		write_grouped(json, schema, groups, cells);
		return;
	}
	for (size_t i = 0; i < schema->count; i++) {
		const struct column *column = &schema->columns[i];
		if (is_written(column, &cells[i]))
			write_value(json, column->name, column->kind, &cells[i]);
	}
}

static void write_record_members(struct json *json, const struct schema *schema,
				 const struct cell *cells)
{
	struct json_groups groups;
	find_groups(schema, &groups);
	write_members(json, schema, &groups, cells);
}

static void render_json_table(struct answer *answer)
{
	struct answer_level *level = &answer->levels[answer->depth - 1];
	find_groups(level->schema, &level->groups);
	json_array(answer->json, level->schema->name);
}

static void render_json_table_end(struct answer *answer)
{
	json_end(answer->json);
}

static void render_json_row(struct answer *answer, const struct cell *cells)
{
	const struct answer_level *level = &answer->levels[answer->depth - 1];
	if (level->schema->is_list && !level->is_in_row) {
		write_value(answer->json, NULL, level->schema->columns[0].kind, &cells[0]);
		return;
	}
	json_object(answer->json, NULL);
	write_members(answer->json, level->schema, &level->groups, cells);
	if (!level->is_in_row)
		json_end(answer->json);
}

static void render_json_row_end(struct answer *answer)
{
	json_end(answer->json);
}

static void render_json_record_begin(struct answer *answer, const struct schema *schema,
				     const struct cell *cells)
{
	json_object(answer->json, schema->name);
	write_record_members(answer->json, schema, cells);
}

static void render_json_record(struct answer *answer, const struct schema *schema,
			       const struct cell *cells)
{
	if (schema->name)
		json_object(answer->json, schema->name);
	write_record_members(answer->json, schema, cells);
	if (schema->name)
		json_end(answer->json);
}

static void render_json_list(struct answer *answer, const char *name, const char *const *items,
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

static void render_json_object(struct answer *answer, const char *name)
{
	json_object(answer->json, name);
}

static void render_json_object_end(struct answer *answer)
{
	json_end(answer->json);
}

const struct renderer json_renderer = {
	.table = render_json_table,
	.table_end = render_json_table_end,
	.row = render_json_row,
	.row_end = render_json_row_end,
	.record = render_json_record,
	.record_begin = render_json_record_begin,
	.list = render_json_list,
	.none = write_none,
	.object = render_json_object,
	.object_end = render_json_object_end,
};

/* Tables inside a row of the main table are arrays in it; everything else is left out. */
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
	find_groups(level->schema, &level->groups);
	if (is_in_main(answer)) {
		render_json_table(answer);
	} else {
		(void)answer_enter_main(answer);
	}
}

static void end_main(struct answer *answer)
{
	if (is_in_main(answer) && answer->depth > answer->main_depth)
		render_json_table_end(answer);
	answer_leave_main(answer);
}

static void write_main_row(struct answer *answer, const struct cell *cells)
{
	const struct answer_level *level = &answer->levels[answer->depth - 1];
	if (!is_in_main(answer))
		return;
	render_json_row(answer, cells);
	if (answer->depth == answer->main_depth && level->schema->is_list && !level->is_in_row) {
		answer->json->has_items = 0;
		out_puts(answer->out, "\n");
	}
}

static void end_main_row(struct answer *answer)
{
	if (is_in_main(answer))
		render_json_row_end(answer);
}

static void write_main_record(struct answer *answer, const struct schema *schema,
			      const struct cell *cells)
{
	if (is_in_main_row(answer))
		render_json_record(answer, schema, cells);
}

static void begin_main_record(struct answer *answer, const struct schema *schema,
			      const struct cell *cells)
{
	if (is_in_main(answer))
		render_json_record_begin(answer, schema, cells);
}

static void write_main_list(struct answer *answer, const char *name, const char *const *items,
			    size_t count)
{
	if (is_in_main_row(answer))
		render_json_list(answer, name, items, count);
}

static void write_main_none(struct answer *answer, const char *name)
{
	if (is_in_main_row(answer))
		write_none(answer, name);
}

static void begin_main_object(struct answer *answer, const char *name)
{
	if (is_in_main_row(answer))
		render_json_object(answer, name);
}

static void end_main_object(struct answer *answer)
{
	if (is_in_main_row(answer))
		render_json_object_end(answer);
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
