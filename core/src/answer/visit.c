/* SPDX-License-Identifier: MIT */
#include "answer/visit.h"

#include "util/alloc.h"

/*
 * A table that a visitor has been told about.  It has copies of all texts, because a schema may
 * exist for only one call.
 */
struct visit_table {
	struct hd_table table;
	struct visit_table *parent;
	char *texts; /* its name, then names and help of its columns */
	struct hd_column columns[];
};

static const uint8_t kinds[] = {
	[KIND_FLAG] = HD_KIND_FLAG,       [KIND_NUMBER] = HD_KIND_NUMBER,
	[KIND_SIGNED] = HD_KIND_SIGNED,   [KIND_BYTES] = HD_KIND_BYTES,
	[KIND_PERCENT] = HD_KIND_PERCENT, [KIND_ADDRESS] = HD_KIND_ADDRESS,
	[KIND_TEXT] = HD_KIND_TEXT,       [KIND_TYPE] = HD_KIND_TYPE,
	[KIND_REAL] = HD_KIND_REAL,       [KIND_SINGLE] = HD_KIND_REAL,
	[KIND_SET] = HD_KIND_SET,         [KIND_ANY] = HD_KIND_ANY,
};

/* The column of a list of words, and that of an object without own members. */
static const struct column word_column = { .name = "value", .kind = KIND_TEXT };

/* The parts of a table; all are borrowed. */
struct table_form {
	const char *name; /* NULL: the name of what is around it */
	const struct column *columns;
	size_t count;
	enum hd_shape shape;
};

static struct table_form form_of(const struct schema *schema, enum hd_shape shape)
{
	return (struct table_form){ .name = schema->name,
				    .columns = schema->columns,
				    .count = schema->count,
				    .shape = shape };
}

static bool has_columns(const struct hd_table *table, const struct table_form *form)
{
	uint32_t count = 0;
	for (size_t i = 0; i < form->count; i++) {
		const struct column *column = &form->columns[i];
		if (!column->name)
			continue;
		if (count == table->column_count ||
		    table->columns[count].kind != kinds[column->kind] ||
		    strcmp(table->columns[count].name, column->name) != 0)
			return false;
		count++;
	}
	return count == table->column_count;
}

/* Does it have that name in what is around it? */
static bool has_name(const struct visit_table *table, const char *name)
{
	const char *own = table->table.name;
	size_t around = table->parent ? strlen(table->parent->table.name) : 0;
	if (!name)
		return strlen(own) == around;
	return strcmp(own + around + (around && own[around]), name) == 0;
}

/* The table of that form in what is open, if one began before. */
static struct visit_table *find_table(const struct visit *visit, const struct table_form *form)
{
	for (size_t i = 0; i < visit->tables_count; i++) {
		struct visit_table *table = visit->tables[i];
		if (table->parent == visit->open && table->table.shape == form->shape &&
		    has_name(table, form->name) && has_columns(&table->table, form))
			return table;
	}
	return NULL;
}

/* End the answer; what follows is left out. */
static void visit_run_out(struct answer *answer)
{
	answer->out->text.failed = answer->out->stopped = true;
}

/* Bytes of all texts of a table. */
static size_t texts_size(const struct visit_table *parent, const struct table_form *form)
{
	size_t size = (parent ? strlen(parent->table.name) : 0) + 1;
	size += form->name ? strlen(form->name) + 1 : 0;
	for (size_t i = 0; i < form->count; i++) {
		const struct column *column = &form->columns[i];
		if (column->name)
			size += strlen(column->name) + 1;
		if (column->name && column->help)
			size += strlen(column->help) + 1;
	}
	return size;
}

/* Copy @p text and its NUL to *@p to, which goes on after it. */
static const char *put_text(char **to, const char *text)
{
	char *copy = *to;
	size_t size = strlen(text) + 1;
	memcpy(copy, text, size);
	*to += size;
	return copy;
}

/* "around.name", or the one that exists. */
static const char *put_path(char **to, const struct visit_table *parent, const char *name)
{
	const char *path = put_text(to, parent ? parent->table.name : "");
	if (!name)
		return path;
	(*to)--;
	if (*path)
		*(*to)++ = '.';
	(void)put_text(to, name);
	return path;
}

