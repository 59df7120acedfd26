/* SPDX-License-Identifier: MIT */
#include "target/target.h"

#include "target/relocation.h"
#include "util/alloc.h"

struct target *target_create(enum target_kind kind, const struct target_options *options)
{
	struct target *target = mem_calloc(1, sizeof(*target));
	if (!target)
		return NULL;
	target->kind = kind;
	target->is_64 = true;
	if (options)
		target->options = *options;
	target->options.sysroot = NULL;
	target->options.backend = NULL;
	target->relocations = relocation_cache_create();
	bool failed = !target->relocations;
	if (options && options->sysroot && options->sysroot[0] && !failed) {
		target->sysroot = mem_strndup(options->sysroot, strlen(options->sysroot));
		target->options.sysroot = target->sysroot;
		failed = !target->sysroot;
	}
	if (failed) {
		target_destroy(target);
		return NULL;
	}
	return target;
}

void target_destroy(struct target *target)
{
	if (!target)
		return;
	relocation_cache_destroy(target->relocations);
	memory_destroy(target->memory);
	for (size_t i = 0; i < target->mapping_count; i++)
		mem_free(target->mappings[i].path);
	mem_free(target->mappings);
	for (size_t i = 0; i < target->module_count; i++)
		mem_free(target->modules[i].path);
	mem_free(target->modules);
	mem_free(target->threads);
	mem_free(target->ranges);
	findings_deinit(&target->findings);
	mem_free(target->sysroot);
	mem_free(target);
}

const struct target_mapping *target_mapping_at(const struct target *target, uint64_t address)
{
	size_t low = 0, high = target->mapping_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (target->mappings[middle].start <= address) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (!low || address >= target->mappings[low - 1].end)
		return NULL;
	return &target->mappings[low - 1];
}

const struct target_thread *target_thread(const struct target *target, int32_t tid)
{
	for (size_t i = 0; i < target->thread_count; i++) {
		if (target->threads[i].tid == tid)
			return &target->threads[i];
	}
	return NULL;
}
