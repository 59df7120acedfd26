/* SPDX-License-Identifier: MIT */
#include "command/session/core_kind.h"

#include "targets/target.h"

const char *producer_name(enum core_producer producer)
{
	static const char *const names[] = {
		[PRODUCER_UNKNOWN] = "unknown",
		[PRODUCER_CREATEDUMP] = "createdump",
		[PRODUCER_GCORE] = "gcore",
		[PRODUCER_KERNEL] = "kernel",
	};
	return names[producer];
}

static bool has_segments(const struct heap *heap)
{
	for (size_t i = 0; i < heap->segment_count; i++) {
		if (heap->segments[i].generation != GENERATION_NONGC)
			return true;
	}
	return false;
}

static bool is_triage(const struct target *target, const struct heap *heap)
{
	return target->core.producer == PRODUCER_CREATEDUMP &&
	       target->core.content == CONTENT_MINI && heap && !has_segments(heap);
}

const char *content_name(const struct target *target, const struct heap *heap)
{
	static const char *const names[] = {
		[CONTENT_UNKNOWN] = "unknown",
		[CONTENT_FULL] = "full",
		[CONTENT_HEAP] = "heap",
		[CONTENT_MINI] = "mini",
	};
	return is_triage(target, heap) ? "triage" : names[target->core.content];
}

const char *content_text(const struct target *target, const struct heap *heap)
{
	bool is_createdump = target->core.producer == PRODUCER_CREATEDUMP;
	if (!is_createdump && target->core.content == CONTENT_HEAP)
		return "without the pages of module files";
	if (is_createdump && target->core.content == CONTENT_MINI && !heap)
		return "mini or triage";
	return content_name(target, heap);
}

const char *no_heap_reason(const struct heap *heap, const char **ret_advice)
{
	const struct target *target = heap_target(heap);
	*ret_advice = NULL;
	if (target->kind == TARGET_CORE && target->core.content == CONTENT_MINI) {
		*ret_advice = "write the core again with createdump --withheap or --full, or gcore";
		return is_triage(target, heap)
			       ? "this is a triage dump of createdump: the GC heap is not in it"
			       : "this is a mini dump: the GC heap is not in it";
	}
	if (target->core.is_truncated && has_segments(heap)) {
		*ret_advice = target_advice(target, 0, NULL);
		return "the core is cut: none of the GC heap's bytes are in it";
	}
	if (target->core.is_truncated) {
		*ret_advice = target_advice(target, 0, NULL);
		return "the core is cut, and the list of the GC heap's segments is lost";
	}
	return "no segment of the GC heap can be read";
}
