/* SPDX-License-Identifier: MIT */
/* From an address to the object or type there, and what every command says about one first. */
#include <inttypes.h>

#include "command/objects/object.h"
#include "inspect/locate.h"
#include "runtime/coreclr/modules/module.h"

/* Name of a type for a message: escaped, short. */
static void put_short_type(struct text *text, struct runtime *runtime, const struct type *type)
{
	size_t size;
	const char *name = type_name(runtime, type, &size);
	text_escape(text, name, size < 120 ? size : 120);
}

static enum hd_status fail_with(struct call *call, uint64_t address, struct text *text)
{
	enum hd_status status = fail(call->err, HD_ERR_NOTFOUND, address, "%s",
				     text->bytes ? text->bytes : "out of memory");
	text_deinit(text);
	return status;
}

enum hd_status call_wrong_object(struct call *call, const struct object *object, const char *wanted,
				 const char *instead)
{
	struct text text = { 0 };
	text_printf(&text, "object %" PRIx64 " is not %s but a ", object->address, wanted);
	put_short_type(&text, call->heap->runtime, object->type);
	text_printf(&text, ": try %s", instead);
	return fail_with(call, object->address, &text);
}

static enum hd_status outside(struct call *call, uint64_t address)
{
	struct runtime *runtime = call->heap->runtime;
	struct text text = { 0 };
	text_printf(&text, "no object %" PRIx64 ": it is in no segment of the heap", address);
	const struct type *type = address % 8 ? NULL : type_find(runtime, address);
	if (type) {
		text_puts(&text, "; it is the MethodTable of ");
		put_short_type(&text, runtime, type);
		text_printf(&text, ": try dumpmt %" PRIx64, address);
	}
	return fail_with(call, address, &text);
}

static enum hd_status inside(struct call *call, uint64_t address, const struct object *object)
{
	struct text text = { 0 };
	text_printf(&text, "no object starts at %" PRIx64 ": it is inside object %" PRIx64 " (",
		    address, object->address);
	put_short_type(&text, call->heap->runtime, object->type);
	text_printf(&text, ") +0x%" PRIx64 "; try %s %" PRIx64, address - object->address,
		    call->command->name, object->address);
	return fail_with(call, address, &text);
}

/* There is no object: SOS's words, and the bad one. */
static enum hd_status invalid(struct call *call, uint64_t address, const struct location *location)
{
	struct text text = { 0 };
	uint64_t word;
	bool readable = memory_u64(call->heap->memory, address, &word);
	text_printf(&text, "object %" PRIx64 ": does not have valid MT", address);
	if (readable) {
		text_printf(&text, " (%016" PRIx64 ")", word);
	} else {
		text_puts(&text, " (its bytes are missing)");
	}
	if (location->place == PLACE_BETWEEN) {
		text_puts(&text, "; this part of the segment has not been given to objects yet");
	} else {
		text_puts(&text, "; verifyheap shows what is damaged");
	}
	if (location->before.type) {
		text_printf(&text, "; last good object: %" PRIx64 " (", location->before.address);
		put_short_type(&text, call->heap->runtime, location->before.type);
		text_puts(&text, ")");
	}
	return fail_with(call, address, &text);
}

enum hd_status call_located_object(struct call *call, uint64_t address,
				   const struct location *location, struct object *ret)
{
	switch (location->place) {
	case PLACE_OUTSIDE:
		return outside(call, address);
	case PLACE_INSIDE:
		return inside(call, address, &location->object);
	case PLACE_OBJECT:
		*ret = location->object;
		return HD_OK;
	case PLACE_BETWEEN:
	case PLACE_SKIPPED:
		break;
	}
	HD_CLEANUP(window) struct window window = { .memory = call->heap->memory };
	bool sound =
		location->place == PLACE_SKIPPED && object_read(call->heap, &window, address, ret);
	return sound ? HD_OK : invalid(call, address, location);
}

