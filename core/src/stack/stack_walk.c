/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/runtime_ops.h"
#include "runtime/thread_state.h"
#include "stack/walker.h"
#include "util/alloc.h"

/* After how many frames a walk checks for cancellation. */
#define POLL_STRIDE 4096u
/* A managed frame takes less. */
#define FRAME_SIZE_MAX ((uint64_t)4 << 20)
/* The smallest frame; and a Frame, with what is looked up for it. */
#define FRAME_COST 16u
#define CHAIN_COST 64u
/*
 * All walks together may read this: the core's size so many times, and what small cores may need.
 */
#define READ_FACTOR 4u
#define READ_FLOOR  ((uint64_t)4 << 20)

enum step walk_bad(struct thread_walk *walk, const char *format, ...)
{
	struct thread_stack *stack = walk->stack;
	if (!stack->is_partial) {
		va_list args;
		va_start(args, format);
		(void)vsnprintf(stack->why, sizeof(stack->why), format, args);
		va_end(args);
		stack->is_partial = true;
		walk->bad_sp = walk->skip.is_on ? walk->skip.sp : walk->last_sp;
	}
	return STEP_BAD;
}

bool walk_take(struct thread_walk *walk, uint64_t bytes)
{
	uint64_t *left = &walk->walker->left;
	if (*left >= bytes) {
		*left -= bytes;
		return true;
	}
	*left = 0;
	(void)walk_bad(walk, "the stacks have more frames and roots than the core has bytes");
	return false;
}

bool walk_visit(struct thread_walk *walk, uint64_t address)
{
	for (unsigned int i = 0; i < walk->spans.count; i++) {
		struct visited_span *visited = &walk->spans.rows[i];
		if (span_has(&visited->span, address)) {
			if (address < visited->low)
				visited->low = address;
			return true;
		}
	}
	struct span span = span_at(runtime_target(walk->runtime), address);
	if (!span.end)
		return true;
	if (walk->spans.count == SPANS_MAX)
		return false;
	walk->spans.rows[walk->spans.count++] = (struct visited_span){ span, address };
	return true;
}

struct stack_frame *walk_add_frame(struct thread_walk *walk, enum step *ret)
{
	struct thread_stack *stack = walk->stack;
	*ret = STEP_ON;
	if (stack->frames_count == STACK_FRAMES_MAX) {
		*ret = walk_bad(walk, "more than %u frames", STACK_FRAMES_MAX);
		return NULL;
	}
	if (!walk_take(walk, FRAME_COST)) {
		*ret = STEP_BAD;
		return NULL;
	}
	if (!PAGES_RESERVE(stack, frames)) {
		*ret = STEP_NOMEM;
		return NULL;
	}
	struct stack_frame *frame = &stack->frames[stack->frames_count++];
	*frame = (struct stack_frame){ 0 };
	return frame;
}

enum step walk_pass_frame(struct thread_walk *walk)
{
	const struct explicit_frame *from = &walk->chain.rows[walk->next_frame++];
	const struct stack_ops *ops = walk->walker->ops;
	enum step step;
	if (from->is_lost) {
		(void)walk_bad(walk, "the %s at %" PRIx64 " leads to code that is not known",
			       from->name, from->address);
	}
	struct stack_frame *frame = walk_add_frame(walk, &step);
	if (!frame)
		return step;
	*frame = (struct stack_frame){ .kind = STACK_EXPLICIT,
				       .sp = from->address,
				       .ip = from->ip,
				       .frame = from->address,
				       .name = from->name,
				       .method_desc = ops->frame_method(walk->runtime, from),
				       .is_dead = walk->skip.is_on ||
						  exception_is_unwound(&walk->exceptions,
								       from->address) };
	if (frame->is_dead || walk->options->no_roots)
		return STEP_ON;
	return ops->arguments(walk, from, (uint32_t)(walk->stack->frames_count - 1));
}

enum step walk_pass_frames(struct thread_walk *walk, uint64_t sp)
{
	while (walk->next_frame < walk->chain.rows_count) {
		uint64_t address = walk->chain.rows[walk->next_frame].address;
		if (address >= sp || !span_has(&walk->spans.now, address))
			break;
		enum step step = walk_pass_frame(walk);
		if (step != STEP_ON)
			return step;
	}
	return STEP_ON;
}

/*
 * Are the stack pointers of a managed frame and its caller consistent with each other and with the
 * frames before?
 */
