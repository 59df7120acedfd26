/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/layout_access.h"
#include "runtime/coreclr/layouts/frames.h"
#include "runtime/coreclr/layouts/processor.h"
#include "runtime/coreclr/stack/coreclr_stack.h"
#include "util/alloc.h"

/* Largest distance between a Frame and what it points to on its stack. */
#define FRAME_REACH ((uint64_t)1 << 20)
static bool is_above(uint64_t frame, uint64_t address)
{
	return address > frame && address - frame < FRAME_REACH;
}

static bool is_managed(struct runtime *runtime, uint64_t ip)
{
	struct code_info info;
	return ip && runtime_code_at(runtime, ip, &info);
}

static enum frame_gives gives(const struct explicit_frame *frame)
{
	return (enum frame_gives)frame_kind_layout((enum frame_kind)frame->kind)->gives;
}

static uint64_t context_address(const struct runtime *runtime, const struct explicit_frame *frame)
{
	uint64_t address = 0;
	switch (gives(frame)) {
	case FRAME_GIVES_CONTEXT:
		return frame->address + frame->context_offset;
	case FRAME_GIVES_CONTEXT_POINTER:
		(void)coreclr_pointer(runtime, frame->address, L_RESUMABLE_FRAME_CONTEXT, &address);
		return address;
	default:
		return 0;
	}
}

/* A call from managed code that was not inlined: the block of registers that its stub pushed. */
static bool read_transition_block(struct runtime *runtime, struct explicit_frame *frame)
{
	uint64_t block = 0, ip = 0;
	if (!coreclr_pointer(runtime, frame->address, L_METHOD_FRAME_BLOCK, &block) ||
	    block % 8 != 0 ||
	    !memory_u64(runtime_memory(runtime),
			block + processor_layout(runtime)->transition.return_address, &ip) ||
	    !is_managed(runtime, ip))
		return false;
	frame->block = block;
	frame->ip = ip;
	frame->sp = block + processor_layout(runtime)->transition.size;
	return true;
}

static bool read_inlined_call(struct runtime *runtime, struct explicit_frame *frame)
{
	uint64_t ip = 0, sp = 0;
	if (!coreclr_pointer(runtime, frame->address, L_CALL_FRAME_RETURN, &ip) ||
	    !coreclr_pointer(runtime, frame->address, L_CALL_FRAME_SP, &sp))
		return false;
	frame->is_lost = ip && !is_managed(runtime, ip);
	if (!ip || frame->is_lost)
		return false;
	frame->ip = ip;
	frame->sp = sp;
	return true;
}

static bool read_hijack(struct runtime *runtime, struct explicit_frame *frame)
{
	uint64_t ip = 0, arguments = 0;
	if (!coreclr_pointer(runtime, frame->address, L_HIJACK_FRAME_RETURN, &ip) ||
	    !coreclr_pointer(runtime, frame->address, L_HIJACK_FRAME_ARGS, &arguments) ||
	    !is_managed(runtime, ip))
		return false;
	frame->ip = ip;
	frame->sp = arguments + hijack_layout(runtime)->size;
	return true;
}

static bool read_frame_context(struct runtime *runtime, struct explicit_frame *frame)
{
	uint64_t context = context_address(runtime, frame), ip = 0, sp = 0;
	if (!context ||
	    !memory_u64(runtime_memory(runtime),
			context + context_register(runtime, runtime_arch(runtime)->ip), &ip) ||
	    !memory_u64(runtime_memory(runtime),
			context + context_register(runtime, runtime_arch(runtime)->sp), &sp))
		return false;
	frame->is_lost = !is_managed(runtime, ip);
	if (frame->is_lost)
		return false;
	frame->ip = ip;
	frame->sp = sp;
	return true;
}

/* The number of a Frame says what it is (10 and later). */
static void identify(struct runtime *runtime, struct explicit_frame *frame)
{
	const struct frame_layout *layout = frame_kind_layout((enum frame_kind)frame->kind);
	switch (gives(frame)) {
	case FRAME_GIVES_NOTHING:
		break;
	case FRAME_GIVES_CALL:
		(void)read_inlined_call(runtime, frame);
		break;
	case FRAME_GIVES_CONTEXT: {
		enum layout_field field = (enum layout_field)layout->context;
		if (coreclr_has_field(runtime, field)) {
			frame->context_offset = (uint16_t)coreclr_offset(runtime, field);
			(void)read_frame_context(runtime, frame);
		}
		break;
	}
	case FRAME_GIVES_CONTEXT_POINTER:
		(void)read_frame_context(runtime, frame);
		break;
	case FRAME_GIVES_HIJACK:
		(void)read_hijack(runtime, frame);
		break;
	case FRAME_GIVES_BLOCK:
		(void)read_transition_block(runtime, frame);
		break;
	}
}

