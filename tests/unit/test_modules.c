/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/assert_more.h"
#include "support/elf_maker.h"
#include "support/suite.h"
#include "targets/code_place.h"
#include "targets/target_modules.h"
#include "util/alloc.h"

#define PAGE     ((uint64_t)4096)
#define PROGRAM  ((uint64_t)0x550000000000)
#define LIBRARY  ((uint64_t)0x7f0000000000)
#define LINK_MAP ((uint64_t)0x7f1000000000)

static const struct image_symbol symbols[] = {
	{ "first_symbol", 0x3000, 16 },
	{ "g_dacTable", 0x3010, 1032 },
	{ "DotNetRuntimeContractDescriptor", 0x3020, 40 },
	{ "last", 0x3030, 0 },
};

static struct image_spec program_spec(void)
{
	return (struct image_spec){ .base = PROGRAM,
				    .build_id = "program-build-id-123",
				    .debug = LINK_MAP };
}

static struct image_spec library_spec(void)
{
	return (struct image_spec){ .base = LIBRARY,
				    .soname = "libfake.so",
				    .build_id = "library-build-id",
				    .symbols = symbols,
				    .symbol_count = sizeof(symbols) / sizeof(symbols[0]) };
}

static void add_image(struct elf_maker *maker, const struct image_spec *spec)
{
	struct text image = image_make(spec, true);
	elf_maker_load(maker, spec->base, image.bytes, image.size, image.size, PF_R);
	text_deinit(&image);
}

static void add_auxv(struct elf_maker *maker)
{
	static const uint64_t auxv[][2] = { { AT_PHDR, PROGRAM + 64 },
					    { AT_PHNUM, 3 },
					    { AT_ENTRY, PROGRAM + 0x1000 } };
	elf_maker_auxv(maker, auxv, 3);
}

static const struct link_row rows[] = {
	{ PROGRAM, PROGRAM + IMAGE_DYNAMIC, "" },
	{ LIBRARY, LIBRARY + IMAGE_DYNAMIC, "/lib/libfake.so" },
};

/* A program and a library, in a core that has all of both. */
static void make_core(struct elf_maker *maker, const struct image_spec *library)
{
	struct image_spec program = program_spec();
	elf_maker_init(maker);
	add_auxv(maker);
	elf_maker_file(maker, PROGRAM, PROGRAM + 0x8000, 0, "/bin/program");
	elf_maker_file(maker, LIBRARY, LIBRARY + 0x8000, 0, "/lib/libfake.so");
	add_image(maker, &program);
	add_image(maker, library);
}

static struct target *open_alone(struct elf_maker *maker)
{
	const struct target_options options = { .no_files = true };
	struct target *target = elf_maker_open(maker, &options);
	elf_maker_deinit(maker);
	return target;
}

static void assert_both(const struct target *target)
{
	ASSERT_UINT_FATAL(target->module_count, 2);
	ASSERT_TEXT(target->modules[0].path, "/bin/program");
	ASSERT_UINT(target->modules[0].base, PROGRAM);
	ASSERT_TEXT(target->modules[1].path, "/lib/libfake.so");
	ASSERT_UINT(target->modules[1].base, LIBRARY);
	ASSERT_UINT(target->modules[1].dynamic, LIBRARY + IMAGE_DYNAMIC);
}

TEST(the_link_map_lists_modules)
{
	struct elf_maker maker;
	struct image_spec library = library_spec();
	make_core(&maker, &library);
	elf_maker_link_map(&maker, LINK_MAP, rows, 2, 0);
	struct target *target = open_alone(&maker);
	assert_both(target);
	ASSERT_UINT(target->findings.count, 0);
	target_destroy(target);
}

TEST(without_auxv_the_link_map_is_found_by_the_images)
{
	struct elf_maker maker;
	struct image_spec library = library_spec(), program = program_spec();
	elf_maker_init(&maker);
	add_image(&maker, &library);
	add_image(&maker, &program);
	elf_maker_link_map(&maker, LINK_MAP, rows, 2, 0);
	struct target *target = open_alone(&maker);
	ASSERT_UINT_FATAL(target->module_count, 2);
	ASSERT_UINT(target->modules[0].base, PROGRAM);
	ASSERT_TEXT(target->modules[0].path, "");
	ASSERT_TEXT(target->modules[1].path, "/lib/libfake.so");
	target_destroy(target);
}

TEST(without_a_link_map_the_mapped_files_tell)
{
	struct elf_maker maker;
	struct image_spec library = library_spec();
	make_core(&maker, &library);
	struct target *target = open_alone(&maker);
	assert_both(target);
	target_destroy(target);
}

