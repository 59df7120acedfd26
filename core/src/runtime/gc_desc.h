/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/type.h"

struct memory;

/**
 * A type never has more series than this: inline arrays, the largest things that need many, have at
 * most 1 MiB.
 */
#define GC_DESC_SERIES_MAX ((uint64_t)1 << 17)

/**
 * Decode the GCDesc that lies below the MethodTable of @p type (gcdesc.h) into its series or runs.
 * method_table, base_size and component_size must be set.  If a part does not fit into an object of
 * the type, the whole GCDesc is refused: the type gets none, and has_bad_desc is set.
 *
 * @param[in,out] budget Bytes that descriptors may still take; what this one takes is subtracted.
 * @retval HD_OK also when there is none or it is refused
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status gc_desc_read(struct memory *memory, struct type *type,
					 uint64_t *budget);

/** Free what gc_desc_read() made. */
void gc_desc_deinit(struct type *type);
