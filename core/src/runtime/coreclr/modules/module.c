/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/modules/module.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/module_image.h"
#include "runtime/coreclr/types/method_table.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/findings.h"

#define MODULES_LOADED_MAX 65536u
#define ASSEMBLIES_MAX     65536u
/* A program comes early in the list: so much of it is looked at. */
#define PROGRAM_BLOCKS_MAX     4u
#define PROGRAM_BLOCK_SIZE_MAX 64u

/* ArrayListBase and its blocks (arraylist.h); the first block is inside the list. */
#define LIST_COUNT       0u
#define LIST_FIRST_BLOCK 8u
#define BLOCK_NEXT       0u
#define BLOCK_COUNT      8u
#define BLOCK_ELEMENTS   16u

/*
 * MethodTable of 8 (methodtable.h): MTFlags2 says which multipurpose slots exist, in this order;
 * the first two that PerInstInfo and InterfaceMap do not use take their places.
 */
#define SLOT_PER_INST    0x01u
#define SLOT_INTERFACES  0x02u
#define SLOTS_BEFORE     0x0fu
#define HAS_MODULE       0x10u
#define MT_8_FIRST_SLOT  48u
#define MT_8_SECOND_SLOT 56u

/* LookupMap (ceeload.h): Next, TableData, Count, SupportedFlagsMask; the same in 8, 9 and 10. */
#define MAP_NEXT  0u
#define MAP_TABLE 8u
#define MAP_COUNT 16u
#define MAP_MASK  24u

/* Modules by address, ascending; with those of the AppDomain's list after it was read. */
struct module_table {
	struct module **rows;
	size_t count, capacity;
	struct module **listed;
	size_t listed_count, listed_capacity;
	bool has_list;
	uint64_t budget; /* bytes of metadata that may still be read */
};

enum hd_status module_table_create(struct runtime *runtime, struct module_table **ret,
				   struct hd_error *err)
{
	(void)runtime;
	struct module_table *modules = mem_calloc(1, sizeof(*modules));
	TRY_MEMORY(modules, err);
	modules->budget = MODULE_METADATA_TOTAL;
	*ret = modules;
	return HD_OK;
}

void module_table_destroy(struct module_table *modules)
{
	if (!modules)
		return;
	for (size_t i = 0; i < modules->count; i++) {
		struct module *module = modules->rows[i];
		metadata_destroy(module->metadata);
		mem_free(module->path);
		mem_free(module->name);
		mem_free(module->missing);
		mem_free(module);
	}
	mem_free(modules->rows);
	mem_free(modules->listed);
	mem_free(modules);
}

/* Make room for one more pointer. */
static bool reserve_modules(struct module ***rows, size_t count, size_t *capacity)
{
	if (count < *capacity)
		return true;
	size_t grown = grown_capacity(*capacity, sizeof(struct module *));
	struct module **fresh = mem_realloc(*rows, grown, sizeof(struct module *));
	if (!fresh)
		return false;
	*rows = fresh;
	*capacity = grown;
	return true;
}

