/* SPDX-License-Identifier: MIT */
#pragma once

#include "stack/stack.h"
#include "support/fake_clr.h"
#include "unwind/registers.h"

/*
 * Compiled code and a thread that runs it, for tests of the stack walk:
 *
 *	struct fake_stack *stack = fake_stack_create(fake);
 *	uint64_t main = fake_method(stack, &(struct fake_method){ .slots = 2 });
 *	uint64_t sp = fake_frame(stack, main, FAKE_NATIVE);
 *	...
 *
 * A method pushes rbp, makes it its frame pointer and takes FAKE_LOCALS bytes more; its untracked
 * slots lie from rsp on.  Each 16 bytes of its code a call ends.
 */
#define FAKE_CODE        ((uint64_t)0x7f4000000000)
#define FAKE_CODE_SIZE   0x20000u
#define FAKE_METHOD_SIZE 0x200u /**< of code, its funclet from FAKE_FUNCLET on */
#define FAKE_FUNCLET     0x100u
#define FAKE_LOCALS      0x40u
#define FAKE_FRAME_SIZE  (FAKE_LOCALS + 16u) /**< with rbp and the return address */
/** The signature of a return address, where the processor has bits for it. */
#define FAKE_SIGNATURE  (UINT64_C(0xabcd) << 48)
#define FAKE_STACK      ((uint64_t)0x7ffe00000000)
#define FAKE_STACK_SIZE ((uint64_t)1 << 20)
/** Code of no method that is executable: there is no unwind information for it. */
#define FAKE_NATIVE (FAKE_CODE + FAKE_CODE_SIZE + 0x10)
/** Code that returns from a signal handler. */
#define FAKE_RESTORER (FAKE_CODE + FAKE_CODE_SIZE + 0x100)

struct fake_method {
	unsigned int slots; /**< untracked, at rsp, rsp + 8, ... */
	uint32_t flags;     /**< GC_SLOT_* of them */
	bool saves_rbx;     /**< pushes rbx after rbp; rbx is a live slot after each call */
	bool has_funclet,
		filter; /**< the funclet is a filter: its method has a clause that says so */
};

struct fake_stack {
	struct fake_clr *fake;
	struct runtime *runtime;
	struct fake_memory *memory;
	struct runtime_thread *thread;
	struct target_thread registers; /**< of the thread, as the target has them */
	struct target_range ranges[3];  /**< code, native code, stack */
	uint64_t section, node, map;
	uint64_t next_method;
	uint64_t frame_slot; /**< of the last explicit Frame: where the next's address goes */
	uint64_t data;       /**< bump allocator for headers and GC info, within the image */
};

/** A fake runtime with one thread, whose stack is FAKE_STACK; all of it is zero. */
struct fake_stack *fake_stack_create(struct fake_clr *fake);
void fake_stack_destroy(struct fake_stack *stack);

/** Returns the address of its code. */
uint64_t fake_method(struct fake_stack *stack, const struct fake_method *method);

/**
 * Lay out the frame at @p sp of a method: a saved @p rbp and @p return_address at its end.  Returns
 * the caller's SP.
 */
uint64_t fake_frame(struct fake_stack *stack, uint64_t sp, uint64_t rbp, uint64_t return_address);
/** rbp of a method's frame at @p sp. */
static inline uint64_t fake_rbp(uint64_t sp)
{
	return sp + FAKE_LOCALS;
}
/** An address in @p method that follows a call: number @p call, from 1 on. */
static inline uint64_t fake_call(uint64_t method, unsigned int call)
{
	return method + 16 * (uint64_t)call;
}

/** Set rip, rsp, rbp of the thread. */
void fake_stop_at(struct fake_stack *stack, uint64_t rip, uint64_t rsp, uint64_t rbp);

/** Put a Frame of that kind at @p address, the next of the chain. */
void fake_explicit(struct fake_stack *stack, uint64_t address, enum frame_kind kind);
void fake_inlined_call(struct fake_stack *stack, uint64_t address, uint64_t ip, uint64_t sp,
		       uint64_t rbp);

/** A CONTEXT at @p address. */
void fake_context_record(struct fake_stack *stack, uint64_t address, uint64_t rip, uint64_t rsp,
			 uint64_t rbp);

/** stack_walk() of it with a new walker. */
void fake_walk(struct fake_stack *stack, const struct stack_options *options,
	       struct thread_stack *ret);
