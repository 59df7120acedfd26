/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/modules/module_facts.h"

#include "metadata/image.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/module_image.h"
#include "runtime/coreclr/types/type_lookup.h"
#include "runtime/type.h"

/* Columns of Assembly (ECMA-335 II.22.2). */
#define ASSEMBLY_MAJOR 1u

/* The image as it was loaded: how many bytes the runtime has of it. */
static void read_image(struct runtime *runtime, struct module_facts *facts)
{
	uint64_t image, layout;
	if (facts->pe_assembly &&
	    coreclr_pointer(runtime, facts->pe_assembly, L_PE_ASSEMBLY_IMAGE, &image) && image &&
	    coreclr_pointer(runtime, image, L_PE_IMAGE_LAYOUT, &layout) && layout)
		(void)coreclr_field_u32(runtime, layout, L_IMAGE_LAYOUT_SIZE, &facts->image_size);
}

/*
 * In 8 and 9 only an assembly that no file is bound to has the binder itself; the others have it by
 * their BINDER_SPACE::Assembly.
 */
static void read_binder(struct runtime *runtime, struct module_facts *facts)
{
	uint64_t host;
	if (!facts->pe_assembly)
		return;
	if (coreclr_pointer(runtime, facts->pe_assembly, L_PE_ASSEMBLY_BINDER, &facts->binder) &&
	    facts->binder)
		return;
	if (coreclr_pointer(runtime, facts->pe_assembly, L_PE_ASSEMBLY_HOST, &host) && host)
		(void)coreclr_pointer(runtime, host, L_HOST_ASSEMBLY_BINDER, &facts->binder);
}

/* The binder has a GC handle to the object of its context, from when the program asked for that. */
static void read_context(struct runtime *runtime, struct module_facts *facts)
{
	uint64_t handle;
	facts->knows_context = facts->binder &&
			       coreclr_pointer(runtime, facts->binder, L_BINDER_CONTEXT, &handle) &&
			       (!handle || memory_u64(runtime->memory, handle, &facts->context));
}

/* A module can be unloaded if its LoaderAllocator is another one than that of CoreLib. */
static void read_allocator(struct runtime *runtime, uint64_t module, struct module_facts *facts)
{
	uint64_t core, allocator;
	const struct type *object = type_find(runtime, runtime_object_method_table(runtime));
	if (!coreclr_pointer(runtime, module, L_MODULE_LOADER_ALLOCATOR, &facts->allocator) ||
	    !facts->allocator || !object)
		return;
	core = object->module;
	if (!coreclr_pointer(runtime, core, L_MODULE_LOADER_ALLOCATOR, &allocator) || !allocator)
		return;
	facts->knows_collectible = true;
	facts->is_collectible = allocator != facts->allocator;
}

static void read_metadata_facts(struct runtime *runtime, const struct module *module,
				struct module_facts *facts)
{
	struct image image;
	uint64_t saved;
	if (module->image_base &&
	    image_find_metadata(runtime->memory, module->image_base, module->is_mapped, &image)) {
		facts->metadata = image.metadata;
		facts->metadata_size = image.metadata_size;
	} else if (coreclr_pointer(runtime, module->address, L_MODULE_DYNAMIC_METADATA, &saved) &&
		   saved && memory_u32(runtime->memory, saved, &facts->metadata_size)) {
		facts->metadata = saved + 4;
	}
	if (!module->metadata)
		return;
	facts->mvid = metadata_mvid(module->metadata);
	facts->has_version = module->metadata->tables[MD_ASSEMBLY].rows != 0;
	for (unsigned int i = 0; facts->has_version && i < 4; i++) {
		facts->version[i] = (uint16_t)metadata_column(module->metadata, MD_ASSEMBLY, 1,
							      ASSEMBLY_MAJOR + i);
	}
}

uint64_t module_blob_address(struct runtime *runtime, const struct module *module,
			     const uint8_t *blob)
{
	struct module_facts facts = { 0 };
	if (!blob || !module->metadata)
		return 0;
	read_metadata_facts(runtime, module, &facts);
	return facts.metadata ? facts.metadata + (uint64_t)(blob - module->metadata->bytes) : 0;
}

void module_facts_read(struct runtime *runtime, const struct module *module,
		       struct module_facts *ret)
{
	uint64_t compiled;
	*ret = (struct module_facts){ 0 };
	(void)coreclr_pointer(runtime, module->address, L_MODULE_ASSEMBLY, &ret->assembly);
	(void)coreclr_pointer(runtime, module->address, L_MODULE_PE_ASSEMBLY, &ret->pe_assembly);
	ret->has_flags = coreclr_field_u32(runtime, module->address, L_MODULE_FLAGS, &ret->flags);
	ret->knows_compiled = coreclr_pointer(runtime, module->address, L_MODULE_R2R, &compiled);
	ret->is_compiled = ret->knows_compiled && compiled;
	if (coreclr_has_field(runtime, L_MODULE_TYPE_DEF_MAP))
		ret->type_map = module->address + coreclr_offset(runtime, L_MODULE_TYPE_DEF_MAP);
	read_image(runtime, ret);
	read_binder(runtime, ret);
	read_context(runtime, ret);
	read_allocator(runtime, module->address, ret);
	read_metadata_facts(runtime, module, ret);
}

const struct module *module_at(struct module *const *modules, size_t count, uint64_t address)
{
	for (size_t i = 0; i < count; i++) {
		if (modules[i]->address == address)
			return modules[i];
	}
	return NULL;
}

const struct module *module_of_assembly(struct runtime *runtime, struct module *const *modules,
					size_t count, uint64_t address)
{
	for (size_t i = 0; address && i < count; i++) {
		uint64_t assembly;
		if (coreclr_pointer(runtime, modules[i]->address, L_MODULE_ASSEMBLY, &assembly) &&
		    assembly == address)
			return modules[i];
	}
	return NULL;
}

char *domain_name(struct runtime *runtime, uint64_t domain)
{
	uint64_t string;
	return coreclr_pointer(runtime, domain, L_DOMAIN_NAME, &string) && string
		       ? runtime_read_utf16(runtime, string)
		       : NULL;
}

void modules_touch(struct runtime *runtime)
{
	struct module *const *modules = NULL;
	struct module_facts facts;
	size_t count = 0;
	struct hd_error unused;
	if (module_list(runtime, &modules, &count, &unused) != HD_OK)
		return;
	for (size_t i = 0; i < count; i++)
		module_facts_read(runtime, modules[i], &facts);
}
