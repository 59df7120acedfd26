/* SPDX-License-Identifier: MIT */
/* dumpobj, for the heap of a target. */

#include "command/objects/object.h"
#include "gc/references.h"
#include "inspect/slot_name.h"

static const struct value *option_value(const struct call *call, const char *name)
{
	for (size_t i = 0; call->command->options[i].name; i++) {
		if (strcmp(call->command->options[i].name, name) == 0)
			return &call->options[i];
	}
	return NULL;
}

static bool has_object_option(const struct call *call, const char *name)
{
	const struct value *value = option_value(call, name);
	return value && value->given;
}

#define STRING_LIST(X)                                                                   \
	X(STRING_LENGTH, "length", NULL, KIND_NUMBER, 0, 0, "its UTF-16 units")          \
	X(STRING_TEXT, "string", NULL, KIND_TEXT, 0, 0, "its text, if that can be read") \
	X(STRING_TRUNCATED, "truncated", NULL, KIND_FLAG, 0, LOOK_LEAVE_OUT, "is there more of it?")

COLUMNS(string, STRING_COLUMNS, STRING_LIST);

static void write_string(struct call *call, const struct object *object)
{
	static const struct schema schema = {
		SCHEMA_COLUMNS(string_columns),
		.lines = "String:      [{string}[=truncated ...]|(its characters are missing)]\n"
	};
	HD_CLEANUP(text) struct text text = { 0 };
	bool readable = string_value(call->heap, object->address, STRING_MAX, &text, NULL);
	const char *string = text.bytes ? text.bytes : "";
	const struct cell cells[STRING_COLUMNS] = {
		[STRING_LENGTH] = cell_number(object->length),
		[STRING_TEXT] = cell_text(readable ? string : NULL, text.size),
		[STRING_TRUNCATED] = { .is_there = object->length > STRING_MAX, .flag = true },
	};
	answer_record(&call->answer, &schema, cells);
	call->out.text.failed |= text.failed;
}

#define SYNC_LIST(X)                                                                            \
	X(SYNC_WORD, "word", NULL, KIND_ADDRESS, 0, 0, "the header word")                       \
	X(SYNC_THREAD, "lock_thread", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                     \
	  "managed id of the thread that has its thin lock")                                    \
	X(SYNC_RECURSION, "lock_recursion", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,               \
	  "how often that has it besides")                                                      \
	X(SYNC_INDEX, "index", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "index of its sync block") \
	X(SYNC_BLOCK, "block", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT, "its sync block")         \
	X(SYNC_HASH, "hash", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "its hash code")             \
	X(SYNC_OWNER, .heading = "owner", .kind = KIND_ADDRESS) /**< text only */

COLUMNS(sync, SYNC_COLUMNS, SYNC_LIST);

SCHEMA(sync, .name = "sync",
       .lines = "[=lock_thread ThinLock owner {lock_thread:x} ({owner:016}), Recursive "
		"{lock_recursion:x}[=owner |: there is no such thread]\n]"
		"[SyncBlock:   index {index}, at {block:016}\n]"
		"[HashCode:    {hash}(0x{hash:x})\n]");

/* Fill in what the header word says; false: it says nothing. */
static bool sync_cells(const struct runtime *runtime, const struct object *object,
		       struct cell *cells)
{
	struct sync_info sync;
	if (!runtime_sync_info(runtime, object->address, &sync) ||
	    (!sync.has_thin_lock && !sync.has_sync_block && !sync.has_hash))
		return false;
	cells[SYNC_WORD] = cell_number(sync.word);
	if (sync.has_thin_lock) {
		const struct runtime_thread *thread =
			runtime_thread_by_id(runtime, sync.lock_thread);
		cells[SYNC_THREAD] = cell_number(sync.lock_thread);
		cells[SYNC_RECURSION] = cell_number(sync.lock_recursion);
		if (thread)
			cells[SYNC_OWNER] = cell_number(thread->address);
	}
	if (sync.has_sync_block) {
		cells[SYNC_INDEX] = cell_number(sync.index);
		cells[SYNC_BLOCK] = cell_number(sync.block);
	}
	if (sync.has_hash)
		cells[SYNC_HASH] = cell_number(sync.hash);
	return true;
}

