/* SPDX-License-Identifier: MIT */
#pragma once

#include "targets/target.h"

/**
 * The runtime's contract descriptor (doc/coreclr.md 3; contract-descriptor.md of the runtime), parsed:
 * offsets of fields and values of globals by name.
 */
struct descriptor;

/** Most sub-descriptors that are read, and most bytes of JSON in each. */
#define DESCRIPTOR_PARTS_MAX 4u
#define DESCRIPTOR_JSON_MAX  ((uint32_t)1 << 20)
/** All offsets are smaller than this. */
#define DESCRIPTOR_OFFSET_LIMIT 65536u

/**
 * Read the descriptor at @p address in @p module (from the module's file, with relocations applied,
 * if its page is not in the target) and the sub-descriptors that it names (.NET 11: the GC's).
 *
 * @param[out] ret To be given to descriptor_destroy(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_FAULT its bytes are not in the target
 * @retval HD_ERR_FORMAT it is not a descriptor, or its JSON is broken
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status descriptor_read(const struct target *target,
					    const struct target_module *module, uint64_t address,
					    struct descriptor **ret, struct hd_error *err);
/** NULL is allowed. */
void descriptor_destroy(struct descriptor *descriptor);

bool descriptor_has_type(const struct descriptor *descriptor, const char *type);
/** Does it have sub-descriptors (.NET 11 and later)? */
bool descriptor_has_parts(const struct descriptor *descriptor);

/**
 * Offset of a field, or the size of the type if the field is "!"; false when the descriptor does
 * not have it, or when it is too large.
 */
bool descriptor_offset(const struct descriptor *descriptor, const char *type, const char *field,
		       int64_t *ret);

/**
 * Value of a global: a number, or for an indirect one the pointer (the address of the runtime's
 * variable).
 */
bool descriptor_global(const struct descriptor *descriptor, const char *name, uint64_t *ret);

/** Text of a string global, or NULL.  Borrowed. */
const char *descriptor_text(const struct descriptor *descriptor, const char *name);
