/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/heap.h"
#include "runtime/coreclr/code/code.h"
#include "unwind/registers.h"

/** Most frames of a thread that are walked (a stack overflow of 8 MB has some 175,000). */
#define STACK_FRAMES_MAX 2000000u

enum stack_frame_kind {
	STACK_MANAGED,
	STACK_EXPLICIT, /**< a Frame of the runtime's chain (frames.h) */
};

/** A frame, innermost first. */
struct stack_frame {
	uint8_t kind; /**< enum stack_frame_kind */
	bool is_funclet, is_active, is_aborted;
	bool is_dead;         /**< it was already unwound: its slots keep nothing alive */
	uint64_t caller_sp;   /**< managed: where it ends; else 0 */
	uint64_t sp, ip;      /**< ip of explicit frames: of the code that they lead to, or 0 */
	uint64_t frame;       /**< explicit: address of the Frame */
	const char *name;     /**< explicit: its class, static; managed: NULL */
	uint64_t method_desc; /**< see runtime_method_signature(); explicit: of the method that it
			       * calls, or 0 */
	uint32_t offset;      /**< managed: offset of ip in the method's code */
	uint32_t registers;   /**< number of its registers in the stack's list, from 1; 0: they
			       * were not asked for */
};

/** The registers of a managed frame, as far as they are known. */
struct frame_registers {
	uint64_t values[ARCH_REGISTERS_MAX];
	uint64_t known; /**< a bit for each; a call does not preserve all, and a Frame has few */
};

/** A frame of code that is not managed. */
struct native_frame {
	uint64_t sp, ip;
	size_t before; /**< it comes before this one of the other frames */
	bool is_active;
};

enum stack_root_kind {
	STACK_ROOT_FRAME,     /**< a local variable, argument, or temporary of a managed frame */
	STACK_ROOT_ARGUMENT,  /**< an argument of a call that a Frame represents: the called method
			      * is not running yet */
	STACK_ROOT_GC_FRAME,  /**< the runtime's own variables (GCPROTECT) */
	STACK_ROOT_EXCEPTION, /**< in flight (ExInfo) */
};

#define STACK_ROOT_INTERIOR     1u
#define STACK_ROOT_PINNED       2u
#define STACK_ROOT_CONSERVATIVE 4u

/** A slot with a value that is not null. */
struct stack_root {
	uint64_t address; /**< address of the slot; 0: a register of the thread */
	uint64_t value;   /**< may point inside an object (interior, conservative), or not at an
			 * object at all */
	uint32_t frame;   /**< index of the frame, UINT32_MAX = it belongs to no frame */
	uint8_t kind;     /**< enum stack_root_kind */
	uint8_t flags;
	uint8_t base;     /**< register to which the slot's offset is relative, or which holds the
			   * value */
	bool is_register; /**< the value is that of register base */
	bool is_beyond;   /**< conservative: above the last frame of a stack whose walk failed */
	int32_t offset;   /**< offset from base */
};

/** The stack of one managed thread. */
struct thread_stack {
	const struct runtime_thread *thread;
	struct stack_frame *frames;
	size_t frames_count, frames_capacity;
	struct stack_root *roots;
	size_t roots_count, roots_capacity;
	struct frame_registers *registers;
	size_t registers_count, registers_capacity;
	struct native_frame *natives; /**< as far as they could be walked */
	size_t natives_count, natives_capacity;
	uint32_t managed_count; /**< number of managed frames */
	bool is_partial;        /**< the walk failed: conservative roots complete it */
	bool is_missing;        /**< registers or stack are not in the target */
	char why[120];          /**< the reason for is_partial or is_missing: one line */
};

struct stack_options {
	bool conservative; /**< also take every word that may be a reference; precise roots stay
			    * precise */
	bool no_roots;     /**< only frames */
	bool registers;    /**< also the registers of managed frames */
	bool native;       /**< also the native frames, as far as they can be walked */
};

/** Several walks share this: unwind information, caches. */
struct stack_walker;

/**
 * @param heap Borrowed until stack_walker_destroy(); NULL is allowed if only frames are needed.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status stack_walker_create(struct runtime *runtime, struct heap *heap,
						struct stack_walker **ret, struct hd_error *err);
/** NULL is allowed. */
void stack_walker_destroy(struct stack_walker *walker);

/**
 * Walk the stack of @p thread (doc/coreclr.md 12): managed frames by their unwind codes and GCInfo,
 * native ones by .eh_frame, and where that fails by the runtime's Frames.  A walk that fails (a
 * return address that is not one, SP out of order, data that cannot be read, ...) is marked
 * partial, and the words from there to the end of the stack become conservative roots.  Roots with
 * STACK_ROOT_CONSERVATIVE point into heap segments, but not always at objects.
 *
 * @param[out] ret To be given to thread_stack_deinit(); untouched on failure.
 * @retval HD_OK also for threads without registers, stacks or managed frames
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status stack_walk(struct stack_walker *walker,
				       const struct runtime_thread *thread,
				       const struct stack_options *options, struct job *job,
				       struct thread_stack *ret, struct hd_error *err);
void thread_stack_deinit(struct thread_stack *stack);

/** "rbp-20", "rsp+18", "r12"; "" for roots without one. */
#define STACK_SLOT_SIZE 24u
void stack_root_slot(const struct arch *arch, const struct stack_root *root,
		     char buf[STACK_SLOT_SIZE]);
