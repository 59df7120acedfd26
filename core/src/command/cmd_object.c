/* SPDX-License-Identifier: MIT */
/* dumpobj, for the heap of a target. */
#include <inttypes.h>

#include "command/object.h"
#include "heap/references.h"
#include "inspect/slot_name.h"

/* UTF-16 units of a string that are shown at most. */
#define STRING_MAX ((uint32_t)1 << 24)

static const struct value *option_value(const struct call *call, const char *name)
{
	for (size_t i = 0; call->command->options[i].name; i++) {
		if (strcmp(call->command->options[i].name, name) == 0)
			return &call->options[i];
	}
	return NULL;
}

static bool has_option(const struct call *call, const char *name)
{
	const struct value *value = option_value(call, name);
	return value && value->given;
}

static void write_string(struct call *call, const struct object *object)
{
	struct text text = { 0 };
	if (call->as_json) {
		bool readable = string_value(call->heap, object->address, STRING_MAX, &text, NULL);
		json_number(&call->json, "length", object->length);
		json_text(&call->json, "string", readable ? text.bytes ? text.bytes : "" : NULL,
			  text.size);
		if (object->length > STRING_MAX)
			json_bool(&call->json, "truncated", true);
	} else {
		bool readable = string_text(call->heap, object->address, STRING_MAX, &text);
		out_puts(&call->out, "String:      ");
		text_append(&call->out.text, text.bytes, text.size);
		out_puts(&call->out, readable ? "\n" : "(its characters are missing)\n");
	}
	call->out.text.failed = call->out.text.failed || text.failed;
	text_deinit(&text);
}

/* Generation, and what the header word says. */
static void place_json(struct call *call, const struct object *object)
{
	const struct segment *segment = heap_segment_at(call->heap, object->address);
	struct json *json = &call->json;
	json_string(json, "generation",
		    segment ? generation_name(segment_generation_at(segment, object->address))
			    : NULL);
	struct sync_info sync;
	if (!clr_sync_info(call->heap->clr, object->address, &sync) ||
	    (!sync.has_thin_lock && !sync.has_sync_block && !sync.has_hash))
		return;
	json_object(json, "sync");
	json_address(json, "word", sync.word);
	if (sync.has_thin_lock) {
		json_number(json, "lock_thread", sync.lock_thread);
		json_number(json, "lock_recursion", sync.lock_recursion);
	}
	if (sync.has_sync_block) {
		json_number(json, "index", sync.index);
		json_address(json, "block", sync.block);
	}
	if (sync.has_hash)
		json_number(json, "hash", sync.hash);
	json_end(json);
}

static void sync_text(struct call *call, const struct object *object)
{
	struct out *out = &call->out;
	const struct clr *clr = call->heap->clr;
	struct sync_info sync;
	if (!clr_sync_info(clr, object->address, &sync))
		return;
	if (sync.has_thin_lock) {
		const struct clr_thread *thread = clr_thread_by_id(clr, sync.lock_thread);
		out_printf(out, "ThinLock owner %" PRIx32 " (%016" PRIx64 "), Recursive %" PRIx32,
			   sync.lock_thread, thread ? thread->address : 0, sync.lock_recursion);
		out_puts(out, thread ? "\n" : ": there is no such thread\n");
	}
	if (sync.has_sync_block) {
		out_printf(out, "SyncBlock:   index %" PRIu32 ", at %016" PRIx64 "\n", sync.index,
			   sync.block);
	}
	if (sync.has_hash)
		out_printf(out, "HashCode:    %" PRIu32 "(0x%" PRIx32 ")\n", sync.hash, sync.hash);
}

static enum hd_status references_json(struct call *call, const struct object *object,
				      uint64_t limit, bool with_slots)
{
	struct json *json = &call->json;
	struct window window = { .memory = call->heap->memory };
	struct references references;
	struct reference reference;
	enum hd_status status = HD_OK;
	uint64_t count = 0;
	json_array(json, with_slots ? "edges" : "references");
	references_begin(&references, &window, object);
	while (status == HD_OK && references_next(&references, &reference)) {
		if (++count > limit)
			break;
		if (with_slots) {
			struct text name = { 0 };
			slot_name(call->heap, object, reference.slot, &name);
			json_object(json, NULL);
			json_address(json, "slot", reference.slot);
			json_address(json, "object", reference.value);
			json_text(json, "field", name.bytes ? name.bytes : "", name.size);
			json_end(json);
			text_deinit(&name);
		} else {
			json_address(json, NULL, reference.value);
		}
		status = call_check(call);
	}
	window_deinit(&window);
	json_end(json);
	if (count > limit)
		json_bool(json, "truncated", true);
	return status;
}

/* A row of what an object refers to: SOS's "GC Refs", and type and field behind it. */
static void reference_row(struct call *call, const struct object *object,
			  const struct reference *reference, struct window *window)
{
	struct out *out = &call->out;
	struct text name = { 0 };
	struct object target;
	slot_name(call->heap, object, reference->slot, &name);
	out_printf(out, "%16" PRIx64 "  ",
		   reference->slot ? reference->slot - object->address : (uint64_t)0);
	out_styled(out, STYLE_ADDRESS, "%016" PRIx64, reference->value);
	out_puts(out, " ");
	if (object_read(call->heap, window, reference->value, &target)) {
		size_t size;
		const char *type = type_name(call->heap->clr, target.type, &size);
		out_type(out, type, size, target.type->method_table);
	} else {
		out_styled(out, STYLE_NOTE, "<no object>");
	}
	out_puts(out, "  ");
	if (name.bytes)
		text_escape(&out->text, name.bytes, name.size);
	out_puts(out, "\n");
	text_deinit(&name);
}

