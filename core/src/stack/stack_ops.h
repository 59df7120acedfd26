/* SPDX-License-Identifier: MIT */
#pragma once

#include "stack/exception_info.h"
#include "stack/explicit_frame.h"

struct registers;
struct thread_walk;

/** How a part of a walk ended. */
enum step {
	STEP_ON,
	STEP_END, /**< the stack has ended */
	STEP_BAD, /**< it cannot go on: the stack is marked partial */
	STEP_NOMEM,
	STEP_CANCELLED,
};

/**
 * The knowledge of a runtime about its stacks beyond code, unwind data and GCInfo.  NULL: it has nothing of
 * that kind.
 */
struct stack_ops {
	/**
	 * Read the chain of Frames of the thread at @p thread.
	 *
	 * @param[out] ret To be given to frame_chain_deinit(), also on failure.
	 * @return false when memory is exhausted
	 */
	bool (*frames)(struct runtime *runtime, uint64_t thread, struct frame_chain *ret);
	/**
	 * The registers that @p frame (with an ip) gives; those that it does not have stay
	 * unchanged.  @return false when they cannot be read
	 */
	bool (*frame_context)(const struct runtime *runtime, const struct explicit_frame *frame,
			      struct frame_context *ret);
	/**
	 * The registers that a helper has noted in its Frame: those of its managed caller, or its own,
	 * where its unwind information leads to that.  Others stay unchanged.  @return false when they
	 * cannot be read, or are not there
	 */
	bool (*helper_context)(struct runtime *runtime, const struct explicit_frame *frame,
			       struct frame_context *ret);
	/**
	 * MethodDesc of the method that @p frame represents, which managed code has called there: a
	 * P/Invoke, a method that is about to be compiled, or one that is a function of the
	 * runtime; 0: it has none.
	 */
	uint64_t (*frame_method)(struct runtime *runtime, const struct explicit_frame *frame);
	/**
	 * Add the arguments of the call that a Frame represents; it has the number @p index among
	 * the frames.
	 */
	enum step (*arguments)(struct thread_walk *walk, const struct explicit_frame *frame,
			       uint32_t index);
	/**
	 * Read the exceptions in flight of the thread at @p thread.  Reading ends where the list is
	 * broken.
	 *
	 * @param[out] ret To be given to exception_chain_deinit(), also on failure.
	 * @return false when memory is exhausted
	 */
	bool (*exceptions)(const struct runtime *runtime, uint64_t thread,
			   struct exception_chain *ret);
	/**
	 * If native code has called the current managed frame, append to walk->chain the Frame where the
	 * thread had left managed code before.  For a runtime whose frames() cannot tell that.  @return
	 * false when memory is exhausted
	 */
	bool (*native_caller)(struct thread_walk *walk, const struct code_info *code);
	/** Has a frame that an exception has ended no live slots outside of ranges?  NULL: it has. */
	bool (*ended_frame_is_dead)(const struct runtime *runtime);
	/** Is the current frame in a funclet that filters an exception? */
	bool (*is_filter)(struct thread_walk *walk, const struct code_info *code);
	/** Add the references that the runtime's own functions have noted on the stack. */
	enum step (*native_roots)(struct thread_walk *walk);
	/**
	 * The return address that the runtime has replaced at the current frame, to stop the thread
	 * there for a GC; false: it has not.
	 */
	bool (*replaced_return)(struct thread_walk *walk, uint64_t *ret);
	/**
	 * The current frame is a handler of exceptions: set right those of its caller's registers that its unwind data
	 * relies on, and that it has given to the handler.  For a runtime whose callers of handlers are native code.
	 */
	void (*handler_caller)(struct thread_walk *walk, struct registers *caller);
	/**
	 * Are the registers that calls preserve those of a handler's method while the handler runs, and kept for it by
	 * what the handler has called?  Then those that functions in between have saved are old.
	 */
	bool handlers_keep_registers;
};
