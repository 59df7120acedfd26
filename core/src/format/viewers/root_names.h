/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/heap_graph.h"

#define ROOT_KINDS ((unsigned int)HD_ROOT_THREAD_STATIC + 1)

/** Name of all roots of a kind: "(Static variables)". */
const char *root_group_name(const struct hd_graph *graph, unsigned int kind);

/**
 * Name of one root: its static variable, the method of its frame, what its handle does, or the type
 * that contains it.
 *
 * @return NULL: only its kind is known; else @p size bytes, borrowed from @p graph.
 */
const char *root_own_name(const struct hd_graph *graph, uint32_t index, size_t *size);

/** Name of type @p type, which may be HD_NONE; never empty. */
const char *type_own_name(const struct hd_graph *graph, uint32_t type, size_t *size);
