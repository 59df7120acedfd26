/* SPDX-License-Identifier: MIT */
/* Stacks of NativeAOT: where threads have left managed code, and exceptions in flight (doc/nativeaot.md 5.2, 5.3). */
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/layouts/transition_frame.h"
#include "runtime/nativeaot/stack/frame_data.h"
#include "runtime/runtime_ops.h"
#include "stack/walker.h"
#include "targets/target_threads.h"
#include "unwind/cfi.h"
#include "unwind/registers.h"
#include "util/alloc.h"

/* Thread::m_pTransitionFrame is an address, or one of these (Runtime/thread.h). */
#define IN_MANAGED_CODE 0u
#define TOP_OF_STACK    UINT64_MAX
#define INTERRUPTED     (UINT64_MAX - 1)

/* How far before its return address the label may be that an inlined call leaves. */
#define CALL_SIZE_MAX 32u
/* No call instruction is shorter, nor its alignment. */
#define CALL_STEP 4u

enum aot_frame {
	AOT_FRAME_TRANSITION, /* PInvokeTransitionFrame */
	AOT_FRAME_INTERRUPTED /* the context of a signal, with which a GC has stopped the thread */
};

/*
 * Where managed code goes on: an inlined call leaves a label in front of the call, helpers leave the return
 * address itself.
 */
static bool return_address(struct memory *memory, uint64_t label, uint64_t sp, uint64_t *ret)
{
	uint64_t ip = 0;
	if (!memory_u64(memory, sp - sizeof(ip), &ip) || ip < label || ip - label > CALL_SIZE_MAX)
		return false;
	*ret = ip;
	return true;
}

/* The same of a processor whose calls leave nothing on the stack. */
static bool address_after_call(const struct arch *arch, struct memory *memory, uint64_t label,
			       bool is_helper, uint64_t *ret)
{
	uint64_t ip = label + (is_helper ? 0 : CALL_STEP);
	while (!arch->ops->follows_call(memory, ip)) {
		ip += CALL_STEP;
		if (is_helper || ip - label > CALL_SIZE_MAX)
			return false;
	}
	*ret = ip;
	return true;
}

/* The registers of the code that left them in the transition frame at @p address. */
static bool read_transition(const struct runtime *runtime, uint64_t address,
			    struct frame_context *ret)
{
	const struct arch *arch = runtime_arch(runtime);
	const struct transition_layout *layout = transition_layout(arch);
	struct memory *memory = runtime->memory;
	struct registers *registers = &ret->registers;
	uint64_t at = address + TRANSITION_REGISTERS, label = 0, ip = 0;
	uint32_t flags = 0;
	if (!layout || !memory_u32(memory, address + TRANSITION_FLAGS, &flags) ||
	    !(flags & layout->stack_flag))
		return false;
	registers->slots[arch->fp] = address + layout->frame;
	if (!memory_u64(memory, address + layout->ip, &label) ||
	    !memory_u64(memory, registers->slots[arch->fp], &registers->values[arch->fp]))
		return false;
	for (unsigned int i = 0; i < TRANSITION_REGISTERS_MAX; i++) {
		uint8_t number = layout->of_flag[i];
		if (!(flags >> i & 1))
			continue;
		if (number != ARCH_NONE) {
			registers->slots[number] = at;
			if (!memory_u64(memory, at, &registers->values[number]))
				return false;
		}
		at += sizeof(uint64_t);
	}
	uint64_t sp = registers->values[arch->sp];
	bool is_known = layout->calls_push ? return_address(memory, label, sp, &ip)
					   : address_after_call(arch, memory, label,
								flags != layout->stack_flag, &ip);
	if (!is_known)
		return false;
	registers->slots[arch->sp] = 0;
	registers->slots[arch->ip] = layout->calls_push ? sp - sizeof(ip) : address + layout->ip;
	registers->values[arch->ip] = ip;
	return true;
}