static void fill_table(struct visit_table *table, const struct table_form *form)
{
	char *to = table->texts;
	uint32_t count = 0;
	table->table = (struct hd_table){
		.struct_size = sizeof(table->table),
		.name = put_path(&to, table->parent, form->name),
		.parent = table->parent ? &table->parent->table : NULL,
		.columns = table->columns,
		.shape = form->shape,
	};
	for (size_t i = 0; i < form->count; i++) {
		const struct column *column = &form->columns[i];
		if (!column->name)
			continue;
		table->columns[count++] = (struct hd_column){
			.name = put_text(&to, column->name),
			.help = column->help ? put_text(&to, column->help) : NULL,
			.kind = kinds[column->kind],
		};
	}
	table->table.column_count = count;
}

static void free_table(struct visit_table *table)
{
	if (table)
		mem_free(table->texts);
	mem_free(table);
}

/* Room for a row of @p count values; false when memory is exhausted. */
static bool reserve_values(struct visit *visit, size_t count)
{
	if (count <= visit->values_capacity)
		return true;
	struct hd_value *more = mem_realloc(visit->values, count, sizeof(*more));
	if (!more)
		return false;
	visit->values = more;
	visit->values_capacity = count;
	return true;
}

/* NULL when memory is exhausted. */
static struct visit_table *add_visit_table(struct visit *visit, const struct table_form *form)
{
	size_t size = sizeof(struct visit_table) + form->count * sizeof(struct hd_column);
	struct visit_table *table = mem_calloc(1, size);
	if (table)
		table->texts = mem_alloc(texts_size(visit->open, form), 1);
	bool has_room =
		table && table->texts && reserve_values(visit, form->count + 1) &&
		PAGES_RESERVE(visit, tables); /* NOLINT(bugprone-sizeof-expression): pointers */
	if (!has_room) {
		free_table(table);
		return NULL;
	}
	table->parent = visit->open;
	fill_table(table, form);
	table->table.index = (uint32_t)visit->tables_count;
	visit->tables[visit->tables_count++] = table;
	return table;
}

/* The table for what comes next inside what is open; NULL: the answer was stopped. */
static struct visit_table *meet_table(struct answer *answer, const struct table_form *form)
{
	struct visit *visit = answer->visit;
	if (answer->out->stopped)
		return NULL;
	struct visit_table *table = find_table(visit, form);
	if (!table)
		table = add_visit_table(visit, form);
	if (!table)
		visit_run_out(answer);
	return table;
}

static void tell_begin(const struct visit *visit, const struct visit_table *table)
{
	if (visit->visitor->begin)
		visit->visitor->begin(visit->visitor->arg, &table->table);
}

static void tell_end(const struct answer *answer, const struct visit_table *table)
{
	const struct hd_visitor *visitor = answer->visit->visitor;
	if (visitor->end && !answer->out->stopped)
		visitor->end(visitor->arg, &table->table);
}

static void pass_row(struct answer *answer, const struct visit_table *table,
		     const struct hd_value *values)
{
	const struct hd_visitor *visitor = answer->visit->visitor;
	if (!answer->out->stopped && visitor->row(visitor->arg, &table->table, values) != 0)
		answer->out->stopped = true;
}

static struct hd_value value_of_cell(struct visit *visit, enum cell_kind kind,
				     const struct cell *cell)
{
	struct hd_value value = { .kind = HD_KIND_NULL };
	if (!cell->is_there)
		return value;
	if (kind == KIND_ANY)
		kind = (enum cell_kind)cell->kind;
	value.kind = kinds[kind];
	if (kind == KIND_FLAG) {
		value.number = cell->flag;
	} else if (kind == KIND_TEXT || kind == KIND_TYPE) {
		value.text = cell->text.bytes;
		value.size = cell->text.size;
	} else if (kind == KIND_SET) { /* the text may still move: set_texts() */
		value.number = visit->sets.size;
		text_set(&visit->sets, cell, " ");
		value.size = visit->sets.size - value.number;
	} else { /* also the bits of a number that is signed or real */
		value.number = cell->number;
	}
	return value;
}

static void set_texts(const struct visit *visit, struct hd_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (values[i].kind != HD_KIND_SET)
			continue;
		values[i].text = values[i].size ? visit->sets.bytes + values[i].number : "";
		values[i].number = 0;
	}
}

static void pass_cells(struct answer *answer, const struct visit_table *table,
		       const struct schema *schema, const struct cell *cells)
{
	struct visit *visit = answer->visit;
	struct hd_value *values = visit->values;
	size_t count = 0;
	visit->sets.size = 0;
	for (size_t i = 0; i < schema->count; i++) {
		const struct column *column = &schema->columns[i];
		if (column->name)
			values[count++] = value_of_cell(visit, column->kind, &cells[i]);
	}
	if (visit->sets.failed) {
		visit_run_out(answer);
		return;
	}
	set_texts(visit, values, count);
	pass_row(answer, table, values);
}

