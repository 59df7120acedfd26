/* SPDX-License-Identifier: MIT */
/* Other folders than runtime ask these functions about a runtime. */
#include "mem/memory.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layout_access.h"
#include "targets/target.h"

struct target *runtime_target(const struct runtime *runtime)
{
	return runtime->target;
}

const struct arch *runtime_arch(const struct runtime *runtime)
{
	return runtime->target->arch;
}

struct findings *runtime_findings(const struct runtime *runtime)
{
	return &runtime->target->findings;
}

struct memory *runtime_memory(const struct runtime *runtime)
{
	return runtime->memory;
}

struct memory *runtime_set_memory(struct runtime *runtime, struct memory *memory)
{
	struct memory *before = runtime->memory;
	runtime->memory = memory;
	return before;
}

const char *runtime_version(const struct runtime *runtime)
{
	return runtime->version;
}

const char *runtime_build_id(const struct runtime *runtime)
{
	return runtime->build_id;
}

const char *runtime_path(const struct runtime *runtime)
{
	return runtime->module->path;
}

bool runtime_is_single_file(const struct runtime *runtime)
{
	return runtime->is_single_file;
}

bool coreclr_has_descriptor(const struct runtime *runtime)
{
	return runtime->descriptor.is_read;
}

const struct layout *coreclr_layout(const struct runtime *runtime)
{
	return &runtime->layout;
}

bool coreclr_has_field(const struct runtime *runtime, enum layout_field field)
{
	return layout_has(&runtime->layout, field);
}

uint64_t coreclr_offset(const struct runtime *runtime, enum layout_field field)
{
	return (uint64_t)runtime->layout.offsets[field];
}

bool coreclr_pointer(const struct runtime *runtime, uint64_t base, enum layout_field field,
		     uint64_t *ret)
{
	return coreclr_has_field(runtime, field) &&
	       memory_u64(runtime->memory, base + coreclr_offset(runtime, field), ret);
}

bool coreclr_field_u32(const struct runtime *runtime, uint64_t base, enum layout_field field,
		       uint32_t *ret)
{
	return coreclr_has_field(runtime, field) &&
	       memory_u32(runtime->memory, base + coreclr_offset(runtime, field), ret);
}

bool coreclr_field_u16(const struct runtime *runtime, uint64_t base, enum layout_field field,
		       uint16_t *ret)
{
	return coreclr_has_field(runtime, field) &&
	       memory_u16(runtime->memory, base + coreclr_offset(runtime, field), ret);
}

const struct gc_vars *runtime_gc(const struct runtime *runtime)
{
	return &runtime->gc;
}

bool runtime_has_server_gc(const struct runtime *runtime)
{
	return runtime->gc.is_server;
}

bool runtime_has_regions(const struct runtime *runtime)
{
	return runtime->gc.has_regions;
}

bool runtime_gc_is_moving(const struct runtime *runtime)
{
	return runtime->gc.structures_invalid != 0;
}

uint64_t coreclr_app_domain(const struct runtime *runtime)
{
	return runtime->globals.app_domain;
}

uint64_t coreclr_system_domain(const struct runtime *runtime)
{
	return runtime->globals.system_domain;
}

uint64_t runtime_free_method_table(const struct runtime *runtime)
{
	return runtime->globals.free_method_table;
}

uint64_t runtime_object_method_table(const struct runtime *runtime)
{
	return runtime->globals.object_method_table;
}

uint64_t runtime_object_array_method_table(const struct runtime *runtime)
{
	return runtime->globals.object_array_method_table;
}

uint64_t runtime_exception_method_table(const struct runtime *runtime)
{
	return runtime->globals.exception_method_table;
}

uint64_t runtime_global_alloc_context(const struct runtime *runtime)
{
	return runtime->globals.alloc_context;
}

bool runtime_has_sync_table(const struct runtime *runtime)
{
	return runtime->globals.sync_table != 0;
}

bool runtime_knows_all_threads(const struct runtime *runtime)
{
	return runtime->threads.is_whole;
}

size_t runtime_thread_count(const struct runtime *runtime)
{
	return runtime->threads.count;
}

const struct runtime_thread *runtime_thread_at(const struct runtime *runtime, size_t index)
{
	return &runtime->threads.rows[index];
}

size_t runtime_thread_index(const struct runtime *runtime, const struct runtime_thread *thread)
{
	return (size_t)(thread - runtime->threads.rows);
}

int64_t runtime_pending_threads(const struct runtime *runtime)
{
	return runtime->threads.pending;
}

bool runtime_knows_finalizer_thread(const struct runtime *runtime)
{
	return runtime->threads.finalizer != 0;
}

bool runtime_is_finalizer_thread(const struct runtime *runtime, const struct runtime_thread *thread)
{
	return thread->address == runtime->threads.finalizer;
}

bool runtime_is_gc_thread(const struct runtime *runtime, const struct runtime_thread *thread)
{
	return thread->address == runtime->threads.gc;
}

bool runtime_is_suspending(const struct runtime *runtime)
{
	const struct runtime_threads *threads = &runtime->threads;
	for (size_t i = 0; threads->gc && i < threads->count; i++) {
		if (threads->rows[i].is_cooperative && threads->rows[i].address != threads->gc)
			return true;
	}
	return false;
}
