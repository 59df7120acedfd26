/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/field.h"

/**
 * The fields of @p type by the symbols of the program (doc/nativeaot.md 9.2).  They are believed if the references that they say
 * are those of the type's GCDesc, its size is the same, and its base classes are those of the MethodTable.
 *
 * @param[out] ret Untouched unless *@p ret_is_told.
 * @param[out] ret_is_told false: there are no symbols, or they are not believed for this type
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status symbol_fields(struct runtime *runtime, const struct type *type,
					  struct field_list *ret, bool *ret_is_told,
					  struct hd_error *err);
