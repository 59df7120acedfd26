/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/nativeaot/internal.h"

/** The types of the framework that the runtime itself is asked about. */
enum aot_known {
	AOT_TYPE_OBJECT,
	AOT_TYPE_EXCEPTION,
	AOT_TYPE_THREAD,
	AOT_TYPE_CONTINUATION, /**< of a suspended method of runtime async */
	AOT_KNOWN_TYPES
};

/**
 * Read the names of types and methods (doc/nativeaot.md 4), as far as they can be read; findings say what is missing.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status aot_names_read(struct runtime *runtime, struct hd_error *err);
void aot_names_destroy(struct runtime *runtime);

/** The MethodTable of a type; 0: the program does not have it, or it is not known. */
uint64_t aot_known_type(const struct runtime *runtime, enum aot_known type);
