/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "gc/layouts/gc_vars.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/find.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/threads/sync_block.h"
#include "runtime/coreclr/threads/thread.h"
#include "runtime/coreclr/types/method_table.h"

/* MTFlags: an array, and one of one dimension (methodtable.h). */
#define FLAG_ARRAY_MASK 0x000e0000u
#define FLAG_SZ_ARRAY   0x000a0000u

/*
 * How far from the variable with the string's MethodTable the one with object[]'s is searched for.
 */
#define PREDEFINED_DISTANCE 4096u

/* How many bytes of an AppDomain are searched for its list of assemblies. */
#define APP_DOMAIN_SIZE 8192u

/* The parts of a MethodTable that are used here. */
struct shape {
	uint32_t flags, base_size, component_size;
	uint64_t parent, ee_class, element;
	bool is_sound; /* its EEClass names it */
};

static bool read_shape(const struct runtime *runtime, uint64_t address, struct shape *ret)
{
	const struct layout *layout = &coreclr_of(runtime)->layout;
	*ret = (struct shape){ 0 };
	if (address == 0 || address % 8 != 0 || !layout_has(layout, L_MT_FLAGS) ||
	    !layout_has(layout, L_MT_BASE_SIZE) ||
	    !memory_u32(runtime->memory, address + coreclr_offset(runtime, L_MT_FLAGS),
			&ret->flags) ||
	    !memory_u32(runtime->memory, address + coreclr_offset(runtime, L_MT_BASE_SIZE),
			&ret->base_size) ||
	    !coreclr_pointer(runtime, address, L_MT_PARENT, &ret->parent) ||
	    !coreclr_pointer(runtime, address, L_MT_CLASS, &ret->ee_class) ||
	    !coreclr_pointer(runtime, address, L_MT_PER_INST, &ret->element))
		return false;
	if (ret->flags & MT_HAS_COMPONENT_SIZE)
		ret->component_size = ret->flags & 0xffff;
	uint64_t canonical = address, ee_class = ret->ee_class, back = 0;
	if (ee_class & 1) {
		canonical = ee_class & ~(uint64_t)1;
		if (!coreclr_pointer(runtime, canonical, L_MT_CLASS, &ee_class) || (ee_class & 1))
			return true;
	}
	ret->is_sound = ee_class != 0 &&
			coreclr_pointer(runtime, ee_class, L_CLASS_METHOD_TABLE, &back) &&
			back == canonical;
	return true;
}

/* Is it the MethodTable of Free: an array of bytes without class and parent? */
static bool is_free(const struct shape *shape)
{
	return shape->component_size == 1 && shape->base_size == 24 && shape->parent == 0 &&
	       shape->ee_class == 0 && !(shape->flags & MT_CONTAINS_GC_POINTERS);
}

static uint64_t parent_of(const struct runtime *runtime, uint64_t address)
{
	struct shape shape;
	return read_shape(runtime, address, &shape) && shape.is_sound ? shape.parent : 0;
}

/* System.Exception: child of Object, grandparent of the exceptions that the runtime throws. */
static bool is_exception(const struct runtime *runtime, uint64_t address)
{
	unsigned int count = 0;
	for (size_t i = 0; i < coreclr_of(runtime)->globals.dac_count && count < 3; i++) {
		uint64_t other = 0;
		if (dac_pointer(runtime, i, &other) && other != address)
			count += parent_of(runtime, parent_of(runtime, other)) == address;
	}
	return count == 3;
}

/* g_pPredefinedArrayTypes (vars.hpp) lies near the variables of the well-known classes. */
static uint64_t find_object_array(const struct runtime *runtime, uint64_t variable)
{
	for (uint64_t at = variable - PREDEFINED_DISTANCE; at != variable + PREDEFINED_DISTANCE;
	     at += 8) {
		uint64_t address = 0;
		struct shape shape;
		if (!memory_u64(runtime->memory, at, &address) ||
		    !read_shape(runtime, address, &shape))
			continue;
		if (shape.is_sound && shape.component_size == 8 &&
		    (shape.flags & FLAG_ARRAY_MASK) == FLAG_SZ_ARRAY &&
		    shape.element == runtime->tables.object)
			return address;
	}
	return 0;
}