/* In 8 and 9 other Frames are recognised by their contents. */
static void identify_by_shape(struct runtime *runtime, uint64_t thread,
			      struct explicit_frame *frame)
{
	uint64_t owner = 0;
	struct explicit_frame guess = *frame;
	if (read_inlined_call(runtime, &guess) && guess.sp + 4096 > frame->address &&
	    (guess.sp <= frame->address || is_above(frame->address, guess.sp))) {
		guess.kind = FRAME_INLINED_CALL;
		*frame = guess;
		return;
	}
	guess = *frame;
	if (memory_u64(runtime_memory(runtime), frame->address + HIJACK_FRAME_THREAD, &owner) &&
	    owner == thread && read_hijack(runtime, &guess) && is_above(frame->address, guess.sp)) {
		guess.kind = FRAME_HIJACK;
		*frame = guess;
		return;
	}
	guess = *frame;
	if (read_transition_block(runtime, &guess) && guess.sp + 65536 > frame->address &&
	    (guess.sp <= frame->address || is_above(frame->address, guess.sp))) {
		*frame = guess;
		return;
	}
	for (uint16_t offset = FAULTING_FRAME_CONTEXT_BEGIN; offset < FAULTING_FRAME_CONTEXT_END;
	     offset += 8) {
		guess = *frame;
		guess.kind = FRAME_FAULTING_EXCEPTION;
		guess.context_offset = offset;
		if (context_is_there(runtime, context_address(runtime, &guess)) &&
		    read_frame_context(runtime, &guess) && is_above(frame->address, guess.sp)) {
			*frame = guess;
			return;
		}
	}
	guess = *frame;
	guess.kind = FRAME_RESUMABLE;
	if (context_is_there(runtime, context_address(runtime, &guess)) &&
	    read_frame_context(runtime, &guess) && is_above(frame->address, guess.sp))
		*frame = guess;
}

/*
 * Helpers refer to their Thread: even if their vtable is not known, no other Frame has a Thread
 * there.
 */
static bool read_helper(struct runtime *runtime, uint64_t thread, struct explicit_frame *frame)
{
	uint64_t owner = 0;
	uint32_t attributes = 0;
	if (!memory_u64(runtime_memory(runtime), frame->address + HELPER_FRAME_THREAD, &owner) ||
	    owner != thread)
		return false;
	(void)memory_u32(runtime_memory(runtime), frame->address + HELPER_FRAME_ATTRIBUTES,
			 &attributes);
	frame->is_typed = frame_is_helper(frame->kind);
	if (!frame->is_typed)
		frame->kind = FRAME_HELPER_METHOD;
	frame->is_throwing = attributes & HELPER_FRAME_THROWS;
	return true;
}

static void identify_old(struct runtime *runtime, uint64_t thread, uint64_t vtable,
			 struct explicit_frame *frame)
{
	frame->kind = (uint8_t)coreclr_frame_kind(runtime, vtable);
	if (frame->kind != FRAME_UNKNOWN && !frame_is_helper(frame->kind))
		return;
	if (read_helper(runtime, thread, frame))
		return;
	frame->kind = FRAME_UNKNOWN;
	identify_by_shape(runtime, thread, frame);
}

