/* SPDX-License-Identifier: MIT */
#include "framework/delegate.h"

#include "inspect/value.h"
#include "runtime/coreclr/code/method.h"

/* Is the object at @p address a list of at least @p count handlers? */
static bool is_list(struct heap *heap, uint64_t address, uint64_t count)
{
	HD_CLEANUP(window) struct window window = { .memory = heap->memory };
	struct object object;
	bool is = object_read(heap, &window, address, &object) &&
		  delegate_handlers_check(&object, count);
	return is;
}

/* Find the method by its code. */
static void find_method(struct runtime *runtime, struct delegate_info *info)
{
	struct method method;
	if (info->method_code &&
	    runtime_method_at(runtime, info->method_code, &info->method_desc) &&
	    method_read(runtime, info->method_desc, &method))
		info->token = 0x06000000 | method.rid;
}

bool delegate_read(struct heap *heap, const struct object *object, struct delegate_info *ret)
{
	HD_CLEANUP(field_list) struct field_list fields = { 0 };
	if (!type_is_delegate(heap->runtime, object->type) ||
	    field_list_read(heap->runtime, object->type, &fields, NULL) != HD_OK)
		return false;
	struct delegate_words raw;
	bool is_known = delegate_words_read(heap, object, &fields, &raw);
	if (!is_known)
		return false;
	*ret = (struct delegate_info){ .target = raw.target, .method_code = raw.code };
	if (raw.handlers && raw.count && raw.count <= UINT32_MAX &&
	    is_list(heap, raw.handlers, raw.count)) {
		ret->invocation_list = raw.handlers;
		ret->invocation_count = raw.count;
		ret->target = 0;
		ret->method_code = 0;
		return true;
	}
	/*
	 * An open delegate is its own target; its code rearranges the arguments before it jumps to
	 * the method.
	 */
	if (raw.target == object->address && raw.code_aux)
		ret->method_code = raw.code_aux;
	find_method(heap->runtime, ret);
	return true;
}
