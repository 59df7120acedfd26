/* SPDX-License-Identifier: MIT */
/* covers: core/src/metadata core/src/clr/code/signature.c */
#include <stdlib.h>
#include <string.h>

#include "clr/internal.h"
#include "clr/modules/module.h"
#include "clr/types/type.h"
#include "clr/types/type_name.h"
#include "input_memory.h"
#include "metadata/image.h"
#include "metadata/metadata.h"
#include "targets/target.h"
#include "util/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define IMAGE_BASE ((uint64_t)1 << 32)
#define ROWS_MAX   300u

static uint32_t rows_of(const struct metadata *metadata, enum md_table table)
{
	uint32_t rows = metadata->tables[table].rows;
	return rows < ROWS_MAX ? rows : ROWS_MAX;
}

static void read_names(struct clr *clr, const struct module *module)
{
	const struct metadata *metadata = module->metadata;
	const struct type_arguments none = { 0 };
	struct text text = { 0 };
	for (uint32_t rid = 1; rid <= rows_of(metadata, MD_TYPE_DEF); rid++) {
		uint32_t end, begin = metadata_members(metadata, MD_FIELD, rid, &end);
		for (uint32_t i = begin; i < end && i < begin + 4; i++) {
			if (metadata_member(metadata, MD_FIELD, i) >
			    metadata->tables[MD_FIELD].rows)
				abort();
		}
		typedef_name(metadata, rid, &text);
		text.size = 0;
	}
	for (uint32_t rid = 1; rid <= rows_of(metadata, MD_FIELD); rid++) {
		uint32_t length;
		const uint8_t *blob = metadata_blob(
			metadata, metadata_column(metadata, MD_FIELD, rid, 2), &length);
		if (blob && length > 1)
			signature_type_name(clr, module, blob + 1, length - 1, none, &text);
		text.size = 0;
		(void)metadata_string(metadata, metadata_column(metadata, MD_FIELD, rid, 1));
		if (metadata_owner(metadata, MD_FIELD, rid) > metadata->tables[MD_TYPE_DEF].rows)
			abort();
	}
	for (uint32_t rid = 1; rid <= rows_of(metadata, MD_METHOD); rid++)
		(void)metadata_owner(metadata, MD_METHOD, rid);
	(void)metadata_mvid(metadata);
	text_deinit(&text);
}

/* Any bytes as metadata, or as a PE image with them: no crash, no hang, nothing out of bounds. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input_memory input = input_memory_at(IMAGE_BASE, data, size, false);
	struct target target = { .memory = &input.memory, .own = &input.memory };
	struct clr clr = { .target = &target, .memory = &input.memory, .major = 10 };
	struct image image;
	uint64_t address;
	for (int is_mapped = 0; is_mapped < 2; is_mapped++) {
		if (image_find_metadata(&input.memory, IMAGE_BASE, is_mapped, &image)) {
			(void)image_locate(&input.memory, IMAGE_BASE, is_mapped, 0x2000, 1,
					   &address);
		}
	}
	if (size > UINT32_MAX || clr_type_table_create(&clr, &clr.types, NULL) != HD_OK)
		return 0;
	if (module_table_create(&clr, &clr.modules, NULL) != HD_OK)
		abort();
	uint8_t *bytes = mem_alloc(size ? size : 1, 1);
	struct module module = { 0 };
	if (!bytes)
		abort();
	if (size)
		memcpy(bytes, data, size);
	if (metadata_create(bytes, (uint32_t)size, &module.metadata, NULL) == HD_OK) {
		read_names(&clr, &module);
		metadata_destroy(module.metadata);
	}
	module_table_destroy(clr.modules);
	clr_type_table_destroy(clr.types);
	return 0;
}
