/* SPDX-License-Identifier: MIT */
/* The methods that Frames represent (Frame::GetFunction in frames.h of 8.0, 9.0, 10.0). */
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/layout_access.h"
#include "runtime/coreclr/layouts/frames.h"
#include "runtime/coreclr/stack/coreclr_stack.h"

static bool is_method(struct runtime *runtime, uint64_t address)
{
	struct method method;
	return address && method_read(runtime, address, &method);
}

static uint64_t called_inline(const struct runtime *runtime, const struct explicit_frame *frame)
{
	uint64_t datum = 0;
	/* Without a return address, no call is active. */
	if (!frame->ip || !coreclr_pointer(runtime, frame->address, L_CALL_FRAME_DATUM, &datum) ||
	    datum & CALL_FRAME_DATUM_IS_ADDRESS)
		return 0;
	return datum & ~(uint64_t)CALL_FRAME_DATUM_MARKS;
}

static uint64_t called_by_block(struct runtime *runtime, const struct explicit_frame *frame)
{
	uint64_t desc = 0, table = 0;
	uint32_t slot = 0;
	(void)coreclr_pointer(runtime, frame->address, L_METHOD_FRAME_METHOD, &desc);
	if (desc || frame->kind != FRAME_STUB_DISPATCH)
		return desc;
	/* The runtime makes its method from these two when it is needed. */
	if (coreclr_pointer(runtime, frame->address, L_DISPATCH_FRAME_TABLE, &table) && table &&
	    coreclr_field_u32(runtime, frame->address, L_DISPATCH_FRAME_SLOT, &slot))
		(void)runtime_method_in_slot(runtime, table, slot, &desc);
	return desc;
}

uint64_t coreclr_stack_method(struct runtime *runtime, const struct explicit_frame *frame)
{
	uint64_t desc = 0, code = 0;
	if (frame->kind == FRAME_INLINED_CALL) {
		desc = called_inline(runtime, frame);
	} else if (frame_is_helper(frame->kind)) {
		if (memory_u64(runtime_memory(runtime), frame->address + HELPER_FRAME_CODE, &code))
			(void)coreclr_fcall_method(runtime, code, &desc);
	} else if (frame->block && frame->kind != FRAME_PINVOKE_CALLI) {
		desc = called_by_block(runtime, frame);
	}
	return is_method(runtime, desc) ? desc : 0;
}
