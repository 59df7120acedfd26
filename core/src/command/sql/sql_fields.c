/* SPDX-License-Identifier: MIT */
/* The tables fields and arrays: values in objects of one address or type. */
#include "command/objects/object.h"
#include "command/sql/sql_objects.h"
#include "util/alloc.h"

enum fields_column {
	FIELDS_OBJECT,
	FIELDS_MT,
	FIELDS_TYPE,
	FIELDS_NAME,
	FIELDS_FIELD_TYPE,
	FIELDS_VALUE,
	FIELDS_REFERENCE,
	FIELDS_MEANING,
	FIELDS_COLUMNS
};

#define VALUE_HELP                                                                                     \
	"a number, a string's text, the address of another object or of a struct; NULL: it is not in " \
	"the target"
#define MEANING_HELP "what the value means: an enum's name, a date; NULL: no more"
#define NAME_HELP \
	"name of the field; of one in a struct after the field that holds the struct, as in Position.X"
#define REFERENCE_HELP "the object that it refers to; 0: null; NULL: it is not a reference"

static const struct column fields_columns[FIELDS_COLUMNS] = {
	[FIELDS_OBJECT] = { "object", NULL, KIND_ADDRESS, 0, 0, "the object" },
	[FIELDS_MT] = { "mt", NULL, KIND_ADDRESS, 0, 0, "MethodTable of its type" },
	[FIELDS_TYPE] = { "type", NULL, KIND_TYPE, 0, 0, "name of its type" },
	[FIELDS_NAME] = { "name", NULL, KIND_TEXT, 0, 0, NAME_HELP },
	[FIELDS_FIELD_TYPE] = { "field_type", NULL, KIND_TEXT, 0, 0, "declared type of the field" },
	[FIELDS_VALUE] = { "value", NULL, KIND_ANY, 0, 0, VALUE_HELP },
	[FIELDS_REFERENCE] = { "reference", NULL, KIND_ADDRESS, 0, 0, REFERENCE_HELP },
	[FIELDS_MEANING] = { "meaning", NULL, KIND_TEXT, 0, 0, MEANING_HELP },
};

static const struct column arrays_columns[FIELDS_COLUMNS] = {
	[FIELDS_OBJECT] = { "object", NULL, KIND_ADDRESS, 0, 0, "the array" },
	[FIELDS_MT] = { "mt", NULL, KIND_ADDRESS, 0, 0, "MethodTable of its type" },
	[FIELDS_TYPE] = { "type", NULL, KIND_TYPE, 0, 0, "name of its type" },
	[FIELDS_NAME] = { "position", NULL, KIND_NUMBER, 0, 0,
			  "number of the element, from 0, over all dimensions" },
	[FIELDS_FIELD_TYPE] = { "element_type", NULL, KIND_TEXT, 0, 0, "type of the elements" },
	[FIELDS_VALUE] = { "value", NULL, KIND_ANY, 0, 0, VALUE_HELP },
	[FIELDS_REFERENCE] = { "reference", NULL, KIND_ADDRESS, 0, 0, REFERENCE_HELP },
	[FIELDS_MEANING] = { "meaning", NULL, KIND_TEXT, 0, 0, MEANING_HELP },
};

/* Structs in structs deeper than this are not taken apart, nor is a type of more fields. */
#define NESTED_MAX       16u
#define NESTED_COUNT_MAX 4096u

/* An instance field of a type, or of a struct that a field of it holds. */
struct value_field {
	const struct field *field;
	struct text name;     /* empty: the field's own */
	unsigned int nesting; /* 0: of the type itself */
	uint64_t offset;      /* from the first field of the object */
};

/* The fields of one type, read once. */
struct known_fields {
	struct field_list list; /* its own, with statics */
	bool is_read;
	struct value_field *rows; /* none until objects of it are met */
	size_t rows_count, rows_capacity;
	bool is_flat; /* rows are made */
};

struct values {
	struct sql_source *source;
	struct sql_objects *objects;
	const struct sql_object *object; /* NULL: none was met yet */
	bool is_arrays;
	uint64_t next, count; /* of its fields or elements */
	struct array_info array;
	struct known_fields *known; /* by index of a type */
	size_t known_count, known_capacity;
	struct value_out value; /* of the row */
	bool is_read;
	struct text text;
};

static bool accepts_array(struct runtime *runtime, const struct type *type)
{
	(void)runtime;
	return type->category == CATEGORY_SZ_ARRAY || type->category == CATEGORY_MD_ARRAY;
}

static enum hd_status begin_values(struct values *values, const struct sql_key *key)
{
	struct sql_choice choice = { .accepts = values->is_arrays ? accepts_array : NULL };
	switch ((enum fields_column)key->column) {
	case FIELDS_OBJECT:
		choice.has_address = true;
		choice.address = key->number;
		break;
	case FIELDS_MT:
		choice.method_table = key->number;
		break;
	default:
		choice.match = key->match;
		choice.text = key->text;
		break;
	}
	return sql_objects_open(values->source, &choice, &values->objects);
}