static enum step check_managed_frame(struct thread_walk *walk, uint64_t caller_sp)
{
	uint64_t sp = walk_sp(walk), ip = walk_ip(walk);
	if (sp % 8 != 0 || caller_sp % 8 != 0 || caller_sp <= sp ||
	    caller_sp - sp > FRAME_SIZE_MAX) {
		return walk_bad(walk,
				"the frame at %" PRIx64 " has stack from %" PRIx64 " to %" PRIx64,
				ip, sp, caller_sp);
	}
	if (!runtime_target(walk->runtime)->map.range_count)
		return STEP_ON;
	if (!span_has(&walk->spans.now, sp)) {
		/* After a stack overflow it may lie in the guard page. */
		struct span span = span_at(runtime_target(walk->runtime), caller_sp);
		if (walk->stack->managed_count || !span.end || sp >= span.start ||
		    span.start - sp > GUARD_REACH)
			return walk_bad(walk, "the stack pointer %" PRIx64 " is in no stack", sp);
		walk->spans.now = span;
	}
	if (caller_sp > walk->spans.now.end)
		return walk_bad(walk, "the frame at %" PRIx64 " ends outside its stack", ip);
	return STEP_ON;
}

/* Is it the frame of the method whose handler runs? */
static bool is_parent_frame(const struct thread_walk *walk, const struct code_info *code)
{
	return walk->skip.is_on && !code->is_funclet && code->start == walk->skip.parent_start &&
	       walk_fp(walk) == walk->skip.parent_fp;
}

/* Registers of the method that have gone through its handler. */
static void take_kept_registers(struct thread_walk *walk)
{
	const struct frame_context *from = &walk->skip.caller;
	struct frame_context *to = &walk->context;
	for (unsigned int i = 0; from->registers.arch && i < walk->arch->register_count; i++) {
		if (arch_is_scratch(walk->arch, i) || i == walk->arch->sp || i == walk->arch->ip ||
		    i == walk->arch->fp)
			continue;
		to->registers.values[i] = from->registers.values[i];
		to->registers.slots[i] = from->registers.slots[i];
		to->known &= ~(UINT64_C(1) << i);
		to->known |= from->known & UINT64_C(1) << i;
	}
}

/* Which frames report, and how, around handlers of exceptions (doc/coreclr.md 12.7). */
static enum step report_managed(struct thread_walk *walk, const struct code_info *code,
				const struct frame_context *caller, struct stack_frame *frame)
{
	const struct stack_ops *ops = walk->walker->ops;
	uint64_t caller_sp = registers_sp(&caller->registers);
	bool no_untracked = false;
	if (walk->skip.is_on) {
		bool is_parent = is_parent_frame(walk, code);
		frame->is_dead = !is_parent;
		walk->skip.is_on = !is_parent;
		return STEP_ON; /* the funclet has reported its parent's slots */
	}
	frame->is_dead = exception_is_unwound(&walk->exceptions, caller_sp);
	if (frame->is_dead)
		return STEP_ON;
	if (code->is_funclet) {
		no_untracked = ops->is_filter && ops->is_filter(walk, code);
		walk->skip.is_on = !no_untracked;
		walk->skip.parent_start = code->start;
		walk->skip.parent_fp = walk_fp(walk);
		walk->skip.sp = walk_sp(walk);
		walk->skip.caller =
			ops->handlers_keep_registers ? *caller : (struct frame_context){ 0 };
	}
	if (walk->options->no_roots)
		return STEP_ON;
	return walk_slots(walk, code, no_untracked, caller_sp,
			  (uint32_t)(walk->stack->frames_count - 1));
}

uint64_t walk_known_after(const struct registers *before, uint64_t known,
			  const struct registers *after)
{
	const struct arch *arch = before->arch;
	uint64_t ret = UINT64_C(1) << arch->sp | UINT64_C(1) << arch->ip;
	for (unsigned int i = 0; i < arch->register_count; i++) {
		bool is_kept = known >> i & 1 && !arch_is_scratch(arch, i);
		bool is_loaded = after->slots[i] && after->slots[i] != before->slots[i];
		ret |= (uint64_t)(is_kept || is_loaded) << i;
	}
	return ret;
}

/* Append the registers of the current frame; false: memory is exhausted, or there are too many. */
static bool note_registers(struct thread_walk *walk, uint32_t *ret)
{
	struct thread_stack *stack = walk->stack;
	if (!walk_take(walk, sizeof(*stack->registers)))
		return true;
	if (!PAGES_RESERVE(stack, registers))
		return false;
	struct frame_registers *row = &stack->registers[stack->registers_count++];
	memcpy(row->values, walk->context.registers.values, sizeof(row->values));
	row->known = walk->context.known;
	*ret = (uint32_t)stack->registers_count;
	return true;
}

