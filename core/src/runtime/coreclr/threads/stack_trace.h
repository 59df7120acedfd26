/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

/** A frame that an exception has noted. */
struct trace_element {
	uint64_t ip, within; /**< the return address, and an address in the line of the call */
	uint64_t sp, method_desc;
};

/** How many frames the bytes of a stack trace at @p data have; false: it cannot be read. */
bool trace_count(struct memory *memory, uint64_t data, uint32_t *ret);
/** Frame @p index of the @p size bytes at @p data; false: there are fewer, or it cannot be read. */
bool trace_element_at(const struct runtime *runtime, uint64_t data, uint32_t size, uint32_t index,
		      struct trace_element *ret);
