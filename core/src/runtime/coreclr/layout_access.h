/* SPDX-License-Identifier: MIT */
#pragma once

/* The fields of CoreCLR's structures in a target, at the offsets that its layout has. */

#include "runtime/coreclr/layout.h"
#include "runtime/runtime.h"

/** The offsets of the fields in its structures. */
const struct layout *coreclr_layout(const struct runtime *runtime);
/** Is the offset of @p field known? */
bool coreclr_has_field(const struct runtime *runtime, enum layout_field field);
/** The offset of @p field, in bytes; meaningless if it is not known. */
uint64_t coreclr_offset(const struct runtime *runtime, enum layout_field field);
/**
 * Read the field of the structure at @p base; false, and @p ret untouched, when its offset is not known or it
 * cannot be read.
 */
bool coreclr_pointer(const struct runtime *runtime, uint64_t base, enum layout_field field,
		     uint64_t *ret);
bool coreclr_field_u32(const struct runtime *runtime, uint64_t base, enum layout_field field,
		       uint32_t *ret);
bool coreclr_field_u16(const struct runtime *runtime, uint64_t base, enum layout_field field,
		       uint16_t *ret);