/* Generation, and what the header word says: that has a place of its own in text. */
static void place_data(struct call *call, const struct object *object)
{
	static const struct column columns[] = {
		{ "generation", NULL, KIND_TEXT, 0, 0, "0, 1, 2, loh, poh or nongc" },
	};
	static const struct schema schema = { SCHEMA_COLUMNS(columns) };
	const struct segment *segment = heap_segment_at(call->heap, object->address);
	struct cell cells[SYNC_COLUMNS] = { 0 };
	const struct cell generation = cell_string(
		segment ? generation_name(segment_generation_at(segment, object->address)) : NULL);
	answer_data(&call->answer, &schema, &generation);
	if (sync_cells(call->heap->runtime, object, cells))
		answer_data(&call->answer, &sync_schema, cells);
}

static void place_text(struct call *call, const struct object *object)
{
	struct cell cells[SYNC_COLUMNS] = { 0 };
	if (sync_cells(call->heap->runtime, object, cells))
		answer_heading(&call->answer, &sync_schema, cells);
}

#define EDGE_LIST(X)                                                                             \
	X(EDGE_SLOT, "slot", NULL, KIND_ADDRESS, 0, 0, "where the reference is")                 \
	X(EDGE_OBJECT, "object", NULL, KIND_ADDRESS, 0, 0, "what it refers to")                  \
	X(EDGE_FIELD, "field", NULL, KIND_TEXT, 0, 0, "the field or element that it is")         \
	X(EDGE_OFFSET, .heading = "offset", .kind = KIND_ADDRESS) /**< text only, as the next */ \
	X(EDGE_TYPE, .heading = "type", .kind = KIND_TYPE)

COLUMNS(edge, EDGE_COLUMNS, EDGE_LIST);

SCHEMA(edge, .name = "edges", .heading = "          offset            object type  field",
       .lines = "{offset:16x}  {object:016a} {type}  {field}\n");

static const struct column reference_columns[] = {
	{ "object", NULL, KIND_ADDRESS, 0, 0, "what the object refers to" },
};

SCHEMA(reference, .name = "references", .is_list = true);

static void write_reference(struct call *call, const struct object *object,
			    const struct reference *reference, struct window *window)
{
	HD_CLEANUP(text) struct text name = { 0 };
	struct object target;
	struct cell type = { .shown = "<no object>" };
	slot_name(call->heap, object, reference->slot, &name);
	if (answer_is_text(&call->answer) &&
	    object_read(call->heap, window, reference->value, &target)) {
		size_t size;
		const char *string = type_name(call->heap->runtime, target.type, &size);
		type = cell_type(string, size, target.type->method_table);
	}
	const struct cell cells[EDGE_COLUMNS] = {
		[EDGE_SLOT] = cell_number(reference->slot),
		[EDGE_OBJECT] = cell_number(reference->value),
		[EDGE_FIELD] = cell_text(name.bytes ? name.bytes : "", name.size),
		[EDGE_OFFSET] =
			cell_number(reference->slot ? reference->slot - object->address : 0),
		[EDGE_TYPE] = type,
	};
	answer_row(&call->answer, cells);
}

/* "references", or "edges" with their slots. */
static enum hd_status write_references(struct call *call, const struct object *object,
				       uint64_t limit, const struct schema *schema)
{
	const struct table_options options = { .limit = limit };
	struct answer *answer = &call->answer;
	HD_CLEANUP(window) struct window window = { .memory = call->heap->memory };
	HD_CLEANUP(window) struct window target = { .memory = call->heap->memory };
	struct references references;
	struct reference reference;
	enum hd_status status = HD_OK;
	answer_table(answer, schema, &options);
	references_begin(&references, &window, object);
	while (status == HD_OK && references_next(&references, &reference)) {
		if (!answer_wants_row(answer))
			break;
		if (schema == &edge_schema) {
			write_reference(call, object, &reference, &target);
		} else {
			answer_row(answer, (const struct cell[]){ cell_number(reference.value) });
		}
		status = call_check(call);
	}
	if (answer_table_end(answer))
		answer_cut(answer, limit);
	if (references.missing)
		answer_remark(answer, "(some slots are missing)\n");
	return status;
}

