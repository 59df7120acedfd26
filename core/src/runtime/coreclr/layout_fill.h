/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

struct descriptor;
struct layout;

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

/** Copy every offset that the descriptor has into @p layout. */
void layout_take_descriptor(struct layout *layout, const struct descriptor *descriptor);
