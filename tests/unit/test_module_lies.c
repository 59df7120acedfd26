/* SPDX-License-Identifier: MIT */
/* Symbols out of the file of a module that lies about its tables: an answer, or none. */
#include <elf.h>

#include "fuzz/linear.h"
#include "support/assert_more.h"
#include "support/file_scene.h"
#include "support/suite.h"
#include "targets/target_modules.h"

#define PAGE      SCENE_PAGE
#define BASE      SCENE_BASE
#define FUNCTION  0x5000u
#define OTHER     0x5200u
#define BUDGET    ((uint64_t)64 << 20)
#define GNU_CHAIN 28u /* header, one word of the filter, one bucket */
#define SYSV_ROWS 8u  /* two counts; then one bucket, then a row for each symbol */

/* A number that is written over one of a table, or of the ELF header. */
struct lie {
	const char *what;
	int64_t tag; /* the table's, in .dynamic; 0: the header */
	uint32_t offset;
	uint64_t value;
	uint8_t size;
	bool is_of_row; /* it is in .dynamic: the table's place, or its size */
	bool with_sysv_hash;
	bool is_found, is_placed; /* the function, by its name and by its address */
	bool is_no_module;
};

static const struct lie lies[] = {
	{ .what = "nothing", .size = 0, .is_found = true, .is_placed = true },
	{ .what = "nothing, the older table",
	  .with_sysv_hash = true,
	  .is_found = true,
	  .is_placed = true },
	{ .what = "no buckets", .tag = DT_GNU_HASH, .offset = 0, .value = 0, .size = 4 },
	{ .what = "too many buckets",
	  .tag = DT_GNU_HASH,
	  .offset = 0,
	  .value = UINT32_MAX,
	  .size = 4 },
	{ .what = "buckets up to the end",
	  .tag = DT_GNU_HASH,
	  .offset = 0,
	  .value = 0x1000,
	  .size = 4 },
	{ .what = "a first symbol after all",
	  .tag = DT_GNU_HASH,
	  .offset = 4,
	  .value = UINT32_MAX,
	  .size = 4 },
	{ .what = "a filter larger than the file",
	  .tag = DT_GNU_HASH,
	  .offset = 8,
	  .value = UINT32_MAX,
	  .size = 4 },
	{ .what = "an enormous shift",
	  .tag = DT_GNU_HASH,
	  .offset = 12,
	  .value = UINT32_MAX,
	  .size = 4,
	  .is_found = true,
	  .is_placed = true },
	{ .what = "a bucket that leads far",
	  .tag = DT_GNU_HASH,
	  .offset = 24,
	  .value = UINT32_MAX,
	  .size = 4 },
	{ .what = "a chain without an end",
	  .tag = DT_GNU_HASH,
	  .offset = GNU_CHAIN + 4,
	  .value = 2,
	  .size = 4,
	  .is_found = true },
	{ .what = "no buckets, the older table",
	  .tag = DT_HASH,
	  .offset = 0,
	  .value = 0,
	  .size = 4,
	  .with_sysv_hash = true,
	  .is_placed = true },
	{ .what = "too many buckets, the older table",
	  .tag = DT_HASH,
	  .offset = 0,
	  .value = UINT32_MAX,
	  .size = 4,
	  .with_sysv_hash = true,
	  .is_placed = true },
	{ .what = "too many symbols",
	  .tag = DT_HASH,
	  .offset = 4,
	  .value = UINT32_MAX,
	  .size = 4,
	  .with_sysv_hash = true,
	  .is_found = true },
	{ .what = "symbols up to the end",
	  .tag = DT_HASH,
	  .offset = 4,
	  .value = 0xfffff,
	  .size = 4,
	  .with_sysv_hash = true,
	  .is_found = true },
	{ .what = "a chain in a circle",
	  .tag = DT_HASH,
	  .offset = SYSV_ROWS,
	  .value = 2,
	  .size = 4,
	  .with_sysv_hash = true,
	  .is_placed = true },
	{ .what = "symbols at no place",
	  .tag = DT_SYMTAB,
	  .offset = 8,
	  .value = UINT64_MAX - 7,
	  .size = 8,
	  .is_of_row = true },
	{ .what = "symbols in the header",
	  .tag = DT_SYMTAB,
	  .offset = 8,
	  .value = 1,
	  .size = 8,
	  .is_of_row = true },
	{ .what = "names at no place",
	  .tag = DT_STRTAB,
	  .offset = 8,
	  .value = UINT64_MAX - 7,
	  .size = 8,
	  .is_of_row = true },
	{ .what = "names in the table of hashes",
	  .tag = DT_GNU_HASH,
	  .offset = 8,
	  .value = IMAGE_DYNAMIC,
	  .size = 8,
	  .is_of_row = true },
	{ .what = "a name that begins after all names",
	  .tag = DT_SYMTAB,
	  .offset = 24,
	  .value = UINT32_MAX,
	  .size = 4 },
	{ .what = "a function at the last address",
	  .tag = DT_SYMTAB,
	  .offset = 24 + 8,
	  .value = UINT64_MAX,
	  .size = 8,
	  .is_found = true },
	{ .what = "a function without an end",
	  .tag = DT_SYMTAB,
	  .offset = 24 + 16,
	  .value = UINT64_MAX,
	  .size = 8,
	  .is_found = true,
	  .is_placed = true },
	{ .what = "more program headers than are read",
	  .tag = 0,
	  .offset = 56,
	  .value = 0xfffe,
	  .size = 2,
	  .is_no_module = true },
	{ .what = "program headers of another size",
	  .tag = 0,
	  .offset = 54,
	  .value = 1,
	  .size = 2,
	  .is_no_module = true },
	{ .what = "program headers at no place",
	  .tag = 0,
	  .offset = 32,
	  .value = UINT64_MAX - 63,
	  .size = 8,
	  .is_no_module = true },
	{ .what = "the dynamic section at no place",
	  .tag = 0,
	  .offset = 64 + 56 + 16,
	  .value = UINT64_MAX - 15,
	  .size = 8 },
};

