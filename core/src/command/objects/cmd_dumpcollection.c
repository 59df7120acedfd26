/* SPDX-License-Identifier: MIT */
/* dumpcollection, and SOS's names for two of its kinds. */
#include <inttypes.h>

#include "analysis/collections/collection.h"
#include "command/objects/item_text.h"
#include "command/table.h"
#include "report/fit.h"

#define COLLECTION_OPTIONS(X)                                                            \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "list at most N items (0 = all)", NULL) \
	X(OPT_FULL, "full", VALUE_NONE, NULL,                                            \
	  "whole strings, not their first 64 characters; shorten no names", NULL)

OPTIONS(collection, COLLECTION_OPTIONS);

#define COLLECTION_LIST(X)                                                                   \
	X(COLLECTION_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0, "the collection")         \
	X(COLLECTION_MT, "mt", NULL, KIND_ADDRESS, 0, 0, "its MethodTable")                  \
	X(COLLECTION_TYPE, "type", NULL, KIND_TYPE, 0, 0, "name of its type")                \
	X(COLLECTION_COUNT, "count", NULL, KIND_NUMBER, 0, 0,                                \
	  "items as it says itself; null: it does not")                                      \
	X(COLLECTION_FOUND, "found", NULL, KIND_NUMBER, 0, 0, "items that were found in it") \
	X(COLLECTION_CAPACITY, "capacity", NULL, KIND_NUMBER, 0, 0,                          \
	  "items that it has room for; null: it has no limit")                               \
	X(COLLECTION_FILL, "fill_percent", NULL, KIND_PERCENT, 0, 0,                         \
	  "how much of its room is used")                                                    \
	X(COLLECTION_COMPLETE, "complete", NULL, KIND_FLAG, 0, 0, "could it be read to its end?")

COLUMNS(collection, COLLECTION_COLUMNS, COLLECTION_LIST);

static void collection_layout_text(struct out *out, const struct cell *cells)
{
	const struct cell *type = &cells[COLLECTION_TYPE], *count = &cells[COLLECTION_COUNT];
	uint64_t found = cells[COLLECTION_FOUND].number;
	uint64_t says = count->is_there ? count->number : found;
	char number[2][NUMBER_SIZE];
	out_puts(out, "Name:        ");
	out_type(out, type->text.bytes, type->text.size, type->text.id);
	out_printf(out, "\nMethodTable: %016" PRIx64 "\nCount:       %s",
		   cells[COLLECTION_MT].number, format_thousands(says, number[0]));
	if (says != found)
		out_printf(out, ", but %s found", format_thousands(found, number[1]));
	out_puts(out, "\n");
	if (!cells[COLLECTION_CAPACITY].is_there)
		return;
	out_printf(out, "Capacity:    %s",
		   format_thousands(cells[COLLECTION_CAPACITY].number, number[0]));
	if (cells[COLLECTION_FILL].is_there)
		out_printf(out, " (%.1f%% used)", cells[COLLECTION_FILL].real);
	out_puts(out, "\n");
}

SCHEMA(collection, .layout = collection_layout_text);

static void write_collection_head(struct call *call, const struct object *object,
				  const struct collection_facts *facts)
{
	size_t size;
	const char *name = type_name(call->heap->clr, object->type, &size);
	struct cell cells[COLLECTION_COLUMNS] = {
		[COLLECTION_ADDRESS] = cell_number(object->address),
		[COLLECTION_MT] = cell_number(object->type->method_table),
		[COLLECTION_TYPE] = cell_type(name, size, object->type->method_table),
		[COLLECTION_FOUND] = cell_number(facts->found),
		[COLLECTION_COMPLETE] = cell_flag(!facts->is_broken),
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
	bool is_full = call->options[OPT_FULL].given;
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
	const char *name = type_name(call->heap->clr, object->type, &size);
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
	struct members *members;
	TRY(call_heap_object(call, call->words[0].number, &object));
	TRY(members_create(call->heap, &members, call->err));
	enum hd_status status = show_collection(call, members, &object, wanted);
	members_destroy(members);
	return status;
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
	.example = "dumpcollection 7f0fd5c0b2f8 -limit 20", .needs = NEEDS_HEAP,
	.options = collection_options, .words = { { "ADDR", VALUE_ADDRESS, false } });

COMMAND(dumpconcurrentdictionary, .alias = "dcd", .has_rows = true,
	.summary = "list the items of a ConcurrentDictionary",
	.description = "As dumpcollection shows them.\n",
	.example = "dumpconcurrentdictionary 7f0fd5c0b2f8", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_HEAP, .options = collection_options,
	.words = { { "ADDR", VALUE_ADDRESS, false } });

COMMAND(dumpconcurrentqueue, .alias = "dcq", .has_rows = true,
	.summary = "list the items of a ConcurrentQueue",
	.description = "As dumpcollection shows them.\n",
	.example = "dumpconcurrentqueue 7f0fd5c0b2f8", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_HEAP, .options = collection_options,
	.words = { { "ADDR", VALUE_ADDRESS, false } });
