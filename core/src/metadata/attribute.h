/* SPDX-License-Identifier: MIT */
#pragma once

#include "metadata/metadata.h"

/**
 * The custom attribute @p name ("System.FlagsAttribute") of TypeDef @p rid (ECMA-335 II.22.10).
 *
 * @param[out] ret_size bytes of its value (II.23.3), which may be 0; untouched without the attribute
 * @return its value, borrowed; NULL: the type does not have the attribute
 *
 * Cost: a binary search; in metadata with pointer tables, whose rows are not sorted, all rows.
 */
const uint8_t *metadata_type_attribute(const struct metadata *metadata, uint32_t rid,
				       const char *name, uint32_t *ret_size);
