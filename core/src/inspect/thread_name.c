/* SPDX-License-Identifier: MIT */
#include "inspect/thread_name.h"

#include "framework/member.h"
#include "inspect/value.h"
#include "runtime/coreclr/threads/thread_words.h"
#include "runtime/runtime_ops.h"
#include "util/text.h"

/* How many bytes of a Thread object are read. */
#define MANAGED_SIZE 256u
/* How many UTF-16 units of a name are shown. */
#define NAME_UNITS 200u

/* Is there a Thread object at @p address that belongs to the native thread @p native? */
static bool is_thread_object(struct heap *heap, struct window *window, uint64_t address,
			     uint64_t native, struct object *ret)
{
	if (address % 8 != 0 || !heap_segment_at(heap, address) ||
	    !object_read(heap, window, address, ret) || ret->length || ret->step > MANAGED_SIZE)
		return false;
	bool found = false;
	for (uint64_t i = OBJECT_FIELDS; i + 8 < ret->step && !found; i += 8) {
		uint64_t word = 0;
		found = memory_u64(heap->memory, address + i, &word) && word == native;
	}
	if (!found)
		return false;
	/*
	 * Another object may also refer to the thread: if the names of fields are known, they
	 * decide.
	 */
	HD_CLEANUP(field_list) struct field_list fields = { 0 };
	if (field_list_read(heap->runtime, ret->type, &fields, NULL) != HD_OK)
		return true;
	struct member thread = fact_in_list(heap, ret, &fields, FACT_THREAD_NATIVE);
	bool is_named = fields.count && fields.rows[0].name[0] != '<';
	if (thread.state != MEMBER_ABSENT || is_named)
		found = thread.state == MEMBER_READ && thread.bits == native;
	return found;
}

/*
 * Thread.m_ExposedObject and m_StrongHndToExposedObject (threads.h) are handles to it, which the
 * descriptor of 8 does not have: they are recognised because they lead to an object that refers to
 * the thread.
 */
static bool find_object(struct heap *heap, const struct runtime_thread *thread, struct object *ret)
{
	uint64_t words[THREAD_WORDS_MAX];
	HD_CLEANUP(window) struct window window = { .memory = heap->memory };
	const struct runtime_ops *ops = runtime_ops(heap->runtime);
	bool found = false;
	if (ops->thread_object) {
		uint64_t address = ops->thread_object(heap->runtime, thread);
		return address && object_read(heap, &window, address, ret);
	}
	size_t count = runtime_thread_words(heap->runtime, thread, words);
	for (size_t i = 0; i < count && !found; i++) {
		uint64_t handle = words[i], object = 0;
		found = handle && handle % 8 == 0 && memory_u64(heap->memory, handle, &object) &&
			is_thread_object(heap, &window, object, thread->address, ret);
	}
	return found;
}

static bool append_string(struct heap *heap, uint64_t address, struct text *text)
{
	HD_CLEANUP(text) struct text string = { 0 };
	bool ok = string_value(heap, address, NAME_UNITS, &string, NULL) && string.size;
	if (ok)
		text_append(text, string.bytes, string.size);
	return ok;
}

uint64_t thread_object(struct heap *heap, const struct runtime_thread *thread)
{
	struct object object;
	return find_object(heap, thread, &object) ? object.address : 0;
}

bool thread_name(struct heap *heap, const struct runtime_thread *thread, struct text *text)
{
	struct object object;
	struct field_list fields;
	uint64_t name = 0;
	if (!find_object(heap, thread, &object))
		return false;
	if (field_list_read(heap->runtime, object.type, &fields, NULL) == HD_OK) {
		name = fact_in_list(heap, &object, &fields, FACT_THREAD_NAME).bits;
		field_list_deinit(&fields);
	}
	if (name)
		return append_string(heap, name, text);
	/* Without the names of fields: its only string. */
	for (uint64_t i = OBJECT_FIELDS; i + 8 < object.step; i += 8) {
		uint64_t word = 0;
		if (memory_u64(heap->memory, object.address + i, &word) &&
		    heap_segment_at(heap, word) && append_string(heap, word, text))
			return true;
	}
	return false;
}
