/* SPDX-License-Identifier: MIT */
#include "targets/target.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "targets/process/process_residency.h"
#include "targets/relocation.h"
#include "targets/symbol_files.h"
#include "util/alloc.h"

/* NULL and "" are no text; false when memory is exhausted. */
static bool copy_text(const char *text, char **ret)
{
	if (!text || !*text)
		return true;
	*ret = mem_strndup(text, strlen(text));
	return *ret != NULL;
}

struct target *target_create(enum target_kind kind, const struct target_options *options)
{
	struct target *target = mem_calloc(1, sizeof(*target));
	if (!target)
		return NULL;
	target->kind = kind;
	target->is_64 = true;
	target->arch = arch_of_host();
	if (kind == TARGET_PROCESS)
		(void)clock_gettime(CLOCK_REALTIME, &target->time);
	if (options)
		target->options = *options;
	target->options.sysroot = NULL;
	target->options.symbols = NULL;
	target->options.runtime = NULL;
	target->options.backend = NULL;
	target->options.server = NULL;
	target->files.relocations = relocation_cache_create();
	target->files.symbol_files = symbol_files_create();
	bool is_good = target->files.relocations && target->files.symbol_files &&
		       copy_text(options ? options->sysroot : NULL, &target->files.sysroot) &&
		       copy_text(options ? options->symbols : NULL, &target->files.symbols) &&
		       copy_text(options ? options->runtime : NULL, &target->files.runtime);
	target->options.sysroot = target->files.sysroot;
	target->options.symbols = target->files.symbols;
	target->options.runtime = target->files.runtime;
	if (!is_good) {
		target_destroy(target);
		return NULL;
	}
	return target;
}

enum hd_status target_hand_over(struct target *target, enum hd_status status, struct target **ret)
{
	if (status == HD_OK) {
		*ret = target;
	} else {
		target_destroy(target);
	}
	return status;
}

void target_destroy(struct target *target)
{
	if (!target)
		return;
	relocation_cache_destroy(target->files.relocations);
	symbol_files_destroy(target->files.symbol_files);
	memory_destroy(target->memory);
	process_residency_destroy(target->process.residency);
	process_server_release(target->process.server);
	for (size_t i = 0; i < target->map.mapping_count; i++)
		mem_free(target->map.mappings[i].path);
	mem_free(target->map.mappings);
	for (size_t i = 0; i < target->module_count; i++)
		mem_free(target->modules[i].path);
	mem_free(target->modules);
	mem_free(target->threads.rows);
	mem_free(target->threads.order);
	mem_free(target->map.ranges);
	findings_deinit(&target->findings);
	mem_free(target->files.sysroot);
	mem_free(target->files.symbols);
	mem_free(target->files.runtime);
	mem_free(target);
}

enum hd_status target_check(const struct target *target, struct hd_error *err)
{
	return target->process.server ? process_server_check(target->process.server, err) : HD_OK;
}

void target_set_job(struct target *target, struct job *job)
{
	if (target->process.server)
		process_server_set_job(target->process.server, job);
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

void target_auxv_read(struct target_auxv *auxv, const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; size - at >= 16; at += 16) {
		uint64_t value = load_u64(bytes + at + 8);
		switch (load_u64(bytes + at)) {
		case AT_NULL:
			return;
		case AT_PHDR:
			auxv->phdr = value;
			break;
		case AT_PHNUM:
			auxv->phnum = value;
			break;
		case AT_ENTRY:
			auxv->entry = value;
			break;
		case AT_BASE:
			auxv->base = value;
			break;
		default:
			break;
		}
	}
}
