/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "util/fail.h"

struct call;

/**
 * eeheap -loader and -jit: the heaps that the runtime has for what it loads, and those for compiled
 * code.
 *
 * @param has_loader false: only those for compiled code
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status eeheap_write_loader(struct call *call, bool has_loader);