TEST(without_notes_the_images_tell)
{
	struct elf_maker maker;
	struct image_spec library = library_spec();
	elf_maker_init(&maker);
	add_image(&maker, &library);
	struct target *target = open_alone(&maker);
	ASSERT_UINT_FATAL(target->module_count, 1);
	ASSERT_TEXT(target->modules[0].path, "libfake.so");
	ASSERT_UINT(target->modules[0].base, LIBRARY);
	target_destroy(target);
}

TEST(a_cyclic_link_map_ends)
{
	for (size_t to = 0; to < 3; to++) {
		struct elf_maker maker;
		struct image_spec library = library_spec();
		make_core(&maker, &library);
		/* To the first, to the last itself, to where nothing is. */
		uint64_t next = to < 2 ? link_row_address(LINK_MAP, to) : 0x1234;
		elf_maker_link_map(&maker, LINK_MAP, rows, 2, next);
		struct target *target = open_alone(&maker);
		CU_ASSERT(findings_has(&target->findings, FINDING_LINK_MAP));
		assert_both(target);
		target_destroy(target);
	}
}

TEST(a_long_link_map_is_bounded)
{
	enum {
		COUNT = 20000
	};
	struct elf_maker maker;
	struct image_spec library = library_spec();
	struct link_row *many = mem_calloc(COUNT, sizeof(*many));
	REQUIRE(many);
	for (size_t i = 0; i < COUNT; i++)
		many[i] = (struct link_row){ i, i, "x" };
	make_core(&maker, &library);
	elf_maker_link_map(&maker, LINK_MAP, many, COUNT, 0);
	struct target *target = open_alone(&maker);
	CU_ASSERT(target->module_count <= 8192 && target->module_count > 8000);
	CU_ASSERT(findings_has(&target->findings, FINDING_LINK_MAP));
	target_destroy(target);
	mem_free(many);
}

static void assert_symbols(const struct target *target, const struct target_module *module)
{
	uint64_t address = 0, size = 0;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		CU_ASSERT(target_symbol(target, module, symbols[i].name, &address, &size));
		ASSERT_UINT(address, LIBRARY + symbols[i].value);
		ASSERT_UINT(size, symbols[i].size);
	}
	CU_ASSERT(target_symbol(target, module, "last", &address, NULL));
	CU_ASSERT(!target_symbol(target, module, "las", &address, NULL));
	CU_ASSERT(!target_symbol(target, module, "last_", &address, NULL));
	CU_ASSERT(!target_symbol(target, module, "", &address, NULL));
}

/* The function at @p place of the library; "": there is none. */
static void check_function(const struct target *target, uint64_t place, const char *name,
			   uint64_t begin)
{
	char found[SYMBOL_NAME_MAX + 1] = "";
	uint64_t address = 0, budget = 1000;
	bool is_found = target_symbol_at(target, &target->modules[1], LIBRARY + place, &budget,
					 found, &address);
	ASSERT_UINT(is_found, *name != '\0');
	ASSERT_TEXT(found, name);
	ASSERT_UINT(address, *name ? LIBRARY + begin : 0);
	CU_ASSERT(budget < 1000);
}

TEST(symbols_are_found_by_either_hash)
{
	for (int sysv = 0; sysv < 2; sysv++) {
		struct elf_maker maker;
		struct image_spec library = library_spec();
		library.with_sysv_hash = sysv;
		make_core(&maker, &library);
		elf_maker_link_map(&maker, LINK_MAP, rows, 2, 0);
		struct target *target = open_alone(&maker);
		assert_both(target);
		uint64_t address;
		assert_symbols(target, &target->modules[1]);
		check_function(target, 0x3000, "", 0); /* data is not code */
		CU_ASSERT(!target_symbol(target, &target->modules[0], "last", &address, NULL));
		char long_name[600];
		memset(long_name, 'x', sizeof(long_name) - 1);
		long_name[sizeof(long_name) - 1] = '\0';
		CU_ASSERT(!target_symbol(target, &target->modules[1], long_name, &address, NULL));
		target_destroy(target);
	}
}