static bool add_explicit_frame(struct runtime *runtime, uint64_t thread, uint64_t address,
			       uint64_t identifier, struct frame_chain *chain)
{
	if (!PAGES_RESERVE(chain, rows))
		return false;
	struct explicit_frame *frame = &chain->rows[chain->rows_count++];
	*frame = (struct explicit_frame){ .address = address };
	if (coreclr_frames_are_numbered(runtime)) {
		frame->kind = (uint8_t)coreclr_frame_kind(runtime, identifier);
		if (frame->kind == FRAME_UNKNOWN && (!identifier || identifier > FRAME_NUMBER_MAX))
			chain->is_broken = true;
		identify(runtime, frame);
	} else {
		identify_old(runtime, thread, identifier, frame);
	}
	frame->name = frame_kind_layout((enum frame_kind)frame->kind)->name;
	frame->is_helper = frame_is_helper(frame->kind);
	frame->is_aside = frame->kind == FRAME_PROTECT_VALUE_CLASS ||
			  frame->kind == FRAME_PROTECT_BY_REFS ||
			  frame->kind == FRAME_DEBUGGER_CLASS_INIT_MARK ||
			  frame->kind == FRAME_DEBUGGER_EXIT ||
			  frame->kind == FRAME_DEBUGGER_U2M_CATCH_HANDLER;
	frame->is_call = frame->kind == FRAME_INLINED_CALL;
	frame->is_fault =
		frame->kind == FRAME_FAULTING_EXCEPTION || frame->kind == FRAME_SOFTWARE_EXCEPTION;
	return true;
}

/*
 * Frames ascend, except where the stack changes to that of the handler of a stack overflow.  A
 * chain that goes down more often is a ring.
 */
#define DESCENTS_MAX 16u

bool coreclr_stack_frames(struct runtime *runtime, uint64_t thread, struct frame_chain *ret)
{
	uint64_t address = 0, previous = 0;
	unsigned int descents = 0;
	*ret = (struct frame_chain){ 0 };
	ret->is_vague = !coreclr_frames_are_numbered(runtime);
	ret->is_broken = !coreclr_pointer(runtime, thread, L_THREAD_FRAME, &address);
	while (!ret->is_broken && address && address != FRAME_TOP) {
		uint64_t words[2];
		descents += address <= previous;
		ret->is_broken =
			address % 8 != 0 || descents > DESCENTS_MAX ||
			ret->rows_count == EXPLICIT_FRAMES_MAX ||
			!memory_read(runtime_memory(runtime), address, words, sizeof(words));
		if (ret->is_broken)
			break;
		if (!add_explicit_frame(runtime, thread, address, words[0], ret))
			return false;
		if (ret->is_broken)
			ret->rows_count--;
		previous = address;
		address = words[FRAME_NEXT / 8];
	}
	uint32_t leads = (uint32_t)ret->rows_count;
	for (size_t i = ret->rows_count; i-- > 0;) {
		if (ret->rows[i].ip)
			leads = (uint32_t)i;
		ret->rows[i].leads = leads;
	}
	return !runtime_code_failed(runtime);
}

static bool load_register(const struct runtime *runtime, uint64_t address, unsigned int number,
			  struct registers *registers)
{
	if (!memory_u64(runtime_memory(runtime), address, &registers->values[number]))
		return false;
	registers->slots[number] = address;
	return true;
}

static bool load_saved(const struct runtime *runtime, uint64_t address, struct registers *registers)
{
	const struct processor_layout *layout = processor_layout(runtime);
	for (size_t i = 0; i < layout->saved_count; i++) {
		if (!load_register(runtime, address + 8 * i, layout->saved[i], registers))
			return false;
	}
	return true;
}

static bool load_context(const struct runtime *runtime, const struct explicit_frame *frame,
			 struct frame_context *ret)
{
	uint64_t context = context_address(runtime, frame);
	for (unsigned int i = 0; i < runtime_arch(runtime)->register_count; i++) {
		if (!load_register(runtime, context + context_register(runtime, i), i,
				   &ret->registers))
			return false;
	}
	ret->is_active = frame->kind != FRAME_SOFTWARE_EXCEPTION;
	ret->is_aborted =
		frame->kind == FRAME_SOFTWARE_EXCEPTION || frame->kind == FRAME_FAULTING_EXCEPTION;
	if (frame->kind != FRAME_SOFTWARE_EXCEPTION)
		return true;
	/* A GC updates what the throwing helper has pushed, not the CONTEXT. */
	const struct processor_layout *layout = processor_layout(runtime);
	for (size_t i = 0; i < layout->saved_count; i++) {
		unsigned int number = layout->saved[i];
		uint64_t pointer = 0;
		if (memory_u64(runtime_memory(runtime),
			       frame->address + SOFTWARE_FRAME_POINTERS +
				       context_pointer(runtime, number),
			       &pointer) &&
		    pointer % 8 == 0 && is_above(frame->address, pointer))
			(void)load_register(runtime, pointer, number, &ret->registers);
	}
	return true;
}