static void find_method_tables(struct runtime *runtime)
{
	uint64_t string_variable = 0;
	for (size_t i = 0; i < coreclr_of(runtime)->globals.dac_count; i++) {
		uint64_t address = 0;
		struct shape shape;
		if (!dac_pointer(runtime, i, &address) || !read_shape(runtime, address, &shape))
			continue;
		if (is_free(&shape) && !runtime->tables.free)
			runtime->tables.free = address;
		if (shape.is_sound && shape.component_size == 2 && shape.base_size == 22 &&
		    !coreclr_of(runtime)->globals.string_method_table &&
		    dac_entry(runtime, i, &string_variable)) {
			coreclr_of(runtime)->globals.string_method_table = address;
			runtime->tables.object = shape.parent;
		}
	}
	if (!coreclr_of(runtime)->globals.string_method_table)
		return;
	runtime->tables.object_array = find_object_array(runtime, string_variable);
	for (size_t i = 0; i < coreclr_of(runtime)->globals.dac_count && !runtime->tables.exception;
	     i++) {
		uint64_t address = 0;
		if (dac_pointer(runtime, i, &address) && address &&
		    parent_of(runtime, address) == runtime->tables.object &&
		    is_exception(runtime, address))
			runtime->tables.exception = address;
	}
}

/* ArrayListBase {u32 count; ArrayListBlock first {ptr next; u32 size = 5; elements}} (arraylist.h) */
static bool is_assembly_list(const struct runtime *runtime, uint64_t address)
{
	uint8_t list[24];
	if (!memory_read(runtime->memory, address, list, sizeof(list)))
		return false;
	uint32_t count = load_u32(list);
	if (count == 0 || count >= 100000 || load_u32(list + 16) != 5 ||
	    (count <= 5) != (load_u64(list + 8) == 0))
		return false;
	unsigned int sound = 0;
	for (uint32_t i = 0; i < count && i < 5; i++) {
		uint64_t element = 0;
		if (!memory_u64(runtime->memory, address + 24 + 8 * (uint64_t)i, &element))
			return false;
		if (element && !assembly_list_module(runtime, element))
			return false;
		sound += element != 0;
	}
	return sound != 0;
}

/*
 * Find the offset of the list of assemblies in the AppDomain at @p address; the known offset is
 * tried first.
 */
static bool find_domain_assemblies(const struct runtime *runtime, uint64_t address, uint64_t *ret)
{
	if (layout_has(&coreclr_of(runtime)->layout, L_DOMAIN_ASSEMBLIES)) {
		*ret = coreclr_offset(runtime, L_DOMAIN_ASSEMBLIES);
		if (is_assembly_list(runtime, address + *ret))
			return true;
	}
	for (*ret = 0; *ret < APP_DOMAIN_SIZE; *ret += 8) {
		if (is_assembly_list(runtime, address + *ret))
			return true;
	}
	return false;
}

static bool is_app_domain(struct runtime *runtime, uint64_t address)
{
	uint64_t offset = 0;
	if (address == 0 || address % 8 != 0 || !find_domain_assemblies(runtime, address, &offset))
		return false;
	if (!layout_has(&coreclr_of(runtime)->layout, L_DOMAIN_ASSEMBLIES) ||
	    offset != coreclr_offset(runtime, L_DOMAIN_ASSEMBLIES)) {
		layout_set(&coreclr_of(runtime)->layout, L_DOMAIN_ASSEMBLIES, (int64_t)offset,
			   ORIGIN_CALIBRATED);
	}
	return true;
}

/*
 * Find the object among the globals that passes the test @p is; the one at @p first is tried first.
 */
static uint64_t find_global(struct runtime *runtime, size_t first,
			    bool (*is)(struct runtime *runtime, uint64_t address))
{
	uint64_t address = 0;
	if (dac_pointer(runtime, first, &address) && is(runtime, address))
		return address;
	for (size_t i = 0; i < coreclr_of(runtime)->globals.dac_count; i++) {
		if (dac_pointer(runtime, i, &address) && is(runtime, address))
			return address;
	}
	return 0;
}

