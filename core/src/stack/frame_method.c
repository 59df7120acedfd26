/* SPDX-License-Identifier: MIT */
/* The methods that Frames stand for (Frame::GetFunction in frames.h of 8.0, 9.0, 10.0). */
#include "clr/method.h"
#include "stack/explicit_frame.h"

/*
 * InlinedCallFrame.m_Datum: the MethodDesc of the P/Invoke; with the lowest bit the address that a
 * calli calls.  From 9 on the next two bits say which part of the handling of an exception it is
 * (InlinedCallFrameMarker, exceptionhandling.h).
 */
#define CALL_FRAME_DATUM 16u
#define DATUM_IS_ADDRESS 1u
#define DATUM_MARKS      7u

/* FramedMethodFrame.m_pMD. */
#define METHOD_FRAME_DESC 24u
/* StubDispatchFrame: MethodTable and u32 slot of what is called; its m_pMD is made of them later. */
#define STUB_DISPATCH_TABLE 32u
#define STUB_DISPATCH_SLOT  40u

/* HelperMethodFrame (8, 9).m_FCallEntry: the function that made it, if it is code of a method. */
#define HELPER_CODE 40u

static bool is_method(struct clr *clr, uint64_t address)
{
	struct method method;
	return address && method_read(clr, address, &method);
}

static uint64_t called_inline(const struct clr *clr, const struct explicit_frame *frame)
{
	uint64_t datum = 0;
	/* Without a return address no call is under way. */
	if (!frame->ip || !memory_u64(clr->memory, frame->address + CALL_FRAME_DATUM, &datum) ||
	    datum & DATUM_IS_ADDRESS)
		return 0;
	return datum & ~(uint64_t)DATUM_MARKS;
}

static uint64_t called_by_block(struct clr *clr, const struct explicit_frame *frame)
{
	uint64_t desc = 0, table = 0;
	uint32_t slot = 0;
	(void)memory_u64(clr->memory, frame->address + METHOD_FRAME_DESC, &desc);
	if (desc || frame->kind != FRAME_STUB_DISPATCH)
		return desc;
	if (memory_u64(clr->memory, frame->address + STUB_DISPATCH_TABLE, &table) && table &&
	    memory_u32(clr->memory, frame->address + STUB_DISPATCH_SLOT, &slot))
		(void)clr_method_in_slot(clr, table, slot, &desc);
	return desc;
}

uint64_t explicit_frame_method(struct clr *clr, const struct explicit_frame *frame)
{
	uint64_t desc = 0, code = 0;
	if (frame->kind == FRAME_INLINED_CALL) {
		desc = called_inline(clr, frame);
	} else if (frame_is_helper(frame->kind)) {
		if (memory_u64(clr->memory, frame->address + HELPER_CODE, &code))
			(void)clr_fcall_method(clr, code, &desc);
	} else if (frame->block && frame->kind != FRAME_PINVOKE_CALLI) {
		desc = called_by_block(clr, frame);
	}
	return is_method(clr, desc) ? desc : 0;
}
