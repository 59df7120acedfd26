/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

struct descriptor;

/** The advice for who misses files of the runtime. */
const char *coreclr_files_advice(const struct runtime *runtime);

/**
 * Fill the runtime's layout by its contract descriptor, which may be NULL, and then by tables; findings say what may
 * be wrong with it.
 *
 * @return HD_ERR_UNSUPPORTED: without more files, no object can be read
 */
enum hd_status coreclr_fill_layout(struct runtime *runtime, const struct descriptor *descriptor,
				   struct hd_error *err);
