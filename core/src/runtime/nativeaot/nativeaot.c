/* SPDX-License-Identifier: MIT */
/* NativeAOT as a runtime_ops: how it is opened and closed. */
#include <inttypes.h>
#include <stdio.h>

#include "runtime/descriptor.h"
#include "runtime/nativeaot/fields.h"
#include "runtime/nativeaot/find.h"
#include "runtime/nativeaot/gc.h"
#include "runtime/nativeaot/method_table.h"
#include "runtime/nativeaot/names.h"
#include "runtime/nativeaot/statics.h"
#include "runtime/nativeaot/sync.h"
#include "targets/target.h"
#include "targets/target_modules.h"
#include "util/alloc.h"
#include "util/findings.h"

/* Most bytes of managed code: a larger range is damaged. */
#define CODE_SIZE_MAX ((uint64_t)1 << 32)

/* The value of the variable that a global of the descriptor names. */
static uint64_t global_value(const struct runtime *runtime, const struct descriptor *descriptor,
			     const char *name)
{
	uint64_t variable = 0, value = 0;
	return descriptor_global(descriptor, name, &variable) &&
			       memory_u64(runtime->memory, variable, &value)
		       ? value
		       : 0;
}

/* Is it the MethodTable of Free: an array of bytes? */
static bool is_free(const struct runtime *runtime, uint64_t address)
{
	struct aot_method_table table;
	return address && aot_method_table_read(runtime->memory, address, &table) &&
	       table.base_size == 24 && table.flags & AOT_HAS_COMPONENTS &&
	       (table.flags & 0xffff) == 1;
}

static void take_descriptor(struct runtime *runtime, const struct descriptor *descriptor)
{
	struct nativeaot *aot = aot_of(runtime);
	aot->major = AOT_MAJOR_LAST;
	aot_layout_init(&aot->layout, aot->major);
	aot_layout_take_descriptor(&aot->layout, descriptor);
	aot->globals.thread_store = global_value(runtime, descriptor, "ThreadStore");
	aot->globals.instance = global_value(runtime, descriptor, "RuntimeInstance");
	runtime->tables.free = global_value(runtime, descriptor, "FreeObjectMethodTable");
	const char *version = descriptor_text(descriptor, "RuntimeProductVersionString");
	(void)snprintf(runtime->version, sizeof(runtime->version), "%s", version ? version : "");
}

static void take_header(struct runtime *runtime, const struct debug_header *header)
{
	struct nativeaot *aot = aot_of(runtime);
	aot->major = debug_header_release(header->major);
	aot_layout_init(&aot->layout, aot->major);
	debug_header_take(runtime->memory, header, &aot->layout, &aot->globals,
			  &runtime->tables.free);
	(void)aot_pointer(runtime, aot->globals.instance, AOT_INSTANCE_STORE,
			  &aot->globals.thread_store);
	(void)snprintf(runtime->version, sizeof(runtime->version), "%u.0", aot->major);
}

static void read_code(struct runtime *runtime)
{
	struct nativeaot *aot = aot_of(runtime);
	uint32_t size = 0, offset = aot->layout.offsets[AOT_INSTANCE_CODE_SIZE];
	if (aot_pointer(runtime, aot->globals.instance, AOT_INSTANCE_CODE, &aot->code) &&
	    memory_u32(runtime->memory, aot->globals.instance + offset, &size))
		aot->code_size = size;
}