static bool is_thread_store(struct runtime *runtime, uint64_t address)
{
	return thread_store_is(runtime, address, true);
}

/* SyncTableEntry[]: an object that an entry names has that entry's index in its header. */
static bool is_sync_table(struct runtime *runtime, uint64_t address)
{
	if (address == 0 || address % 8 != 0)
		return false;
	for (uint32_t i = 1; i < 16; i++) {
		uint64_t object = 0;
		uint32_t header = 0;
		if (!memory_u64(runtime->memory, address + 16 * (uint64_t)i + 8, &object))
			return false;
		if (object % 8 == 0 && object >= 4 &&
		    memory_u32(runtime->memory, object - 4, &header) &&
		    (header & 0x0fffffffu) == (0x08000000u | i))
			return true;
	}
	return false;
}

static void find_sync_table(struct runtime *runtime, size_t gc_index)
{
	const struct coreclr_release *release = coreclr_release_find(coreclr_of(runtime)->major);
	coreclr_of(runtime)->globals.sync_table =
		find_global(runtime, coreclr_of(runtime)->globals.dac_count, is_sync_table);
	if (coreclr_of(runtime)->globals.sync_table || !release ||
	    !layout_build_find(runtime->build_id))
		return;
	/* No object has a sync block: the table of a known build is used without this check. */
	uint64_t address = 0, first[2] = { 1, 1 };
	if (dac_pointer(runtime, gc_index + release->sync_table_distance, &address) &&
	    address % 8 == 0 && memory_read(runtime->memory, address, first, sizeof(first)) &&
	    !first[0] && !first[1])
		coreclr_of(runtime)->globals.sync_table = address;
}

/*
 * g_card_table, g_lowest_address, g_highest_address and g_global_alloc_context follow each other
 * (inc/dacvars.h); the first three are recognised by their values.
 */
static void find_alloc_context(struct runtime *runtime, size_t gc_index)
{
	uint64_t page = runtime_arch(runtime)->space.page_min;
	for (size_t i = gc_index;
	     i + 3 < coreclr_of(runtime)->globals.dac_count && i < gc_index + 32; i++) {
		uint64_t table = 0, low = 0, high = 0, context = 0;
		if (!dac_pointer(runtime, i, &table) || !dac_pointer(runtime, i + 1, &low) ||
		    !dac_pointer(runtime, i + 2, &high) || !dac_entry(runtime, i + 3, &context))
			continue;
		if (table == 0 || low == 0 || low % page != 0 || high % page != 0 || low >= high)
			continue;
		if (layout_has(&coreclr_of(runtime)->layout, L_EE_ALLOC_CONTEXT))
			context += coreclr_offset(runtime, L_EE_ALLOC_CONTEXT);
		runtime->alloc_context = context;
		return;
	}
}

static void read_named(struct runtime *runtime, const struct descriptor *descriptor)
{
	const struct {
		const char *name;
		uint64_t *value;
	} globals[] = {
		{ "AppDomain", &coreclr_of(runtime)->globals.app_domain },
		{ "SystemDomain", &coreclr_of(runtime)->globals.system_domain },
		{ "ThreadStore", &coreclr_of(runtime)->globals.thread_store },
		{ "FreeObjectMethodTable", &runtime->tables.free },
		{ "ObjectMethodTable", &runtime->tables.object },
		{ "StringMethodTable", &coreclr_of(runtime)->globals.string_method_table },
		{ "ObjectArrayMethodTable", &runtime->tables.object_array },
		{ "ExceptionMethodTable", &runtime->tables.exception },
		{ "SyncTableEntries", &coreclr_of(runtime)->globals.sync_table },
		{ "ContinuationMethodTable",
		  &coreclr_of(runtime)->globals.continuation_method_table },
		{ "ContinuationSingletonEEClass",
		  &coreclr_of(runtime)->globals.continuation_class },
		{ "FinalizerThread", &runtime->threads.finalizer },
		{ "GCThread", &runtime->threads.gc },
	};
	for (size_t i = 0; i < sizeof(globals) / sizeof(globals[0]); i++) {
		uint64_t variable = 0;
		if (descriptor_global(descriptor, globals[i].name, &variable))
			(void)memory_u64(runtime->memory, variable, globals[i].value);
	}
	/* From 11 on: the first entry of the table of sync blocks that was never used. */
	uint64_t variable = 0, cache = 0;
	uint32_t count = 0;
	if (descriptor_global(descriptor, "SyncBlockCache", &variable) &&
	    memory_u64(runtime->memory, variable, &cache) &&
	    coreclr_field_u32(runtime, cache, L_SYNC_CACHE_INDEX, &count))
		coreclr_of(runtime)->globals.sync_count = count;
}

