/* SPDX-License-Identifier: MIT */
/* dumpcollection, and SOS's names for two of its kinds. */
#include <inttypes.h>

#include "analysis/collections/collection.h"
#include "command/objects/object.h"
#include "command/table.h"

/** Writing many keys, or many values, needs this. */
struct item_texts {
	struct call *call;
	struct window window;
	struct text shown, text; /**< of the last item */
	uint32_t units;          /**< of a string that are shown in text */
	bool is_key; /**< text has the type of an object, data the fields of a struct as text */
	const struct type *type; /**< of the fields that are known, or NULL */
	struct field_list fields;
};

/** A key or value; its cells are borrowed from its item_texts until the next one. */
struct item_shown {
	struct value_out value;
	const struct type *type; /**< of a reference that of the object; NULL: not known */
	struct cell type_cell;
	struct cell text;  /**< for data: what the value means, a string as a whole */
	struct cell shown; /**< for text: the value and what it means */
};

/* UTF-16 units of a string that are shown: shortened, and at all. */
#define SHORT_UNITS 64u
#define FULL_UNITS  ((uint32_t)1 << 24)
/* Fields of a struct that text shows. */
#define FIELDS_SHOWN 8u

static void item_texts_init(struct item_texts *texts, struct call *call, bool is_full)
{
	*texts = (struct item_texts){ .call = call,
				      .window = { .memory = call->heap->memory },
				      .units = is_full ? FULL_UNITS : SHORT_UNITS };
}

static void item_texts_deinit(struct item_texts *texts)
{
	window_deinit(&texts->window);
	text_deinit(&texts->shown);
	text_deinit(&texts->text);
	field_list_deinit(&texts->fields);
}

/* Is it a struct whose fields are known? */
static bool item_is_struct(const struct item_shown *shown)
{
	return shown->value.form == FORM_STRUCT && shown->type;
}

/* "text" of a string; false: it is not one. */
static bool put_string(struct item_texts *texts, uint64_t address, uint32_t units)
{
	HD_CLEANUP(text) struct text string = { 0 };
	bool is_string = string_text(texts->call->heap, address, units, &string);
	if (is_string) {
		text_puts(&texts->shown, "\"");
		if (string.bytes)
			text_append(&texts->shown, string.bytes, string.size);
		text_puts(&texts->shown, "\"");
	}
	texts->shown.failed |= string.failed;
	return is_string;
}

/* The value of a field of a struct, in few words. */
static void put_field(struct item_texts *texts, const struct value_out *value)
{
	struct text *text = &texts->shown;
	if (value->form == FORM_MISSING || value->form == FORM_UNSET) {
		text_puts(text, "(missing)");
	} else if (value->form != FORM_REFERENCE && *value->note) {
		text_escape(text, value->note, strlen(value->note));
	} else if (value->form == FORM_TEXT) {
		text_puts(text, value->text);
	} else if (value->form == FORM_STRUCT) {
		text_puts(text, "{...}");
	} else if (!value->address) {
		text_puts(text, "null");
	} else if (!put_string(texts, value->address,
			       texts->call->out.is_full ? FULL_UNITS : SHORT_UNITS)) {
		text_printf(text, "%" PRIx64, value->address);
	}
}

/* "{X 1, Y 2}" */
static void put_struct(struct item_texts *texts, const struct type *type, uint64_t address)
{
	struct heap *heap = texts->call->heap;
	struct text *text = &texts->shown;
	if (texts->type != type) {
		field_list_deinit(&texts->fields);
		texts->fields = (struct field_list){ 0 };
		texts->type = type;
		/* Without its fields it is shown as one that has none. */
		if (field_list_read(heap->runtime, type, &texts->fields, NULL) != HD_OK)
			texts->fields.count = 0;
	}
	unsigned int count = 0;
	text_puts(text, "{");
	for (size_t i = 0; i < texts->fields.count; i++) {
		const struct field *field = &texts->fields.rows[i];
		struct value_out value;
		if (field->is_static)
			continue;
		if (count++ == FIELDS_SHOWN && !texts->call->out.is_full) {
			text_puts(text, ", ...");
			break;
		}
		text_puts(text, count > 1 ? ", " : "");
		text_escape(text, field->name, strlen(field->name));
		text_puts(text, " ");
		value_read(heap, field->element_type, field->type, address + field->offset, &value);
		put_field(texts, &value);
	}
	text_puts(text, "}");
}

