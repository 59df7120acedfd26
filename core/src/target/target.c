/* SPDX-License-Identifier: MIT */
#include "target/target.h"

#include <elf.h>
#include <string.h>

#include "target/relocation.h"
#include "util/alloc.h"

struct target *target_create(enum target_kind kind, const struct target_options *options)
{
	struct target *target = mem_calloc(1, sizeof(*target));
	if (!target)
		return NULL;
	target->kind = kind;
	target->is_64 = true;
	if (kind == TARGET_PROCESS)
		(void)clock_gettime(CLOCK_REALTIME, &target->time);
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

static bool is_range_cut(const struct target *target, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < target->range_count; i++) {
		const struct target_range *range = &target->ranges[i];
		if (range->start < end && range->end > start && range->is_cut)
			return true;
	}
	return false;
}

bool target_is_cut(const struct target *target, uint64_t address)
{
	const struct target_mapping *at = target_mapping_at(target, address);
	if (!target->is_truncated)
		return false;
	if (!at) {
		/* With the notes the names of the files are lost. */
		return !address || !target->mapping_count ||
		       is_range_cut(target, address, address + 1);
	}
	for (size_t i = 0; i < target->mapping_count; i++) {
		const struct target_mapping *mapping = &target->mappings[i];
		if (strcmp(mapping->path, at->path) == 0 &&
		    is_range_cut(target, mapping->start, mapping->end))
			return true;
	}
	return false;
}

const char *target_advice(const struct target *target, uint64_t address, const char *usual)
{
	if (target_is_cut(target, address))
		return "the core is cut: write it again where it fits";
	if (target->kind == TARGET_CORE && target->options.no_files)
		return "leave --no-files away, so that the files on this machine are read";
	return usual;
}

const struct target_thread *target_thread(const struct target *target, int32_t tid)
{
	for (size_t i = 0; i < target->thread_count; i++) {
		if (target->threads[i].tid == tid)
			return &target->threads[i];
	}
	return NULL;
}

int64_t target_thread_number(const struct target *target, uint64_t id)
{
	const struct target_thread *thread =
		id && id <= INT32_MAX ? target_thread(target, (int32_t)id) : NULL;
	if (!thread)
		return -1;
	if (!target->route)
		return thread - target->threads;
	return thread->number ? (int64_t)thread->number : -1;
}

void target_set_auxv(struct target *target, const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; size - at >= 16; at += 16) {
		uint64_t value = load_u64(bytes + at + 8);
		switch (load_u64(bytes + at)) {
		case AT_NULL:
			return;
		case AT_PHDR:
			target->auxv_phdr = value;
			break;
		case AT_PHNUM:
			target->auxv_phnum = value;
			break;
		case AT_ENTRY:
			target->auxv_entry = value;
			break;
		case AT_BASE:
			target->auxv_base = value;
			break;
		default:
			break;
		}
	}
}
