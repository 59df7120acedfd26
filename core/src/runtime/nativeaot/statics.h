/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/statics.h"

/** static_ops.read and name, runtime_ops.thread_locals of NativeAOT (doc/nativeaot.md 6). */
HD_NODISCARD enum hd_status aot_statics(struct runtime *runtime, struct job *job,
					struct static_slots *ret, struct hd_error *err);
void aot_static_name(struct runtime *runtime, const struct static_slot *slot, struct text *text);
bool aot_thread_locals(struct runtime *runtime, const struct runtime_thread *thread,
		       unsigned int index, struct thread_local_data *ret);
/** The slots, without a finding about those that cannot be read.  @retval HD_ERR_NOMEM */
HD_NODISCARD enum hd_status aot_statics_quietly(struct runtime *runtime, struct static_slots *ret,
						struct hd_error *err);
/** The type of the object at @p address, or NULL: there is none. */
const struct type *aot_type_of_object(struct runtime *runtime, uint64_t address);
/**
 * The object that the cell at @p cell leads to, with the static fields of a class.
 *
 * @return its type; NULL: there is none
 */
const struct type *aot_holder_at(struct runtime *runtime, uint64_t cell, uint64_t *ret);
