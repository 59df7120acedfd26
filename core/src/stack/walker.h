/* SPDX-License-Identifier: MIT */
#pragma once

/* The files of the stack walk share this. */

#include "stack/span.h"
#include "stack/stack.h"
#include "stack/stack_ops.h"
#include "unwind/cfi.h"
#include "unwind/gc_info.h"
#include "util/job.h"

/**
 * The facts about an address of code.  They are kept, because stacks have the same addresses again
 * and again.
 */
struct code_entry {
	uint64_t ip;
	struct code_info code;
	bool is_managed;
	bool follows_call; /**< managed code: a call ends there */
	bool is_bad;       /**< its GC info cannot be decoded */
	bool has_slots;    /**< slots_begin and slots_end are set: the live slots of a frame that
			    * made a call there */
	uint8_t frame_register;
	uint32_t slots_begin, slots_end; /**< its slots in the table */
};

struct code_table {
	struct code_entry *rows;
	size_t rows_count, rows_capacity;
	struct gc_slot *slots;
	size_t slots_count, slots_capacity;
	uint32_t *index; /**< open addressing; 0: free, else row + 1 */
};

struct stack_walker {
	struct runtime *runtime;
	const struct stack_ops *ops;
	struct memory *memory;
	struct heap *heap; /**< NULL: only frames are needed */
	struct cfi *cfi;
	struct code_table codes;
	struct gc_info gc_info;   /**< GC info of code that is not kept */
	uint32_t gc_frame_offset; /**< offset of the GCFrame list in Thread; 0: not found yet */
	const char **names;       /**< paths of the modules' files, ascending */
	size_t names_count;
	uint64_t left; /**< how many more bytes of stack may be read for all threads: walk_take() */
};

/** A stack that the thread uses, and the lowest address in it that the next frame may have. */
struct visited_span {
	struct span span;
	uint64_t low;
};
#define SPANS_MAX 16u

/** The stack that a thread is on, and those that it was on before. */
struct visited_spans {
	struct span now; /**< of the next frame */
	struct visited_span rows[SPANS_MAX];
	unsigned int count;
};

/** State of unwinding native frames. */
struct native_walk {
	uint32_t cfi_steps; /**< steps that were made so far */
	bool cfi_failed;    /**< a frame could not be unwound with its unwind information */
	bool in_helper; /**< in native code that managed code called like a managed method, without
			 * a Frame */
};

/** After a funclet, no roots are reported until the frame of its method. */
struct funclet_skip {
	bool is_on;
	uint64_t parent_start, parent_fp;
	uint64_t sp; /**< stack pointer of the funclet */
	struct frame_context
		caller; /**< of what called the funclet; without registers: not needed */
};

/** The walk of one thread. */
struct thread_walk {
	struct stack_walker *walker;
	struct runtime *runtime;
	const struct arch *arch;
	struct memory *memory;
	const struct stack_options *options;
	struct job *job;
	struct thread_stack *stack; /**< the result */
	bool has_registers;
	struct registers initial; /**< the registers with which the thread stopped */
	struct frame_chain chain;
	size_t next_frame; /**< index in chain: earlier Frames were passed */
	struct exception_chain exceptions;
	struct frame_context context; /**< of the next frame */
	struct visited_spans spans;
	uint64_t last_sp; /**< SP of the managed frame before, 0: none */
	uint64_t bad_sp;  /**< SP of the last good frame, before the first failure */
	struct native_walk native;
	bool is_unsure; /**< the frame's slots may hold old values */
	struct funclet_skip skip;
};

/** The stack pointer, the instruction pointer, and the frame pointer of the next frame. */
static inline uint64_t walk_sp(const struct thread_walk *walk)
{
	return registers_sp(&walk->context.registers);
}

static inline uint64_t walk_ip(const struct thread_walk *walk)
{
	return registers_ip(&walk->context.registers);
}

static inline uint64_t walk_fp(const struct thread_walk *walk)
{
	return registers_fp(&walk->context.registers);
}

static inline void walk_set_ip(struct thread_walk *walk, uint64_t ip)
{
	walk->context.registers.values[walk->arch->ip] = ip;
}

/**
 * Mark the stack partial, if it is not yet: after the last managed frame, conservative roots
 * complete it.  Returns STEP_BAD.
 */
enum step walk_bad(struct thread_walk *walk, const char *format, ...) HD_PRINTF(2, 3);

/**
 * Take @p bytes out of the number that all walks together may read for frames, roots and words,
 * which is a few times the size of the core.  Without this limit, stacks that share their bytes
 * could take any time, even in a small file. false: none are left, and the stack is marked partial.
 */
bool walk_take(struct thread_walk *walk, uint64_t bytes);

/** The facts about the code at @p ip; valid until the next call.  NULL: memory is exhausted. */
struct code_entry *code_table_find(struct stack_walker *walker, uint64_t ip);
void code_table_deinit(struct code_table *table);

/** Remember the stack that @p address is on; false when there are too many. */
bool walk_visit(struct thread_walk *walk, uint64_t address);

#define REGISTERS_KNOWN_ALL UINT64_MAX
/**
 * The registers that are known of the caller, which has @p after, of a frame with @p before, of
 * which @p known are: those that a call preserves, and those that were read from the stack.
 */
uint64_t walk_known_after(const struct registers *before, uint64_t known,
			  const struct registers *after);

/** Append a native frame, if they are asked for; false: memory is exhausted. */
bool walk_note_native(struct thread_walk *walk, const struct registers *registers, bool is_active);
/** Find out, after the walk, which Frames of the runtime native frames come after. */
void walk_place_natives(struct thread_stack *stack);

/** Append a frame; NULL: memory is exhausted, or there are STACK_FRAMES_MAX (then it is bad). */
struct stack_frame *walk_add_frame(struct thread_walk *walk, enum step *ret);
/** Add Frame walk->next_frame of the chain to the list, with the arguments that it protects. */
enum step walk_pass_frame(struct thread_walk *walk);
/** Add all Frames below @p sp on the current stack. */
enum step walk_pass_frames(struct thread_walk *walk, uint64_t sp);

/** Is @p ip in a library, or may it be?  Other code after a managed frame is also managed. */
bool walk_is_native_code(const struct stack_walker *walker, uint64_t ip);

/** Leave native code: the next managed frame becomes the current one. */
enum step walk_native(struct thread_walk *walk, bool is_first);

/** Add a root; null values are ignored. */
enum step walk_add_root(struct thread_walk *walk, const struct stack_root *root);

/** Add the roots in the live slots of the current frame, which has the number @p frame. */
enum step walk_slots(struct thread_walk *walk, const struct code_info *code, bool no_untracked,
		     uint64_t caller_sp, uint32_t frame);

/** Add the exceptions in flight. */
enum step walk_exceptions(struct thread_walk *walk);

/** Does @p value lie in a segment of the heap? */
bool walk_is_heap_address(const struct thread_walk *walk, uint64_t value);
/** Add the word at @p address, if it may be a reference, as a conservative root of that kind. */
enum step walk_add_word(struct thread_walk *walk, uint64_t address, enum stack_root_kind kind,
			uint32_t frame);
/**
 * Add the registers and the words up to @p caller_sp of the current frame, which has the number
 * @p frame; its roots so far begin at @p first.
 */
enum step walk_frame_words(struct thread_walk *walk, uint64_t caller_sp, uint32_t frame,
			   size_t first);
/** Add the thread's own registers, unless they are already roots. */
enum step walk_registers(struct thread_walk *walk);
/** Complete the roots of a partial stack, or all for stack_options.conservative. */
enum step walk_conservative(struct thread_walk *walk);
