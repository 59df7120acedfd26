/* SPDX-License-Identifier: MIT */
#pragma once

/* The functions of CoreCLR's struct stack_ops, which says what each does. */

#include "stack/walker.h"

bool coreclr_stack_frames(struct runtime *runtime, uint64_t thread, struct frame_chain *ret);
bool coreclr_stack_context(const struct runtime *runtime, const struct explicit_frame *frame,
			   struct frame_context *ret);
bool coreclr_stack_helper(struct runtime *runtime, const struct explicit_frame *frame,
			  struct frame_context *ret);
uint64_t coreclr_stack_method(struct runtime *runtime, const struct explicit_frame *frame);
enum step coreclr_stack_arguments(struct thread_walk *walk, const struct explicit_frame *frame,
				  uint32_t index);
/** ExInfos of 9 and later, ExceptionTrackers of 8 (doc/coreclr.md 12.7). */
bool coreclr_stack_exceptions(const struct runtime *runtime, uint64_t thread,
			      struct exception_chain *ret);
bool coreclr_stack_is_filter(struct thread_walk *walk, const struct code_info *code);
/** GCFrames (doc/coreclr.md 12.8). */
enum step coreclr_stack_native_roots(struct thread_walk *walk);