/* Undo the frame of a managed function. */
static bool leave_managed(struct thread_walk *walk, const struct code_info *code,
			  struct registers *registers)
{
	const struct unwind_function function = {
		.begin = code->function,
		.unwind_info = code->unwind_info,
		.image_base = code->image_base,
		.is_active = walk->context.is_active && !walk->context.is_aborted,
	};
	if (code->has_cfi)
		return cfi_step(walk->walker->cfi, function.is_active, registers) == CFI_FRAME;
	return walk->arch->ops->managed_step(walk->memory, &function, registers);
}

static enum step walk_managed(struct thread_walk *walk, const struct code_entry *entry)
{
	struct code_info code = entry->code;
	if (is_parent_frame(walk, &code))
		take_kept_registers(walk);
	struct frame_context caller = { .registers = walk->context.registers };
	uint64_t ip = walk_ip(walk), sp = walk_sp(walk);
	if (!walk->context.is_active && !entry->follows_call)
		return walk_bad(walk, "the return address %" PRIx64 " does not follow a call", ip);
	if (!span_has(&walk->spans.now, sp))
		walk->spans.now = span_at(runtime_target(walk->runtime), sp);
	if (span_has(&walk->spans.now, walk->last_sp) && sp <= walk->last_sp) {
		return walk_bad(walk, "the frame at %" PRIx64 " is below the frame that it called",
				ip);
	}
	if (!leave_managed(walk, &code, &caller.registers)) {
		return walk_bad(walk,
				"the unwind data of the frame at %" PRIx64
				" or its stack cannot be read",
				ip);
	}
	caller.known =
		walk_known_after(&walk->context.registers, walk->context.known, &caller.registers);
	if (code.is_funclet && walk->walker->ops->handler_caller)
		walk->walker->ops->handler_caller(walk, &caller.registers);
	uint64_t caller_sp = registers_sp(&caller.registers);
	enum step step = check_managed_frame(walk, caller_sp);
	if (step == STEP_ON &&
	    !walk_visit(walk, span_has(&walk->spans.now, sp) ? sp : walk->spans.now.start))
		step = walk_bad(walk, "it goes over more than %u stacks", SPANS_MAX);
	if (step == STEP_ON)
		step = walk_pass_frames(walk, caller_sp);
	if (step != STEP_ON)
		return step;
	struct stack_frame *frame = walk_add_frame(walk, &step);
	if (!frame)
		return step;
	uint32_t registers = 0;
	if (walk->options->registers && !note_registers(walk, &registers))
		return STEP_NOMEM;
	*frame = (struct stack_frame){ .kind = STACK_MANAGED,
				       .is_funclet = code.is_funclet,
				       .is_active = walk->context.is_active,
				       .is_aborted = walk->context.is_aborted,
				       .caller_sp = caller_sp,
				       .sp = sp,
				       .ip = ip,
				       .method_desc = code.method_desc,
				       .offset = (uint32_t)(ip - code.start),
				       .registers = registers };
	walk->stack->managed_count++;
	step = report_managed(walk, &code, &caller, frame);
	const struct stack_ops *ops = walk->walker->ops;
	if (step == STEP_ON && ops->native_caller && !ops->native_caller(walk, &code))
		step = STEP_NOMEM;
	walk->last_sp = sp;
	walk->context = caller;
	return step;
}

/* Undo what the runtime has done to stop the thread at that return. */
static bool undo_hijack(struct thread_walk *walk)
{
	const struct stack_ops *ops = walk->walker->ops;
	uint64_t ip;
	if (!ops->replaced_return || !ops->replaced_return(walk, &ip))
		return false;
	walk_set_ip(walk, ip);
	return true;
}

