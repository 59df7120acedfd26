/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime_ops.h"
#include "runtime/sync_block.h"

/**
 * Find the array SyncTable.s_entries (doc/nativeaot.md 5.4) among the objects that static fields hold; if it is not there,
 * nothing is known.  After the threads were read.  @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status aot_sync_find(struct runtime *runtime, struct hd_error *err);
/** sync_ops of NativeAOT. */
struct sync_table aot_sync_table(const struct runtime *runtime);
bool aot_sync_block(const struct runtime *runtime, uint32_t index, struct sync_block *ret);
