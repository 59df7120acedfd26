/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/types/field.h"

struct job;
struct runtime_thread;
struct static_slot;
struct static_slots;
struct text;
struct thread_local_data;

/** static_ops.read of CoreCLR. */
HD_NODISCARD enum hd_status coreclr_statics(struct runtime *runtime, struct job *job,
					    struct static_slots *ret, struct hd_error *err);

/** static_slot_name() of CoreCLR. */
void coreclr_static_name(struct runtime *runtime, const struct static_slot *slot,
			 struct text *text);
/**
 * thread_local_data_read() of CoreCLR: NonCollectibleTlsArrayData.  In .NET 8 no thread has it: there,
 * handles hold such arrays.
 */
bool coreclr_thread_locals(struct runtime *runtime, const struct runtime_thread *thread,
			   unsigned int index, struct thread_local_data *ret);
