/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_STACK_WALKER_H
#define HEAPDUMP_SRC_STACK_WALKER_H

/* What the files of the stack walk share. */

#include "stack/exception_info.h"
#include "stack/explicit_frame.h"
#include "stack/span.h"
#include "stack/stack.h"
#include "unwind/cfi.h"
#include "unwind/gc_info.h"
#include "util/job.h"

/** What is known of an address of code: kept, as stacks have the same ones again and again. */
struct code_entry {
	uint64_t ip;
	struct code_info code;
	bool is_managed;
	bool follows_call; /**< of managed ones: a call ends there */
	bool is_bad;       /**< its GC info cannot be decoded */
	bool has_slots;    /**< the slots that are live in a caller's frame stopped there */
	uint8_t frame_register;
	uint32_t slots_begin, slots_end; /**< in the table's slots */
};

struct code_table {
	struct code_entry *rows;
	size_t rows_count, rows_capacity;
	struct gc_slot *slots;
	size_t slots_count, slots_capacity;
	uint32_t *index; /**< open addressing; 0: free, else row + 1 */
};

struct stack_walker {
	struct clr *clr;
	struct memory *memory;
	struct heap *heap; /**< NULL: frames alone */
	struct cfi *cfi;
	struct code_table codes;
	struct gc_info gc_info;   /**< of what is not kept */
	uint32_t gc_frame_offset; /**< in Thread; 0: not found yet */
	const char **names;       /**< of the modules' files, ascending */
	size_t names_count;
	uint64_t left; /**< bytes of stack that may still be read for all threads: walk_take() */
};

/** How a part of a walk ended. */
enum step {
	STEP_ON,
	STEP_END, /**< of the stack */
	STEP_BAD, /**< it cannot go on: the stack is marked partial */
	STEP_NOMEM,
	STEP_CANCELLED,
};

/** A stack that the thread was met on, and the lowest address of it that a frame may have. */
struct visited_span {
	struct span span;
	uint64_t low;
};
#define SPANS_MAX 16u

/** The stacks that a thread is on, and was on. */
struct visited_spans {
	struct span now; /**< of the frame that comes next */
	struct visited_span rows[SPANS_MAX];
	unsigned int count;
};

/** How native frames are left. */
struct native_walk {
	uint32_t cfi_steps; /**< taken so far */
	bool cfi_failed;    /**< one could not be left by its unwind information */
	bool in_helper; /**< it is in native code that managed code called as its own: no Frame */
};

/** After a funclet nothing is reported up to the frame of its method. */
struct funclet_skip {
	bool is_on;
	uint64_t parent_start, parent_fp;
	uint64_t sp; /**< of the funclet */
};

/** The walk of one thread. */
struct thread_walk {
	struct stack_walker *walker;
	struct clr *clr;
	struct memory *memory;
	const struct stack_options *options;
	struct job *job;
	struct thread_stack *stack; /**< what is being made */
	bool has_registers;
	struct registers initial; /**< of the thread as it stopped */
	struct frame_chain chain;
	size_t next_frame; /**< of chain: those before were passed */
	struct exception_chain exceptions;
	struct frame_context context; /**< of the frame that comes next */
	struct visited_spans spans;
	uint64_t last_sp; /**< of the managed frame before, 0: none */
	uint64_t bad_sp;  /**< of the last good one, where something went wrong first */
	struct native_walk native;
	bool is_unsure; /**< the frame's slots may hold what was there before */
	struct funclet_skip skip;
};

static inline uint64_t *walk_register(struct thread_walk *walk, unsigned int number)
{
	return &walk->context.registers.values[number];
}

/**
 * Mark the stack partial, if it is not yet: from the last managed frame on its roots are completed
 * by conservative ones.  Returns STEP_BAD.
 */
enum step walk_bad(struct thread_walk *walk, const char *format, ...) HD_PRINTF(2, 3);

/**
 * Take @p bytes of what all walks together may read: frames, roots and words, a few times what the
 * core has.  Stacks that share their bytes would else take more time than any size of the file
 * tells.  false: there are none left, and the stack is marked partial.
 */
bool walk_take(struct thread_walk *walk, uint64_t bytes);

/** What is known of the code at @p ip; good until the next call.  NULL: memory is exhausted. */
struct code_entry *code_table_find(struct stack_walker *walker, uint64_t ip);
void code_table_deinit(struct code_table *table);

/** Remember the stack that @p address is on; false when there are too many. */
bool walk_visit(struct thread_walk *walk, uint64_t address);

/** Append a frame; NULL: memory is exhausted, or there are STACK_FRAMES_MAX (then it is bad). */
struct stack_frame *walk_add_frame(struct thread_walk *walk, enum step *ret);
/** Frame walk->next_frame of the chain: into the list, with the arguments that it protects. */
enum step walk_pass_frame(struct thread_walk *walk);
/** All Frames below @p sp on the current stack. */
enum step walk_pass_frames(struct thread_walk *walk, uint64_t sp);

/** Is @p ip of a library, or may it be?  Other code after a managed frame is managed too. */
bool walk_is_native_code(const struct stack_walker *walker, uint64_t ip);

/** Leave native code: the next managed frame becomes the current one. */
enum step walk_native(struct thread_walk *walk, bool is_first);

/** A root; null values are none. */
enum step walk_add_root(struct thread_walk *walk, const struct stack_root *root);

/** The roots in the live slots of the current frame, which is number @p frame. */
enum step walk_slots(struct thread_walk *walk, const struct code_info *code, bool no_untracked,
		     uint64_t caller_sp, uint32_t frame);

/** The arguments of the call that a Frame stands for; it is number @p index of the frames. */
enum step walk_arguments(struct thread_walk *walk, const struct explicit_frame *frame,
			 uint32_t index);

/** GCFrames, and exceptions in flight. */
enum step walk_gc_frames(struct thread_walk *walk);
enum step walk_exceptions(struct thread_walk *walk);

/** Does the funclet that the current frame is in filter an exception? */
bool is_filter_funclet(struct thread_walk *walk, const struct code_info *code);

/** Does @p value lie in a segment of the heap? */
bool walk_is_heap_address(const struct thread_walk *walk, uint64_t value);
/** The word at @p address, if it may be a reference, as a conservative root of that kind. */
enum step walk_add_word(struct thread_walk *walk, uint64_t address, enum stack_root_kind kind,
			uint32_t frame);
/**
 * The registers and the words up to @p caller_sp of the current frame, which is number @p frame and
 * has @p first and what follows of the roots already.
 */
enum step walk_frame_words(struct thread_walk *walk, uint64_t caller_sp, uint32_t frame,
			   size_t first);
/** The thread's own registers, unless they are roots already. */
enum step walk_registers(struct thread_walk *walk);
/** Complete the roots of a partial stack, or all for stack_options.conservative. */
enum step walk_conservative(struct thread_walk *walk);

#endif
