/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "support/assert_more.h"
#include "support/elf_file_maker.h"
#include "support/elf_maker.h"
#include "support/suite.h"
#include "targets/code_place.h"
#include "targets/symbol_files.h"
#include "util/alloc.h"

#define LIBRARY ((uint64_t)0x7f0000000000)
#define ID      "the id of libfake.so"
#define ID_HEX  "746865206964206f66206c696266616b652e736f"

/* The library exports one function; its file has two more, of which one lies in the other. */
static const struct image_symbol exported[] = { { "exported", 0x3000, 0x10 } };
static const struct file_symbol all[] = { { "exported", 0x3000, 0x10, false },
					  { "outer", 0x3100, 0x100, false },
					  { "inner", 0x3120, 0x10, false },
					  { "alias_of_inner", 0x3120, 0x10, false },
					  { "data", 0x3300, 0x100, true } };
#define WHOLE   ((struct file_spec){ .build_id = ID, .symbols = all, .symbol_count = 5 })
#define OUTER   "libfake.so!outer+0x8"
#define NO_NAME "libfake.so+0x3108"

static char folder[] = "/dev/shm/heapdump-symbols-XXXXXX";
/* Roots of files: those of the target's machine, and the user's folder of symbols. */
static char system_folder[64], own_folder[64];

/* Run a command on one of our own folders. */
static void run(const char *command, const char *where)
{
	char line[256];
	(void)snprintf(line, sizeof(line), "%s '%s'", command, where);
	CU_ASSERT_FATAL(system(line) == 0); /* NOLINT: a path of our own */
}

static void make_folders(void)
{
	(void)snprintf(folder, sizeof(folder), "/dev/shm/heapdump-symbols-XXXXXX");
	CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
	(void)snprintf(system_folder, sizeof(system_folder), "%s/system", folder);
	(void)snprintf(own_folder, sizeof(own_folder), "%s/own", folder);
	run("mkdir", system_folder);
	run("mkdir", own_folder);
}

static void remove_folders(void)
{
	run("rm -r", folder);
}

/* Write a file below one of the two folders; @return where it is, until the next call. */
static const char *make_file(const char *below, const char *path, const struct file_spec *spec)
{
	static char whole[256];
	(void)snprintf(whole, sizeof(whole), "%s%s", below, path);
	char *slash = strrchr(whole, '/');
	*slash = '\0';
	run("mkdir -p", whole);
	*slash = '/';
	elf_file_make(whole, spec);
	return whole;
}

static uint32_t crc_of(const char *path)
{
	static uint8_t bytes[1 << 21];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));
	CU_ASSERT_FATAL(size > 0 && close(fd) == 0);
	return (uint32_t)crc32(crc32(0, NULL, 0), bytes, (uInt)size);
}

/* A core of a process that has /lib/libfake.so: all of the library is in it. */
static struct target *open_core(const char *symbols, bool no_files)
{
	const struct image_spec library = { .base = LIBRARY,
					    .soname = "libfake.so",
					    .build_id = ID,
					    .symbols = exported,
					    .symbol_count = 1,
					    .are_functions = true };
	const struct target_options options = { .sysroot = system_folder,
						.symbols = symbols,
						.no_files = no_files };
	struct elf_maker maker;
	elf_maker_init(&maker);
	struct text image = image_make(&library, true);
	elf_maker_file(&maker, LIBRARY, LIBRARY + 0x8000, 0, "/lib/libfake.so");
	elf_maker_load(&maker, LIBRARY, image.bytes, image.size, image.size, PF_R);
	text_deinit(&image);
	struct target *target = elf_maker_open(&maker, &options);
	elf_maker_deinit(&maker);
	return target;
}

static void check_place(struct target *target, const char *symbols, uint64_t place,
			const char *expected)
{
	struct text text = { 0 };
	uint64_t budget = 1 << 20;
	target_code_place(target, symbols, LIBRARY + place, true, &budget, &text);
	ASSERT_TEXT(text.size ? text.bytes : "", expected);
	text_deinit(&text);
}

/* The name of a place in a function that is not exported, and whether there is a finding. */
static void check_outer(const char *symbols, bool no_files, const char *expected, bool has_finding)
{
	struct target *target = open_core(symbols, no_files);
	check_place(target, NULL, 0x3108, expected);
	ASSERT_UINT(findings_has(&target->findings, FINDING_SYMBOL_FILE), has_finding);
	/* An exported function always has its name. */
	check_place(target, NULL, 0x3004, "libfake.so!exported+0x4");
	target_destroy(target);
}

