/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/clr.h"

/**
 * Find GcDacVars among the globals of runtime->dac_table by its shape, and read it into runtime->gc.
 *
 * @param[out] ret_index its entry of the table
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED the GC is not initialised, or has another major version
 * @retval HD_ERR_FAULT
 */
HD_NODISCARD enum hd_status gc_find(struct runtime *runtime, size_t *ret_index,
				    struct hd_error *err);

/** The address in entry @p index of the runtime's g_dacTable; false when it cannot be read. */
bool dac_entry(const struct runtime *runtime, uint64_t index, uint64_t *ret);
/** The pointer in the global at that address. */
bool dac_pointer(const struct runtime *runtime, uint64_t index, uint64_t *ret);
