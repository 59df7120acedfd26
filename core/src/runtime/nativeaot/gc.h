/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/nativeaot/internal.h"

/**
 * runtime_ops.read_gc of NativeAOT: from GcDacVars, or from the contract descriptor of 11.
 *
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED a layout that is not known, or the GC is not initialised yet
 * @retval HD_ERR_FAULT bytes are missing
 */
enum hd_status aot_read_gc(struct runtime *runtime, struct hd_error *err);
