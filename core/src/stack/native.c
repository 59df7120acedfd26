/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "stack/walker.h"
#include "util/alloc.h"

/* Most native frames of one thread that are walked: no stack of 8 MB has so many. */
#define CFI_STEPS_MAX (1u << 20)

/* How many bytes of a stack are searched for the context of a signal. */
#define UCONTEXT_SEARCH ((uint64_t)1 << 20)

enum native_found {
	FOUND_NONE,
	FOUND_CALLER, /* managed code called native code there */
	FOUND_SIGNAL, /* managed code was interrupted there */
};

/* Did native code go past the next Frame that leads to managed code? */
static bool is_past(const struct explicit_frame *lead, const struct span *span, uint64_t sp)
{
	return lead && span_has(span, lead->address) && sp > lead->address;
}

/*
 * Leave a leaf function without unwind information: a write barrier, which the runtime copies to a
 * place where it can change it, or a stub, as in a procedure linkage table.
 */
static enum cfi_result leave_leaf(const struct thread_walk *walk, struct registers *registers)
{
	const struct arch_ops *ops = walk->arch->ops;
	struct registers caller = *registers;
	if (!walk->stack->thread->is_cooperative || !ops->leaf_step(walk->memory, &caller) ||
	    !span_is_code(runtime_target(walk->runtime), registers_ip(&caller)) ||
	    !ops->follows_call(walk->memory, registers_ip(&caller)))
		return CFI_NONE;
	*registers = caller;
	return CFI_FRAME;
}

/* One native frame back. */
static enum cfi_result leave_native(struct thread_walk *walk, bool is_exact,
				    struct registers *registers)
{
	enum cfi_result result = cfi_step(walk->walker->cfi, is_exact, registers);
	if (result == CFI_NONE && is_exact)
		result = leave_leaf(walk, registers);
	walk->native.cfi_failed = result == CFI_NONE;
	return result;
}

/* May a caller have the stack pointer @p next?  Only an innermost frame can be without any stack. */
static bool goes_on(const struct thread_walk *walk, uint64_t sp, uint64_t next, bool was_exact)
{
	return next > sp || (next == sp && was_exact && walk->arch->lr != ARCH_NONE);
}

/*
 * Go from native frame to native frame until managed code is met.  @p lead, if not NULL, is the
 * Frame that says where that is: past it, the Frame is used instead.
 */
static enum step follow_cfi(struct thread_walk *walk, bool is_exact,
			    const struct explicit_frame *lead, struct registers *registers,
			    enum native_found *ret)
{
	struct span span = walk->spans.now;
	*ret = FOUND_NONE;
	while (walk->native.cfi_steps++ < CFI_STEPS_MAX) {
		if (!walk_note_native(walk, registers, is_exact))
			return STEP_NOMEM;
		bool was_exact = is_exact;
		uint64_t sp = registers_sp(registers);
		enum cfi_result result = leave_native(walk, is_exact, registers);
		if (result == CFI_END || result == CFI_NONE)
			return STEP_ON;
		is_exact = result == CFI_SIGNAL;
		uint64_t next = registers_sp(registers);
		if (is_exact) {
			span = span_at(runtime_target(walk->runtime), next);
			if (!walk_visit(walk, next))
				return STEP_ON;
		} else if (!goes_on(walk, sp, next, was_exact) || !span_has(&span, next)) {
			walk->native.cfi_failed = true;
			return STEP_ON;
		}
		if (is_past(lead, &span, next))
			return STEP_ON;
		const struct code_entry *entry =
			code_table_find(walk->walker, registers_ip(registers));
		if (!entry)
			return STEP_NOMEM;
		if (!entry->is_managed)
			continue;
		/* At a fault, the runtime fakes a call: the Frame of the fault is right. */
		bool is_fault = lead && lead->ip == entry->ip && lead->is_fault;
		if (is_exact) {
			*ret = FOUND_SIGNAL;
		} else if (entry->follows_call && !is_fault) {
			*ret = FOUND_CALLER;
		}
		return STEP_ON;
	}
	return walk_bad(walk, "more than %u native frames", CFI_STEPS_MAX);
}

/*
 * ReadyToRun code stores the return address of its begin helper in an InlinedCallFrame, and its GC
 * info is about that one.
 */
