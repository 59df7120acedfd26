/* SPDX-License-Identifier: MIT */
#include "targets/target.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/address_space.h"
#include "targets/process/process_server.h"
#include "targets/relocation.h"
#include "util/alloc.h"
#include "util/sort.h"
#include "util/text.h"

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
	target->options.server = NULL;
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
	process_server_release(target->server);
	for (size_t i = 0; i < target->mapping_count; i++)
		mem_free(target->mappings[i].path);
	mem_free(target->mappings);
	for (size_t i = 0; i < target->module_count; i++)
		mem_free(target->modules[i].path);
	mem_free(target->modules);
	mem_free(target->threads);
	mem_free(target->thread_order);
	mem_free(target->ranges);
	findings_deinit(&target->findings);
	mem_free(target->sysroot);
	mem_free(target);
}

enum hd_status target_check(const struct target *target, struct hd_error *err)
{
	return target->server ? process_server_check(target->server, err) : HD_OK;
}

void target_set_job(struct target *target, struct job *job)
{
	if (target->server)
		process_server_set_job(target->server, job);
}

enum hd_status target_reserve(struct target *target, uint64_t count, uint64_t size,
			      struct hd_error *err)
{
	uint64_t bytes = 0, most = target->options.max_mem;
	if (__builtin_mul_overflow(count, size, &bytes) ||
	    __builtin_add_overflow(target->reserved, bytes, &target->reserved))
		target->reserved = UINT64_MAX;
	if (target->kind != TARGET_CORE || !most || target->reserved <= most)
		return HD_OK;
	char text[32];
	return fail(err, HD_ERR_NOMEM, 0,
		    "the lists of this core's segments, threads and files need more memory than "
		    "max-mem allows (%s): raise it (--max-mem SIZE)",
		    format_bytes(most, text));
}

const struct target_mapping *target_mapping_at(const struct target *target, uint64_t address)
{
	size_t low = ROWS_ABOVE(target->mappings, target->mapping_count, start, address);
	if (!low || address >= target->mappings[low - 1].end)
		return NULL;
	return &target->mappings[low - 1];
}

/* The first range that ends above @p address. */
static size_t range_above(const struct target *target, uint64_t address)
{
	return ROWS_ABOVE(target->ranges, target->range_count, end, address);
}

static bool is_range_cut(const struct target *target, uint64_t start, uint64_t end)
{
	for (size_t i = range_above(target, start);
	     i < target->range_count && target->ranges[i].start < end; i++) {
		if (target->ranges[i].is_cut)
			return true;
	}
	return false;
}

static int compare_mapping_paths(const void *a, const void *b, void *arg)
{
	const struct target_mapping *mappings = arg;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	return strcmp(mappings[left].path, mappings[right].path);
}

enum hd_status target_mark_cut(struct target *target, struct hd_error *err)
{
	size_t count = target->mapping_count;
	if (!target->is_truncated || !count || count > UINT32_MAX)
		return HD_OK;
	TRY(target_reserve(target, count, sizeof(uint32_t), err));
	uint32_t *order = mem_alloc(count, sizeof(*order));
	if (!order)
		return fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, count, sizeof(*order), compare_mapping_paths, target->mappings);
	for (size_t first = 0, end; first < count; first = end) {
		bool is_cut = false;
		for (end = first; end < count && !compare_mapping_paths(&order[first], &order[end],
									target->mappings);
		     end++) {
			const struct target_mapping *mapping = &target->mappings[order[end]];
			is_cut = is_cut || is_range_cut(target, mapping->start, mapping->end);
		}
		for (size_t i = first; i < end; i++)
			target->mappings[order[i]].is_cut = is_cut;
	}
	mem_free(order);
	return HD_OK;
}

bool target_is_cut(const struct target *target, uint64_t address)
{
	const struct target_mapping *at = target_mapping_at(target, address);
	if (!target->is_truncated)
		return false;
	if (at)
		return at->is_cut;
	/* With the notes the names of the files are lost. */
	return !address || !target->mapping_count || is_range_cut(target, address, address + 1);
}

const char *target_advice(const struct target *target, uint64_t address, const char *usual)
{
	if (target_is_cut(target, address))
		return "the core is cut: write it again where it fits";
	if (target->kind == TARGET_CORE && target->options.no_files)
		return "leave --no-files away, so that the files on this machine are read";
	return usual;
}

static int compare_tids(const void *a, const void *b, void *arg)
{
	const struct target_thread *threads = arg;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	if (threads[left].tid != threads[right].tid)
		return threads[left].tid < threads[right].tid ? -1 : 1;
	return left < right ? -1 : left > right;
}

enum hd_status target_sort_threads(struct target *target, struct hd_error *err)
{
	if (!target->thread_count || target->thread_count > UINT32_MAX)
		return HD_OK;
	TRY(target_reserve(target, target->thread_count, sizeof(*target->thread_order), err));
	uint32_t *order = mem_alloc(target->thread_count, sizeof(*order));
	if (!order)
		return fail_nomem(err);
	for (size_t i = 0; i < target->thread_count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, target->thread_count, sizeof(*order), compare_tids, target->threads);
	mem_free(target->thread_order);
	target->thread_order = order;
	return HD_OK;
}

const struct target_thread *target_thread(const struct target *target, int32_t tid)
{
	if (!target->thread_order) {
		for (size_t i = 0; i < target->thread_count; i++) {
			if (target->threads[i].tid == tid)
				return &target->threads[i];
		}
		return NULL;
	}
	size_t low = 0, high = target->thread_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (target->threads[target->thread_order[middle]].tid < tid) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	const struct target_thread *found =
		low < target->thread_count ? &target->threads[target->thread_order[low]] : NULL;
	return found && found->tid == tid ? found : NULL;
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

/* Of struct pthread (glibc 2.36: 2304 bytes; musl: less), and the vectors and registers that may follow. */
#define CONTROL_BLOCK 4096u

uint64_t target_stack_end(const struct target_thread *thread, uint64_t sp, uint64_t end)
{
	uint64_t block = thread->registers[REGISTER_FS_BASE];
	if (block <= sp || block >= end || end - block <= CONTROL_BLOCK + ARCH_PAGE)
		return end;
	return arch_page_align(block + CONTROL_BLOCK);
}
