/* SPDX-License-Identifier: MIT */
#include "answer/visit.h"

#include "util/alloc.h"

/* A table that a visitor has been told of, and what it was made of. */
struct visit_table {
	struct hd_table table;
	struct visit_table *parent;
	const struct schema *schema; /* NULL: of a list or an object */
	char *name;
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

static const char *end_of_name(const char *name)
{
	const char *point = strrchr(name, '.');
	return point ? point + 1 : name;
}

/* Are its columns those of the schema?  One that is made anew for each record may lie where another one lay. */
static bool has_columns(const struct visit_table *table, const struct schema *schema)
{
	uint32_t count = 0;
	for (size_t i = 0; schema && i < schema->count && count < table->table.column_count; i++) {
		const char *name = schema->columns[i].name;
		if (name && table->columns[count++].name != name)
			return false;
	}
	return !schema || count == table->table.column_count;
}

/* The table in what is open that was made of the same schema, or of none with the same name, if it began before. */
static struct visit_table *find_table(const struct visit *visit, const struct schema *schema,
				      const char *name, enum hd_shape shape)
{
	for (size_t i = 0; i < visit->tables_count; i++) {
		struct visit_table *table = visit->tables[i];
		if (table->parent == visit->open && table->schema == schema &&
		    table->table.shape == shape && has_columns(table, schema) &&
		    (!name || strcmp(end_of_name(table->name), name) == 0))
			return table;
	}
	return NULL;
}

/* The name below that of what is around it; NULL: that one itself. */
static char *path_of(const struct visit_table *parent, const char *name)
{
	struct text path = { 0 };
	text_puts(&path, parent ? parent->name : "");
	if (name && path.size)
		text_puts(&path, ".");
	text_puts(&path, name ? name : "");
	char *copy = path.failed ? NULL : mem_strndup(path.bytes ? path.bytes : "", path.size);
	text_deinit(&path);
	return copy;
}

static void add_columns(struct visit_table *table, const struct schema *schema)
{
	for (size_t i = 0; i < schema->count; i++) {
		const struct column *column = &schema->columns[i];
		if (!column->name)
			continue;
		table->columns[table->table.column_count++] = (struct hd_column){
			.name = column->name,
			.help = column->help,
			.kind = kinds[column->kind],
		};
		if (schema->is_list)
			break;
	}
}

static void free_table(struct visit_table *table)
{
	if (table)
		mem_free(table->name);
	mem_free(table);
}

/* NULL, and the answer is stopped, when memory is exhausted. */
static struct visit_table *add_table(struct answer *answer, const struct schema *schema,
				     const char *name, enum hd_shape shape)
{
	struct visit *visit = answer->visit;
	size_t columns = schema ? schema->count : 1;
	size_t size = sizeof(struct visit_table) + columns * sizeof(struct hd_column);
	struct visit_table *table = mem_calloc(1, size);
	char *path = path_of(visit->open, name);
	if (table)
		table->name = path;
	if (!table || !path || !PAGES_RESERVE(visit, tables)) {
		if (!table)
			mem_free(path);
		free_table(table);
		answer->out->text.failed = answer->out->stopped = true;
		return NULL;
	}
	table->parent = visit->open;
	table->schema = schema;
	if (schema) {
		add_columns(table, schema);
	} else if (shape == HD_SHAPE_LIST) {
		table->columns[0].name = "value";
		table->columns[0].kind = HD_KIND_TEXT;
		table->table.column_count = 1;
	}
	table->table.struct_size = sizeof(table->table);
	table->table.name = path;
	table->table.parent = visit->open ? &visit->open->table : NULL;
	table->table.columns = table->columns;
	table->table.shape = shape;
	table->table.index = (uint32_t)visit->tables_count;
	visit->tables[visit->tables_count++] = table;
	return table;
}

/* The table of what comes now in what is open; NULL: the answer is stopped. */
static struct visit_table *meet_table(struct answer *answer, const struct schema *schema,
				      const char *name, enum hd_shape shape)
{
	struct visit *visit = answer->visit;
	struct visit_table *table = find_table(visit, schema, name, shape);
	return table ? table : add_table(answer, schema, name, shape);
}

static void tell_begin(const struct visit *visit, const struct visit_table *table)
{
	if (visit->visitor->begin)
		visit->visitor->begin(visit->visitor->arg, &table->table);
}

static void pass_row(struct answer *answer, const struct visit_table *table,
		     const struct hd_value *values)
{
	const struct hd_visitor *visitor = answer->visit->visitor;
	if (!answer->out->stopped && visitor->row(visitor->arg, &table->table, values) != 0)
		answer->out->stopped = true;
}

static struct hd_value value_of(struct visit *visit, enum cell_kind kind, const struct cell *cell)
{
	struct hd_value value = { .kind = HD_KIND_NULL };
	if (!cell->is_there)
		return value;
	if (kind == KIND_ANY)
		kind = (enum cell_kind)cell->kind;
	value.kind = kinds[kind];
	switch (kind) {
	case KIND_FLAG:
		value.number = cell->flag;
		break;
	case KIND_NUMBER:
	case KIND_BYTES:
	case KIND_ADDRESS:
		value.number = cell->number;
		break;
	case KIND_SIGNED:
		value.signed_number = cell->signed_number;
		break;
	case KIND_PERCENT:
	case KIND_REAL:
	case KIND_SINGLE:
		value.real = cell->real;
		break;
	case KIND_TEXT:
	case KIND_TYPE:
		value.text = cell->text.bytes;
		value.size = cell->text.size;
		break;
	case KIND_SET: /* the text may still move: set_texts() */
		value.number = visit->sets.size;
		text_set(&visit->sets, cell, " ");
		value.size = visit->sets.size - value.number;
		break;
	case KIND_ANY:
		value.kind = HD_KIND_NULL;
		break;
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
		       const struct cell *cells)
{
	struct visit *visit = answer->visit;
	struct hd_value values[VISIT_VALUES_MAX];
	const struct schema *schema = table->schema;
	size_t count = 0;
	visit->sets.size = 0;
	for (size_t i = 0; i < schema->count && count < table->table.column_count; i++) {
		const struct column *column = &schema->columns[i];
		if (column->name)
			values[count++] = value_of(visit, column->kind, &cells[i]);
	}
	if (visit->sets.failed) {
		answer->out->text.failed = answer->out->stopped = true;
		return;
	}
	set_texts(visit, values, count);
	pass_row(answer, table, values);
}

static void begin_table(struct answer *answer)
{
	struct visit *visit = answer->visit;
	const struct schema *schema = answer->levels[answer->depth - 1].schema;
	struct visit_table *table = meet_table(answer, schema, schema->name,
					       schema->is_list ? HD_SHAPE_LIST : HD_SHAPE_TABLE);
	if (!table)
		return;
	table->table.is_main |= answer_enter_main(answer);
	visit->open = table;
	tell_begin(visit, table);
}

/* Is what is open the table of this schema?  Not when memory was exhausted as it began. */
static bool is_open(const struct answer *answer)
{
	const struct visit_table *open = answer->visit->open;
	return open && open->schema == answer->levels[answer->depth - 1].schema;
}

static void end_table(struct answer *answer)
{
	struct visit *visit = answer->visit;
	answer_leave_main(answer);
	if (!is_open(answer))
		return;
	if (visit->visitor->end && visit->open->table.shape == HD_SHAPE_TABLE)
		visit->visitor->end(visit->visitor->arg, &visit->open->table);
	visit->open = visit->open->parent;
}

static void push_mark(struct visit *visit, bool is_record)
{
	visit->marks = visit->marks << 1 | is_record;
	visit->marks_count++;
}

static void write_row(struct answer *answer, const struct cell *cells)
{
	if (answer->levels[answer->depth - 1].is_in_row)
		push_mark(answer->visit, false);
	if (is_open(answer))
		pass_cells(answer, answer->visit->open, cells);
}

static void end_row(struct answer *answer)
{
	struct visit *visit = answer->visit;
	bool is_record = visit->marks & 1;
	visit->marks >>= 1;
	visit->marks_count--;
	if (is_record && visit->open)
		visit->open = visit->open->parent;
}

static void write_record(struct answer *answer, const struct schema *schema,
			 const struct cell *cells)
{
	enum hd_shape shape = schema->name ? HD_SHAPE_RECORD : HD_SHAPE_MEMBERS;
	struct visit_table *table = meet_table(answer, schema, schema->name, shape);
	if (!table)
		return;
	tell_begin(answer->visit, table);
	pass_cells(answer, table, cells);
}

static void begin_record(struct answer *answer, const struct schema *schema,
			 const struct cell *cells)
{
	struct visit_table *table = meet_table(answer, schema, schema->name, HD_SHAPE_RECORD);
	push_mark(answer->visit, table != NULL);
	if (!table)
		return;
	tell_begin(answer->visit, table);
	pass_cells(answer, table, cells);
	answer->visit->open = table;
}

static void write_list(struct answer *answer, const char *name, const char *const *items,
		       size_t count)
{
	struct visit_table *table = meet_table(answer, NULL, name, HD_SHAPE_LIST);
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
}

static void begin_object(struct answer *answer, const char *name)
{
	struct visit_table *table = meet_table(answer, NULL, name, HD_SHAPE_RECORD);
	push_mark(answer->visit, table != NULL);
	if (!table)
		return;
	struct hd_value none = { .kind = HD_KIND_NULL };
	tell_begin(answer->visit, table);
	pass_row(answer, table, &none);
	answer->visit->open = table;
}

const struct renderer visit_renderer = {
	.table = begin_table,
	.table_end = end_table,
	.row = write_row,
	.row_end = end_row,
	.record = write_record,
	.record_begin = begin_record,
	.list = write_list,
	.object = begin_object,
	.object_end = end_row,
};

void visit_deinit(struct visit *visit)
{
	for (size_t i = 0; i < visit->tables_count; i++)
		free_table(visit->tables[i]);
	pages_free(visit->tables, visit->tables_capacity, sizeof(*visit->tables));
	text_deinit(&visit->sets);
}

int hd_table_column(const struct hd_table *table, const char *name)
{
	for (uint32_t i = 0; table && name && i < table->column_count; i++) {
		if (strcmp(table->columns[i].name, name) == 0)
			return (int)i;
	}
	return -1;
}
