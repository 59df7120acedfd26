/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/memory/memory_account.h"
#include "command/call.h"

/**
 * Answer with what is known of malloc: in text with its arenas and size classes only if it @p is_detailed, and a
 * sentence where another allocator is used.
 */
void memory_write_malloc(struct call *call, const struct memory_account *account, bool is_detailed);
