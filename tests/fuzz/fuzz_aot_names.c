/* SPDX-License-Identifier: MIT */
/*
 * covers: core/src/runtime/nativeaot/native_format.c core/src/runtime/nativeaot/native_metadata.c
 * core/src/runtime/nativeaot/type_map.c core/src/runtime/nativeaot/type_name.c
 * core/src/runtime/nativeaot/method_map.c core/src/runtime/nativeaot/ready_to_run.c
 */
#include <stdlib.h>

#include "input_memory.h"
#include "linear.h"
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/method_map.h"
#include "runtime/nativeaot/type_map.h"
#include "runtime/nativeaot/type_name.h"
#include "targets/target.h"
#include "util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The tables of a program, as make_aot_images.py writes them: its bytes are the memory from BASE on.  The first byte
 * chooses the release, the second says whether bytes are seen where they lie, and the header begins at 16.
 */
#define BASE      ((uint64_t)0x10000000)
#define HEADER    (BASE + 16)
#define NAMES_MAX 200u

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* Names end, are not cut inside of a character by us, and do not depend on what was named before. */
static void name_tables(struct nativeaot *aot, size_t size)
{
	struct text text = { 0 };
	for (size_t i = 0; i < aot->types->rows_count && i < NAMES_MAX; i++) {
		const struct type_map_row *row = &aot->types->rows[i];
		check(!i || row[-1].method_table <= row->method_table);
		text.size = 0;
		aot_table_name(aot, row->method_table, &text);
		check(text.size && text.size <= AOT_NAME_MAX + sizeof("..."));
	}
	for (uint64_t at = 0; at < size && at < (uint64_t)8 * NAMES_MAX; at += 8) {
		text.size = 0;
		aot_table_name(aot, BASE + at, &text);
		check(text.size && text.size <= AOT_NAME_MAX + sizeof("..."));
	}
	(void)type_map_find(aot->types, "System.Object");
	text_deinit(&text);
}

static void name_methods(struct nativeaot *aot)
{
	const struct method_map *map = aot->methods;
	struct text text = { 0 };
	for (size_t i = 0; i < map->rows_count && i < NAMES_MAX; i++) {
		const struct method_row *row = &map->rows[i];
		check(!i || row[-1].code <= row->code);
		check(method_map_find(map, row->code) != NULL);
		text.size = 0;
		aot_method_signature(aot, row, &text);
		check(text.size > 0);
	}
	text_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 16)
		return 0;
	struct input_memory input = input_memory_at(BASE, data, size, data[1] & 1);
	struct target target = { .memory = &input.memory, .own = &input.memory };
	struct type_map types = { .is_cut = false };
	struct method_map methods = { .is_cut = false };
	struct nativeaot aot = { .base = { .target = &target, .memory = &input.memory },
				 .major = AOT_MAJOR_FIRST + data[0] % 4,
				 .types = &types,
				 .methods = &methods };
	struct hd_error err;
	if (!ready_to_run_read(&target, NULL, HEADER, &aot.image))
		return 0;
	struct linear linear = linear_begin(size);
	if (type_map_read(&input.memory, &aot.image, &types, &err) == HD_OK &&
	    method_map_read(&input.memory, &aot.image, &types, &methods, &err) == HD_OK) {
		name_tables(&aot, size);
		name_methods(&aot);
	}
	method_map_deinit(&methods);
	type_map_deinit(&types);
	linear_end(&linear, "names of a NativeAOT program");
	return 0;
}
