/* SPDX-License-Identifier: MIT */
#include "framework/member.h"
#include "inspect/value.h"
#include "runtime/coreclr/threads/stack_trace.h"
#include "util/alloc.h"
#include "util/text.h"

/* How many characters of a message or a stack trace are read. */
#define TEXT_UNITS (1u << 20)

/* Text of a string for mem_free(), or NULL. */
static char *owned_string(struct heap *heap, uint64_t address, bool *ret_is_lost)
{
	struct text text = { 0 };
	text_puts(&text, "");
	if (!string_value(heap, address, TEXT_UNITS, &text, NULL) || text.failed) {
		*ret_is_lost = address != 0;
		text_deinit(&text);
		return NULL;
	}
	return text.bytes ? text.bytes : mem_strndup("", 0);
}

/* A string of the exception; it is lost as well when its reference, or the field, cannot be read. */
static void read_text(struct heap *heap, const struct object *object,
		      const struct field_list *fields, enum fact fact, char **ret,
		      bool *ret_is_lost)
{
	struct member member = fact_in_list(heap, object, fields, fact);
	*ret = NULL;
	*ret_is_lost = member.state != MEMBER_READ;
	if (member.state == MEMBER_READ)
		*ret = owned_string(heap, member.bits, ret_is_lost);
}

bool exception_read(struct heap *heap, const struct object *object, struct exception_info *ret)
{
	if (!type_is_exception(heap->runtime, object->type))
		return false;
	HD_CLEANUP(field_list) struct field_list fields = { 0 };
	if (field_list_read(heap->runtime, object->type, &fields, NULL) != HD_OK)
		return false;
	struct exception_info info = { .address = object->address };
	struct member hresult = fact_in_list(heap, object, &fields, FACT_EXCEPTION_HRESULT);
	if (hresult.state == MEMBER_ABSENT) { /* the names are missing */
		return false;
	}
	info.hresult = (int32_t)member_signed(&hresult);
	info.inner = fact_in_list(heap, object, &fields, FACT_EXCEPTION_INNER).bits;
	info.inner_array = fact_in_list(heap, object, &fields, FACT_AGGREGATE_INNERS).bits;
	read_text(heap, object, &fields, FACT_EXCEPTION_MESSAGE, &info.message, &info.message_lost);
	read_text(heap, object, &fields, FACT_EXCEPTION_TRACE_TEXT, &info.stack_trace,
		  &info.stack_trace_lost);
	read_text(heap, object, &fields, FACT_EXCEPTION_REMOTE_TRACE, &info.remote_trace,
		  &info.remote_trace_lost);
	info.stack_trace_array = fact_in_list(heap, object, &fields, FACT_EXCEPTION_TRACE).bits;
	*ret = info;
	return true;
}

void exception_info_deinit(struct exception_info *info)
{
	mem_free(info->message);
	mem_free(info->stack_trace);
	mem_free(info->remote_trace);
	info->message = info->stack_trace = info->remote_trace = NULL;
}

/* The array of bytes; false when it is not one. */
static bool trace_bytes(struct heap *heap, uint64_t address, uint64_t *ret_data, uint32_t *ret_size)
{
	HD_CLEANUP(window) struct window window = { .memory = heap->memory };
	bool found = false;
	for (unsigned int i = 0; i < 2 && address; i++) {
		struct object object;
		struct array_info array;
		if (!object_read(heap, &window, address, &object) ||
		    !array_read(heap, &object, &array) || !array.length)
			break;
		if (array.element_size == 1) {
			*ret_data = array.data;
			*ret_size = array.length;
			found = true;
			break;
		}
		if (!object.type->has_pointers || !memory_u64(heap->memory, array.data, &address))
			break;
	}
	return found;
}

uint64_t exception_inner_at(struct heap *heap, const struct exception_info *info, uint32_t index)
{
	HD_CLEANUP(window) struct window window = { .memory = heap->memory };
	struct object object;
	struct array_info array;
	uint64_t inner = index ? 0 : info->inner;
	/* The first element of an AggregateException's array is also its _innerException. */
	if (info->inner_array && object_read(heap, &window, info->inner_array, &object) &&
	    array_read(heap, &object, &array) && array.element_size == 8) {
		if (index >= array.length ||
		    !memory_u64(heap->memory, array.data + 8 * (uint64_t)index, &inner))
			inner = 0;
	}
	return inner;
}

bool exception_frame_at(struct heap *heap, const struct exception_info *info, uint32_t index,
			struct exception_frame *ret)
{
	struct trace_element element;
	uint64_t data;
	uint32_t size;
	if (!trace_bytes(heap, info->stack_trace_array, &data, &size) ||
	    !trace_element_at(heap->runtime, data, size, index, &element))
		return false;
	*ret = (struct exception_frame){ .ip = element.ip,
					 .within = element.within,
					 .sp = element.sp,
					 .method_desc = element.method_desc };
	return true;
}

bool exception_frames_lost(struct heap *heap, const struct exception_info *info, uint32_t count)
{
	uint64_t data;
	uint32_t size, all;
	if (!info->stack_trace_array)
		return false;
	return !trace_bytes(heap, info->stack_trace_array, &data, &size) ||
	       !trace_count(heap->memory, data, &all) || count < all;
}