#define ARRAY_LIST(X)                                                      \
	X(ARRAY_LENGTH, "length", NULL, KIND_NUMBER, 0, 0, "its elements") \
	X(ARRAY_INDENT, .heading = "indent",                               \
	  .kind = KIND_NUMBER) /**< text only, as all that follow */       \
	X(ARRAY_RANK, .heading = "rank", .kind = KIND_NUMBER)              \
	X(ARRAY_KIND, .heading = "kind", .kind = KIND_TEXT)

COLUMNS(array, ARRAY_COLUMNS, ARRAY_LIST);

SCHEMA(array,
       .lines = "{indent:_}Array:       Rank {rank}, Number of elements {length}, Type {kind}\n");

static void array_cells(const struct array_info *array, unsigned int indent, struct cell *cells)
{
	static const char *const names[] = {
		[ELEMENT_BOOLEAN] = "Boolean",  [ELEMENT_CHAR] = "Char",
		[ELEMENT_I1] = "SByte",         [ELEMENT_U1] = "Byte",
		[ELEMENT_I2] = "Int16",         [ELEMENT_U2] = "UInt16",
		[ELEMENT_I4] = "Int32",         [ELEMENT_U4] = "UInt32",
		[ELEMENT_I8] = "Int64",         [ELEMENT_U8] = "UInt64",
		[ELEMENT_R4] = "Single",        [ELEMENT_R8] = "Double",
		[ELEMENT_I] = "IntPtr",         [ELEMENT_U] = "UIntPtr",
		[ELEMENT_STRING] = "CLASS",     [ELEMENT_CLASS] = "CLASS",
		[ELEMENT_VALUE] = "VALUETYPE",  [ELEMENT_ARRAY] = "ARRAY",
		[ELEMENT_SZ_ARRAY] = "SZARRAY", [ELEMENT_POINTER] = "PTR",
	};
	size_t count = sizeof(names) / sizeof(names[0]);
	const char *name = array->element_type < count ? names[array->element_type] : NULL;
	cells[ARRAY_LENGTH] = cell_number(array->length);
	cells[ARRAY_INDENT] = cell_number(indent);
	cells[ARRAY_RANK] = cell_number(array->rank);
	cells[ARRAY_KIND] = cell_string(name ? name : "?");
}

void write_array_line(struct answer *answer, const struct array_info *array, unsigned int indent)
{
	struct cell cells[ARRAY_COLUMNS];
	array_cells(array, indent, cells);
	answer_heading(answer, &array_schema, cells);
}

void write_array(struct answer *answer, const struct array_info *array)
{
	static const struct column lengths[] = {
		{ "length", NULL, KIND_NUMBER, 0, 0, "elements of a dimension" },
	};
	static const struct column bounds[] = {
		{ "bound", NULL, KIND_SIGNED, 0, 0, "the first index of a dimension" },
	};
	static const struct schema length_schema = { .name = "lengths",
						     SCHEMA_COLUMNS(lengths),
						     .is_list = true };
	static const struct schema bound_schema = { .name = "lower_bounds",
						    SCHEMA_COLUMNS(bounds),
						    .is_list = true };
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	struct cell cells[ARRAY_COLUMNS];
	array_cells(array, 0, cells);
	answer_record(answer, &array_schema, cells);
	answer_table(answer, &length_schema, &options);
	for (uint32_t i = 0; i < array->rank; i++)
		answer_row(answer, (const struct cell[]){ cell_number(array->lengths[i]) });
	(void)answer_table_end(answer);
	answer_table(answer, &bound_schema, &options);
	for (uint32_t i = 0; i < array->rank; i++)
		answer_row(answer, (const struct cell[]){ cell_signed(array->bounds[i]) });
	(void)answer_table_end(answer);
}