static void report_missing_globals(const struct runtime *runtime)
{
	const struct {
		uint64_t value;
		enum finding_kind kind;
		const char *name, *cost;
	} needed[] = {
		{ coreclr_of(runtime)->globals.app_domain, FINDING_MISSING_SYMBOLS, "AppDomain",
		  "the list of assemblies cannot be read" },
		{ coreclr_of(runtime)->globals.thread_store, FINDING_NO_THREADS, "ThreadStore",
		  "threads, what their stacks keep alive, and their allocation contexts are not "
		  "known, and the walk may take their free space for damage" },
		{ runtime->tables.free, FINDING_MISSING_SYMBOLS, "Free MethodTable",
		  "free blocks of the heap count as damage" },
		{ coreclr_of(runtime)->globals.string_method_table, FINDING_MISSING_SYMBOLS,
		  "String MethodTable", "strings are not shown" },
	};
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (needed[i].value == 0) {
			findings_add(&runtime->target->findings, needed[i].kind,
				     target_advice(runtime->target,
						   coreclr_of(runtime)->module->base,
						   "take a full dump, or give the folder with "
						   "the runtime's files by --sysroot"),
				     "the runtime's %s was not found: %s", needed[i].name,
				     needed[i].cost);
		}
	}
}

/* The numbers that Frames of 10 and later begin with (FrameIdentifier, frames.h). */
static void read_frame_identifiers(struct runtime *runtime, const struct descriptor *descriptor)
{
	for (unsigned int kind = 1; kind < FRAME_KINDS; kind++) {
		char name[64];
		uint64_t value = 0;
		(void)snprintf(name, sizeof(name), "%sIdentifier",
			       frame_kind_layout((enum frame_kind)kind)->name);
		if (descriptor && descriptor_global(descriptor, name, &value)) {
			coreclr_of(runtime)->frames.identifiers[kind] = value;
		} else if (!descriptor && coreclr_has(runtime, CORECLR_FRAME_NUMBERS) &&
			   kind <= FRAME_EXCEPTION_FILTER) {
			coreclr_of(runtime)->frames.identifiers[kind] =
				kind; /* the values of 10.0 for Linux on x64 */
		}
	}
}

/*
 * g_dacTable ends with the vtables by which a debugger recognises classes (inc/vptr_list.h of 8.0
 * and 9.0): the place of each, counted from the end. 9 has no MulticastFrame.
 */
static const struct {
	uint8_t kind, from_end[2]; /* 8, 9: as in coreclr_releases */
} frame_vtable_places[] = {
	{ FRAME_DEBUGGER_CLASS_INIT_MARK, { 34, 33 } },
	{ FRAME_DEBUGGER_EXIT, { 32, 31 } },
	{ FRAME_DEBUGGER_U2M_CATCH_HANDLER, { 31, 30 } },
	{ FRAME_FUNC_EVAL, { 29, 28 } },
	{ FRAME_HELPER_METHOD, { 28, 27 } },
	{ FRAME_HELPER_METHOD_1OBJ, { 27, 26 } },
	{ FRAME_HELPER_METHOD_2OBJ, { 26, 25 } },
	{ FRAME_HELPER_METHOD_3OBJ, { 25, 24 } },
	{ FRAME_HELPER_METHOD_PROTECTOBJ, { 24, 23 } },
	{ FRAME_PROTECT_BY_REFS, { 18, 18 } },
	{ FRAME_PROTECT_VALUE_CLASS, { 17, 17 } },
	{ FRAME_EXCEPTION_FILTER, { 10, 10 } },
};

