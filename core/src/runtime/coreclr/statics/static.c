/* SPDX-License-Identifier: MIT */
/* Where static fields lie (doc/coreclr.md 10.2, 10.3; methodtable.h, appdomain.hpp). */
#include <string.h>

#include "mem/memory.h"
#include "metadata/metadata.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/statics/static_base.h"
#include "runtime/coreclr/types/method_table.h"
#include "runtime/runtime_ops.h"

/* MTFlags2 of 9 and 10: a DynamicStaticsInfo lies before the auxiliary data. */
#define HAS_DYNAMIC_STATICS 0x2u
/* Its last word is its MethodTable (methodtable.h). */
#define INFO_LAST 8u
/* Bit 0 of its pointers: the class constructor has not run to its end. */
#define NOT_INITIALISED 0x1u

/*
 * 8: DomainLocalModule: DynamicClassTable, its length, GC statics, ModuleIndex, ClassInitFlags by TypeDef
 * from the first on.
 */
#define MODULE_LOCAL_TABLE 8u
#define MODULE_LOCAL_COUNT 16u
#define MODULE_LOCAL_GC    32u
#define LOCAL_CLASS_FLAGS  48u
#define CLASS_INITIALISED  0x1u

/* A column of the metadata's table of methods. */
#define METHOD_NAME 3u

bool element_is_gc_static(uint8_t element_type)
{
	return element_type == ELEMENT_CLASS || element_type == ELEMENT_VALUE;
}

bool type_has_slots(const struct type *type)
{
	if (type->is_free || type->category == CATEGORY_SZ_ARRAY ||
	    type->category == CATEGORY_MD_ARRAY)
		return false;
	/* A string uses those bits for a part of its component size. */
	return type->flags & MT_HAS_COMPONENT_SIZE ||
	       (type->flags & MT_GENERICS_MASK) < MT_GENERICS_SHARED;
}

static void bases_9(struct runtime *runtime, const struct type *type, struct static_bases *ret)
{
	uint64_t gc, non_gc, owner;
	if (!(type->links.flags2 & HAS_DYNAMIC_STATICS))
		return;
	uint64_t info = type->links.auxiliary - coreclr_offset(runtime, L_STATICS_INFO_SIZE);
	ret->is_broken = !layout_has(&coreclr_of(runtime)->layout, L_STATICS_INFO_SIZE) ||
			 !memory_u64(runtime->memory, type->links.auxiliary - INFO_LAST, &owner) ||
			 owner != type->method_table ||
			 !coreclr_pointer(runtime, info, L_STATICS_GC, &gc) ||
			 !coreclr_pointer(runtime, info, L_STATICS_NON_GC, &non_gc);
	if (ret->is_broken)
		return;
	*ret = (struct static_bases){
		.gc = gc & ~(uint64_t)NOT_INITIALISED,
		.non_gc = non_gc & ~(uint64_t)NOT_INITIALISED,
		.gc_initialised = !(gc & NOT_INITIALISED),
		.non_gc_initialised = !(non_gc & NOT_INITIALISED),
	};
}

/* The row @p id of the module's table of dynamic classes. */
static void dynamic_bases_8(struct runtime *runtime, const struct type *type, uint64_t local,
			    uint64_t id, struct static_bases *ret)
{
	uint64_t count, table, gc;
	struct dynamic_entry entry;
	ret->gc_initialised = ret->non_gc_initialised = false;
	if (!memory_u64(runtime->memory, local + MODULE_LOCAL_COUNT, &count) || id >= count ||
	    !memory_u64(runtime->memory, local + MODULE_LOCAL_TABLE, &table) ||
	    !dynamic_entry_8(runtime, type, table, id, &entry))
		return;
	ret->non_gc = entry.non_gc;
	ret->gc = entry.gc;
	/* For types that are not collectible, it is the address of the first slot. */
	if (!entry.is_collectible)
		ret->gc = memory_u64(runtime->memory, entry.address, &gc) ? gc : 0;
	ret->gc_initialised = ret->non_gc_initialised = entry.flags & CLASS_INITIALISED;
}

static void bases_8(struct runtime *runtime, const struct type *type, struct static_bases *ret)
{
	uint64_t local, id;
	if (!coreclr_pointer(runtime, type->module, L_MODULE_STATICS, &local) || !local)
		return;
	if (dynamic_class_8(runtime, type, &id)) {
		dynamic_bases_8(runtime, type, local, id, ret);
		return;
	}
	if (!memory_u64(runtime->memory, local + MODULE_LOCAL_GC, &ret->gc))
		ret->gc = 0;
	ret->non_gc = local;
	uint32_t rid = type->token & 0x00ffffff;
	uint8_t flags;
	ret->gc_initialised = ret->non_gc_initialised =
		rid && memory_u8(runtime->memory, local + LOCAL_CLASS_FLAGS + rid - 1, &flags) &&
		flags & CLASS_INITIALISED;
}

void static_bases_read(struct runtime *runtime, const struct type *type, struct static_bases *ret)
{
	*ret = (struct static_bases){ .gc_initialised = true, .non_gc_initialised = true };
	if (!type_has_slots(type))
		return;
	if (coreclr_has(runtime, CORECLR_DOMAIN_STATICS)) {
		bases_8(runtime, type, ret);
	} else {
		bases_9(runtime, type, ret);
	}
}

bool type_has_static_constructor(struct runtime *runtime, const struct type *type)
{
	const struct module *module = module_find(runtime, type_home_module(runtime, type));
	const struct metadata *metadata = module ? module->metadata : NULL;
	uint32_t end, rid = type->token & 0x00ffffff;
	if (!metadata || !rid)
		return false;
	for (uint32_t at = metadata_members(metadata, MD_METHOD, rid, &end); at < end; at++) {
		uint32_t method = metadata_member(metadata, MD_METHOD, at);
		uint32_t name = metadata_column(metadata, MD_METHOD, method, METHOD_NAME);
		if (strcmp(metadata_string(metadata, name), ".cctor") == 0)
			return true;
	}
	return false;
}

uint64_t field_static_address(struct runtime *runtime, const struct field *field,
			      bool *ret_initialised)
{
	bool initialised = true;
	uint64_t address = 0;
	const struct static_ops *statics = runtime_ops(runtime)->statics;
	if (field->is_static && !field->is_thread_static && statics && statics->address) {
		address = statics->address(runtime, field, NULL);
	} else if (field->is_static && !field->is_thread_static && field->is_rva) {
		const struct module *module = module_find(runtime, field->declaring->module);
		address = module ? module_rva(runtime, module, field->offset) : 0;
	} else if (field->is_static && !field->is_thread_static) {
		struct static_bases bases;
		bool is_gc = element_is_gc_static(field->element_type);
		static_bases_read(runtime, field->declaring, &bases);
		uint64_t base = is_gc ? bases.gc : bases.non_gc;
		address = base ? base + field->offset : 0;
		initialised = is_gc ? bases.gc_initialised : bases.non_gc_initialised;
	}
	if (ret_initialised)
		*ret_initialised = initialised;
	return address;
}