enum hd_status call_heap_object(struct call *call, uint64_t address, struct object *ret)
{
	struct location location;
	TRY(object_locate(call->heap, address, &call->job, &location, call->err));
	return call_located_object(call, address, &location, ret);
}

enum hd_status call_type(struct call *call, uint64_t address, const struct type **ret)
{
	struct runtime *runtime = call->heap->runtime;
	const struct type *type = address % 8 ? NULL : type_find(runtime, address);
	if (type) {
		*ret = type;
		return HD_OK;
	}
	struct text text = { 0 };
	uint64_t word;
	text_printf(&text, "no MethodTable at %" PRIx64, address);
	if (address % 8 == 0 && heap_segment_at(call->heap, address) &&
	    memory_u64(call->heap->memory, address, &word))
		type = type_find(runtime, word & ~(uint64_t)7);
	if (type) {
		text_puts(&text, "; it is an object of type ");
		put_short_type(&text, runtime, type);
		text_printf(&text, ": try %s %" PRIx64, call->command->name, type->method_table);
	}
	return fail_with(call, address, &text);
}

const char *type_file(struct runtime *runtime, const struct type *type)
{
	uint64_t home = type_home_module(runtime, type);
	const struct module *module = home ? module_find(runtime, home) : NULL;
	return module && module->path && *module->path ? module->path : NULL;
}

#define HEAD_LIST(X)                                                                         \
	X(HEAD_ADDRESS, "address", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT, "where it begins") \
	X(HEAD_MT, "mt", NULL, KIND_ADDRESS, 0, 0, "its MethodTable")                        \
	X(HEAD_TYPE, "type", NULL, KIND_TYPE, 0, 0, "name of its type")                      \
	X(HEAD_CLASS, "ee_class", NULL, KIND_ADDRESS, 0, 0,                                  \
	  "the EEClass of its type; null: the runtime has none")                             \
	X(HEAD_SIZE, "size", NULL, KIND_BYTES, 0, 0, "its own bytes")                        \
	X(HEAD_FILE, "file", NULL, KIND_TEXT, 0, 0, "file of the module of its type")        \
	X(HEAD_INDENT, .heading = "indent", .kind = KIND_NUMBER) /**< text only */

COLUMNS(head, HEAD_COLUMNS, HEAD_LIST);

void write_object_head(struct answer *answer, struct runtime *runtime,
		       const struct object_head *head)
{
	static const struct schema schema = {
		SCHEMA_COLUMNS(head_columns),
		.lines = "{indent:_}Name:        {type}\n{indent:_}MethodTable: {mt:016}\n"
			 "[=ee_class {indent:_}EEClass:     {ee_class:016}\n]"
			 "{indent:_}Size:        {size}(0x{size:x}) bytes\n"
			 "[=file {indent:_}File:        {file}\n]"
	};
	static const struct schema of_free = {
		SCHEMA_COLUMNS(head_columns),
		.lines = "Free Object\nSize:        {size}(0x{size:x}) bytes\n"
	};
	const struct type *type = head->type;
	bool is_array = type->category == CATEGORY_SZ_ARRAY || type->category == CATEGORY_MD_ARRAY;
	size_t size;
	const char *name = type_name(runtime, type, &size);
	struct cell cells[HEAD_COLUMNS] = {
		[HEAD_ADDRESS] = { .is_there = head->has_address, .number = head->address },
		[HEAD_MT] = cell_number(type->method_table),
		[HEAD_TYPE] = cell_type(name, size, type->method_table),
		[HEAD_SIZE] = cell_number(head->size),
		[HEAD_FILE] = cell_string(is_array ? NULL : type_file(runtime, type)),
		[HEAD_INDENT] = cell_number(head->indent),
	};
	if (type->links.ee_class)
		cells[HEAD_CLASS] = cell_number(type->links.ee_class);
	answer_record(answer, head->is_free ? &of_free : &schema, cells);
}
