/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/field.h"

/**
 * runtime_ops.fields of NativeAOT (doc/nativeaot.md 7): the fields of types of the framework, each checked against the
 * references that the type has; of other types the places of their references, without names.
 */
HD_NODISCARD enum hd_status aot_fields(struct runtime *runtime, const struct type *type,
				       struct field_list *ret, struct hd_error *err);