static enum step adjust_ip(struct thread_walk *walk, const struct explicit_frame *lead)
{
	uint64_t ip = walk_ip(walk);
	if (!lead || !lead->is_call || lead->sp != walk_sp(walk) || lead->ip == ip)
		return STEP_ON;
	const struct code_entry *entry = code_table_find(walk->walker, ip);
	if (!entry)
		return STEP_NOMEM;
	uint64_t start = entry->code.start;
	entry = code_table_find(walk->walker, lead->ip);
	if (!entry)
		return STEP_NOMEM;
	if (entry->is_managed && entry->code.start == start)
		walk_set_ip(walk, lead->ip);
	return STEP_ON;
}

/* Without unwind information: can there be managed frames above the code of Frame @p index? */
static bool is_uncertain(const struct thread_walk *walk, size_t index, bool is_first)
{
	if (!walk->native.cfi_failed)
		return false;
	for (size_t i = walk->next_frame; i < index; i++) {
		if (walk->chain.rows[i].is_helper)
			return true;
	}
	/* A helper that needs no Frame. */
	return is_first && walk->stack->thread->is_cooperative && walk->chain.rows[index].is_call;
}

/* Take the registers from Frame @p index of the chain, and pass it. */
static enum step take_frame(struct thread_walk *walk, size_t index)
{
	struct explicit_frame frame = walk->chain.rows[index];
	while (walk->next_frame <= index) {
		enum step step = walk_pass_frame(walk);
		if (step != STEP_ON)
			return step;
	}
	const struct registers before = walk->context.registers;
	bool is_read = walk->walker->ops->frame_context(walk->runtime, &frame, &walk->context);
	walk->context.known = walk_known_after(&before, 0, &walk->context.registers);
	if (!is_read) {
		return walk_bad(walk, "the %s at %" PRIx64 " cannot be read", frame.name,
				frame.address);
	}
	return STEP_ON;
}

static bool leads_to_code(struct thread_walk *walk, uint64_t address, enum step *ret)
{
	struct registers registers;
	if (address % 8 != 0 || !walk->arch->ops->signal_context(walk->memory, address, &registers))
		return false;
	const struct code_entry *entry = code_table_find(walk->walker, registers_ip(&registers));
	if (!entry)
		*ret = STEP_NOMEM;
	if (!entry || !entry->is_managed)
		return false;
	walk->context = (struct frame_context){ .registers = registers,
						.is_active = true,
						.known = REGISTERS_KNOWN_ALL };
	return true;
}

/*
 * Without unwind information: the context of a signal that lies on the stack, or that a word there
 * points to.  A handler has it as its argument.
 */
static bool find_ucontext(struct thread_walk *walk, enum step *ret)
{
	uint64_t begin = walk_sp(walk) & ~(uint64_t)7, end = walk->spans.now.end;
	if (end - begin > UCONTEXT_SEARCH)
		end = begin + UCONTEXT_SEARCH;
	for (uint64_t at = begin; at < end && *ret == STEP_ON; at += 8) {
		uint64_t word = 0;
		if (!memory_u64(walk->memory, at, &word))
			return false;
		if (leads_to_code(walk, at, ret))
			return true;
		if (*ret == STEP_ON && span_at(runtime_target(walk->runtime), word).end &&
		    leads_to_code(walk, word, ret))
			return true;
	}
	return false;
}

static enum step no_managed_code(struct thread_walk *walk, bool is_first)
{
	const struct runtime_thread *thread = walk->stack->thread;
	if (is_first && thread->is_cooperative && walk->native.cfi_failed) {
		return walk_bad(walk,
				"it runs managed code, but no frame of that was found from %" PRIx64
				" on",
				walk_ip(walk));
	}
	/*
	 * In 8 and 9 not every Frame says where it leads to; the last one may belong to the
	 * thread's start.
	 */
	size_t left = walk->chain.rows_count - walk->next_frame;
	if (walk->native.cfi_failed && walk->chain.is_vague &&
	    (left > 1 || (left && walk->chain.rows[walk->next_frame].is_helper))) {
		return walk_bad(walk, "native frames without unwind information, and Frames that "
				      "cannot be told apart");
	}
	while (walk->next_frame < walk->chain.rows_count) {
		enum step step = walk_pass_frame(walk);
		if (step != STEP_ON)
			return step;
	}
	return STEP_END;
}

/* In 8 and 9: has managed code called a throwing helper, up to @p sp? */
static bool is_thrown(const struct thread_walk *walk, uint64_t sp)
{
	const struct explicit_frame *last = NULL;
	for (size_t i = walk->next_frame; i < walk->chain.rows_count; i++) {
		const struct explicit_frame *frame = &walk->chain.rows[i];
		if (frame->address >= sp || !span_has(&walk->spans.now, frame->address))
			break;
		last = frame;
	}
	return last && last->is_throwing;
}