TEST(functions_are_found_by_their_code)
{
	static const struct image_symbol functions[] = { { "outer", 0x3000, 0x100 },
							 { "inner", 0x3020, 0x10 },
							 { "empty", 0x3200, 0 } };
	for (int sysv = 0; sysv < 2; sysv++) {
		struct elf_maker maker;
		struct image_spec library = library_spec();
		library.symbols = functions;
		library.symbol_count = 3;
		library.are_functions = true;
		library.with_sysv_hash = sysv;
		make_core(&maker, &library);
		elf_maker_link_map(&maker, LINK_MAP, rows, 2, 0);
		struct target *target = open_alone(&maker);
		check_function(target, 0x3000, "outer", 0x3000);
		check_function(target, 0x3010, "outer", 0x3000);
		check_function(target, 0x3020, "inner", 0x3020);
		check_function(target, 0x302f, "inner", 0x3020);
		check_function(target, 0x30ff, "outer", 0x3000);
		check_function(target, 0x2fff, "", 0);
		check_function(target, 0x3100, "", 0);
		check_function(target, 0x3200, "", 0);
		uint64_t address, budget = 4 * sizeof(uint64_t);
		char name[SYMBOL_NAME_MAX + 1];
		CU_ASSERT(!target_symbol_at(target, &target->modules[1], LIBRARY + 0x3000, &budget,
					    name, &address));
		ASSERT_UINT(budget, 0);
		target_destroy(target);
	}
}

/* A place in code, for people. */
static void check_place(struct target *target, uint64_t ip, bool is_active, const char *expected)
{
	struct text text = { 0 };
	uint64_t budget = 10000;
	target_code_place(target, NULL, ip, is_active, &budget, &text);
	ASSERT_TEXT(text.size ? text.bytes : "", expected);
	text_deinit(&text);
}

TEST(places_in_code_have_the_name_of_the_library)
{
	static const struct image_symbol functions[] = { { "sleep", 0x3000, 0x10 },
							 { "wake", 0x3010, 0x10 } };
	struct elf_maker maker;
	struct image_spec library = library_spec();
	library.symbols = functions;
	library.symbol_count = 2;
	library.are_functions = true;
	make_core(&maker, &library);
	elf_maker_link_map(&maker, LINK_MAP, rows, 2, 0);
	struct target *target = open_alone(&maker);
	check_place(target, LIBRARY + 0x3008, true, "libfake.so!sleep+0x8");
	/* A call at the end of a function returns to the begin of the next one. */
	check_place(target, LIBRARY + 0x3010, true, "libfake.so!wake+0x0");
	check_place(target, LIBRARY + 0x3010, false, "libfake.so!sleep+0x10");
	check_place(target, LIBRARY + 0x3100, true, "libfake.so+0x3100");
	check_place(target, 0x1234, true, "");
	target_destroy(target);
}

/* As musl leaves .dynamic: addresses without the base. */
TEST(unrelocated_dynamic_sections_do)
{
	struct elf_maker maker;
	struct image_spec program = program_spec(), library = library_spec();
	elf_maker_init(&maker);
	add_auxv(&maker);
	add_image(&maker, &program);
	struct text image = image_make(&library, false);
	elf_maker_load(&maker, LIBRARY, image.bytes, image.size, image.size, PF_R);
	text_deinit(&image);
	elf_maker_link_map(&maker, LINK_MAP, rows, 2, 0);
	struct target *target = open_alone(&maker);
	ASSERT_UINT_FATAL(target->module_count, 2);
	assert_symbols(target, &target->modules[1]);
	target_destroy(target);
}

TEST(build_ids_are_read)
{
	struct elf_maker maker;
	struct image_spec library = library_spec();
	char id[129];
	make_core(&maker, &library);
	elf_maker_link_map(&maker, LINK_MAP, rows, 2, 0);
	struct target *target = open_alone(&maker);
	assert_both(target);
	CU_ASSERT(target_build_id(target, &target->modules[1], id, sizeof(id)));
	ASSERT_TEXT(id, "6c6962726172792d6275696c642d6964"); /* "library-build-id" */
	CU_ASSERT(!target_build_id(target, &target->modules[1], id, 32));
	CU_ASSERT(target_build_id(target, &target->modules[1], id, 33));
	const struct target_module elsewhere = { .base = 0x1000, .dynamic = 0x2000 };
	CU_ASSERT(!target_build_id(target, &elsewhere, id, sizeof(id)));
	target_destroy(target);
}

