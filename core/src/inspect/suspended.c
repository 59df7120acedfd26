/* SPDX-License-Identifier: MIT */
#include "inspect/suspended.h"

#include <inttypes.h>

#include "gc/heap.h"
#include "inspect/async_name.h"
#include "inspect/saved_variables.h"
#include "inspect/slot_name.h"
#include "inspect/value.h"
#include "mem/memory.h"
#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/types/continuation.h"
#include "util/text.h"

/*
 * Continuation.Flags, which come before State and the data: goes it on in a SynchronizationContext, and which word
 * of the data, from 1, has that?
 */
#define CONTINUATION_FLAGS_BACK 8u
#define CONTINUE_IN_CONTEXT     2u
#define CONTEXT_WORD_SHIFT      6u
#define CONTEXT_WORD_MASK       3u

/* Where the method is at its await, and which method that is. */
static void find_method(struct heap *heap, struct suspended *continuation)
{
	const uint64_t at = resume_info_place(heap->runtime, continuation->resume_info);
	struct code_info code;
	uint64_t place;
	if (!at || !runtime_code_pointer(heap->runtime, at, &place) || !place)
		return;
	continuation->place = place;
	if (runtime_code_at(heap->runtime, place, &code))
		continuation->method_desc = code.method_desc;
}

/* The context of those that go on in a SynchronizationContext of their own. */
static uint64_t find_context(const struct heap *heap, const struct suspended *continuation)
{
	uint64_t flags_at = continuation->data - CONTINUATION_FLAGS_BACK, context = 0;
	uint32_t flags;
	if (!memory_u32(heap->memory, flags_at, &flags) || !(flags & CONTINUE_IN_CONTEXT))
		return 0;
	uint32_t word = flags >> CONTEXT_WORD_SHIFT & CONTEXT_WORD_MASK;
	uint64_t end = continuation->data + 8 * (uint64_t)word;
	if (word && end <= continuation->object.address + continuation->object.size)
		(void)memory_u64(heap->memory, end - 8, &context);
	return context;
}

bool suspended_read(struct heap *heap, const struct object *object, struct suspended *ret)
{
	const struct runtime *runtime = heap->runtime;
	struct suspended found = { .object = *object };
	struct continuation_words words;
	if (!continuation_read(runtime, object->address, &words))
		return false;
	found.next = words.next;
	found.resume_info = words.resume_info;
	found.state = words.state;
	found.data = words.data;
	found.is_head = !type_is_continuation(runtime, object->type);
	if (!found.is_head && found.resume_info)
		find_method(heap, &found);
	if (!found.is_head)
		found.context = find_context(heap, &found);
	*ret = found;
	return true;
}

/* The variable around an offset of the Continuation; SIZE_MAX: none. */
static size_t variable_around(struct runtime *runtime, const struct saved_variables *saved,
			      uint64_t offset)
{
	for (size_t i = 0; i < saved->method.count; i++) {
		if (saved_variable_is_there(saved, i) && offset >= saved->offsets[i] &&
		    offset - saved->offsets[i] < saved_variable_size(runtime, saved, i))
			return i;
	}
	return SIZE_MAX;
}

static void append_saved(struct text *text, struct heap *heap, const struct suspended *continuation,
			 uint64_t offset)
{
	HD_CLEANUP(saved_variables) struct saved_variables saved = { 0 };
	if (saved_variables_read(heap->runtime, continuation->place, &saved, NULL) != HD_OK) {
		text->failed = true;
		return;
	}
	size_t number = variable_around(heap->runtime, &saved, offset);
	if (number == SIZE_MAX) {
		text_printf(text, "+%" PRIx64, offset - OBJECT_FIELDS);
	} else {
		saved_variable_name(&saved, number, text);
		if (saved_variable_element(heap->runtime, &saved, number) == ELEMENT_VALUE) {
			slot_name_in_struct(heap, saved.method.rows[number].type,
					    offset - saved.offsets[number], text);
		}
	}
}

bool suspended_slot_append(struct text *text, struct heap *heap, const struct object *object,
			   uint64_t slot)
{
	struct suspended continuation;
	HD_CLEANUP(text) struct text name = { 0 };
	bool is_known = suspended_read(heap, object, &continuation) &&
			async_code_append_name(&name, heap->runtime, continuation.method_desc,
					       suspended_owner(heap, &continuation));
	if (is_known && slot < continuation.data) {
		text_puts(text, "Next");
	} else if (is_known) {
		append_saved(text, heap, &continuation, slot - object->address);
	}
	if (is_known)
		text_printf(text, " (of %s)", name.bytes);
	text->failed |= name.failed;
	return is_known;
}

/* The method, as one of the type that was found for it. */
static bool read_method_of(struct runtime *runtime, uint64_t method_desc, const struct type *owner,
			   struct method *ret)
{
	if (!method_read(runtime, method_desc, ret))
		return false;
	if (owner)
		ret->type = owner;
	return true;
}

bool async_code_append(struct text *text, struct runtime *runtime, uint64_t method_desc,
		       const struct type *owner)
{
	struct method method;
	size_t size;
	if (!read_method_of(runtime, method_desc, owner, &method))
		return false;
	const char *name = method_owner_name(runtime, &method, &size);
	text_append(text, name, size);
	text_puts(text, ".");
	text_puts(text, method.rid ? method.name : method.dynamic_name);
	return true;
}

bool async_code_is_of(struct runtime *runtime, uint64_t method_desc, const char *type_name)
{
	struct method method;
	size_t size;
	return method_read(runtime, method_desc, &method) &&
	       strcmp(method_owner_name(runtime, &method, &size), type_name) == 0;
}

bool async_code_append_name(struct text *text, struct runtime *runtime, uint64_t method_desc,
			    const struct type *owner)
{
	struct method method;
	size_t size;
	if (!read_method_of(runtime, method_desc, owner, &method))
		return false;
	const char *name = method_owner_name(runtime, &method, &size);
	async_member_append(text, name, size, method.rid ? method.name : method.dynamic_name);
	return true;
}
