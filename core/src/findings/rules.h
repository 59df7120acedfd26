/* SPDX-License-Identifier: MIT */
/* The rows of the table in rules.c, each in a file of its own. */
#pragma once

#include <stddef.h>

struct report_rule;

extern const struct report_rule accumulation_rule, events_rule, cancellation_rule, container_rule,
	finalizers_rule, finished_rule, timers_rule, caches_rule, async_rule, weak_references_rule,
	collections_rule, duplicates_rule, fragmentation_rule, dead_rule, load_contexts_rule,
	handles_rule, undisposed_rule, sparse_arrays_rule, known_types_rule, closures_rule,
	pools_rule, threads_rule, interned_rule, native_memory_rule, slices_rule, assemblies_rule;
