/* SPDX-License-Identifier: MIT */
#include "stack/explicit_frame.h"

#include "util/alloc.h"

/* Frame (frames.h): identifier or vtable, then the next Frame; FRAME_TOP ends the chain. */
#define FRAME_NEXT 8u
#define FRAME_TOP  UINT64_MAX
/* Identifiers of later runtimes may be more, but not much. */
#define IDENTIFIER_MAX 64u

/* TransitionBlock (UNIX_AMD64, cgencpu.h): argument registers, callee-saved ones, return address. */
#define BLOCK_SAVED  48u
#define BLOCK_RETURN 96u
#define BLOCK_SIZE   104u

/* HijackArgs (cgencpu.h): Rax, Rdx, from .NET 10 on Rcx, then callee-saved registers, Rip. */
#define HIJACK_SAVED_10 24u
#define HIJACK_SIZE_10  80u
#define HIJACK_SAVED_8  16u
#define HIJACK_SIZE_8   72u
/* HijackFrame (8, 9, 10): return address, Thread, HijackArgs. */
#define HIJACK_THREAD 24u

/* SoftwareExceptionFrame: KNONVOLATILE_CONTEXT_POINTERS of 16 xmm pointers, then the integer ones. */
#define SOFTWARE_POINTERS (24u + 128u)

/* How far a Frame and what it points to on its stack are apart, at most. */
#define FRAME_REACH ((uint64_t)1 << 20)
/* Bytes of a Frame in which a CONTEXT is looked for (8, 9), and how that is told. */
#define CONTEXT_SEARCH 512u
#define CONTEXT_FLAGS  0x30u
#define CONTEXT_CS     0x38u
#define FLAGS_AMD64    0x00100000u
#define FLAGS_NONE     0x07efff80u
#define CODE_SEGMENT   0x33u

/* HelperMethodFrame (frames.h; 8, 9): its attributes and Thread; FRAME_ATTR_EXCEPTION. */
#define HELPER_ATTRIBUTES   24u
#define HELPER_THREAD       32u
#define ATTRIBUTE_EXCEPTION 1u

/* CONTEXT of AMD64 (pal.h). */
static const uint16_t context_offsets[REG_ROWS] = {
	[REG_RAX] = 0x78, [REG_RCX] = 0x80, [REG_RDX] = 0x88, [REG_RBX] = 0x90, [REG_RSP] = 0x98,
	[REG_RBP] = 0xa0, [REG_RSI] = 0xa8, [REG_RDI] = 0xb0, [REG_R8] = 0xb8,  [REG_R9] = 0xc0,
	[REG_R10] = 0xc8, [REG_R11] = 0xd0, [REG_R12] = 0xd8, [REG_R13] = 0xe0, [REG_R14] = 0xe8,
	[REG_R15] = 0xf0, [REG_RIP] = 0xf8,
};

/* CalleeSavedRegisters (cgencpu.h, UNIX_AMD64). */
static const uint8_t saved_registers[] = { REG_R12, REG_R13, REG_R14, REG_R15, REG_RBX, REG_RBP };

static bool is_above(uint64_t frame, uint64_t address)
{
	return address > frame && address - frame < FRAME_REACH;
}

static bool is_managed(struct clr *clr, uint64_t ip)
{
	struct code_info info;
	return ip && clr_code_at(clr, ip, &info);
}

/* The kind whose row of @p words is @p first, the first word of a Frame. */
static uint8_t kind_of(const uint64_t *words, uint64_t first)
{
	for (unsigned int kind = 1; kind < FRAME_KINDS; kind++) {
		if (words[kind] && words[kind] == first)
			return (uint8_t)kind;
	}
	return FRAME_UNKNOWN;
}

static uint64_t context_address(const struct clr *clr, const struct explicit_frame *frame)
{
	uint64_t address = 0;
	switch ((enum frame_kind)frame->kind) {
	case FRAME_RESUMABLE:
	case FRAME_REDIRECTED_THREAD:
		(void)clr_pointer(clr, frame->address, L_RESUMABLE_FRAME_CONTEXT, &address);
		return address;
	case FRAME_FAULTING_EXCEPTION:
	case FRAME_SOFTWARE_EXCEPTION:
		return frame->address + frame->context_offset;
	default:
		return 0;
	}
}

