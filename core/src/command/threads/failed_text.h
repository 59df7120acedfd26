/* SPDX-License-Identifier: MIT */
/* Words about a method that tries something again and again. */
#pragma once

#include "hangs/failed_tries.h"

struct text;

/** Append "System.IO.IOException, \"The file is in use\""; the message is cut, and left out where it cannot be read. */
void append_failure(struct text *text, struct heap *heap, const struct failed_try *failed);

/** Append ", where at least 12 tries have failed (System.IO.IOException, ...)"; nothing if @p failed is NULL. */
void append_tries(struct text *text, struct heap *heap, const struct failed_try *failed);

/** Append "3 others wait for a call of Shop.Depot.Pull, which tries again and again, where ..." without a full stop. */
void append_retry(struct text *text, const struct waits *waits, const struct failed_try *failed,
		  uint32_t trier, uint64_t count);