static bool load_hijack(const struct runtime *runtime, const struct explicit_frame *frame,
			struct frame_context *ret)
{
	const struct hijack_layout *layout = hijack_layout(runtime);
	uint64_t arguments = frame->sp - layout->size;
	for (unsigned int i = 0; i < layout->result_count; i++) {
		if (!load_register(runtime, arguments + layout->first_result + 8 * (uint64_t)i,
				   layout->results[i], &ret->registers))
			return false;
	}
	ret->is_active = true;
	return load_saved(runtime, arguments + layout->saved, &ret->registers);
}

/* Where the managed caller's register @p number of the saved ones lies, and its value. */
static bool load_unwound(const struct runtime *runtime, uint64_t frame, size_t number,
			 struct registers *registers)
{
	const struct processor_layout *processor = processor_layout(runtime);
	const struct machine_state_layout *layout = &processor->machine_state;
	uint64_t state = frame + HELPER_FRAME_STATE, pointer = 0;
	unsigned int saved = processor->saved[number];
	/* A GC updates what these point to. */
	if (memory_u64(runtime_memory(runtime), state + layout->pointers + 8 * number, &pointer) &&
	    pointer % 8 == 0 && is_above(frame, pointer))
		return load_register(runtime, pointer, saved, registers);
	registers->slots[saved] = 0;
	return memory_u64(runtime_memory(runtime), state + layout->unwound + 8 * number,
			  &registers->values[saved]);
}

bool coreclr_stack_helper(struct runtime *runtime, const struct explicit_frame *frame,
			  struct frame_context *ret)
{
	const struct arch *arch = runtime_arch(runtime);
	const struct processor_layout *processor = processor_layout(runtime);
	const struct machine_state_layout *layout = &processor->machine_state;
	struct memory *memory = runtime_memory(runtime);
	uint64_t state = frame->address + HELPER_FRAME_STATE, returns = 0, ip = 0, sp = 0;
	if (!layout->captured || !memory_u64(memory, state + layout->returns, &returns) ||
	    !memory_u64(memory, state + (returns ? layout->ip : layout->captured_ip), &ip) ||
	    !memory_u64(memory, state + (returns ? layout->sp : layout->captured_sp), &sp))
		return false;
	/* The function has the Frame among its variables. */
	bool is_near = returns ? is_above(frame->address, sp) && is_managed(runtime, ip)
			       : sp <= frame->address && frame->address - sp < FRAME_REACH;
	for (size_t i = 0; is_near && i < processor->saved_count; i++) {
		uint64_t captured = state + layout->captured + 8 * i;
		is_near = returns ? load_unwound(runtime, frame->address, i, &ret->registers)
				  : load_register(runtime, captured, processor->saved[i],
						  &ret->registers);
	}
	if (!is_near || sp % 8 != 0)
		return false;
	ret->is_active = ret->is_aborted = false;
	ret->registers.values[arch->ip] = ip;
	ret->registers.values[arch->sp] = sp;
	return true;
}

bool coreclr_stack_context(const struct runtime *runtime, const struct explicit_frame *frame,
			   struct frame_context *ret)
{
	const struct arch *arch = runtime_arch(runtime);
	ret->is_active = ret->is_aborted = false;
	bool ok = true;
	if (frame->block) {
		ok = load_saved(runtime, frame->block + processor_layout(runtime)->transition.saved,
				&ret->registers);
		ret->registers.slots[arch->ip] =
			frame->block + processor_layout(runtime)->transition.return_address;
	} else if (frame->kind == FRAME_HIJACK) {
		ok = load_hijack(runtime, frame, ret);
	} else if (frame->kind == FRAME_INLINED_CALL) {
		ok = coreclr_has_field(runtime, L_CALL_FRAME_FP) &&
		     load_register(runtime,
				   frame->address + coreclr_offset(runtime, L_CALL_FRAME_FP),
				   arch->fp, &ret->registers);
	} else {
		ok = load_context(runtime, frame, ret);
	}
	ret->registers.values[arch->ip] = frame->ip;
	ret->registers.values[arch->sp] = frame->sp;
	return ok;
}