/* Where .dynamic has the row of @p tag, in the file. */
static size_t row_of(const struct text *file, int64_t tag)
{
	for (size_t at = IMAGE_DYNAMIC; at + sizeof(Elf64_Dyn) <= file->size;
	     at += sizeof(Elf64_Dyn)) {
		int64_t found;
		memcpy(&found, file->bytes + at, sizeof(found));
		if (found == tag)
			return at;
	}
	CU_FAIL_FATAL("the image has no such table");
	return 0;
}

static void tell(struct text *file, const struct lie *lie)
{
	size_t place = lie->tag ? row_of(file, lie->tag) : 0;
	if (lie->tag && !lie->is_of_row) {
		uint64_t table;
		memcpy(&table, file->bytes + place + 8, sizeof(table));
		place = (size_t)table;
	}
	place += lie->offset;
	REQUIRE(place + lie->size <= file->size ? file : NULL);
	memcpy(file->bytes + place, &lie->value, lie->size);
}

static struct text make_file(const struct lie *lie)
{
	static const struct image_symbol symbols[] = { { "function", FUNCTION, 0x100 },
						       { "other", OTHER, 0x100 } };
	static const char data[0x1000] = "code";
	const struct image_spec spec = { .base = BASE,
					 .build_id = "build-id of a module",
					 .symbols = symbols,
					 .symbol_count = 2,
					 .are_functions = true,
					 .with_sysv_hash = lie->with_sysv_hash,
					 .data_at = FUNCTION,
					 .data = data,
					 .data_size = sizeof(data) };
	struct text file = image_make(&spec, false);
	tell(&file, lie);
	return file;
}

/* The file has 0x6000 bytes: linear_end() aborts when a look-up takes more than they are worth. */
static void check(const struct lie *lie)
{
	struct scene scene = { .on_disk = make_file(lie), .options.trust_files = true };
	struct target *target = scene_open(&scene);
	uint64_t address = 0, size = 0, budget = BUDGET;
	char name[SYMBOL_NAME_MAX + 1] = "";
	struct linear linear = linear_begin(scene.on_disk.size);
	(void)printf("%s\n", lie->what);
	ASSERT_UINT(target->module_count, !lie->is_no_module);
	if (target->module_count) {
		const struct target_module *module = &target->modules[0];
		ASSERT_UINT(target_symbol(target, module, "function", &address, &size),
			    lie->is_found);
		ASSERT_UINT(target_symbol_at(target, module, BASE + FUNCTION + 8, &budget, name,
					     &address),
			    lie->is_placed);
		if (lie->is_placed) {
			ASSERT_TEXT(name, "function");
			ASSERT_UINT(address, BASE + FUNCTION);
		}
		CU_ASSERT(budget <= BUDGET);
	}
	linear_end(&linear, lie->what);
	scene_close(&scene, target);
}

TEST(each_lie_has_an_answer)
{
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		check(&lies[i]);
}

/* Where all bytes that may be spent on symbols are spent, nothing is found. */
TEST(the_budget_for_symbols_is_kept)
{
	struct scene scene = { .on_disk = make_file(&lies[0]), .options.trust_files = true };
	struct target *target = scene_open(&scene);
	char name[SYMBOL_NAME_MAX + 1] = "";
	uint64_t address, budget = 24;
	REQUIRE(target->module_count ? target : NULL);
	const struct target_module *module = &target->modules[0];
	CU_ASSERT(!target_symbol_at(target, module, BASE + FUNCTION, &budget, name, &address));
	ASSERT_UINT(budget, 0);
	ASSERT_TEXT(name, "");
	scene_close(&scene, target);
}

SUITE(.name = "module_lies", .set_up = scene_make_folder, .tear_down = scene_remove_folder)