/* The last page of the library, at 0x4000, is not in the core: its pointers are in the file. */
TEST(pointers_out_of_the_file_are_relocated)
{
	static const struct image_pointer rela[] = { { 0x4010, 0x777 }, { 0x4008, 0x555 } };
	/* 0x4020, then of the 63 words after it the first and the third. */
	static const uint64_t relr[] = { 0x4020, 1 | 1 << 1 | 1 << 3 };
	static const uint64_t data[] = { 0x11, 0, 0, 0x22, 0x100, 0x200, 0x300, 0x400 };
	/* ld.so would make this of it. */
	static const uint64_t expected[] = { 0x11,  LIBRARY + 0x555, LIBRARY + 0x777,
					     0x22,  LIBRARY + 0x100, LIBRARY + 0x200,
					     0x300, LIBRARY + 0x400 };
	char path[] = "/tmp/heapdump-module-XXXXXX";
	int fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0 && close(fd) == 0);
	struct image_spec library = library_spec();
	library.rela = rela;
	library.rela_count = 2;
	library.relr = relr;
	library.relr_count = 2;
	library.data_at = 0x4000;
	library.data = data;
	library.data_size = sizeof(data);
	struct text in_file = image_make(&library, false), in_memory = image_make(&library, true);
	CU_ASSERT_FATAL(write_file(path, in_file.bytes, in_file.size));
	for (int captured = 0; captured < 2; captured++) {
		struct elf_maker maker;
		struct image_spec program = program_spec();
		elf_maker_init(&maker);
		add_auxv(&maker);
		add_image(&maker, &program);
		elf_maker_file(&maker, LIBRARY, LIBRARY + in_file.size, 0, path);
		uint64_t size = captured ? in_memory.size : 0x4000;
		elf_maker_load(&maker, LIBRARY, in_memory.bytes, size, in_memory.size, PF_R);
		elf_maker_link_map(&maker, LINK_MAP, rows, 2, 0);
		struct target *target = elf_maker_open(&maker, NULL);
		ASSERT_UINT_FATAL(target->module_count, 2);
		for (size_t i = 0; i < sizeof(data) / sizeof(data[0]); i++) {
			uint64_t value = 0, raw = 0;
			CU_ASSERT(target_module_pointer(target, &target->modules[1],
							LIBRARY + 0x4000 + i * 8, &value));
			ASSERT_UINT(value, expected[i]);
			CU_ASSERT(memory_u64(target->memory, LIBRARY + 0x4000 + i * 8, &raw));
			ASSERT_UINT(raw, captured ? expected[i] : data[i]);
		}
		uint64_t value;
		CU_ASSERT(!target_module_pointer(target, &target->modules[1], 8, &value));
		target_destroy(target);
		elf_maker_deinit(&maker);
	}
	text_deinit(&in_file);
	text_deinit(&in_memory);
	(void)unlink(path);
}

TEST(tables_that_lie_find_nothing)
{
	struct image_spec library = library_spec();
	struct text image = image_make(&library, true);
	unsigned int seed = 3;
	/* Each word of the tables in turn becomes some large, zero or odd number. */
	for (size_t i = 64; i + 8 <= IMAGE_TABLES_END && i < image.size; i += 4) {
		static const uint64_t lies[] = { 0,          1,      UINT64_MAX, 0x7fffffffffffffff,
						 0xffffffff, LIBRARY };
		struct text bad = { 0 };
		text_append(&bad, image.bytes, image.size);
		seed = seed * 1103515245 + 12345;
		memcpy(bad.bytes + i, &lies[(seed >> 16) % 6], 8);
		struct elf_maker maker;
		struct image_spec program = program_spec();
		elf_maker_init(&maker);
		add_auxv(&maker);
		add_image(&maker, &program);
		elf_maker_load(&maker, LIBRARY, bad.bytes, bad.size, bad.size, PF_R);
		elf_maker_link_map(&maker, LINK_MAP, rows, 2, 0);
		struct target *target = open_alone(&maker);
		ASSERT_UINT_FATAL(target->module_count, 2);
		uint64_t address;
		char id[129];
		(void)target_symbol(target, &target->modules[1], "g_dacTable", &address, NULL);
		(void)target_symbol(target, &target->modules[1], "nothing", &address, NULL);
		(void)target_module_pointer(target, &target->modules[1], LIBRARY + 8, &address);
		(void)target_build_id(target, &target->modules[1], id, sizeof(id));
		target_destroy(target);
		text_deinit(&bad);
	}
	text_deinit(&image);
}

TEST(every_failed_allocation_is_told)
{
	struct elf_maker maker;
	struct image_spec library = library_spec();
	make_core(&maker, &library);
	elf_maker_link_map(&maker, LINK_MAP, rows, 2, 0);
	struct text core = elf_maker_build(&maker);
	uint64_t nth = 1;
	for (bool failed = true; failed && nth < 1000; nth++) {
		struct target *target = NULL;
		struct hd_error err = { 0 };
		uint64_t address, value;
		alloc_fail_at(nth);
		enum hd_status status = core_open_bytes(core.bytes, core.size, NULL, &target, &err);
		if (status == HD_OK && target->module_count == 2) {
			(void)target_symbol(target, &target->modules[1], "last", &address, NULL);
			(void)target_module_pointer(target, &target->modules[1], LIBRARY + 0x7000,
						    &value);
		}
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || (failed && status == HD_ERR_NOMEM));
		target_destroy(target);
	}
	CU_ASSERT(nth > 10 && nth < 1000);
	text_deinit(&core);
	elf_maker_deinit(&maker);
}

SUITE(.name = "modules")