/* Write the object that a reference leads to: the text of a string; for another key, its type. */
static void put_reference(struct item_texts *texts, const struct type *type, uint64_t address)
{
	struct text *text = &texts->shown;
	text_printf(text, "%012" PRIx64, address);
	if (!type)
		return;
	if (type->is_string) {
		text_puts(text, " ");
		(void)put_string(texts, address, texts->units);
	} else if (texts->is_key) {
		size_t size;
		const char *name = type_name(texts->call->heap->runtime, type, &size);
		text_puts(text, " ");
		text_escape(text, name, size);
	}
}

/* A value as text shows it: what a field of dumpobj has, and what it means. */
static void put_value(struct item_texts *texts, const struct item_shown *shown)
{
	struct text *text = &texts->shown;
	const struct value_out *value = &shown->value;
	char plain[160];
	text->size = 0;
	if (value->form == FORM_REFERENCE && !value->address) {
		text_puts(text, "null");
	} else if (value->form == FORM_REFERENCE) {
		put_reference(texts, shown->type, value->address);
	} else if (value->form == FORM_STRUCT) {
		text_printf(text, "%012" PRIx64 " ", value->address);
		if (*value->note) {
			text_escape(text, value->note, strlen(value->note));
		} else if (shown->type) {
			put_struct(texts, shown->type, value->address);
		}
	} else {
		value_text(value, plain, sizeof(plain));
		text_puts(text, plain);
		if (value->form == FORM_TEXT && *value->note) {
			text_puts(text, " ");
			text_escape(text, value->note, strlen(value->note));
		}
	}
}

/* Write the meaning of a value, for data. */
static void put_meaning(struct item_texts *texts, struct item_shown *shown)
{
	const struct value_out *value = &shown->value;
	if (texts->is_key && item_is_struct(shown) && !*value->note) {
		texts->shown.size = 0;
		put_struct(texts, shown->type, value->address);
		shown->text = cell_text(texts->shown.bytes, texts->shown.size);
		return;
	}
	if (value->form != FORM_REFERENCE) {
		shown->text = cell_string(*value->note ? value->note : NULL);
		return;
	}
	texts->text.size = 0;
	if (value->address && shown->type && shown->type->is_string &&
	    string_value(texts->call->heap, value->address, FULL_UNITS, &texts->text, NULL)) {
		shown->text =
			cell_text(texts->text.bytes ? texts->text.bytes : "", texts->text.size);
	}
}

/* Read a key or value; all of @p ret is absent when there is none. */
static void item_show(struct item_texts *texts, const struct item_value *item,
		      struct item_shown *ret)
{
	struct call *call = texts->call;
	struct heap *heap = call->heap;
	struct object object;
	*ret = (struct item_shown){ .value = { .form = FORM_MISSING }, .type = item->type };
	if (!item->element_type)
		return;
	if (item->address) {
		value_read(heap, item->element_type, item->type, item->address, &ret->value);
	} else {
		ret->value = (struct value_out){ .form = FORM_REFERENCE,
						 .element_type = item->element_type,
						 .address = item->reference };
	}
	if (ret->value.form == FORM_REFERENCE && ret->value.address) {
		ret->type = object_read(heap, &texts->window, ret->value.address, &object)
				    ? object.type
				    : NULL;
	}
	if (ret->type) {
		size_t size;
		const char *name = type_name(heap->runtime, ret->type, &size);
		ret->type_cell = cell_type(name, size, ret->type->method_table);
	}
	if (answer_is_text(&call->answer)) {
		put_value(texts, ret);
		ret->shown =
			cell_text(texts->shown.bytes ? texts->shown.bytes : "", texts->shown.size);
	} else {
		put_meaning(texts, ret);
	}
	call->out.text.failed |= texts->shown.failed || texts->text.failed;
}

#define COLLECTION_OPTIONS(X)                                                            \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "list at most N items (0 = all)", NULL) \
	X(OPT_FULL, "full", VALUE_NONE, NULL,                                            \
	  "whole strings, not their first 64 characters; shorten no names", NULL)

OPTIONS(collection, COLLECTION_OPTIONS);

