/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/type.h"

struct type_lookup;

/**
 * All types that the runtime has loaded (doc/coreclr.md 9.3), by full name.  Made by the
 * first look-up; cost: linear in the number of types.
 */
HD_NODISCARD enum hd_status type_lookup_create(struct runtime *runtime, struct type_lookup **ret,
					       struct hd_error *err);
void type_lookup_destroy(struct type_lookup *lookup);

/**
 * A loaded type with that full name, or NULL; a type of @p module (0 = any) is preferred.
 */
const struct type *type_by_name(struct runtime *runtime, const char *name, uint64_t module);

/** Call @p visit for every loaded type; stop when it returns false. */
HD_NODISCARD enum hd_status type_for_each(struct runtime *runtime,
					  bool (*visit)(void *arg, const struct type *type),
					  void *arg, struct hd_error *err);

/** Read what is asked of each module later, so that a copy of the process has it: its records, and its binder. */
void modules_touch(struct runtime *runtime);
