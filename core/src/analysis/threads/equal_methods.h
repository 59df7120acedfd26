/* SPDX-License-Identifier: MIT */
/* Dynamic methods that are called the same: each has a MethodDesc of its own. */
#pragma once

#include "analysis/graph/hash_index.h"
#include "runtime/runtime.h"

struct equal_method;

/** Empty when zero-initialised. */
struct equal_methods {
	struct equal_method *rows;
	size_t rows_count, rows_capacity;
	struct hash_index index;
};

/**
 * The first method that was given with the same name and arguments, if it is a dynamic one (LCG, or a stub in IL);
 * else *@p method_desc stays.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * Cost: of a dynamic method, its name.
 */
HD_NODISCARD enum hd_status equal_method_find(struct equal_methods *methods,
					      struct runtime *runtime, uint64_t *method_desc,
					      struct hd_error *err);
void equal_methods_deinit(struct equal_methods *methods);