static const struct schema *innermost_schema(const struct answer *answer)
{
	return answer->levels[answer->depth - 1].schema;
}

static void pass_table(struct answer *answer)
{
	const struct schema *schema = innermost_schema(answer);
	const struct table_form form =
		form_of(schema, schema->is_list ? HD_SHAPE_LIST : HD_SHAPE_TABLE);
	struct visit_table *table = meet_table(answer, &form);
	if (!table)
		return;
	table->table.is_main |= answer_enter_main(answer);
	answer->visit->open = table;
	tell_begin(answer->visit, table);
}

/* End what is open: then what is around it is open again. */
static void end_open(struct answer *answer)
{
	struct visit *visit = answer->visit;
	if (answer->out->stopped)
		return;
	tell_end(answer, visit->open);
	visit->open = visit->open->parent;
}

static void pass_table_end(struct answer *answer)
{
	answer_leave_main(answer);
	end_open(answer);
}

static void pass_table_row(struct answer *answer, const struct cell *cells)
{
	if (!answer->out->stopped)
		pass_cells(answer, answer->visit->open, innermost_schema(answer), cells);
}

/* Nothing needs to be said about a row; but records and objects also end here. */
static void pass_row_end(struct answer *answer)
{
	if (!answer->out->stopped && answer->visit->open->table.shape == HD_SHAPE_RECORD)
		end_open(answer);
}

/*
 * Write a record with its values; returns the table, or NULL: there is nothing to write, or the
 * answer was stopped.
 */
static struct visit_table *pass_record(struct answer *answer, const struct schema *schema,
				       const struct cell *cells)
{
	const struct table_form form =
		form_of(schema, schema->name ? HD_SHAPE_RECORD : HD_SHAPE_MEMBERS);
	bool is_text = !schema->name;
	for (size_t i = 0; i < schema->count && is_text; i++)
		is_text = !schema->columns[i].name;
	struct visit_table *table = is_text ? NULL : meet_table(answer, &form);
	if (!table)
		return NULL;
	tell_begin(answer->visit, table);
	pass_cells(answer, table, schema, cells);
	return table;
}

static void write_record(struct answer *answer, const struct schema *schema,
			 const struct cell *cells)
{
	const struct visit_table *table = pass_record(answer, schema, cells);
	if (table)
		tell_end(answer, table);
}

static void pass_record_begin(struct answer *answer, const struct schema *schema,
			      const struct cell *cells)
{
	struct visit_table *table = pass_record(answer, schema, cells);
	if (table)
		answer->visit->open = table;
}

static void pass_list(struct answer *answer, const char *name, const char *const *items,
		      size_t count)
{
	const struct table_form form = { name, &word_column, 1, HD_SHAPE_LIST };
	struct visit_table *table = meet_table(answer, &form);
	if (!table)
		return;
	tell_begin(answer->visit, table);
	for (size_t i = 0; i < count; i++) {
		struct hd_value value = { .kind = HD_KIND_NULL };
		if (items[i]) {
			value.kind = HD_KIND_TEXT;
			value.text = items[i];
			value.size = strlen(items[i]);
		}
		pass_row(answer, table, &value);
	}
	tell_end(answer, table);
}

static void pass_object(struct answer *answer, const char *name)
{
	const struct schema schema = { .name = name };
	pass_record_begin(answer, &schema, NULL);
}

const struct renderer visit_renderer = {
	.table = pass_table,
	.table_end = pass_table_end,
	.row = pass_table_row,
	.row_end = pass_row_end,
	.record = write_record,
	.record_begin = pass_record_begin,
	.list = pass_list,
	.object = pass_object,
	.object_end = pass_row_end,
};

void visit_deinit(struct visit *visit)
{
	for (size_t i = 0; i < visit->tables_count; i++)
		free_table(visit->tables[i]);
	/* An array of pointers.  NOLINTNEXTLINE(bugprone-sizeof-expression) */
	pages_free(visit->tables, visit->tables_capacity, sizeof(*visit->tables));
	mem_free(visit->values);
	text_deinit(&visit->sets);
	*visit = (struct visit){ 0 };
}

int hd_table_column(const struct hd_table *table, const char *name)
{
	for (uint32_t i = 0; table && name && i < table->column_count; i++) {
		if (strcmp(table->columns[i].name, name) == 0)
			return (int)i;
	}
	return -1;
}