static void close_values(void *cursor)
{
	HD_FREE struct values *values = cursor;
	for (size_t i = 0; i < values->known_count; i++) {
		struct known_fields *known = &values->known[i];
		for (size_t row = 0; row < known->rows_count; row++)
			text_deinit(&known->rows[row].name);
		pages_free(known->rows, known->rows_capacity, sizeof(*known->rows));
		field_list_deinit(&known->list);
	}
	pages_free(values->known, values->known_capacity, sizeof(*values->known));
	sql_objects_close(values->objects);
	text_deinit(&values->text);
}

static enum hd_status open_values(struct sql_source *source, const struct sql_table *table,
				  const struct sql_request *request, void **ret)
{
	struct values *values = mem_calloc(1, sizeof(*values));
	TRY_MEMORY(values, source->call->err);
	values->source = source;
	values->is_arrays = table == &sql_arrays_table;
	enum hd_status status = begin_values(values, &request->key);
	if (status != HD_OK) {
		close_values(values);
		return status;
	}
	*ret = values;
	return HD_OK;
}

/* Find the fields of a type, which are read once; fields that cannot be read count as none. */
static enum hd_status fields_of_type(struct values *values, const struct type *type,
				     struct known_fields **ret)
{
	struct hd_error unused = { 0 };
	while (values->known_count <= type->index) {
		TRY_MEMORY(PAGES_RESERVE(values, known), values->source->call->err);
		values->known[values->known_count++] = (struct known_fields){ 0 };
	}
	struct known_fields *known = &values->known[type->index];
	if (!known->is_read) {
		known->is_read = true;
		if (field_list_read(values->source->heap->runtime, type, &known->list, &unused) ==
		    HD_ERR_NOMEM)
			return fail_nomem(values->source->call->err);
	}
	*ret = known;
	return HD_OK;
}

static const char *name_of_field(const struct value_field *row)
{
	return row->name.size ? row->name.bytes : row->field->name;
}

/* Add the instance fields of @p list to @p known; @p holder: the row of the struct that has them, or NULL. */
static enum hd_status add_fields(struct values *values, struct known_fields *known,
				 const struct field_list *list, const struct value_field *holder)
{
	struct hd_error *err = values->source->call->err;
	for (size_t i = 0; i < list->count && known->rows_count < NESTED_COUNT_MAX; i++) {
		const struct field *field = &list->rows[i];
		struct value_field row = { .field = field,
					   .nesting = holder ? holder->nesting + 1 : 0,
					   .offset =
						   (holder ? holder->offset : 0) + field->offset };
		if (field->is_static)
			continue;
		TRY_MEMORY(PAGES_RESERVE(known, rows), err);
		if (holder) {
			text_printf(&row.name, "%s.%s", name_of_field(holder), field->name);
			if (row.name.failed) {
				text_deinit(&row.name);
				return fail_nomem(err);
			}
		}
		known->rows[known->rows_count++] = row;
	}
	return HD_OK;
}

/* The fields of a type, then those of its structs, and of theirs. */
static enum hd_status flat_fields_of_type(struct values *values, const struct type *type,
					  const struct known_fields **ret)
{
	struct known_fields *known;
	TRY(fields_of_type(values, type, &known));
	if (!known->is_flat) {
		known->is_flat = true;
		TRY(add_fields(values, known, &known->list, NULL));
		for (size_t i = 0; i < known->rows_count; i++) {
			const struct value_field holder = known->rows[i];
			const struct type *inner = holder.field->type;
			struct known_fields *of_inner;
			if (holder.field->element_type != ELEMENT_VALUE || !inner ||
			    inner == type || holder.nesting >= NESTED_MAX)
				continue;
			TRY(fields_of_type(values, inner, &of_inner));
			known = &values->known[type->index]; /* The table may have moved. */
			TRY(add_fields(values, known, &of_inner->list, &holder));
		}
	}
	*ret = known;
	return HD_OK;
}

static const struct value_field *current_field(const struct values *values)
{
	uint32_t index = values->object->object.type->index;
	return &values->known[index].rows[values->next - 1];
}

/* Go to the next object; its values come from 0 on. */
static enum hd_status next_object(struct values *values)
{
	TRY(sql_objects_next(values->objects, &values->object));
	values->next = values->count = 0;
	if (!values->object)
		return HD_OK;
	const struct object *object = &values->object->object;
	if (values->is_arrays) {
		if (array_read(values->source->heap, object, &values->array))
			values->count = values->array.length;
		return HD_OK;
	}
	const struct known_fields *known;
	TRY(flat_fields_of_type(values, object->type, &known));
	values->count = known->rows_count;
	return HD_OK;
}

