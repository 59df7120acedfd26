/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/threads/stack_trace.h"

#include "mem/memory.h"
#include "runtime/coreclr/layouts/processor.h"
#include "runtime/coreclr/layouts/stack_trace.h"

bool trace_count(struct memory *memory, uint64_t data, uint32_t *ret)
{
	return memory_u32(memory, data, ret);
}

bool trace_element_at(const struct runtime *runtime, uint64_t data, uint32_t size, uint32_t index,
		      struct trace_element *ret)
{
	struct memory *memory = runtime_memory(runtime);
	uint64_t element[4];
	uint32_t count;
	if (size < TRACE_HEADER || !trace_count(memory, data, &count) || index >= count ||
	    index >= (size - TRACE_HEADER) / TRACE_ELEMENT)
		return false;
	uint64_t at = data + TRACE_HEADER + (uint64_t)TRACE_ELEMENT * index;
	if (!memory_read(memory, at, element, sizeof(element)))
		return false;
	bool is_before = element[3] & TRACE_IS_BEFORE;
	*ret = (struct trace_element){
		.ip = element[0] + (is_before ? processor_layout(runtime)->before_return : 0),
		.within = element[0],
		.sp = element[1],
		.method_desc = element[2]
	};
	return true;
}
