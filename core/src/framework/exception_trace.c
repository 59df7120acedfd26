/* SPDX-License-Identifier: MIT */
#include "framework/exception_trace.h"

#include "mem/memory.h"
#include "runtime/runtime_ops.h"

/* Exception.NativeAot.cs of 8 to 11. */
#define COMPILED_TRACE "_corDbgStackTrace"

static bool is_compiled(const struct runtime *runtime)
{
	return !(runtime_capabilities(runtime) & RUNTIME_METADATA);
}

uint64_t exception_trace_in_list(struct heap *heap, const struct object *object,
				 const struct field_list *fields)
{
	if (!is_compiled(heap->runtime))
		return fact_in_list(heap, object, fields, FACT_EXCEPTION_TRACE).bits;
	const struct field *field = field_by_name(fields, COMPILED_TRACE);
	uint64_t trace = 0;
	return field && memory_u64(heap->memory, object->address + OBJECT_FIELDS + field->offset,
				   &trace)
		       ? trace
		       : 0;
}

uint64_t exception_trace_of(struct members *members, const struct object *object,
			    const struct type *base)
{
	uint64_t address = object->address + OBJECT_FIELDS;
	return is_compiled(members_heap(members)->runtime)
		       ? member_of_struct(members, base, address, COMPILED_TRACE).bits
		       : fact_of_struct(members, base, address, FACT_EXCEPTION_TRACE).bits;
}