static enum hd_status references_text(struct call *call, const struct object *object,
				      uint64_t limit)
{
	struct out *out = &call->out;
	struct window window = { .memory = call->heap->memory };
	struct window target = { .memory = call->heap->memory };
	struct references references;
	struct reference reference;
	enum hd_status status = HD_OK;
	uint64_t count = 0;
	char number[27];
	out_puts(out, "GC Refs:\n");
	out_styled(out, STYLE_HEAD, "%16s  %16s %s", "offset", "object", "type  field");
	out_puts(out, "\n");
	references_begin(&references, &window, object);
	while (status == HD_OK && references_next(&references, &reference)) {
		if (++count > limit)
			break;
		reference_row(call, object, &reference, &target);
		status = call_check(call);
	}
	if (count > limit) {
		out_printf(out, "(the first %s; -limit 0 lists all)\n",
			   format_thousands(limit, number));
	}
	if (references.missing)
		out_puts(out, "(some slots are missing)\n");
	window_deinit(&window);
	window_deinit(&target);
	return status;
}

void array_line(struct call *call, const struct array_info *array)
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
	if (!call->as_json) {
		out_printf(&call->out,
			   "Array:       Rank %" PRIu32 ", Number of elements %" PRIu32
			   ", Type %s\n",
			   array->rank, array->length, name ? name : "?");
		return;
	}
	struct json *json = &call->json;
	json_number(json, "length", array->length);
	json_array(json, "lengths");
	for (uint32_t i = 0; i < array->rank; i++)
		json_number(json, NULL, array->lengths[i]);
	json_end(json);
	json_array(json, "lower_bounds");
	for (uint32_t i = 0; i < array->rank; i++)
		json_signed(json, NULL, array->bounds[i]);
	json_end(json);
}

/* SOS's line of what an array of bytes or characters holds; what does not print is a dot. */
#define CONTENT_MAX 128u

static void array_content(struct call *call, const struct array_info *array)
{
	uint8_t bytes[2 * CONTENT_MAX];
	bool is_wide = array->element_type == ELEMENT_CHAR;
	uint32_t count = array->length < CONTENT_MAX ? array->length : CONTENT_MAX;
	if ((!is_wide && array->element_type != ELEMENT_U1 && array->element_type != ELEMENT_I1) ||
	    !memory_read(call->heap->memory, array->data, bytes, (size_t)count << is_wide))
		return;
	struct text text = { 0 };
	for (uint32_t i = 0; i < count; i++) {
		uint16_t unit = is_wide ? load_u16(bytes + (size_t)2 * i) : bytes[i];
		const uint8_t letter = unit >= ' ' && unit <= '~' ? (uint8_t)unit : (uint8_t)'.';
		text_append(&text, (const char *)&letter, 1);
	}
	if (call->as_json) {
		json_text(&call->json, "content", text.bytes ? text.bytes : "", text.size);
	} else {
		out_puts(&call->out, "Content:     ");
		if (text.size)
			text_escape(&call->out.text, text.bytes, text.size);
		out_puts(&call->out, "\n");
	}
	call->out.text.failed |= text.failed;
	text_deinit(&text);
}

static enum hd_status write_free(struct call *call, const struct object *object)
{
	if (call->as_json) {
		type_head(call, object->type, 0);
		size_and_file(call, object->type, object->size, 0);
		json_bool(&call->json, "free", true);
		json_array(&call->json, "fields");
		json_end(&call->json);
		json_array(&call->json, "references");
		json_end(&call->json);
	} else {
		out_printf(&call->out,
			   "Free Object\nSize:        %" PRIu64 "(0x%" PRIx64 ") bytes\n",
			   object->size, object->size);
	}
	return HD_OK;
}

enum hd_status run_dumpobj_heap(struct call *call)
{
	struct object object;
	TRY(call_heap_object(call, call->words[0].number, &object));
	const struct value *given = option_value(call, "limit");
	uint64_t limit = given && given->given && given->number ? given->number : UINT64_MAX;
	if (call->as_json)
		json_address(&call->json, "address", object.address);
	if (object.type->is_free)
		return write_free(call, &object);
	type_head(call, object.type, 0);
	size_and_file(call, object.type, object.size, 0);
	struct array_info array;
	if (object.type->is_string)
		write_string(call, &object);
	if (array_read(call->heap, &object, &array)) {
		array_line(call, &array);
		array_content(call, &array);
	}
	if (call->as_json)
		place_json(call, &object);
	if (!has_option(call, "nofields")) {
		if (!call->as_json)
			out_puts(&call->out, "Fields:\n");
		TRY(write_fields(call, object.type, object.address, FIELDS_OF_OBJECT, 0));
	}
	if (call->as_json) {
		TRY(references_json(call, &object, limit, false));
		return has_option(call, "refs") ? references_json(call, &object, limit, true)
						: HD_OK;
	}
	sync_text(call, &object);
	return has_option(call, "refs") ? references_text(call, &object, limit) : HD_OK;
}