/* A call from managed code that was not inlined: the block of registers that its stub pushed. */
static bool read_block(struct clr *clr, struct explicit_frame *frame)
{
	uint64_t block = 0, ip = 0;
	if (!clr_pointer(clr, frame->address, L_METHOD_FRAME_BLOCK, &block) || block % 8 != 0 ||
	    !memory_u64(clr->memory, block + BLOCK_RETURN, &ip) || !is_managed(clr, ip))
		return false;
	frame->block = block;
	frame->ip = ip;
	frame->sp = block + BLOCK_SIZE;
	return true;
}

static bool read_inlined_call(struct clr *clr, struct explicit_frame *frame)
{
	uint64_t ip = 0, sp = 0;
	if (!clr_pointer(clr, frame->address, L_CALL_FRAME_RETURN, &ip) ||
	    !clr_pointer(clr, frame->address, L_CALL_FRAME_SP, &sp))
		return false;
	frame->is_lost = ip && !is_managed(clr, ip);
	if (!ip || frame->is_lost)
		return false;
	frame->ip = ip;
	frame->sp = sp;
	return true;
}

static bool read_hijack(struct clr *clr, struct explicit_frame *frame)
{
	uint64_t ip = 0, arguments = 0;
	if (!clr_pointer(clr, frame->address, L_HIJACK_FRAME_RETURN, &ip) ||
	    !clr_pointer(clr, frame->address, L_HIJACK_FRAME_ARGS, &arguments) ||
	    !is_managed(clr, ip))
		return false;
	frame->ip = ip;
	frame->sp = arguments + (clr->major >= 10 ? HIJACK_SIZE_10 : HIJACK_SIZE_8);
	return true;
}

/* CONTEXTs are 16-aligned, and say what they hold. */
static bool is_context(const struct clr *clr, uint64_t address)
{
	uint32_t flags = 0;
	uint16_t segment = 0;
	return address % 16 == 0 && memory_u32(clr->memory, address + CONTEXT_FLAGS, &flags) &&
	       memory_u16(clr->memory, address + CONTEXT_CS, &segment) && (flags & FLAGS_AMD64) &&
	       !(flags & FLAGS_NONE) && (segment == CODE_SEGMENT || segment == 0);
}

static bool read_context(struct clr *clr, struct explicit_frame *frame)
{
	uint64_t context = context_address(clr, frame), ip = 0, sp = 0;
	if (!context || !memory_u64(clr->memory, context + context_offsets[REG_RIP], &ip) ||
	    !memory_u64(clr->memory, context + context_offsets[REG_RSP], &sp))
		return false;
	frame->is_lost = !is_managed(clr, ip);
	if (frame->is_lost)
		return false;
	frame->ip = ip;
	frame->sp = sp;
	return true;
}

/* The number of a Frame says what it is (10 and later). */
static void identify(struct clr *clr, struct explicit_frame *frame)
{
	enum layout_field field = L_SOFTWARE_FRAME_CONTEXT;
	switch ((enum frame_kind)frame->kind) {
	case FRAME_INLINED_CALL:
		(void)read_inlined_call(clr, frame);
		break;
	case FRAME_FAULTING_EXCEPTION:
		field = L_FAULTING_FRAME_CONTEXT;
		__attribute__((fallthrough));
	case FRAME_SOFTWARE_EXCEPTION:
		if (!layout_has(&clr->layout, field))
			break;
		frame->context_offset = (uint16_t)clr_offset(clr, field);
		__attribute__((fallthrough));
	case FRAME_RESUMABLE:
	case FRAME_REDIRECTED_THREAD:
		(void)read_context(clr, frame);
		break;
	case FRAME_HIJACK:
		(void)read_hijack(clr, frame);
		break;
	case FRAME_PINVOKE_CALLI:
	case FRAME_PRESTUB_METHOD:
	case FRAME_CALL_COUNTING_HELPER:
	case FRAME_STUB_DISPATCH:
	case FRAME_EXTERNAL_METHOD:
	case FRAME_DYNAMIC_HELPER:
		(void)read_block(clr, frame);
		break;
	case FRAME_UNKNOWN:
	case FRAME_FUNC_EVAL:
	case FRAME_PROTECT_VALUE_CLASS:
	case FRAME_DEBUGGER_CLASS_INIT_MARK:
	case FRAME_DEBUGGER_EXIT:
	case FRAME_DEBUGGER_U2M_CATCH_HANDLER:
	case FRAME_EXCEPTION_FILTER:
	case FRAME_INTERPRETER:
	case FRAME_HELPER_METHOD:
	case FRAME_HELPER_METHOD_1OBJ:
	case FRAME_HELPER_METHOD_2OBJ:
	case FRAME_HELPER_METHOD_3OBJ:
	case FRAME_HELPER_METHOD_PROTECTOBJ:
	case FRAME_PROTECT_BY_REFS:
	case FRAME_KINDS:
		break;
	}
}