/* A row for what lies at @p address; false: it cannot be read. */
static bool make_row(struct runtime *runtime, uint64_t address, enum aot_frame kind,
		     struct explicit_frame *ret)
{
	const struct arch *arch = runtime_arch(runtime);
	struct frame_context context = { .registers = { .arch = arch } };
	struct code_info code;
	bool is_read =
		kind == AOT_FRAME_TRANSITION
			? read_transition(runtime, address, &context)
			: arch->ops->signal_context(runtime->memory, address, &context.registers);
	if (!is_read)
		return false;
	*ret = (struct explicit_frame){
		.address = address,
		.ip = registers_ip(&context.registers),
		.sp = registers_sp(&context.registers),
		.kind = (uint8_t)kind,
		.name = kind == AOT_FRAME_TRANSITION ? "PInvokeTransitionFrame"
						     : "InterruptedContext",
	};
	ret->is_lost = !runtime_code_at(runtime, ret->ip, &code);
	return true;
}

/* Append it, after all that are there; false: memory is exhausted. */
static bool append_row(struct runtime *runtime, uint64_t address, enum aot_frame kind,
		       struct frame_chain *chain)
{
	struct explicit_frame row;
	if (chain->rows_count == EXPLICIT_FRAMES_MAX || !make_row(runtime, address, kind, &row)) {
		chain->is_broken = true;
		return true;
	}
	if (!PAGES_RESERVE(chain, rows))
		return false;
	row.leads = (uint32_t)chain->rows_count;
	chain->rows[chain->rows_count++] = row;
	return true;
}

/*
 * A helper that managed code calls leaves a transition frame in a place of its own, without giving
 * up managed mode.  It stays there, so it counts only while it is on the stack that the thread still has.
 */
static bool append_deferred(struct runtime *runtime, uint64_t thread, struct frame_chain *chain)
{
	const struct target_thread *found = NULL;
	struct registers registers = { .arch = runtime_arch(runtime) };
	struct code_info code;
	struct explicit_frame row;
	uint64_t os_id = 0, frame = 0;
	if (!aot_pointer(runtime, thread, AOT_THREAD_DEFERRED_FRAME, &frame) || !frame ||
	    frame >= INTERRUPTED)
		return true;
	if (aot_pointer(runtime, thread, AOT_THREAD_OS_ID, &os_id) && os_id <= INT32_MAX)
		found = target_thread(runtime->target, (int32_t)os_id);
	if (found)
		registers_of_thread(registers.arch, found, &registers);
	bool is_old = found && (registers_sp(&registers) > frame ||
				runtime_code_at(runtime, registers_ip(&registers), &code));
	if (is_old || !make_row(runtime, frame, AOT_FRAME_TRANSITION, &row) || row.is_lost)
		return true;
	return append_row(runtime, frame, AOT_FRAME_TRANSITION, chain);
}

static bool read_frames(struct runtime *runtime, uint64_t thread, struct frame_chain *ret)
{
	uint64_t frame = 0, context = 0;
	*ret = (struct frame_chain){ 0 };
	if (!aot_pointer(runtime, thread, AOT_THREAD_FRAME, &frame)) {
		ret->is_broken = true;
		return true;
	}
	switch (frame) {
	case TOP_OF_STACK:
		return true;
	case IN_MANAGED_CODE:
		return append_deferred(runtime, thread, ret);
	case INTERRUPTED:
		(void)aot_pointer(runtime, thread, AOT_THREAD_INTERRUPTED, &context);
		return append_row(runtime, context, AOT_FRAME_INTERRUPTED, ret);
	default:
		return append_row(runtime, frame, AOT_FRAME_TRANSITION, ret);
	}
}

static bool frame_context(const struct runtime *runtime, const struct explicit_frame *frame,
			  struct frame_context *ret)
{
	if (frame->kind == AOT_FRAME_TRANSITION) {
		ret->is_active = false;
		return read_transition(runtime, frame->address, ret);
	}
	ret->is_active = true;
	return runtime_arch(runtime)->ops->signal_context(runtime->memory, frame->address,
							  &ret->registers);
}

/* The call is compiled into the method that makes it. */
static uint64_t frame_method(struct runtime *runtime, const struct explicit_frame *frame)
{
	(void)runtime;
	(void)frame;
	return 0;
}

static enum step frame_arguments(struct thread_walk *walk, const struct explicit_frame *frame,
				 uint32_t index)
{
	(void)walk;
	(void)frame;
	(void)index;
	return STEP_ON;
}

