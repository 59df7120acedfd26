/* SPDX-License-Identifier: MIT */
/*
 * covers: core/src/metadata core/src/runtime/coreclr/code/signature.c core/src/runtime/coreclr/code/signature_text.c
 * core/src/runtime/coreclr/modules/token_name.c
 */
#include <stdlib.h>
#include <string.h>

#include "input_memory.h"
#include "metadata/il.h"
#include "metadata/image.h"
#include "metadata/metadata.h"
#include "runtime/coreclr/code/signature_text.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/modules/token_name.h"
#include "runtime/coreclr/types/type_name.h"
#include "runtime/type.h"
#include "targets/target.h"
#include "util/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define IMAGE_BASE ((uint64_t)1 << 32)
#define ROWS_MAX   300u
/* As dumpsig reads at most. */
#define SIGNATURE_MAX 16384u

static uint32_t rows_of(const struct metadata *metadata, enum md_table table)
{
	uint32_t rows = metadata->tables[table].rows;
	return rows < ROWS_MAX ? rows : ROWS_MAX;
}

static void read_names(struct runtime *runtime, const struct module *module)
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
			signature_type_name(runtime, module, blob + 1, length - 1, none, &text);
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

/* Read the things that the instructions of IL name. */
static void read_tokens(struct runtime *runtime, const struct module *module)
{
	static const uint32_t tables[] = { MD_TYPE_REF,   MD_TYPE_DEF,  MD_FIELD,      MD_METHOD,
					   MD_MEMBER_REF, MD_TYPE_SPEC, MD_METHOD_SPEC };
	struct text text = { 0 };
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		for (uint32_t rid = 0; rid <= rows_of(module->metadata, tables[i]) + 1; rid++) {
			(void)token_name(runtime, module, tables[i] << 24 | rid, &text);
			text.size = 0;
		}
	}
	for (uint32_t index = 0; index < ROWS_MAX; index++) {
		(void)token_name(runtime, module, 0x70u << 24 | index, &text);
		text.size = 0;
	}
	text_deinit(&text);
}

/* Bytes as signatures: each type of them uses some bytes, and none after their end. */
static void read_signature(struct runtime *runtime, const struct module *module,
			   const uint8_t *bytes, size_t size)
{
	struct signature signature = { bytes, bytes + size };
	struct signature_head head;
	struct text text = { 0 };
	bool is_sound = signature_head_read(&signature, &head);
	if (is_sound)
		signature_head_text(&head, &text);
	for (uint32_t i = 0; is_sound && i < head.types; i++) {
		const uint8_t *begin = signature.at;
		text.size = 0;
		is_sound = signature_type_text(runtime, module, &signature, &text);
		if (signature.at > signature.end || (is_sound && signature.at <= begin))
			abort();
	}
	text_deinit(&text);
}

static void read_signatures(struct runtime *runtime, const struct module *module,
			    const uint8_t *data, size_t size)
{
	const struct metadata *metadata = module->metadata;
	uint32_t length;
	for (uint32_t rid = 1; rid <= rows_of(metadata, MD_METHOD); rid++) {
		const uint8_t *blob = metadata_blob(
			metadata, metadata_column(metadata, MD_METHOD, rid, 4), &length);
		if (blob)
			read_signature(runtime, module, blob, length);
	}
	read_signature(runtime, module, data, size < SIGNATURE_MAX ? size : SIGNATURE_MAX);
}

/* The bytes as the body of a method: the instructions follow each other, up to the end. */
static void read_il(struct memory *memory, const uint8_t *data, size_t size)
{
	struct il_body body;
	struct il_clauses clauses;
	struct il_clause clause;
	struct il_instruction instruction;
	uint32_t offset = 0, limit = size < IL_CODE_MAX ? (uint32_t)size : IL_CODE_MAX;
	int64_t sum = 0;
	while (il_next(data, limit, offset, &instruction)) {
		if (!instruction.size || instruction.size > limit - offset)
			abort();
		for (uint32_t i = 0; i < instruction.count; i++)
			sum ^= il_switch_target(&instruction, i);
		offset += instruction.size;
	}
	if (offset > limit || sum == INT64_MIN)
		abort();
	if (!il_body_read(memory, IMAGE_BASE, &body))
		return;
	il_clauses_begin(&clauses, memory, &body);
	while (il_clauses_next(&clauses, &clause)) {
		if (clauses.count > IL_CLAUSES_MAX || (uint64_t)clauses.count * 12 > size)
			abort();
	}
}

/* Any bytes as metadata, or as a PE image with them: no crash, no hang, nothing out of bounds. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input_memory input = input_memory_at(IMAGE_BASE, data, size, false);
	struct target target = { .arch = &arch_x86_64,
				 .memory = &input.memory,
				 .own = &input.memory };
	struct coreclr runtime = { .base.ops = &coreclr_ops,
				   .base.target = &target,
				   .base.memory = &input.memory,
				   .major = 10 };
	struct image image;
	uint64_t address;
	for (int is_mapped = 0; is_mapped < 2; is_mapped++) {
		if (image_find_metadata(&input.memory, IMAGE_BASE, is_mapped, &image)) {
			(void)image_locate(&input.memory, IMAGE_BASE, is_mapped, 0x2000, 1,
					   &address);
		}
	}
	read_il(&input.memory, data, size);
	if (size > UINT32_MAX || runtime_type_table_create(&runtime.base.types, NULL) != HD_OK)
		return 0;
	if (module_table_create(&runtime.base, &runtime.modules, NULL) != HD_OK)
		abort();
	uint8_t *bytes = mem_alloc(size ? size : 1, 1);
	struct module module = { 0 };
	if (!bytes)
		abort();
	if (size)
		memcpy(bytes, data, size);
	if (metadata_create(bytes, (uint32_t)size, &module.metadata, NULL) == HD_OK) {
		read_names(&runtime.base, &module);
		read_tokens(&runtime.base, &module);
		read_signatures(&runtime.base, &module, data, size);
		metadata_destroy(module.metadata);
	} else {
		read_signature(&runtime.base, &module, data,
			       size < SIGNATURE_MAX ? size : SIGNATURE_MAX);
	}
	module_table_destroy(runtime.modules);
	runtime_base_deinit(&runtime.base);
	return 0;
}