/* The tables that the compiler has made: they lead to names, statics, and the word of all MethodTables. */
static void read_image(struct runtime *runtime)
{
	struct nativeaot *aot = aot_of(runtime);
	uint64_t entry = 0, manager = 0, header = 0, begin = 0, size = 0;
	if (!aot_pointer(runtime, aot->globals.instance, AOT_INSTANCE_MANAGERS, &entry) ||
	    !aot_pointer(runtime, entry, AOT_MANAGER_OF_ENTRY, &manager) ||
	    !aot_pointer(runtime, manager, AOT_MANAGER_HEADER, &header) ||
	    !ready_to_run_read(runtime->target, aot->module, header, &aot->image)) {
		findings_add(
			&runtime->target->findings, FINDING_MISSING_SYMBOLS,
			target_advice(runtime->target, header,
				      "take a full dump, or give the folder with the program by "
				      "--sysroot"),
			"the tables of the program %s cannot be read: types and methods have "
			"no names",
			runtime_path(runtime));
		return;
	}
	if (ready_to_run_section(&aot->image, READY_TO_RUN_TYPE_MANAGER, &begin, &size))
		aot->type_manager = begin;
}

static enum hd_status read_runtime(struct runtime *runtime, const struct aot_place *place,
				   struct hd_error *err)
{
	const struct nativeaot *aot = aot_of(runtime);
	if (place->descriptor) {
		take_descriptor(runtime, place->descriptor);
	} else {
		take_header(runtime, &place->header);
	}
	runtime->alloc_layout = (struct alloc_layout){ 0, 8 };
	runtime->has_cross_references = aot->major >= 10;
	TRY(aot_read_gc(runtime, err));
	if (!is_free(runtime, runtime->tables.free)) {
		return fail(
			err, HD_ERR_FAULT, runtime->tables.free,
			"the MethodTable of Free at 0x%" PRIx64 " of %s cannot be read: %s",
			runtime->tables.free, runtime_path(runtime),
			target_advice(runtime->target, runtime->tables.free,
				      "give the folder with the program by --sysroot, or take a "
				      "full dump"));
	}
	read_code(runtime);
	read_image(runtime);
	runtime->crash_record = aot_crash_record(runtime);
	return aot_names_read(runtime, err);
}

static void aot_close(struct runtime *runtime)
{
	aot_code_destroy(runtime);
	aot_names_destroy(runtime);
	aot_symbols_destroy(aot_of(runtime)->symbols);
	descriptor_destroy(aot_of(runtime)->descriptor);
	runtime_base_deinit(runtime);
	mem_free(runtime);
}

static enum hd_status aot_open(struct target *target, struct job *job, struct runtime **ret,
			       struct hd_error *err)
{
	(void)job; /* this does not take long */
	struct aot_place place = { 0 };
	TRY(aot_find(target, &place, err));
	struct nativeaot *aot = mem_calloc(1, sizeof(*aot));
	if (!aot) {
		descriptor_destroy(place.descriptor);
		return fail_nomem(err);
	}
	struct runtime *runtime = &aot->base;
	runtime->ops = &nativeaot_ops;
	runtime->target = target;
	runtime->memory = target->memory;
	runtime->path = place.module->path;
	aot->module = place.module;
	aot->descriptor = place.descriptor;
	if (!target_build_id(target, place.module, runtime->build_id, sizeof(runtime->build_id)))
		runtime->build_id[0] = '\0';
	enum hd_status status = read_runtime(runtime, &place, err);
	if (status != HD_OK) {
		aot_close(runtime);
		return status;
	}
	*ret = runtime;
	return HD_OK;
}

static const struct sync_ops sync = { aot_sync_table, aot_sync_block };
static const struct static_ops statics = { aot_statics, aot_static_name, aot_static_address };
static const struct function_ops functions = { aot_functions, aot_function_rows, aot_variables,
					       aot_source_line };

const struct runtime_ops nativeaot_ops = {
	.name = "NativeAOT",
	.open = aot_open,
	.close = aot_close,
	.read_gc = aot_read_gc,
	.threads = aot_threads,
	.describe_type = aot_describe_type,
	.type_name = aot_type_name,
	.type_interface = aot_interface,
	.fields = aot_fields,
	.code_at = aot_code_at,
	.functions = &functions,
	.method_name = aot_name_method,
	.method_signature = aot_sign_method,
	.sync = &sync,
	.statics = &statics,
	.thread_locals = aot_thread_locals,
	.thread_object = aot_thread_object,
	.stack = &nativeaot_stack_ops,
};