TEST(the_own_file_has_the_names_of_its_functions)
{
	(void)make_file(system_folder, "/lib/libfake.so", &WHOLE);
	struct target *target = open_core(NULL, false);
	check_place(target, NULL, 0x3100, "libfake.so!outer+0x0");
	check_place(target, NULL, 0x311f, "libfake.so!outer+0x1f");
	check_place(target, NULL, 0x3120, "libfake.so!inner+0x0");
	check_place(target, NULL, 0x3130, "libfake.so!outer+0x30");
	check_place(target, NULL, 0x3200, "libfake.so+0x3200");
	check_place(target, NULL, 0x3300, "libfake.so+0x3300");
	ASSERT_UINT(target->findings.count, 0);
	target_destroy(target);
	check_outer(NULL, true, NO_NAME, false);
}

TEST(a_file_of_another_build_is_not_used)
{
	struct file_spec other = WHOLE;
	other.build_id = "the id of another so";
	(void)make_file(system_folder, "/lib/libfake.so", &other);
	(void)make_file(system_folder,
			"/usr/lib/debug/.build-id/74/6865206964206f66206c696266616b652e736f.debug",
			&other);
	check_outer(NULL, false, NO_NAME, false);
	other.build_id = NULL;
	(void)make_file(system_folder, "/lib/libfake.so", &other);
	check_outer(NULL, false, NO_NAME, false);
	(void)make_file(own_folder, "/libfake.so.debug", &other);
	check_outer(own_folder, false, NO_NAME, true);
}

TEST(symbols_are_where_distributions_install_them)
{
	(void)make_file(system_folder,
			"/usr/lib/debug/.build-id/74/6865206964206f66206c696266616b652e736f.debug",
			&WHOLE);
	check_outer(NULL, false, OUTER, false);
	check_outer(NULL, true, NO_NAME, false);
}

TEST(a_debuglink_needs_its_crc_and_the_build_id)
{
	static const char *const places[] = { "/lib/fake.sym", "/lib/.debug/fake.sym",
					      "/usr/lib/debug/lib/fake.sym" };
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct file_spec own = { .build_id = ID, .debuglink = "fake.sym" };
		const char *path = make_file(system_folder, places[i], &WHOLE);
		own.crc = crc_of(path);
		(void)make_file(system_folder, "/lib/libfake.so", &own);
		check_outer(NULL, false, OUTER, false);
		own.crc++;
		(void)make_file(system_folder, "/lib/libfake.so", &own);
		check_outer(NULL, false, NO_NAME, false);
		struct file_spec other = WHOLE;
		other.build_id = "the id of another so";
		own.crc = crc_of(make_file(system_folder, places[i], &other));
		(void)make_file(system_folder, "/lib/libfake.so", &own);
		check_outer(NULL, false, NO_NAME, false);
		run("rm -r", system_folder);
		run("mkdir", system_folder);
	}
}

/* It would be read as a whole for its CRC, and a sparse file costs the target nothing. */
TEST(a_debuglink_to_an_enormous_file_is_not_followed)
{
	char path[128];
	struct file_spec own = { .build_id = ID, .debuglink = "fake.sym" };
	(void)snprintf(path, sizeof(path), "%s", make_file(system_folder, "/lib/fake.sym", &WHOLE));
	for (unsigned int i = 0; i < 2; i++) {
		/* The budget is 1 MB. */
		CU_ASSERT_FATAL(truncate(path, i ? 0x180000 : 0x80000) == 0);
		own.crc = crc_of(path);
		(void)make_file(system_folder, "/lib/libfake.so", &own);
		check_outer(NULL, false, i ? NO_NAME : OUTER, false);
	}
}

TEST(a_debuglink_stays_in_its_folder)
{
	const char *path = make_file(system_folder, "/fake.sym", &WHOLE);
	const struct file_spec own = { .build_id = ID,
				       .debuglink = "../fake.sym",
				       .crc = crc_of(path) };
	(void)make_file(system_folder, "/lib/libfake.so", &own);
	check_outer(NULL, false, NO_NAME, false);
}

TEST(the_folder_of_the_user_has_many_forms)
{
	static const char *const places[] = {
		"/.build-id/74/6865206964206f66206c696266616b652e736f.debug",
		"/libfake.so.debug",
		"/libfake.so.dbg",
		"/libfake.so",
		"/_.debug/elf-buildid-sym-" ID_HEX "/_.debug",
		"/libfake.so/elf-buildid-" ID_HEX "/libfake.so",
		"/" ID_HEX "/debuginfo",
	};
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		(void)make_file(own_folder, places[i], &WHOLE);
		check_outer(own_folder, false, OUTER, false);
		check_outer(own_folder, true, OUTER, false);
		check_outer(NULL, true, NO_NAME, false);
		run("rm -r", own_folder);
		run("mkdir", own_folder);
	}
}

