/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"
#include "native/memory_account.h"

/**
 * Answer with what is known of malloc: in text with its arenas and size classes only if it @p is_detailed, and a
 * sentence where another allocator is used.
 */
void memory_write_malloc(struct call *call, const struct memory_account *account, bool is_detailed);