/* SOS's line of what an array of bytes or characters holds; what does not print is a dot. */
#define CONTENT_MAX 128u

static void array_content(struct call *call, const struct array_info *array)
{
	static const struct column columns[] = {
		{ "content", "Content:     ", KIND_TEXT, 0, 0, "the first bytes or characters" },
	};
	static const struct schema schema = { SCHEMA_COLUMNS(columns) };
	uint8_t bytes[2 * CONTENT_MAX];
	bool is_wide = array->element_type == ELEMENT_CHAR;
	uint32_t count = array->length < CONTENT_MAX ? array->length : CONTENT_MAX;
	if ((!is_wide && array->element_type != ELEMENT_U1 && array->element_type != ELEMENT_I1) ||
	    !memory_read(call->heap->memory, array->data, bytes, (size_t)count << is_wide))
		return;
	HD_CLEANUP(text) struct text text = { 0 };
	for (uint32_t i = 0; i < count; i++) {
		uint16_t unit = is_wide ? load_u16(bytes + (size_t)2 * i) : bytes[i];
		const uint8_t letter = unit >= ' ' && unit <= '~' ? (uint8_t)unit : (uint8_t)'.';
		text_append(&text, (const char *)&letter, 1);
	}
	const struct cell cell = cell_text(text.bytes ? text.bytes : "", text.size);
	answer_record(&call->answer, &schema, &cell);
	call->out.text.failed |= text.failed;
}

/* A Free block: it has neither fields nor references. */
static void write_free(struct answer *answer)
{
	static const struct column columns[] = {
		{ "free", NULL, KIND_FLAG, 0, 0, "is it a Free block, not an object?" },
	};
	static const struct schema schema = { SCHEMA_COLUMNS(columns) };
	static const struct schema field_schema = { .name = "fields", .columns = columns };
	static const struct schema *const empty[] = { &field_schema, &reference_schema };
	answer_data(answer, &schema, (const struct cell[]){ cell_flag(true) });
	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
		answer_table(answer, empty[i], &(const struct table_options){ .no_heading = true });
		(void)answer_table_end(answer);
	}
}

static enum hd_status write_object_parts(struct call *call, const struct object *object)
{
	struct answer *answer = &call->answer;
	const struct value *given = option_value(call, "limit");
	uint64_t limit = given && given->given && given->number ? given->number : UINT64_MAX;
	struct array_info array;
	if (object->type->is_string)
		write_string(call, object);
	if (array_read(call->heap, object, &array)) {
		write_array(answer, &array);
		array_content(call, &array);
	}
	place_data(call, object);
	if (!has_object_option(call, "nofields")) {
		answer_remark(answer, "Fields:\n");
		TRY(write_fields(call, object->type, object->address, FIELDS_OF_OBJECT, 0));
	}
	place_text(call, object);
	/* Text has them only with their slots. */
	if (!answer_is_text(answer))
		TRY(write_references(call, object, limit, &reference_schema));
	if (!has_object_option(call, "refs"))
		return HD_OK;
	answer_remark(answer, "GC Refs:\n");
	return write_references(call, object, limit, &edge_schema);
}

enum hd_status run_dumpobj_heap(struct call *call)
{
	struct object object;
	TRY(call_heap_object(call, call->words[0].number, &object));
	const struct object_head head = { .type = object.type,
					  .size = object.size,
					  .address = object.address,
					  .has_address = true,
					  .is_free = object.type->is_free };
	write_object_head(&call->answer, call->heap->runtime, &head);
	if (!object.type->is_free)
		return write_object_parts(call, &object);
	write_free(&call->answer);
	return HD_OK;
}