/* The helper in whose native code the thread is; NULL: it is in none. */
static const struct explicit_frame *helper_of(const struct thread_walk *walk)
{
	size_t i = walk->next_frame;
	while (i < walk->chain.rows_count && walk->chain.rows[i].is_aside)
		i++;
	bool is_helper = i < walk->chain.rows_count && walk->chain.rows[i].is_helper &&
			 span_has(&walk->spans.now, walk->chain.rows[i].address);
	return is_helper ? &walk->chain.rows[i] : NULL;
}

/*
 * Native code that the thread is in has no unwind information, as musl's; but the helper that called
 * it has noted the registers that it had then.  Go on from there.
 */
static enum step follow_helper(struct thread_walk *walk, const struct explicit_frame *lead,
			       struct registers *registers, enum native_found *ret)
{
	const struct explicit_frame *helper = helper_of(walk);
	struct frame_context context = walk->context;
	if (!helper || !walk->walker->ops->helper_context ||
	    !walk->walker->ops->helper_context(walk->runtime, helper, &context))
		return STEP_ON;
	context.known = walk_known_after(&walk->context.registers, 0, &context.registers);
	const struct code_entry *entry =
		code_table_find(walk->walker, registers_ip(&context.registers));
	if (!entry)
		return STEP_NOMEM;
	struct registers from = context.registers;
	enum step step = STEP_ON;
	if (!entry->is_managed) {
		step = follow_cfi(walk, false, lead, &from, ret);
	} else if (entry->follows_call) {
		*ret = FOUND_CALLER;
	}
	if (step == STEP_ON && *ret != FOUND_NONE) {
		walk->context = context;
		*registers = from;
	}
	return step;
}

/* The managed frame that was found becomes the current one. */
static enum step take_found(struct thread_walk *walk, enum native_found found,
			    const struct explicit_frame *lead, const struct registers *registers)
{
	bool is_caller = found == FOUND_CALLER;
	uint64_t known = walk_known_after(&walk->context.registers, walk->context.known, registers);
	walk->context = (struct frame_context){
		.registers = *registers,
		.is_active = !is_caller,
		.is_aborted = is_caller && is_thrown(walk, registers_sp(registers)),
		.known = is_caller ? known : REGISTERS_KNOWN_ALL,
	};
	return is_caller ? adjust_ip(walk, lead) : STEP_ON;
}

enum step walk_native(struct thread_walk *walk, bool is_first)
{
	enum native_found found = FOUND_NONE;
	uint64_t sp = walk_sp(walk);
	enum step step = walk_pass_frames(walk, sp);
	if (step != STEP_ON)
		return step;
	size_t index = walk->chain.rows_count;
	if (walk->next_frame < index)
		index = walk->chain.rows[walk->next_frame].leads;
	const struct explicit_frame *lead =
		index < walk->chain.rows_count ? &walk->chain.rows[index] : NULL;
	walk->native.cfi_failed = true;
	if (!is_first || walk->has_registers) {
		struct registers registers = walk->context.registers;
		step = follow_cfi(walk, is_first, lead, &registers, &found);
		if (step == STEP_ON && found == FOUND_NONE && walk->native.cfi_failed)
			step = follow_helper(walk, lead, &registers, &found);
		if (step != STEP_ON)
			return step;
		/* Managed code made a call, but it is not known which. */
		uint64_t end = registers_ip(&registers);
		if (found == FOUND_NONE && walk->native.cfi_failed &&
		    registers_sp(&registers) != sp &&
		    span_is_code(runtime_target(walk->runtime), end) &&
		    !walk_is_native_code(walk->walker, end))
			(void)walk_bad(walk, "the code at %" PRIx64 " is not known", end);
		if (is_first) {
			walk->native.in_helper =
				found == FOUND_CALLER && walk->stack->thread->is_cooperative;
		}
		if (found != FOUND_NONE)
			return take_found(walk, found, lead, &registers);
	}
	if (lead) {
		if (is_uncertain(walk, index, is_first)) {
			(void)walk_bad(walk, "native frames without unwind information: there may "
					     "be managed ones between them");
		}
		return take_frame(walk, index);
	}
	if (is_first && walk->has_registers && walk->native.cfi_failed &&
	    find_ucontext(walk, &step))
		return STEP_ON;
	return step == STEP_ON ? no_managed_code(walk, is_first) : step;
}
