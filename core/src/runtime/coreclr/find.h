/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/descriptor.h"
#include "runtime/runtime.h"

/** Most entries of g_dacTable that are looked at (.NET 9 has 158). */
#define DAC_TABLE_MAX 1024u

/**
 * Find the module of the runtime and its exports: fills module, is_single_file, dac_table,
 * dac_count, descriptor.address and build_id.
 *
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED there is no CoreCLR in the target
 * @retval HD_ERR_FAULT there is one, but its tables of symbols are not in the target
 */
HD_NODISCARD enum hd_status coreclr_find(struct runtime *runtime, struct hd_error *err);

/**
 * Fill version and major from the module's path, its version string, its build, or its shape.
 *
 * @retval HD_OK also where both stay unknown
 * @retval HD_ERR_UNSUPPORTED a release that is older than those whose heaps are read
 */
HD_NODISCARD enum hd_status coreclr_read_version(struct runtime *runtime,
						 const struct descriptor *descriptor,
						 struct hd_error *err);

/**
 * Fill the addresses of the runtime's objects (app_domain to global_alloc_context) from
 * @p descriptor, or by shape from g_dacTable where that is NULL; also calibrates
 * AppDomain.DomainAssemblyList.  What is not found is 0 and a finding.
 *
 * @param gc_index entry of g_dacTable that leads to GcDacVars
 */
void coreclr_read_globals(struct runtime *runtime, const struct descriptor *descriptor,
			  size_t gc_index);

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
/** runtime_ops.read_gc of CoreCLR. */
enum hd_status coreclr_read_gc(struct runtime *runtime, struct hd_error *err);