static void read_frame_vtables(struct runtime *runtime)
{
	const struct coreclr_release *release = coreclr_release_find(coreclr_of(runtime)->major);
	if (!coreclr_has(runtime, CORECLR_FRAME_VTABLES) || !release ||
	    release->dac_count != coreclr_of(runtime)->globals.dac_count)
		return;
	size_t column = (size_t)(release - coreclr_releases);
	for (size_t i = 0; i < sizeof(frame_vtable_places) / sizeof(*frame_vtable_places); i++) {
		uint64_t from_end = frame_vtable_places[i].from_end[column];
		(void)dac_entry(runtime, coreclr_of(runtime)->globals.dac_count - from_end,
				&coreclr_of(runtime)->frames.vtables[frame_vtable_places[i].kind]);
	}
}

/*
 * GCInfoVersion of the release, or of the nearest tested one, if the descriptor does not have it.
 */
static unsigned int usual_gc_info_version(unsigned int major)
{
	unsigned int version = coreclr_releases[0].gc_info_version;
	for (size_t i = 0; i < CORECLR_RELEASES && coreclr_releases[i].major <= major; i++)
		version = coreclr_releases[i].gc_info_version;
	return version;
}

void coreclr_read_globals(struct runtime *runtime, const struct descriptor *descriptor,
			  size_t gc_index)
{
	uint64_t version;
	coreclr_of(runtime)->gc_info_version = usual_gc_info_version(coreclr_of(runtime)->major);
	if (descriptor)
		read_named(runtime, descriptor);
	if (descriptor && descriptor_global(descriptor, "GCInfoVersion", &version) && version < 100)
		coreclr_of(runtime)->gc_info_version = (unsigned int)version;
	read_frame_identifiers(runtime, descriptor);
	read_frame_vtables(runtime);
	coreclr_of(runtime)->globals.fcall_table = fcall_table_find(runtime);
	if (!runtime->tables.free || !coreclr_of(runtime)->globals.string_method_table)
		find_method_tables(runtime);
	/* In 8, 9 and 10 ThreadStore is 4 before GcDacVars in g_dacTable, and AppDomain 1 after. */
	if (!coreclr_of(runtime)->globals.thread_store) {
		uint64_t address = 0;
		if (gc_index >= 4 && dac_pointer(runtime, gc_index - 4, &address) &&
		    thread_store_is(runtime, address, false)) {
			coreclr_of(runtime)->globals.thread_store = address;
		} else {
			coreclr_of(runtime)->globals.thread_store =
				find_global(runtime, gc_index - 4, is_thread_store);
		}
	}
	/*
	 * The globals of two of its threads come after it (inc/dacvars.h); the list of threads
	 * confirms them.
	 */
	if (!runtime->threads.finalizer && gc_index >= 3) {
		(void)dac_pointer(runtime, gc_index - 3, &runtime->threads.finalizer);
		(void)dac_pointer(runtime, gc_index - 2, &runtime->threads.gc);
	}
	if (!coreclr_of(runtime)->globals.app_domain) {
		coreclr_of(runtime)->globals.app_domain =
			find_global(runtime, gc_index + 1, is_app_domain);
	} else if (!is_app_domain(runtime, coreclr_of(runtime)->globals.app_domain)) {
		findings_add(&runtime->target->findings, FINDING_MISSING_SYMBOLS, NULL,
			     "the AppDomain's list of assemblies was not found in it: types that "
			     "have no object on the heap are not known");
	}
	/* The entry after the AppDomain's is the SystemDomain's (inc/dacvars.h). */
	uint64_t address = 0;
	if (!coreclr_of(runtime)->globals.system_domain &&
	    dac_pointer(runtime, gc_index + 1, &address) && address &&
	    address == coreclr_of(runtime)->globals.app_domain) {
		(void)dac_pointer(runtime, gc_index + 2,
				  &coreclr_of(runtime)->globals.system_domain);
	}
	if (!coreclr_of(runtime)->globals.sync_table && !descriptor)
		find_sync_table(runtime, gc_index);
	runtime_sync_count(runtime);
	find_alloc_context(runtime, gc_index);
	report_missing_globals(runtime);
}