static enum hd_status next_object_value(void *cursor, bool *ret)
{
	struct values *values = cursor;
	values->is_read = false;
	while (!values->object || values->next == values->count) {
		TRY(next_object(values));
		if (!values->object) {
			*ret = false;
			return HD_OK;
		}
	}
	if (values->next++ % JOB_STRIDE == 0)
		TRY(call_check(values->source->call));
	*ret = true;
	return HD_OK;
}

static void read_value(struct values *values)
{
	struct heap *heap = values->source->heap;
	uint64_t address = values->object->address;
	values->is_read = true;
	if (values->is_arrays) {
		const struct array_info *array = &values->array;
		value_read(heap, array->element_type, array->element,
			   array->data + (values->next - 1) * array->element_size, &values->value);
		return;
	}
	const struct value_field *row = current_field(values);
	const struct type *type = values->object->object.type;
	/* An enum's only field does not know whose it is. */
	value_read(heap, row->field->element_type,
		   type_is_enum(heap->runtime, type) ? type : row->field->type,
		   address + OBJECT_FIELDS + row->offset, &values->value);
}

/* A string's text in place of its address. */
static struct cell text_or_address(struct values *values)
{
	struct heap *heap = values->source->heap;
	struct cell cell = value_cell(&values->value);
	struct object object;
	HD_CLEANUP(window) struct window window = { .memory = heap->memory };
	bool is_string = values->value.form == FORM_REFERENCE && values->value.address &&
			 object_read(heap, &window, values->value.address, &object) &&
			 object.type->is_string;
	uint32_t length;
	values->text.size = 0;
	if (!is_string ||
	    !string_value(heap, object.address, SQL_STRING_UNITS_MAX, &values->text, &length))
		return cell;
	return cell_of(KIND_TEXT,
		       cell_text(values->text.size ? values->text.bytes : "", values->text.size));
}

static struct cell element_type_cell(const struct values *values)
{
	size_t size;
	if (!values->array.element)
		return (struct cell){ 0 };
	const char *name = type_name(values->source->heap->runtime, values->array.element, &size);
	return cell_text(name, size);
}

static void value_row_cell(void *cursor, size_t column, struct cell *ret)
{
	struct values *values = cursor;
	const struct sql_object *object = values->object;
	*ret = (struct cell){ 0 };
	if (!values->is_read && column >= FIELDS_VALUE)
		read_value(values);
	switch ((enum fields_column)column) {
	case FIELDS_OBJECT:
		*ret = cell_number(object->address);
		break;
	case FIELDS_MT:
		*ret = cell_number(object->type_id);
		break;
	case FIELDS_TYPE:
		*ret = cell_type(object->type_name, object->type_size, object->type_id);
		break;
	case FIELDS_NAME:
		*ret = values->is_arrays ? cell_number(values->next - 1)
					 : cell_string(name_of_field(current_field(values)));
		break;
	case FIELDS_FIELD_TYPE:
		*ret = values->is_arrays ? element_type_cell(values)
					 : cell_string(current_field(values)->field->type_name);
		break;
	case FIELDS_VALUE:
		*ret = text_or_address(values);
		break;
	case FIELDS_REFERENCE:
		if (values->value.form == FORM_REFERENCE)
			*ret = cell_number(values->value.address);
		break;
	case FIELDS_MEANING:
		if (values->value.form != FORM_REFERENCE && *values->value.note)
			*ret = cell_string(values->value.note);
		break;
	case FIELDS_COLUMNS:
		break;
	}
}

static double estimate_values(const struct sql_source *source)
{
	return sql_objects_estimate(source) * 4;
}

const struct sql_table sql_fields_table = {
	.name = "fields",
	.help = "the instance fields of objects, with their values",
	.columns = fields_columns,
	.count = FIELDS_COLUMNS,
	.equals = SQL_BIT(FIELDS_OBJECT) | SQL_BIT(FIELDS_MT) | SQL_BIT(FIELDS_TYPE),
	.likes = SQL_BIT(FIELDS_TYPE),
	.needs = "object =, mt =, type =, type LIKE",
	.is_of_heaps = true,
	.estimate = estimate_values,
	.open = open_values,
	.next = next_object_value,
	.cell = value_row_cell,
	.close = close_values,
};

const struct sql_table sql_arrays_table = {
	.name = "arrays",
	.help = "the elements of arrays",
	.columns = arrays_columns,
	.count = FIELDS_COLUMNS,
	.equals = SQL_BIT(FIELDS_OBJECT) | SQL_BIT(FIELDS_MT) | SQL_BIT(FIELDS_TYPE),
	.likes = SQL_BIT(FIELDS_TYPE),
	.needs = "object =, mt =, type =, type LIKE",
	.is_of_heaps = true,
	.estimate = estimate_values,
	.open = open_values,
	.next = next_object_value,
	.cell = value_row_cell,
	.close = close_values,
};
