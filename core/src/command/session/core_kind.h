/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/heap.h"
#include "targets/target.h"

/** "createdump" "gcore" "kernel" "unknown". */
const char *producer_name(enum core_producer producer);

/**
 * "full" "heap" "mini" "triage" "unknown": a mini dump holds the list of the heap's segments, a
 * triage dump does not.  @p heap: NULL when it cannot be read, "mini" then.
 */
const char *content_name(const struct target *target, const struct heap *heap);

/** The same for a person: these are createdump's kinds. */
const char *content_text(const struct target *target, const struct heap *heap);

/** Why no segment of @p heap can be read, one line; *@p ret_advice: what to do, or NULL. */
const char *no_heap_reason(const struct heap *heap, const char **ret_advice);
