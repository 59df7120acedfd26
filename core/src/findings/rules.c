/* SPDX-License-Identifier: MIT */
#include "findings/rule.h"

/* In the order in which they are listed; enum rule_turn says when each runs. */
static const struct report_rule *const rules[] = {
	&finalizers_rule,      &events_rule,       &cancellation_rule,  &container_rule,
	&load_contexts_rule,   &assemblies_rule,   &timers_rule,        &async_rule,
	&weak_references_rule, &finished_rule,     &caches_rule,        &interned_rule,
	&handles_rule,         &accumulation_rule, &known_types_rule,   &threads_rule,
	&empty_fields_rule,    &collections_rule,  &sparse_arrays_rule, &slices_rule,
	&duplicates_rule,      &closures_rule,     &undisposed_rule,    &fragmentation_rule,
	&pools_rule,           &dead_rule,         &gc_memory_rule,     &native_memory_rule,
	&started_threads_rule,
};

const struct report_rule *report_rule_at(size_t index)
{
	return index < sizeof(rules) / sizeof(rules[0]) ? rules[index] : NULL;
}

size_t report_rule_count(void)
{
	return sizeof(rules) / sizeof(rules[0]);
}
