/* SPDX-License-Identifier: MIT */
#include "framework/exception_trace.h"
#include "inspect/value.h"
#include "runtime/code.h"
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
	info.stack_trace_array = exception_trace_in_list(heap, object, &fields);
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

/* Where an exception has its frames. */
struct trace {
	uint64_t data;
	uint32_t size;   /* bytes, or words */
	bool is_returns; /* return addresses, as NativeAOT has them (doc/nativeaot.md 5.3) */
};

/* Between return addresses: the exception was thrown again there. */
#define TRACE_THROWN_AGAIN 1u

/* An array of bytes or of addresses, or an array of objects whose first element is one; false: it is none. */
static bool find_trace(struct heap *heap, uint64_t address, struct trace *ret)
{
	HD_CLEANUP(window) struct window window = { .memory = heap->memory };
	for (unsigned int i = 0; i < 2 && address; i++) {
		struct object object;
		struct array_info array;
		if (!object_read(heap, &window, address, &object) ||
		    !array_read(heap, &object, &array) || !array.length)
			return false;
		bool is_returns = array.element_size == 8 && !object.type->has_pointers;
		if (array.element_size == 1 || is_returns) {
			*ret = (struct trace){ array.data, array.length, is_returns };
			return true;
		}
		if (!object.type->has_pointers || !memory_u64(heap->memory, array.data, &address))
			return false;
	}
	return false;
}

/*
 * The return address number @p index; 0 after the last one: the array may be longer.
 *
 * @return false when that cannot be read
 */
static bool return_at(struct heap *heap, const struct trace *trace, struct exception_info *info,
		      uint32_t index, uint64_t *ret)
{
	bool is_after = index >= info->last.frame;
	uint32_t frame = is_after ? info->last.frame : 0;
	*ret = 0;
	for (uint32_t i = is_after ? info->last.word : 0; i < trace->size; i++) {
		uint64_t word = 0;
		if (!memory_u64(heap->memory, trace->data + 8 * (uint64_t)i, &word))
			return false;
		if (word == TRACE_THROWN_AGAIN)
			continue;
		if (!word)
			return true;
		if (frame == index) {
			info->last.frame = index;
			info->last.word = i;
			*ret = word;
			return true;
		}
		frame++;
	}
	return true;
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

bool exception_frame_at(struct heap *heap, struct exception_info *info, uint32_t index,
			struct exception_frame *ret)
{
	struct trace trace;
	struct trace_element element;
	if (!find_trace(heap, info->stack_trace_array, &trace))
		return false;
	if (trace.is_returns) {
		struct code_info code = { .method_desc = 0 };
		uint64_t ip = 0;
		if (!return_at(heap, &trace, info, index, &ip) || !ip)
			return false;
		(void)runtime_code_at(heap->runtime, ip - 1, &code);
		*ret = (struct exception_frame){ .ip = ip,
						 .within = ip - 1,
						 .method_desc = code.method_desc };
		return true;
	}
	if (!trace_element_at(heap->runtime, trace.data, trace.size, index, &element))
		return false;
	*ret = (struct exception_frame){ .ip = element.ip,
					 .within = element.within,
					 .sp = element.sp,
					 .method_desc = element.method_desc };
	return true;
}

bool exception_frames_lost(struct heap *heap, struct exception_info *info, uint32_t count)
{
	struct trace trace;
	uint32_t all;
	uint64_t ip = 0;
	if (!info->stack_trace_array)
		return false;
	if (!find_trace(heap, info->stack_trace_array, &trace))
		return true;
	if (trace.is_returns)
		return !return_at(heap, &trace, info, count, &ip) || ip;
	return !trace_count(heap->memory, trace.data, &all) || count < all;
}