/* ReversePInvokeFrame begins with the transition frame that the thread had before. */
static bool native_caller(struct thread_walk *walk, const struct code_info *code)
{
	struct aot_frame_data data;
	struct gc_info *info = &walk->walker->gc_info;
	const struct gc_info_query query = { .arch = walk->arch,
					     .version = code->gc_info_version,
					     .offset = (uint32_t)(walk_ip(walk) - code->start),
					     .is_active = walk->context.is_active };
	const struct registers *registers = &walk->context.registers;
	uint64_t frame = 0;
	if (!aot_frame_data_at(walk->memory, code->function, code->unwind_info, &data) ||
	    !data.is_called_by_native)
		return true;
	enum gc_info_result result = gc_info_decode(walk->memory, code->gc_info, &query, info);
	if (result != GC_INFO_OK || info->places.native_caller == GC_INFO_NO_PLACE)
		return result != GC_INFO_NOMEM;
	uint64_t base = info->frame_register == ARCH_NONE ? registers_sp(registers)
							  : registers->values[info->frame_register];
	if (!memory_u64(walk->memory, base + (uint64_t)(int64_t)info->places.native_caller,
			&frame)) {
		walk->chain.is_broken = true;
		return true;
	}
	if (frame == IN_MANAGED_CODE || frame >= INTERRUPTED)
		return true; /* the thread began there */
	/* Older frames lie higher, so there is no ring. */
	if (frame <= walk_sp(walk)) {
		walk->chain.is_broken = true;
		return true;
	}
	return append_row(walk->runtime, frame, AOT_FRAME_TRANSITION, &walk->chain);
}

static bool read_exceptions(const struct runtime *runtime, uint64_t thread,
			    struct exception_chain *ret)
{
	uint64_t at = 0, last = 0;
	*ret = (struct exception_chain){ 0 };
	(void)aot_pointer(runtime, thread, AOT_THREAD_EXCEPTIONS, &at);
	while (at && !ret->is_broken) {
		struct exception_record record = { .address = at };
		record.slot = at + aot_of(runtime)->layout.offsets[AOT_EXINFO_OBJECT];
		/* They lie on the stack, older ones higher. */
		if (at <= last || ret->rows_count == EXCEPTIONS_MAX ||
		    !memory_u64(runtime->memory, record.slot, &record.object)) {
			ret->is_broken = true;
			return true;
		}
		if (!PAGES_RESERVE(ret, rows))
			return false;
		ret->rows[ret->rows_count++] = record;
		last = at;
		ret->is_broken = !aot_pointer(runtime, last, AOT_EXINFO_PREVIOUS, &at);
	}
	return true;
}

static bool is_filter(struct thread_walk *walk, const struct code_info *code)
{
	struct aot_frame_data data;
	return aot_frame_data_at(walk->memory, code->function, code->unwind_info, &data) &&
	       data.part == AOT_PART_FILTER;
}

/* The functions that call handlers have the frame pointer of the handler's method meanwhile. */
static void handler_caller(struct thread_walk *walk, struct registers *caller)
{
	const struct transition_layout *layout = transition_layout(walk->arch);
	struct cfi_function function;
	uint64_t ip = registers_ip(caller), own = 0;
	if (!layout || !layout->frame_pointer ||
	    !cfi_function_at(walk->walker->cfi, ip, &function) ||
	    !layout->frame_pointer(walk->memory, function.begin, ip, registers_sp(caller), &own))
		return;
	caller->values[walk->arch->fp] = own;
	caller->slots[walk->arch->fp] = 0;
}

/* Thread: the address of the word that was replaced, then the word itself. */
static bool replaced_return(struct thread_walk *walk, uint64_t *ret)
{
	uint64_t thread = walk->stack->thread->address, place = 0, ip = 0;
	struct code_info code;
	uint32_t offset = aot_of(walk->runtime)->layout.offsets[AOT_THREAD_HIJACKED];
	if (!aot_pointer(walk->runtime, thread, AOT_THREAD_HIJACKED, &place) ||
	    place != walk_sp(walk) - sizeof(ip) ||
	    !memory_u64(walk->memory, thread + offset + sizeof(ip), &ip) ||
	    !runtime_code_at(walk->runtime, ip, &code))
		return false;
	*ret = ip;
	return true;
}

const struct stack_ops nativeaot_stack_ops = {
	.frames = read_frames,
	.frame_context = frame_context,
	.frame_method = frame_method,
	.arguments = frame_arguments,
	.native_caller = native_caller,
	.exceptions = read_exceptions,
	.is_filter = is_filter,
	.replaced_return = replaced_return,
	.handler_caller = handler_caller,
	.handlers_keep_registers = true,
};