#define COLLECTION_LIST(X)                                                                        \
	X(COLLECTION_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0, "the collection")              \
	X(COLLECTION_MT, "mt", NULL, KIND_ADDRESS, 0, 0, "its MethodTable")                       \
	X(COLLECTION_TYPE, "type", NULL, KIND_TYPE, 0, 0, "name of its type")                     \
	X(COLLECTION_COUNT, "count", NULL, KIND_NUMBER, 0, 0,                                     \
	  "items as it says itself; null: it does not")                                           \
	X(COLLECTION_FOUND, "found", NULL, KIND_NUMBER, 0, 0, "items that were found in it")      \
	X(COLLECTION_CAPACITY, "capacity", NULL, KIND_NUMBER, 0, 0,                               \
	  "items that it has room for; null: it has no limit")                                    \
	X(COLLECTION_FILL, "fill_percent", NULL, KIND_PERCENT, 0, 0,                              \
	  "how much of its room is used")                                                         \
	X(COLLECTION_COMPLETE, "complete", NULL, KIND_FLAG, 0, 0, "could it be read to its end?") \
	X(COLLECTION_DIFFERS, .heading = "differs", .kind = KIND_FLAG) /**< text only */

COLUMNS(collection, COLLECTION_COLUMNS, COLLECTION_LIST);

SCHEMA(collection,
       .lines = "Name:        {type}\nMethodTable: {mt:016}\n"
		"Count:       [=count {count:,}[?differs , but {found:,} found]|{found:,}]\n"
		"[Capacity:    {capacity:,}[ ({fill_percent} used)]\n]");

static void write_collection_head(struct call *call, const struct object *object,
				  const struct collection_facts *facts)
{
	size_t size;
	const char *name = type_name(call->heap->runtime, object->type, &size);
	struct cell cells[COLLECTION_COLUMNS] = {
		[COLLECTION_ADDRESS] = cell_number(object->address),
		[COLLECTION_MT] = cell_number(object->type->method_table),
		[COLLECTION_TYPE] = cell_type(name, size, object->type->method_table),
		[COLLECTION_FOUND] = cell_number(facts->found),
		[COLLECTION_COMPLETE] = cell_flag(!facts->is_broken),
		[COLLECTION_DIFFERS] = cell_flag(facts->count != facts->found),
	};
	if (facts->has_count)
		cells[COLLECTION_COUNT] = cell_number(facts->count);
	if (facts->has_capacity)
		cells[COLLECTION_CAPACITY] = cell_number(facts->capacity);
	if (facts->has_capacity && facts->capacity) {
		cells[COLLECTION_FILL] =
			cell_percent((double)facts->found, (double)facts->capacity);
	}
	answer_record(&call->answer, &collection_schema, cells);
	bool differs = facts->has_count && facts->count != facts->found;
	if (facts->is_broken) {
		answer_remark(
			&call->answer,
			"It cannot be read to its end: it is damaged, or bytes are missing.\n");
	} else if (differs) {
		answer_remark(&call->answer,
			      "The counts differ: it was being changed, or it is damaged.\n");
	}
}

#define ITEM_LIST(X)                                                                        \
	X(ITEM_INDEX, "index", NULL, KIND_NUMBER, 0, 0, "from 0, in its own order")         \
	X(ITEM_KEY, "key", NULL, KIND_ANY, 0, LOOK_LEAVE_OUT,                               \
	  "the key as a field has it; a priority; of a struct its address")                 \
	X(ITEM_KEY_TEXT, "key_text", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                    \
	  "what that means: the text of a string, the fields of a struct")                  \
	X(ITEM_KEY_TYPE, "key_type", NULL, KIND_TYPE, 0, LOOK_LEAVE_OUT, "type of the key") \
	X(ITEM_VALUE, "value", NULL, KIND_ANY, 0, 0,                                        \
	  "the value as a field has it; of a struct its address")                           \
	X(ITEM_TEXT, "text", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT, "what that means")         \
	X(ITEM_TYPE, "type", NULL, KIND_TYPE, 0, LOOK_LEAVE_OUT,                            \
	  "type of the value; of a reference that of the object")                           \
	X(ITEM_SHOWN_KEY, .kind = KIND_TEXT) /**< text only, as the next */                 \
	X(ITEM_SHOWN_VALUE, .kind = KIND_TEXT)

COLUMNS(item, ITEM_COLUMNS, ITEM_LIST);

/* The widths of a key and a value, which may be longer. */
static size_t shown_width(const struct out *out)
{
	return out_is_narrow(out) ? 18 : 28;
}

