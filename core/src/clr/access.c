/* SPDX-License-Identifier: MIT */
/* Other folders than clr ask these functions about a runtime. */
#include "clr/internal.h"
#include "mem/memory.h"
#include "targets/target.h"

struct target *clr_target(const struct clr *clr)
{
	return clr->target;
}

const struct arch *clr_arch(const struct clr *clr)
{
	return clr->target->arch;
}

struct findings *clr_findings(const struct clr *clr)
{
	return &clr->target->findings;
}

struct memory *clr_memory(const struct clr *clr)
{
	return clr->memory;
}

struct memory *clr_set_memory(struct clr *clr, struct memory *memory)
{
	struct memory *before = clr->memory;
	clr->memory = memory;
	return before;
}

const char *clr_version(const struct clr *clr)
{
	return clr->version;
}

const char *clr_build_id(const struct clr *clr)
{
	return clr->build_id;
}

const char *clr_path(const struct clr *clr)
{
	return clr->module->path;
}

bool clr_is_single_file(const struct clr *clr)
{
	return clr->is_single_file;
}

bool clr_has_descriptor(const struct clr *clr)
{
	return clr->descriptor.is_read;
}

const struct layout *clr_layout(const struct clr *clr)
{
	return &clr->layout;
}

bool clr_has_field(const struct clr *clr, enum layout_field field)
{
	return layout_has(&clr->layout, field);
}

uint64_t clr_offset(const struct clr *clr, enum layout_field field)
{
	return (uint64_t)clr->layout.offsets[field];
}

bool clr_pointer(const struct clr *clr, uint64_t base, enum layout_field field, uint64_t *ret)
{
	return clr_has_field(clr, field) &&
	       memory_u64(clr->memory, base + clr_offset(clr, field), ret);
}

bool clr_field_u32(const struct clr *clr, uint64_t base, enum layout_field field, uint32_t *ret)
{
	return clr_has_field(clr, field) &&
	       memory_u32(clr->memory, base + clr_offset(clr, field), ret);
}

bool clr_field_u16(const struct clr *clr, uint64_t base, enum layout_field field, uint16_t *ret)
{
	return clr_has_field(clr, field) &&
	       memory_u16(clr->memory, base + clr_offset(clr, field), ret);
}

const struct gc_vars *clr_gc(const struct clr *clr)
{
	return &clr->gc;
}

bool clr_has_server_gc(const struct clr *clr)
{
	return clr->gc.is_server;
}

bool clr_has_regions(const struct clr *clr)
{
	return clr->gc.has_regions;
}

bool clr_gc_is_moving(const struct clr *clr)
{
	return clr->gc.structures_invalid != 0;
}

uint64_t clr_app_domain(const struct clr *clr)
{
	return clr->globals.app_domain;
}

uint64_t clr_system_domain(const struct clr *clr)
{
	return clr->globals.system_domain;
}

uint64_t clr_free_method_table(const struct clr *clr)
{
	return clr->globals.free_method_table;
}

uint64_t clr_object_method_table(const struct clr *clr)
{
	return clr->globals.object_method_table;
}

uint64_t clr_object_array_method_table(const struct clr *clr)
{
	return clr->globals.object_array_method_table;
}

uint64_t clr_exception_method_table(const struct clr *clr)
{
	return clr->globals.exception_method_table;
}

uint64_t clr_global_alloc_context(const struct clr *clr)
{
	return clr->globals.alloc_context;
}

bool clr_has_sync_table(const struct clr *clr)
{
	return clr->globals.sync_table != 0;
}

bool clr_knows_all_threads(const struct clr *clr)
{
	return clr->threads.is_whole;
}

size_t clr_thread_count(const struct clr *clr)
{
	return clr->threads.count;
}

const struct clr_thread *clr_thread_at(const struct clr *clr, size_t index)
{
	return &clr->threads.rows[index];
}

size_t clr_thread_index(const struct clr *clr, const struct clr_thread *thread)
{
	return (size_t)(thread - clr->threads.rows);
}

int64_t clr_pending_threads(const struct clr *clr)
{
	return clr->threads.pending;
}

bool clr_knows_finalizer_thread(const struct clr *clr)
{
	return clr->threads.finalizer != 0;
}

bool clr_is_finalizer_thread(const struct clr *clr, const struct clr_thread *thread)
{
	return thread->address == clr->threads.finalizer;
}

bool clr_is_gc_thread(const struct clr *clr, const struct clr_thread *thread)
{
	return thread->address == clr->threads.gc;
}
