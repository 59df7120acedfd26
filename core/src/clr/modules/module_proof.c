/* SPDX-License-Identifier: MIT */
#include "clr/modules/module_proof.h"

#include <string.h>

#include "clr/internal.h"
#include "clr/modules/module.h"
#include "clr/modules/module_image.h"
#include "metadata/sizes.h"
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
	const struct clr *clr;
	uint64_t module;
};

static bool read_module_word(const struct clr *clr, uint64_t module, enum layout_field field,
			     uint32_t before, uint64_t *ret)
{
	return layout_has(&clr->layout, field) &&
	       memory_u64(clr->target->own, module + clr_offset(clr, field) - before, ret) && *ret;
}

/* Find the runtime's metadata reader of @p module in the core's own memory. */
static bool read_import(const struct clr *clr, uint64_t module, uint8_t *buf)
{
	uint64_t assembly, import;
	return (read_module_word(clr, module, L_MODULE_PE_ASSEMBLY, 0, &assembly) ||
		read_module_word(clr, module, L_MODULE_BASE, ASSEMBLY_BEFORE_BASE, &assembly)) &&
	       memory_u64(clr->target->own, assembly + ASSEMBLY_IMPORT, &import) && import &&
	       memory_read(clr->target->own, import, buf, MD_IMPORT_SIZE) &&
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
	if (!read_import(proof->clr, proof->module, import))
		return TARGET_PROOF_NONE;
	return image_find_metadata(file, 0, false, &image) &&
			       metadata_sizes_read(file, image.metadata, image.metadata_size,
						   &sizes) &&
			       is_same_metadata(import, &sizes)
		       ? TARGET_PROOF_SAME
		       : TARGET_PROOF_OTHER;
}

void module_prove_image(struct clr *clr, uint64_t module, uint64_t base)
{
	struct proof proof = { .clr = clr, .module = module };
	const struct target_mapping *mapping = target_mapping_at(&clr->target->map, base);
	uint16_t magic;
	/* If the core has its headers, they prove the file when it is needed. */
	if (mapping && clr->target->own && !memory_u16(clr->target->own, base, &magic))
		target_prove_file(clr->target, mapping->path, prove_by_metadata, &proof);
}

void module_prove(struct clr *clr, uint64_t module)
{
	uint64_t base;
	bool is_mapped;
	if (module_base(clr, module, &base, &is_mapped))
		module_prove_image(clr, module, base);
}

void module_prove_all(struct clr *clr)
{
	struct module *const *modules;
	struct hd_error err;
	size_t count;
	if (!target_has_unverified(clr->target) ||
	    module_list(clr, &modules, &count, &err) != HD_OK)
		return;
	for (size_t i = 0; i < count; i++)
		module_prove(clr, modules[i]->address);
}
