/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/types/field.h"
#include "runtime/variables.h"

/** In place of an offset: not known.  No local has a name then. */
#define IL_UNKNOWN UINT32_MAX

/**
 * The variables of @p method_desc: the names of arguments come from the metadata, those of locals
 * from the module's PDB.
 *
 * @param il Where in the method's IL: a local that is not in scope there is hidden.
 * @param[out] ret To be given to method_variables_deinit(); untouched on failure.
 * @retval HD_OK also when nothing is known about the method: there are no rows then
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status method_variables_read(struct runtime *runtime, uint64_t method_desc,
						  uint32_t il, struct method_variables *ret,
						  struct hd_error *err);
/** Read what method_variables_read() needs of native memory besides the module's metadata. */
void method_variables_touch(struct runtime *runtime, uint64_t method_desc);
void method_variables_deinit(struct method_variables *variables);