/* In 8 and 9 other Frames are what they look like. */
static void identify_by_shape(struct clr *clr, uint64_t thread, struct explicit_frame *frame)
{
	uint64_t owner = 0;
	struct explicit_frame guess = *frame;
	if (read_inlined_call(clr, &guess) && guess.sp + 4096 > frame->address &&
	    (guess.sp <= frame->address || is_above(frame->address, guess.sp))) {
		guess.kind = FRAME_INLINED_CALL;
		*frame = guess;
		return;
	}
	guess = *frame;
	if (memory_u64(clr->memory, frame->address + HIJACK_THREAD, &owner) && owner == thread &&
	    read_hijack(clr, &guess) && is_above(frame->address, guess.sp)) {
		guess.kind = FRAME_HIJACK;
		*frame = guess;
		return;
	}
	guess = *frame;
	if (read_block(clr, &guess) && guess.sp + 65536 > frame->address &&
	    (guess.sp <= frame->address || is_above(frame->address, guess.sp))) {
		*frame = guess;
		return;
	}
	for (uint16_t offset = 16; offset < CONTEXT_SEARCH; offset += 8) {
		guess = *frame;
		guess.kind = FRAME_FAULTING_EXCEPTION;
		guess.context_offset = offset;
		if (is_context(clr, context_address(clr, &guess)) && read_context(clr, &guess) &&
		    is_above(frame->address, guess.sp)) {
			*frame = guess;
			return;
		}
	}
	guess = *frame;
	guess.kind = FRAME_RESUMABLE;
	if (is_context(clr, context_address(clr, &guess)) && read_context(clr, &guess) &&
	    is_above(frame->address, guess.sp))
		*frame = guess;
}

/* Helpers name their Thread: also where their vtable is not known, no other Frame has it there. */
static bool read_helper(struct clr *clr, uint64_t thread, struct explicit_frame *frame)
{
	uint64_t owner = 0;
	uint32_t attributes = 0;
	if (!memory_u64(clr->memory, frame->address + HELPER_THREAD, &owner) || owner != thread)
		return false;
	(void)memory_u32(clr->memory, frame->address + HELPER_ATTRIBUTES, &attributes);
	frame->is_typed = frame_is_helper(frame->kind);
	if (!frame->is_typed)
		frame->kind = FRAME_HELPER_METHOD;
	frame->is_throwing = attributes & ATTRIBUTE_EXCEPTION;
	return true;
}

static void identify_old(struct clr *clr, uint64_t thread, uint64_t vtable,
			 struct explicit_frame *frame)
{
	frame->kind = kind_of(clr->frame_vtables, vtable);
	if (frame->kind != FRAME_UNKNOWN && !frame_is_helper(frame->kind))
		return;
	if (read_helper(clr, thread, frame))
		return;
	frame->kind = FRAME_UNKNOWN;
	identify_by_shape(clr, thread, frame);
}

static bool add_frame(struct clr *clr, uint64_t thread, uint64_t address, uint64_t identifier,
		      struct frame_chain *chain)
{
	if (!PAGES_RESERVE(chain, rows))
		return false;
	struct explicit_frame *frame = &chain->rows[chain->rows_count++];
	*frame = (struct explicit_frame){ .address = address };
	if (clr->frame_identifiers[FRAME_INLINED_CALL]) {
		frame->kind = kind_of(clr->frame_identifiers, identifier);
		if (frame->kind == FRAME_UNKNOWN && (!identifier || identifier > IDENTIFIER_MAX))
			chain->is_broken = true;
		identify(clr, frame);
	} else {
		identify_old(clr, thread, identifier, frame);
	}
	return true;
}

/*
 * Frames ascend, but where the stack changes: to the handler's of a stack overflow.  A chain that
 * goes down more often is a ring.
 */
#define DESCENTS_MAX 16u

