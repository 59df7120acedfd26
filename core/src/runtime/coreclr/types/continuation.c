/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/types/continuation.h"

#include <inttypes.h>

#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layouts/processor.h"

#define OBJECT_HEADER 8u

/* Does the MethodTable have no metadata of its own? */
static bool has_no_token(const struct runtime *runtime, uint64_t method_table)
{
	uint32_t flags2 = 0;
	return coreclr_field_u32(runtime, method_table, L_MT_FLAGS2, &flags2) && !flags2;
}

bool continuation_is(const struct runtime *runtime, const struct type *type, uint64_t ee_class,
		     uint64_t first)
{
	uint64_t own, parent, parent_of_first;
	if (!coreclr_has(runtime, CORECLR_CONTINUATION_TYPES) || type->component_size || !first ||
	    first % 8 ||
	    (coreclr_of(runtime)->globals.continuation_class &&
	     ee_class != coreclr_of(runtime)->globals.continuation_class))
		return false;
	return has_no_token(runtime, type->method_table) && has_no_token(runtime, first) &&
	       coreclr_pointer(runtime, first, L_MT_CLASS, &own) && own == ee_class &&
	       coreclr_pointer(runtime, type->method_table, L_MT_PARENT, &parent) && parent &&
	       coreclr_pointer(runtime, first, L_MT_PARENT, &parent_of_first) &&
	       parent == parent_of_first;
}

bool type_is_continuation(const struct runtime *runtime, const struct type *type)
{
	uint64_t first;
	if (!coreclr_has(runtime, CORECLR_CONTINUATION_TYPES) || type->token ||
	    !type->links.ee_class || type->category != CATEGORY_CLASS ||
	    !coreclr_pointer(runtime, type->links.ee_class, L_CLASS_METHOD_TABLE, &first))
		return false;
	/* Only the global tells the first one from other types without a token. */
	if (first == type->method_table)
		return type->links.ee_class == coreclr_of(runtime)->globals.continuation_class;
	return continuation_is(runtime, type, type->links.ee_class, first);
}

void continuation_name(const struct runtime *runtime, const struct type *type, struct text *text)
{
	uint64_t data = layout_has(&coreclr_of(runtime)->layout, L_CONTINUATION_SIZE)
				? coreclr_offset(runtime, L_CONTINUATION_SIZE)
				: 0;
	text_puts(text, "Continuation");
	if (!data || type->base_size < OBJECT_HEADER + data)
		return;
	text_printf(text, "_%" PRIu64, type->base_size - OBJECT_HEADER - data);
	for (uint32_t i = 0; i < type->desc.series_count; i++) {
		const struct gc_series *series = &type->desc.series[i];
		if (series->offset < data)
			continue;
		/* The size is stored less that of the object (gcdesc.h). */
		text_printf(text, "_%" PRIu64 "_%" PRId64, series->offset - data,
			    (series->size + (int64_t)type->base_size) / 8);
	}
}

bool continuation_read(const struct runtime *runtime, uint64_t address,
		       struct continuation_words *ret)
{
	struct continuation_words words;
	if (!coreclr_has_field(runtime, L_CONTINUATION_SIZE) ||
	    !coreclr_pointer(runtime, address, L_CONTINUATION_NEXT, &words.next) ||
	    !coreclr_pointer(runtime, address, L_CONTINUATION_RESUME, &words.resume_info) ||
	    !coreclr_field_u32(runtime, address, L_CONTINUATION_STATE, &words.state))
		return false;
	words.data = address + coreclr_offset(runtime, L_CONTINUATION_SIZE);
	*ret = words;
	return true;
}

uint64_t resume_info_place(const struct runtime *runtime, uint64_t resume_info)
{
	return coreclr_has_field(runtime, L_RESUME_IP)
		       ? resume_info + coreclr_offset(runtime, L_RESUME_IP)
		       : 0;
}

void continuation_return_read(const struct runtime *runtime, struct continuation_return *ret)
{
	*ret = (struct continuation_return){ 0 };
	if (!coreclr_has_field(runtime, L_CONTINUATION_SIZE) ||
	    !coreclr_has_field(runtime, L_RESUME_IP))
		return;
	/* The last of the results that the runtime saves where it keeps a thread from returning. */
	const struct hijack_layout *hijack = hijack_layout(runtime);
	ret->is_known = hijack->result_count > 0;
	ret->number = ret->is_known ? hijack->results[hijack->result_count - 1] : 0;
	ret->resume_info = (uint32_t)coreclr_offset(runtime, L_CONTINUATION_RESUME);
	ret->place = (uint32_t)coreclr_offset(runtime, L_RESUME_IP);
}
