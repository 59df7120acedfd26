/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/nativeaot/internal.h"

/**
 * Fill runtime->gc: from GcDacVars, or from the contract descriptor of 11 where @p descriptor is not NULL.
 *
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED a layout that is not known, or the GC is not initialised yet
 * @retval HD_ERR_FAULT bytes are missing
 */
HD_NODISCARD enum hd_status aot_read_gc(struct runtime *runtime,
					const struct descriptor *descriptor, struct hd_error *err);