static void put_shown(struct out *out, const struct cell *cell)
{
	size_t columns = 0;
	for (size_t i = 0; i < cell->text.size; i++)
		columns += ((unsigned char)cell->text.bytes[i] & 0xc0) != 0x80;
	text_append(&out->text, cell->text.bytes, cell->text.size);
	if (columns < shown_width(out))
		out_pad(out, shown_width(out) - columns);
	out_puts(out, " ");
}

static void item_layout(struct out *out, const struct cell *cells)
{
	out_printf(out, "%7" PRIu64 " ", cells[ITEM_INDEX].number);
	if (cells[ITEM_SHOWN_KEY].is_there)
		put_shown(out, &cells[ITEM_SHOWN_KEY]);
	put_shown(out, &cells[ITEM_SHOWN_VALUE]);
	if (cells[ITEM_TYPE].is_there)
		out_type_cell(out, &cells[ITEM_TYPE]);
	out_puts(out, "\n");
}

#define ITEM_SCHEMA \
	.name = "items", SCHEMA_COLUMNS(item_columns), .is_main = true, .layout = item_layout

static const struct schema item_schema = {
	ITEM_SCHEMA,
	.heading = "  Index Value                        Type",
	.narrow_heading = "  Index Value              Type",
};
static const struct schema pair_schema = {
	ITEM_SCHEMA,
	.heading = "  Index Key                          Value                        Type",
	.narrow_heading = "  Index Key                Value              Type",
};

/* The items while they are written. */
struct item_listing {
	struct call *call;
	struct item_texts texts[2]; /**< of keys and of values */
	enum hd_status status;
	uint64_t index;
};

static enum hd_status write_item(struct item_listing *listing, const struct collection_item *item)
{
	struct call *call = listing->call;
	struct item_shown key, value;
	bool has_key = item->key.element_type;
	item_show(&listing->texts[0], &item->key, &key);
	item_show(&listing->texts[1], &item->value, &value);
	const struct cell cells[ITEM_COLUMNS] = {
		[ITEM_INDEX] = cell_number(listing->index++),
		[ITEM_KEY] = has_key ? cell_or_null(value_cell(&key.value)) : (struct cell){ 0 },
		[ITEM_KEY_TEXT] = key.text,
		[ITEM_KEY_TYPE] = key.type_cell,
		[ITEM_VALUE] = value_cell(&value.value),
		[ITEM_TEXT] = value.text,
		[ITEM_TYPE] = value.type_cell,
		[ITEM_SHOWN_KEY] = has_key ? key.shown : (struct cell){ 0 },
		[ITEM_SHOWN_VALUE] = value.shown,
	};
	if (answer_is_text(&call->answer) || !item_is_struct(&value)) {
		answer_row(&call->answer, cells);
	} else {
		answer_row_begin(&call->answer, cells);
		TRY(write_fields(call, value.type, value.value.address, FIELDS_OF_STRUCT, 0));
		answer_row_end(&call->answer);
	}
	return call_check(call);
}

static bool list_item(void *arg, const struct collection_item *item)
{
	struct item_listing *listing = arg;
	if (!answer_wants_row(&listing->call->answer))
		return false;
	listing->status = write_item(listing, item);
	return listing->status == HD_OK;
}

static enum hd_status list_items(struct call *call, const struct collection *collection,
				 bool has_keys)
{
	const struct table_options options = { .limit = call_limit(call, OPT_LIMIT, UINT64_MAX),
					       .late_heading = true };
	bool is_full = call->options[OPT_FULL].given || call->out.is_full;
	struct item_listing listing = { .call = call };
	const struct item_visitor visitor = { list_item, &listing };
	struct collection_facts facts;
	for (size_t i = 0; i < 2; i++)
		item_texts_init(&listing.texts[i], call, is_full);
	listing.texts[0].is_key = true;
	answer_table(&call->answer, has_keys ? &pair_schema : &item_schema, &options);
	enum hd_status status =
		collection_visit(collection, &call->job, &visitor, &facts, call->err);
	for (size_t i = 0; i < 2; i++)
		item_texts_deinit(&listing.texts[i]);
	TRY(listing.status);
	TRY(status);
	if (answer_table_end(&call->answer))
		answer_cut(&call->answer, options.limit);
	return HD_OK;
}

