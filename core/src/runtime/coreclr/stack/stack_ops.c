/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/layouts/thread_words.h"
#include "runtime/coreclr/stack/coreclr_stack.h"
#include "runtime/runtime_ops.h"

/* The Thread has the original address, and its place (m_pvHJRetAddr, m_ppvHJRetAddrPtr; threads.h). */
static bool replaced_return(struct thread_walk *walk, uint64_t *ret)
{
	uint8_t bytes[THREAD_HIJACK_END];
	uint64_t slot = walk_sp(walk) - 8;
	size_t size =
		memory_prefix(walk->memory, walk->stack->thread->address, bytes, sizeof(bytes));
	for (size_t i = 0; i + 16 <= size; i += 8) {
		struct code_info code;
		uint64_t ip = load_u64(bytes + i);
		if (load_u64(bytes + i + 8) == slot && runtime_code_at(walk->runtime, ip, &code)) {
			*ret = ip;
			return true;
		}
	}
	return false;
}

/* doc/coreclr.md 12.5. */
static bool ended_frame_is_dead(const struct runtime *runtime)
{
	return coreclr_has(runtime, CORECLR_EMPTY_ABORTED_FRAMES);
}

const struct stack_ops coreclr_stack_ops = {
	.frames = coreclr_stack_frames,
	.frame_context = coreclr_stack_context,
	.helper_context = coreclr_stack_helper,
	.frame_method = coreclr_stack_method,
	.arguments = coreclr_stack_arguments,
	.exceptions = coreclr_stack_exceptions,
	.ended_frame_is_dead = ended_frame_is_dead,
	.is_filter = coreclr_stack_is_filter,
	.native_roots = coreclr_stack_native_roots,
	.replaced_return = replaced_return,
};