TEST(another_folder_is_searched_anew)
{
	(void)make_file(own_folder, "/libfake.so.debug", &WHOLE);
	struct target *target = open_core(NULL, true);
	check_place(target, NULL, 0x3108, NO_NAME);
	check_place(target, own_folder, 0x3108, OUTER);
	check_place(target, system_folder, 0x3108, NO_NAME);
	target_destroy(target);
}

TEST(a_table_of_what_is_exported_is_the_second_choice)
{
	struct file_spec small = { .build_id = ID, .symbols = all, .symbol_count = 2 };
	small.are_dynamic = true;
	(void)make_file(own_folder, "/libfake.so", &small);
	struct target *target = open_core(own_folder, false);
	check_place(target, NULL, 0x3120, "libfake.so!outer+0x20");
	target_destroy(target);
	(void)make_file(system_folder, "/lib/libfake.so", &WHOLE);
	target = open_core(own_folder, false);
	check_place(target, NULL, 0x3120, "libfake.so!inner+0x0");
	target_destroy(target);
}

/* Look for a file with DWARF; is there one, and a finding? */
static void check_debug(const char *symbols, bool is_there, bool has_finding)
{
	struct target *target = open_core(symbols, false);
	struct debug_bytes debug = { 0 };
	const struct target_module *module = target->modules;
	while (module->base != LIBRARY)
		module++;
	CU_ASSERT_EQUAL(symbol_files_debug(target, module, "/lib/libfake.so", 1 << 20, &debug),
			is_there);
	CU_ASSERT_EQUAL(debug.size > 0, is_there);
	ASSERT_UINT(findings_has(&target->findings, FINDING_SYMBOL_FILE), has_finding);
	debug_bytes_deinit(&debug);
	target_destroy(target);
}

TEST(a_file_with_dwarf_is_read_if_it_is_of_this_build)
{
	struct file_spec debug = WHOLE, other = WHOLE;
	debug.has_debug = other.has_debug = true;
	other.build_id = "the id of another so";
	(void)make_file(system_folder, "/lib/libfake.so", &WHOLE);
	check_debug(NULL, false, false);
	(void)make_file(own_folder, "/libfake.so.dbg", &debug);
	check_debug(own_folder, true, false);
	(void)make_file(own_folder, "/libfake.so.dbg", &other);
	check_debug(own_folder, false, true);
}

TEST(a_link_to_dwarf_of_another_build_is_told)
{
	struct file_spec debug = WHOLE;
	debug.has_debug = true;
	const char *path = make_file(system_folder, "/lib/fake.sym", &debug);
	const struct file_spec own = { .build_id = ID,
				       .debuglink = "fake.sym",
				       .crc = crc_of(path) };
	(void)make_file(system_folder, "/lib/libfake.so", &own);
	check_debug(NULL, true, false);
	debug.build_id = "the id of another so";
	(void)make_file(system_folder, "/lib/fake.sym", &debug);
	check_debug(NULL, false, true);
}

TEST(every_failed_allocation_is_survived)
{
	const char *path = make_file(system_folder, "/lib/fake.sym", &WHOLE);
	const struct file_spec own = { .build_id = ID,
				       .debuglink = "fake.sym",
				       .crc = crc_of(path) };
	(void)make_file(system_folder, "/lib/libfake.so", &own);
	uint64_t nth = 1;
	for (bool has_failed = true; has_failed && nth < 1000; nth++) {
		struct target *target = open_core(own_folder, false);
		struct text text = { 0 };
		uint64_t budget = 1 << 20;
		alloc_fail_at(nth);
		target_code_place(target, NULL, LIBRARY + 0x3108, true, &budget, &text);
		has_failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		if (text.size && !text.failed && strcmp(text.bytes, NO_NAME) != 0)
			ASSERT_TEXT(text.bytes, OUTER);
		if (!has_failed)
			ASSERT_TEXT(text.bytes, OUTER);
		text_deinit(&text);
		target_destroy(target);
	}
	CU_ASSERT(nth > 5 && nth < 1000);
}

SUITE(.name = "symbol_files", .set_up = make_folders, .tear_down = remove_folders)