bool frame_chain_read(struct clr *clr, uint64_t thread, struct frame_chain *ret)
{
	uint64_t address = 0, previous = 0;
	unsigned int descents = 0;
	*ret = (struct frame_chain){ 0 };
	ret->is_broken = !clr_pointer(clr, thread, L_THREAD_FRAME, &address);
	while (!ret->is_broken && address && address != FRAME_TOP) {
		uint64_t words[2];
		descents += address <= previous;
		ret->is_broken = address % 8 != 0 || descents > DESCENTS_MAX ||
				 ret->rows_count == EXPLICIT_FRAMES_MAX ||
				 !memory_read(clr->memory, address, words, sizeof(words));
		if (ret->is_broken)
			break;
		if (!add_frame(clr, thread, address, words[0], ret))
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
	return !clr_code_failed(clr);
}

void frame_chain_deinit(struct frame_chain *chain)
{
	pages_free(chain->rows, chain->rows_capacity, sizeof(*chain->rows));
	*chain = (struct frame_chain){ 0 };
}

static bool load(const struct clr *clr, uint64_t address, unsigned int number,
		 struct registers *registers)
{
	if (!memory_u64(clr->memory, address, &registers->values[number]))
		return false;
	registers->slots[number] = address;
	return true;
}

static bool load_saved(const struct clr *clr, uint64_t address, struct registers *registers)
{
	for (size_t i = 0; i < sizeof(saved_registers); i++) {
		if (!load(clr, address + 8 * i, saved_registers[i], registers))
			return false;
	}
	return true;
}

static bool load_context(const struct clr *clr, const struct explicit_frame *frame,
			 struct frame_context *ret)
{
	uint64_t context = context_address(clr, frame);
	for (unsigned int i = 0; i < REG_ROWS; i++) {
		if (!load(clr, context + context_offsets[i], i, &ret->registers))
			return false;
	}
	ret->is_active = frame->kind != FRAME_SOFTWARE_EXCEPTION;
	ret->is_aborted =
		frame->kind == FRAME_SOFTWARE_EXCEPTION || frame->kind == FRAME_FAULTING_EXCEPTION;
	if (frame->kind != FRAME_SOFTWARE_EXCEPTION)
		return true;
	/* A GC updates what the helper pushed that threw, not the CONTEXT. */
	for (size_t i = 0; i < sizeof(saved_registers); i++) {
		unsigned int number = saved_registers[i];
		uint64_t pointer = 0;
		if (memory_u64(clr->memory,
			       frame->address + SOFTWARE_POINTERS + 8 * (uint64_t)number,
			       &pointer) &&
		    pointer % 8 == 0 && is_above(frame->address, pointer))
			(void)load(clr, pointer, number, &ret->registers);
	}
	return true;
}

static bool load_hijack(const struct clr *clr, const struct explicit_frame *frame,
			struct frame_context *ret)
{
	bool is_10 = clr->major >= 10;
	uint64_t arguments = frame->sp - (is_10 ? HIJACK_SIZE_10 : HIJACK_SIZE_8);
	if (!load(clr, arguments, REG_RAX, &ret->registers) ||
	    !load(clr, arguments + 8, REG_RDX, &ret->registers) ||
	    (is_10 && !load(clr, arguments + 16, REG_RCX, &ret->registers)))
		return false;
	ret->is_active = true;
	return load_saved(clr, arguments + (is_10 ? HIJACK_SAVED_10 : HIJACK_SAVED_8),
			  &ret->registers);
}

bool frame_context_read(const struct clr *clr, const struct explicit_frame *frame,
			struct frame_context *ret)
{
	ret->is_active = ret->is_aborted = false;
	bool ok = true;
	if (frame->block) {
		ok = load_saved(clr, frame->block + BLOCK_SAVED, &ret->registers);
		ret->registers.slots[REG_RIP] = frame->block + BLOCK_RETURN;
	} else if (frame->kind == FRAME_HIJACK) {
		ok = load_hijack(clr, frame, ret);
	} else if (frame->kind == FRAME_INLINED_CALL) {
		ok = layout_has(&clr->layout, L_CALL_FRAME_FP) &&
		     load(clr, frame->address + clr_offset(clr, L_CALL_FRAME_FP), REG_RBP,
			  &ret->registers);
	} else {
		ok = load_context(clr, frame, ret);
	}
	ret->registers.values[REG_RIP] = frame->ip;
	ret->registers.values[REG_RSP] = frame->sp;
	return ok;
}
