/* SPDX-License-Identifier: MIT */
/* CoreCLR as a runtime_ops: how it is opened and closed. */
#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/find.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layout_fill.h"
#include "runtime/coreclr/layouts/processor.h"
#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/types/method_table.h"
#include "runtime/coreclr/types/type_lookup.h"
#include "runtime/coreclr/types/type_name.h"
#include "runtime/descriptor.h"
#include "util/alloc.h"

/* The descriptor, or NULL, with a finding if the runtime should have one. */
static enum hd_status read_descriptor(struct runtime *runtime, struct descriptor **ret,
				      struct hd_error *err)
{
	*ret = NULL;
	if (coreclr_of(runtime)->descriptor.address == 0)
		return HD_OK;
	struct hd_error reason;
	enum hd_status status =
		descriptor_read(runtime->target, coreclr_of(runtime)->module,
				coreclr_of(runtime)->descriptor.address, ret, &reason);
	if (status == HD_ERR_NOMEM)
		return fail_nomem(err);
	coreclr_of(runtime)->descriptor.is_read = status == HD_OK;
	/* Where nothing can be read without it, coreclr_fill_layout() says so. */
	if (status == HD_OK || processor_layout(runtime)->differences)
		return HD_OK;
	bool is_known = layout_build_find(runtime->build_id) != NULL;
	findings_add(&runtime->target->findings,
		     status == HD_ERR_FAULT ? FINDING_NO_DESCRIPTOR : FINDING_BAD_DESCRIPTOR,
		     is_known ? NULL : coreclr_files_advice(runtime), "%s: %s", reason.message,
		     is_known ? "the offsets of this build are known, nothing is lost"
			      : "offsets are those of its release's series");
	return HD_OK;
}

static enum hd_status read_runtime(struct runtime *runtime, const struct descriptor *descriptor,
				   struct hd_error *err)
{
	size_t gc_index = 0;
	TRY(coreclr_read_version(runtime, descriptor, err));
	TRY(coreclr_fill_layout(runtime, descriptor, err));
	TRY(gc_find(runtime, &gc_index, err));
	runtime->has_cross_references = coreclr_has(runtime, CORECLR_CROSS_REFERENCES);
	coreclr_read_globals(runtime, descriptor, gc_index);
	return module_table_create(runtime, &coreclr_of(runtime)->modules, err);
}

void coreclr_close(struct runtime *runtime)
{
	code_tables_destroy(coreclr_of(runtime)->code);
	type_lookup_destroy(coreclr_of(runtime)->lookup);
	module_table_destroy(coreclr_of(runtime)->modules);
	runtime_base_deinit(runtime);
	mem_free(runtime);
}

enum hd_status coreclr_open(struct target *target, struct job *job, struct runtime **ret,
			    struct hd_error *err)
{
	(void)job; /* this does not take long */
	struct coreclr *coreclr = mem_calloc(1, sizeof(*coreclr));
	TRY_MEMORY(coreclr, err);
	struct runtime *runtime = &coreclr->base;
	runtime->target = target;
	runtime->memory = target->memory;
	runtime->ops = &coreclr_ops;
	struct descriptor *descriptor = NULL;
	enum hd_status status = coreclr_find(runtime, err);
	if (status == HD_OK)
		status = read_descriptor(runtime, &descriptor, err);
	if (status == HD_OK)
		status = read_runtime(runtime, descriptor, err);
	descriptor_destroy(descriptor);
	if (status != HD_OK) {
		coreclr_close(runtime);
		return status;
	}
	*ret = runtime;
	return HD_OK;
}

/* How many bytes of a LoaderAllocator are searched for the handle. */
#define LOADER_ALLOCATOR_SIZE 4096u

/*
 * Handle -> LoaderAllocator object {scout, slots, ...} -> scout {address of the LoaderAllocator}
 * (LoaderAllocator.cs, loaderallocator.hpp).
 */
static uint64_t loader_object_at(const struct runtime *runtime, uint64_t loader, uint64_t offset)
{
	uint64_t handle = 0, object = 0, scout = 0, back = 0;
	if (!memory_u64(runtime->memory, loader + offset, &handle) ||
	    (handle & ~(uint64_t)7) == 0 ||
	    !memory_u64(runtime->memory, handle & ~(uint64_t)7, &object) || object == 0 ||
	    !memory_u64(runtime->memory, object + 8, &scout) || scout == 0 ||
	    !memory_u64(runtime->memory, scout + 8, &back) || back != loader)
		return 0;
	return object;
}

uint64_t coreclr_loader_object(const struct runtime *runtime, uint64_t loader_allocator)
{
	if (layout_has(&coreclr_of(runtime)->layout, L_LOADER_EXPOSED)) {
		uint64_t object = loader_object_at(runtime, loader_allocator,
						   coreclr_offset(runtime, L_LOADER_EXPOSED));
		if (object || layout_build_find(runtime->build_id))
			return object;
	}
	for (uint64_t offset = 0; offset < LOADER_ALLOCATOR_SIZE; offset += 8) {
		uint64_t object = loader_object_at(runtime, loader_allocator, offset);
		if (object)
			return object;
	}
	return 0;
}