/* Index of the first module at or after @p address. */
static size_t lower_bound(const struct module_table *modules, uint64_t address)
{
	size_t low = 0, high = modules->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (modules->rows[middle]->address < address) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static struct module *insert(struct module_table *modules, size_t index, uint64_t address)
{
	if (modules->count >= MODULES_LOADED_MAX ||
	    !reserve_modules(&modules->rows, modules->count, &modules->capacity))
		return NULL;
	struct module *module = mem_calloc(1, sizeof(*module));
	if (!module)
		return NULL;
	module->address = address;
	memmove(modules->rows + index + 1, modules->rows + index,
		(modules->count - index) * sizeof(struct module *));
	modules->rows[index] = module;
	modules->count++;
	return module;
}

struct module *module_find(struct runtime *runtime, uint64_t address)
{
	struct module_table *modules = coreclr_of(runtime)->modules;
	if (!modules)
		return NULL;
	size_t index = lower_bound(modules, address);
	struct module *module = index < modules->count ? modules->rows[index] : NULL;
	if (!module || module->address != address)
		module = insert(modules, index, address);
	if (module && !module->has_tried) {
		module->has_tried = true;
		module_load(runtime, module, &modules->budget);
	}
	return module;
}

uint64_t module_rva(struct runtime *runtime, const struct module *module, uint32_t rva)
{
	uint64_t address;
	return module->image_base && image_locate(runtime->memory, module->image_base,
						  module->is_mapped, rva, 1, &address)
		       ? address
		       : 0;
}

/* Where a MethodTable of 8 has the pointer to its module. */
static bool module_slot_8(struct runtime *runtime, const struct type *type, uint64_t *ret)
{
	uint32_t before = type->links.flags2 & SLOTS_BEFORE;
	uint16_t virtuals;
	*ret = type->method_table;
	if (!(before & SLOT_PER_INST)) {
		*ret += MT_8_FIRST_SLOT;
	} else if (!(before & SLOT_INTERFACES)) {
		*ret += MT_8_SECOND_SLOT;
	} else {
		if (!memory_u16(runtime->memory, *ret + coreclr_offset(runtime, L_MT_NUM_VIRTUALS),
				&virtuals))
			return false;
		uint32_t chunks = (virtuals + VTABLE_CHUNK_SLOTS - 1) / VTABLE_CHUNK_SLOTS;
		uint32_t slots = (uint32_t)__builtin_popcount(before) - 2;
		*ret += METHOD_TABLE_SIZE + 8 * (uint64_t)(chunks + slots);
	}
	return true;
}

uint64_t type_home_module(struct runtime *runtime, const struct type *type)
{
	if (!coreclr_has(runtime, CORECLR_GENERIC_MODULE_SLOTS) ||
	    type->flags & MT_HAS_COMPONENT_SIZE || !(type->flags & MT_GENERICS_MASK))
		return type->module;
	const struct type *canonical = type->links.canonical == type->method_table
					       ? type
					       : type_find(runtime, type->links.canonical);
	uint64_t slot, module;
	if (!canonical)
		return type->module;
	if (!(canonical->links.flags2 & HAS_MODULE))
		return canonical->module;
	return module_slot_8(runtime, canonical, &slot) &&
			       memory_u64(runtime->memory, slot, &module)
		       ? module
		       : canonical->module;
}

bool lookup_segment_read(struct runtime *runtime, uint64_t address, struct lookup_segment *ret)
{
	return memory_u64(runtime->memory, address + MAP_NEXT, &ret->next) &&
	       memory_u64(runtime->memory, address + MAP_TABLE, &ret->table) &&
	       memory_u32(runtime->memory, address + MAP_COUNT, &ret->count) &&
	       memory_u64(runtime->memory, address + MAP_MASK, &ret->mask);
}

uint64_t module_type_def(struct runtime *runtime, const struct module *module, uint32_t rid)
{
	if (!layout_has(&coreclr_of(runtime)->layout, L_MODULE_TYPE_DEF_MAP))
		return 0;
	uint64_t at = module->address + coreclr_offset(runtime, L_MODULE_TYPE_DEF_MAP), mask = 0,
		 value;
	for (unsigned int i = 0; at && i < LOOKUP_SEGMENTS_MAX; i++) {
		struct lookup_segment segment;
		if (!lookup_segment_read(runtime, at, &segment))
			return 0;
		if (!i) /* the flags of the first segment are the map's */
			mask = segment.mask;
		if (rid < segment.count) {
			return memory_u64(runtime->memory, segment.table + 8 * (uint64_t)rid,
					  &value)
				       ? value & ~mask
				       : 0;
		}
		rid -= segment.count;
		at = segment.next;
	}
	return 0;
}

/* Does the hash table of constructed types refer to its module? */
static bool is_module_by_table(const struct runtime *runtime, uint64_t module)
{
	uint64_t table, owner;
	return coreclr_pointer(runtime, module, L_MODULE_TYPE_PARAMS, &table) && table &&
	       memory_u64(runtime->memory, table, &owner) && owner == module;
}

uint64_t assembly_list_module(const struct runtime *runtime, uint64_t element)
{
	uint64_t assembly = element, module, back;
	bool is_inner = coreclr_has(runtime, CORECLR_DOMAIN_ASSEMBLIES) ||
			coreclr_has(runtime, CORECLR_ASSEMBLY_POINTERS);
	if (!is_inner && !memory_u64(runtime->memory, element, &assembly))
		return 0;
	if (!assembly || !coreclr_pointer(runtime, assembly, L_ASSEMBLY_MODULE, &module) || !module)
		return 0;
	if (coreclr_has(runtime, CORECLR_DOMAIN_ASSEMBLIES) ||
	    !layout_has(&coreclr_of(runtime)->layout, L_MODULE_ASSEMBLY))
		return is_module_by_table(runtime, module) ? module : 0;
	return coreclr_pointer(runtime, module, L_MODULE_ASSEMBLY, &back) && back == assembly
		       ? module
		       : 0;
}

static enum hd_status add_listed(struct runtime *runtime, uint64_t address, struct hd_error *err)
{
	struct module_table *modules = coreclr_of(runtime)->modules;
	struct module *module = module_find(runtime, address);
	TRY_MEMORY(module && reserve_modules(&modules->listed, modules->listed_count,
					     &modules->listed_capacity),
		   err);
	if (module->is_listed)
		return HD_OK;
	module->is_listed = true;
	modules->listed[modules->listed_count++] = module;
	return HD_OK;
}

/* The list while it is read. */
struct assemblies {
	uint32_t left; /* number of elements that are not read yet */
	uint32_t lost; /* elements without a module */
	bool is_broken;
};

/* The assemblies of one block. */
static enum hd_status read_assembly_block(struct runtime *runtime, uint64_t block,
					  struct assemblies *list, struct hd_error *err)
{
	uint32_t size;
	uint64_t element;
	list->is_broken = !memory_u32(runtime->memory, block + BLOCK_COUNT, &size) || !size;
	for (uint32_t i = 0; !list->is_broken && i < size && list->left; i++) {
		list->is_broken = !memory_u64(runtime->memory,
					      block + BLOCK_ELEMENTS + 8 * (uint64_t)i, &element);
		if (list->is_broken)
			break;
		list->left--;
		uint64_t module = element ? assembly_list_module(runtime, element) : 0;
		list->lost += element && !module;
		if (module)
			TRY(add_listed(runtime, module, err));
	}
	return HD_OK;
}

static enum hd_status read_assembly_list(struct runtime *runtime, struct hd_error *err)
{
	if (!coreclr_of(runtime)->globals.app_domain ||
	    !layout_has(&coreclr_of(runtime)->layout, L_DOMAIN_ASSEMBLIES)) {
		return fail(err, HD_ERR_UNSUPPORTED, 0,
			    "cannot list modules: this runtime's AppDomain is not known");
	}
	uint64_t list = coreclr_of(runtime)->globals.app_domain +
			coreclr_offset(runtime, L_DOMAIN_ASSEMBLIES);
	uint32_t count;
	if (!memory_u32(runtime->memory, list + LIST_COUNT, &count))
		return fail(err, HD_ERR_FAULT, list, "cannot read the list of assemblies");
	if (count > ASSEMBLIES_MAX) {
		return fail(err, HD_ERR_FORMAT, list,
			    "the list of assemblies says %" PRIu32 " of them", count);
	}
	uint64_t block = list + LIST_FIRST_BLOCK;
	struct assemblies assemblies = { .left = count };
	while (block && assemblies.left && !assemblies.is_broken) {
		uint64_t next;
		TRY(read_assembly_block(runtime, block, &assemblies, err));
		block = memory_u64(runtime->memory, block + BLOCK_NEXT, &next) ? next : 0;
	}
	if (assemblies.left || assemblies.lost) {
		findings_add(&runtime->target->findings, FINDING_MODULE_LIST, NULL,
			     "%" PRIu32 " of the %" PRIu32
			     " assemblies of the runtime's list cannot "
			     "be read: types and static fields of them are not known",
			     assemblies.left + assemblies.lost, count);
	}
	if (!coreclr_of(runtime)->modules->listed_count)
		return fail(err, HD_ERR_FORMAT, list, "nothing on the list is an assembly");
	return HD_OK;
}

/* Is it the image of a program?  Only its headers are read. */
static bool is_program(struct runtime *runtime, uint64_t module)
{
	uint64_t base;
	bool is_mapped;
	struct image image;
	return module_base(runtime, module, &base, &is_mapped) &&
	       (image_find_metadata(runtime->memory, base, is_mapped, &image) ||
		image_find_metadata(runtime->memory, base, !is_mapped, &image)) &&
	       image.entry_point;
}

struct module *module_program(struct runtime *runtime)
{
	const struct coreclr *coreclr = coreclr_of(runtime);
	if (!coreclr->modules || !coreclr->globals.app_domain ||
	    !layout_has(&coreclr->layout, L_DOMAIN_ASSEMBLIES))
		return NULL;
	const uint64_t list =
		coreclr->globals.app_domain + coreclr_offset(runtime, L_DOMAIN_ASSEMBLIES);
	uint64_t block = list + LIST_FIRST_BLOCK;
	for (unsigned int blocks = 0; block && blocks < PROGRAM_BLOCKS_MAX; blocks++) {
		uint32_t size;
		uint64_t element;
		if (!memory_u32(runtime->memory, block + BLOCK_COUNT, &size))
			return NULL;
		for (uint32_t i = 0; i < size && i < PROGRAM_BLOCK_SIZE_MAX; i++) {
			const uint64_t at = block + BLOCK_ELEMENTS + 8 * (uint64_t)i;
			if (!memory_u64(runtime->memory, at, &element))
				return NULL;
			uint64_t module = element ? assembly_list_module(runtime, element) : 0;
			if (module && is_program(runtime, module))
				return module_find(runtime, module);
		}
		uint64_t next;
		block = memory_u64(runtime->memory, block + BLOCK_NEXT, &next) ? next : 0;
	}
	return NULL;
}

enum hd_status module_list(struct runtime *runtime, struct module *const **ret, size_t *ret_count,
			   struct hd_error *err)
{
	if (runtime->ops->modules)
		return runtime->ops->modules(runtime, ret, ret_count, err);
	return fail(err, HD_ERR_UNSUPPORTED, 0, "a program with %s has no list of its modules",
		    runtime->ops->name);
}

enum hd_status coreclr_modules(struct runtime *runtime, struct module *const **ret,
			       size_t *ret_count, struct hd_error *err)
{
	if (!coreclr_of(runtime)->modules->has_list) {
		TRY(read_assembly_list(runtime, err));
		coreclr_of(runtime)->modules->has_list = true;
	}
	*ret = coreclr_of(runtime)->modules->listed;
	*ret_count = coreclr_of(runtime)->modules->listed_count;
	return HD_OK;
}
