/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/modules/module_proof.h"

#include <string.h>

#include "metadata/sizes.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/modules/module_image.h"
#include "targets/target.h"
#include "targets/target_files.h"

/*
 * Module -> PEAssembly -> MDInternalRO (the same in 8, 9 and 10: ceeload.h, peassembly.h, mdinternalro.h,
 * metamodelro.h).  Where no offset of PEAssembly is known (9), it is the pointer before Module.Base.
 */
#define ASSEMBLY_BEFORE_BASE 8u
#define ASSEMBLY_IMPORT      24u
#define IMPORT_SCHEMA        24u /* CMiniMdSchema: the header as in the file, rows of all tables */
#define IMPORT_ROWS          (IMPORT_SCHEMA + SIZES_HEADER)
#define IMPORT_STRINGS       1360u /* StgPoolReadOnly: the size of its data */
#define IMPORT_BLOBS         1392u
#define IMPORT_USER_STRINGS  1424u
#define MD_IMPORT_SIZE       1432u

#define SCHEMA_MAJOR_AT 4u
#define SCHEMA_MAJOR    2u

struct proof {
	const struct runtime *runtime;
	uint64_t module;
};

static bool read_module_word(const struct runtime *runtime, uint64_t module,
			     enum layout_field field, uint32_t before, uint64_t *ret)
{
	return layout_has(&coreclr_of(runtime)->layout, field) &&
	       memory_u64(runtime->target->own, module + coreclr_offset(runtime, field) - before,
			  ret) &&
	       *ret;
}

/* Find the runtime's metadata reader of @p module in the core's own memory. */
static bool read_import(const struct runtime *runtime, uint64_t module, uint8_t *buf)
{
	uint64_t assembly, import;
	return (read_module_word(runtime, module, L_MODULE_PE_ASSEMBLY, 0, &assembly) ||
		read_module_word(runtime, module, L_MODULE_BASE, ASSEMBLY_BEFORE_BASE,
				 &assembly)) &&
	       memory_u64(runtime->target->own, assembly + ASSEMBLY_IMPORT, &import) && import &&
	       memory_read(runtime->target->own, import, buf, MD_IMPORT_SIZE) &&
	       buf[IMPORT_SCHEMA + SCHEMA_MAJOR_AT] == SCHEMA_MAJOR;
}

static bool is_same_metadata(const uint8_t *import, const struct metadata_sizes *sizes)
{
	if (memcmp(import + IMPORT_SCHEMA, sizes->header, SIZES_HEADER) != 0 ||
	    load_u32(import + IMPORT_STRINGS) != sizes->strings ||
	    load_u32(import + IMPORT_BLOBS) != sizes->blobs ||
	    load_u32(import + IMPORT_USER_STRINGS) != sizes->user_strings)
		return false;
	for (unsigned int i = 0; i < SIZES_TABLES; i++) {
		if (load_u32(import + IMPORT_ROWS + 4 * (size_t)i) != sizes->rows[i])
			return false;
	}
	return true;
}

static enum target_proof prove_by_metadata(void *arg, struct memory *file)
{
	const struct proof *proof = arg;
	uint8_t import[MD_IMPORT_SIZE];
	struct image image;
	struct metadata_sizes sizes;
	if (!read_import(proof->runtime, proof->module, import))
		return TARGET_PROOF_NONE;
	return image_find_metadata(file, 0, false, &image) &&
			       metadata_sizes_read(file, image.metadata, image.metadata_size,
						   &sizes) &&
			       is_same_metadata(import, &sizes)
		       ? TARGET_PROOF_SAME
		       : TARGET_PROOF_OTHER;
}

void module_prove_image(struct runtime *runtime, uint64_t module, uint64_t base)
{
	struct proof proof = { .runtime = runtime, .module = module };
	const struct target_mapping *mapping = target_mapping_at(&runtime->target->map, base);
	uint16_t magic;
	/* If the core has its headers, they prove the file when it is needed. */
	if (mapping && runtime->target->own && !memory_u16(runtime->target->own, base, &magic))
		target_prove_file(runtime->target, mapping->path, prove_by_metadata, &proof);
}

void module_prove(struct runtime *runtime, uint64_t module)
{
	uint64_t base;
	bool is_mapped;
	if (module_base(runtime, module, &base, &is_mapped))
		module_prove_image(runtime, module, base);
}

void module_prove_all(struct runtime *runtime)
{
	struct module *const *modules;
	struct hd_error err;
	size_t count;
	if (!target_has_unverified(runtime->target) ||
	    module_list(runtime, &modules, &count, &err) != HD_OK)
		return;
	for (size_t i = 0; i < count; i++)
		module_prove(runtime, modules[i]->address);
}