/* Why an object is not shown; @p wanted: the class that the command is for, or NULL. */
static enum hd_status no_collection(struct call *call, enum collection_state state,
				    const struct object *object,
				    const struct collection *collection)
{
	HD_CLEANUP(text) struct text text = { 0 };
	size_t size;
	const char *name = type_name(call->heap->runtime, object->type, &size);
	text_escape(&text, name, size < 120 ? size : 120);
	const char *type = text.bytes ? text.bytes : "?";
	uint64_t address = object->address;
	enum hd_status status;
	if (state == COLLECTION_UNKNOWN) {
		status = fail(call->err, HD_ERR_NOTFOUND, address,
			      "the layout of the collection %" PRIx64
			      " (%s) is not known: try dumpobj",
			      address, type);
	} else if (state == COLLECTION_INNER_UNKNOWN) {
		status = fail(call->err, HD_ERR_NOTFOUND, address,
			      "the items of %" PRIx64
			      " (%s) are in another object, whose layout is not "
			      "known: try dumpobj %" PRIx64,
			      address, type, collection->unknown);
	} else {
		status = fail(call->err, HD_ERR_NOTFOUND, address,
			      "object %" PRIx64
			      " of type %s is not a collection that is known: try dumpobj",
			      address, type);
	}
	return status;
}

static enum hd_status other_class(struct call *call, const char *wanted,
				  const struct object *object)
{
	HD_CLEANUP(text) struct text text = { 0 };
	text_printf(&text, "a %s", wanted);
	enum hd_status status =
		call_wrong_object(call, object, text.bytes ? text.bytes : wanted, "dumpcollection");
	return status;
}

/* @p wanted: the class that the command is for; NULL: any. */
static enum hd_status show_collection(struct call *call, struct members *members,
				      const struct object *object, const char *wanted)
{
	struct collection collection;
	struct collection_facts facts;
	enum collection_state state = collection_open(call->heap, members, object, &collection);
	if (state != COLLECTION_KNOWN)
		return no_collection(call, state, object, &collection);
	if (wanted && strcmp(collection_class(&collection), wanted) != 0)
		return other_class(call, wanted, object);
	TRY(collection_visit(&collection, &call->job, NULL, &facts, call->err));
	job_end(&call->job);
	write_collection_head(call, object, &facts);
	return list_items(call, &collection, facts.has_keys);
}

static enum hd_status dump_collection(struct call *call, const char *wanted)
{
	struct object object;
	HD_CLEANUP(members) struct members *members = NULL;
	TRY(call_heap_object(call, call->words[0].number, &object));
	TRY(members_create(call->heap, &members, call->err));
	return show_collection(call, members, &object, wanted);
}

static enum hd_status run_dumpcollection(struct call *call)
{
	return dump_collection(call, NULL);
}

static enum hd_status run_dumpconcurrentdictionary(struct call *call)
{
	return dump_collection(call, "ConcurrentDictionary");
}

static enum hd_status run_dumpconcurrentqueue(struct call *call)
{
	return dump_collection(call, "ConcurrentQueue");
}

COMMAND(dumpcollection, .alias = "dumpcol", .has_rows = true,
	.summary = "list the items of a collection: List, Dictionary, HashSet, queues",
	.description =
		"Also sorted, concurrent, immutable and frozen collections, LinkedList, Stack,\n"
		"PriorityQueue, ConditionalWeakTable, channels, BlockingCollection, MemoryCache and\n"
		"classes that derive from these. Values are shown as dumpobj shows those of fields;\n"
		"the fields of a struct are in braces. The count is the one that the collection says;\n"
		"when another number of items is found, both are shown.\n",
	.example = "dumpcollection 7f0fd5c0b2f8 -limit 20", .needs = NEEDS_HEAP | NEEDS_FIELDS,
	.options = collection_options, .words = { { "ADDR", VALUE_ADDRESS, false } });

COMMAND(dumpconcurrentdictionary, .alias = "dcd", .has_rows = true,
	.summary = "list the items of a ConcurrentDictionary",
	.description = "As dumpcollection shows them.\n",
	.example = "dumpconcurrentdictionary 7f0fd5c0b2f8", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_HEAP | NEEDS_FIELDS, .options = collection_options,
	.words = { { "ADDR", VALUE_ADDRESS, false } });

COMMAND(dumpconcurrentqueue, .alias = "dcq", .has_rows = true,
	.summary = "list the items of a ConcurrentQueue",
	.description = "As dumpcollection shows them.\n",
	.example = "dumpconcurrentqueue 7f0fd5c0b2f8", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_HEAP | NEEDS_FIELDS, .options = collection_options,
	.words = { { "ADDR", VALUE_ADDRESS, false } });