/* The last part of a path: mappings and the linker's list name folders differently (/lib). */
static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static int compare_name_pointers(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool walk_is_native_code(const struct stack_walker *walker, uint64_t ip)
{
	const struct target *target = runtime_target(walker->runtime);
	const struct target_mapping *mapping = target_mapping_at(&target->map, ip);
	if (!mapping)
		return !target->map.mapping_count;
	const char *name = file_name(mapping->path);
	return !walker->names_count ||
	       bsearch(&name, walker->names, walker->names_count, sizeof(*walker->names),
		       compare_name_pointers) != NULL;
}

/*
 * Sort the names of the modules' files, as the linker and the mappings call them, which follow links
 * (musl: /lib/ld-musl-x86_64.so.1 is libc.so); false: memory is exhausted.
 */
static bool sort_names(struct stack_walker *walker)
{
	const struct target *target = runtime_target(walker->runtime);
	walker->names = mem_alloc(2 * target->module_count, sizeof(*walker->names));
	if (!walker->names)
		return false;
	for (size_t i = 0; i < target->module_count; i++) {
		const struct target_module *module = &target->modules[i];
		const struct target_mapping *mapping =
			target_mapping_at(&target->map, module->dynamic);
		walker->names[walker->names_count++] = file_name(module->path);
		if (module->dynamic && mapping)
			walker->names[walker->names_count++] = file_name(mapping->path);
	}
	if (walker->names_count) {
		qsort(walker->names, walker->names_count, sizeof(*walker->names),
		      compare_name_pointers);
	}
	return true;
}

/* How many bytes the walks of a core may read; those of a process are not limited. */
static uint64_t most_bytes(const struct target *target)
{
	if (target->kind != TARGET_CORE || !target->map.range_count)
		return UINT64_MAX;
	uint64_t captured = 0;
	for (size_t i = 0; i < target->map.range_count; i++)
		captured += target->map.ranges[i].captured;
	return READ_FLOOR + READ_FACTOR * captured;
}

static enum step walk_caller(struct thread_walk *walk, bool is_first)
{
	const struct code_entry *entry = code_table_find(walk->walker, walk_ip(walk));
	if (!entry)
		return STEP_NOMEM;
	if (entry->is_managed) {
		if (is_first)
			walk->context.is_active = true;
		return walk_managed(walk, entry);
	}
	uint64_t ip = walk_ip(walk);
	if (!is_first && (!span_is_code(runtime_target(walk->runtime), ip) ||
			  !walk->arch->ops->follows_call(walk->memory, ip))) {
		if (undo_hijack(walk))
			return STEP_ON;
		/* Without the runtime's help, createdump --withheap leaves out JIT code. */
		uint8_t byte;
		if (runtime_has_code_at(walk->runtime, ip) && !memory_u8(walk->memory, ip, &byte)) {
			return walk_bad(walk,
					"the managed code at %" PRIx64 " is not in the target", ip);
		}
		return walk_bad(walk, "the return address %" PRIx64 " is not code after a call",
				ip);
	}
	if (!is_first && !walk_is_native_code(walk->walker, ip))
		(void)walk_bad(walk, "the code at %" PRIx64 " is not known", ip);
	return walk_native(walk, is_first);
}

static enum step walk_stack_frames(struct thread_walk *walk)
{
	enum step step = STEP_ON;
	bool is_first = true;
	for (uint32_t i = 1; step == STEP_ON; i++) {
		if (i % POLL_STRIDE == 0 && walk->job && !job_step(walk->job, 0, 0))
			return STEP_CANCELLED;
		step = walk_caller(walk, is_first);
		is_first = false;
	}
	if (step == STEP_END && walk->skip.is_on)
		return walk_bad(walk, "the frame of the method whose handler runs was not found");
	return step;
}

/* false: there is nothing to walk. */
static bool begin_thread_walk(struct thread_walk *walk)
{
	const struct runtime_thread *thread = walk->stack->thread;
	const struct target_thread *registers = NULL;
	uint64_t word = 0;
	if (!thread_has_stack(thread))
		return false;
	if (thread->os_id <= INT32_MAX)
		registers = target_thread(runtime_target(walk->runtime), (int32_t)thread->os_id);
	walk->has_registers = registers != NULL;
	if (registers)
		registers_of_thread(walk->arch, registers, &walk->initial);
	walk->context.registers = walk->initial;
	walk->context.known = registers ? REGISTERS_KNOWN_ALL : 0;
	uint64_t sp = registers_sp(&walk->initial);
	walk->spans.now = span_at(runtime_target(walk->runtime), sp);
	(void)walk_visit(walk, sp);
	for (size_t i = 0; i < walk->chain.rows_count; i++)
		(void)walk_visit(walk, walk->chain.rows[i].address);
	struct thread_stack *stack = walk->stack;
	if (!registers &&
	    (!walk->chain.rows_count || walk->chain.rows[0].leads == walk->chain.rows_count)) {
		stack->is_missing = true;
		(void)snprintf(stack->why, sizeof(stack->why),
			       "the target has no registers of thread %" PRIx64, thread->os_id);
	} else if (registers && !memory_u64(walk->memory, sp & ~(uint64_t)7, &word) &&
		   !memory_u64(walk->memory, (sp + GUARD_REACH) & ~(uint64_t)7, &word)) {
		stack->is_missing = true;
		(void)snprintf(stack->why, sizeof(stack->why),
			       "its stack, at %" PRIx64 ", is not in the target", sp);
	}
	return !stack->is_missing;
}

static enum step walk_thread(struct thread_walk *walk)
{
	const struct stack_ops *ops = walk->walker->ops;
	const struct runtime_thread *thread = walk->stack->thread;
	if (!walk_take(walk, FRAME_COST)) {
		walk->stack->is_missing = true;
		walk->stack->is_partial = false;
		return STEP_END;
	}
	if ((ops->frames && !ops->frames(walk->runtime, thread->address, &walk->chain)) ||
	    (ops->exceptions &&
	     !ops->exceptions(walk->runtime, thread->address, &walk->exceptions)))
		return STEP_NOMEM;
	(void)walk_take(walk, CHAIN_COST * (walk->chain.rows_count + walk->exceptions.rows_count));
	enum step step = STEP_END;
	if (begin_thread_walk(walk)) {
		if (!walk->has_registers && (thread->is_cooperative || walk->chain.is_vague)) {
			(void)walk_bad(walk,
				       "the target has no registers of thread %" PRIx64
				       ": walked from its Frames on",
				       thread->os_id);
		}
		step = walk_stack_frames(walk);
		if (walk->chain.is_broken)
			(void)walk_bad(walk, "the list of the thread's Frames is broken");
		if (walk->exceptions.is_broken)
			(void)walk_bad(walk, "the list of the thread's exceptions is broken");
	}
	walk_place_natives(walk->stack);
	if (step == STEP_NOMEM || step == STEP_CANCELLED || walk->options->no_roots)
		return step;
	step = walk_exceptions(walk);
	if (step != STEP_NOMEM && ops->native_roots)
		step = ops->native_roots(walk);
	if (step != STEP_NOMEM && (walk->stack->is_partial || walk->options->conservative)) {
		step = walk_conservative(walk);
	} else if (step != STEP_NOMEM && walk->native.in_helper) {
		step = walk_registers(walk);
	}
	return step;
}

enum hd_status stack_walk(struct stack_walker *walker, const struct runtime_thread *thread,
			  const struct stack_options *options, struct job *job,
			  struct thread_stack *ret, struct hd_error *err)
{
	struct thread_stack stack = { .thread = thread };
	struct thread_walk walk = { .walker = walker,
				    .runtime = walker->runtime,
				    .arch = runtime_arch(walker->runtime),
				    .memory = walker->memory,
				    .options = options,
				    .job = job,
				    .stack = &stack };
	walk.initial.arch = walk.arch;
	enum step step = walk_thread(&walk);
	frame_chain_deinit(&walk.chain);
	exception_chain_deinit(&walk.exceptions);
	if (step == STEP_NOMEM || step == STEP_CANCELLED) {
		thread_stack_deinit(&stack);
		return step == STEP_NOMEM ? fail_nomem(err) : fail_cancelled(err);
	}
	*ret = stack;
	return HD_OK;
}

void thread_stack_deinit(struct thread_stack *stack)
{
	pages_free(stack->frames, stack->frames_capacity, sizeof(*stack->frames));
	pages_free(stack->natives, stack->natives_capacity, sizeof(*stack->natives));
	pages_free(stack->registers, stack->registers_capacity, sizeof(*stack->registers));
	pages_free(stack->roots, stack->roots_capacity, sizeof(*stack->roots));
	*stack = (struct thread_stack){ 0 };
}

enum hd_status stack_walker_create(struct runtime *runtime, struct heap *heap,
				   struct stack_walker **ret, struct hd_error *err)
{
	struct stack_walker *walker = mem_calloc(1, sizeof(*walker));
	TRY_MEMORY(walker, err);
	walker->runtime = runtime;
	walker->ops = runtime_ops(runtime)->stack;
	walker->memory = runtime_memory(runtime);
	walker->heap = heap;
	walker->left = most_bytes(runtime_target(runtime));
	walker->cfi = cfi_create(runtime_target(runtime));
	if (!walker->cfi || !sort_names(walker)) {
		stack_walker_destroy(walker);
		return fail_nomem(err);
	}
	*ret = walker;
	return HD_OK;
}

void stack_walker_destroy(struct stack_walker *walker)
{
	if (!walker)
		return;
	cfi_destroy(walker->cfi);
	mem_free(walker->names);
	code_table_deinit(&walker->codes);
	gc_info_deinit(&walker->gc_info);
	mem_free(walker);
}
