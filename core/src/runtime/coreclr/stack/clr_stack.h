/* SPDX-License-Identifier: MIT */
#pragma once

/* The functions of CoreCLR's struct stack_ops, which says what each does. */

#include "stack/walker.h"

bool clr_stack_frames(struct runtime *runtime, uint64_t thread, struct frame_chain *ret);
bool clr_stack_context(const struct runtime *runtime, const struct explicit_frame *frame,
		       struct frame_context *ret);
uint64_t clr_stack_method(struct runtime *runtime, const struct explicit_frame *frame);
enum step clr_stack_arguments(struct thread_walk *walk, const struct explicit_frame *frame,
			      uint32_t index);
/** ExInfos of 9 and later, ExceptionTrackers of 8 (doc/coreclr.md 12.7). */
bool clr_stack_exceptions(const struct runtime *runtime, uint64_t thread,
			  struct exception_chain *ret);
bool clr_stack_is_filter(struct thread_walk *walk, const struct code_info *code);
/** GCFrames (doc/coreclr.md 12.8). */
enum step clr_stack_native_roots(struct thread_walk *walk);
