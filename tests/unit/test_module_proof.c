/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mem/file_memory.h"
#include "metadata/image.h"
#include "metadata/sizes.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layout_access.h"
#include "runtime/coreclr/modules/module_proof.h"
#include "support/assert_more.h"
#include "support/elf_maker.h"
#include "support/metadata_maker.h"
#include "support/suite.h"
#include "targets/target_files.h"

/* A core as gcore writes it: the runtime's Module, its PEAssembly and its reader of metadata, and of the
 * image only that it is mapped. */
#define PAGE     4096u
#define OWN      ((uint64_t)0x7f0000000000)
#define IMAGE    ((uint64_t)0x7f1000000000)
#define ASSEMBLY 0x800u
#define IMPORT   0x1000u
#define SCHEMA   (IMPORT + 24u)
#define OWN_SIZE 0x2000u

static char folder[64], file_path[128];
static uint8_t own[OWN_SIZE];
static uint8_t *file_bytes;
static uint32_t file_size;

static void put32(size_t at, uint32_t value)
{
	memcpy(own + at, &value, sizeof(value));
}

static void put64(size_t at, uint64_t value)
{
	memcpy(own + at, &value, sizeof(value));
}

/* The image's file, and what a runtime has made of it. */
static void make_scene(void)
{
	struct metadata_maker maker;
	maker_init(&maker);
	MAKER_ROW(&maker, 0x00, 0, maker_string(&maker, "secret.dll"), maker_guid(&maker, 7), 0, 0);
	(void)maker_type(&maker, "", "<Module>");
	(void)maker_type(&maker, "Shop", "Vault");
	(void)maker_method(&maker, "Open");
	uint32_t size;
	uint8_t *metadata = maker_finish(&maker, &size);
	free(file_bytes);
	file_bytes = maker_image(&(struct image_kind){ 0 }, metadata, size, &file_size);
	CU_ASSERT_FATAL(file_bytes && write_file(file_path, file_bytes, file_size));
	const struct mapped_file file = { .bytes = file_bytes, .size = file_size };
	struct file_memory memory = file_memory_of(&file);
	struct image image;
	struct metadata_sizes sizes;
	CU_ASSERT_FATAL(
		image_find_metadata(&memory.memory, 0, false, &image) &&
		metadata_sizes_read(&memory.memory, image.metadata, image.metadata_size, &sizes));
	for (size_t i = 0; i < SIZES_TABLES; i++)
		ASSERT_UINT(sizes.rows[i], maker.tables[i].rows);
	CU_ASSERT(sizes.strings >= maker.strings.size && sizes.blobs >= maker.blobs.size);
	memset(own, 0, sizeof(own));
	put64(216, OWN + ASSEMBLY);
	put64(ASSEMBLY + 24, OWN + IMPORT);
	memcpy(own + SCHEMA, sizes.header, sizeof(sizes.header));
	memcpy(own + SCHEMA + sizeof(sizes.header), sizes.rows, sizeof(sizes.rows));
	put32(IMPORT + 1360, sizes.strings);
	put32(IMPORT + 1392, sizes.blobs);
	put32(IMPORT + 1424, sizes.user_strings);
	free(metadata);
	maker_deinit(&maker);
}

static void make_folder(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/heapdump-proof-XXXXXX");
	CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
	(void)snprintf(file_path, sizeof(file_path), "%s/secret.dll", folder);
}

static void remove_folder(void)
{
	CU_ASSERT(unlink(file_path) == 0 && rmdir(folder) == 0);
	free(file_bytes);
	file_bytes = NULL;
}

/* Open the scene, have the file proven, and see what becomes of it. */
static void check(enum layout_field field, int64_t offset, enum target_file_state expected)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	elf_maker_load(&maker, OWN, own, OWN_SIZE, OWN_SIZE, PF_R | PF_W);
	elf_maker_file(&maker, IMAGE, IMAGE + PAGE, 0, file_path);
	struct target *target = elf_maker_open(&maker, NULL);
	struct coreclr runtime = { .base.ops = &coreclr_ops,
				   .base.target = target,
				   .base.memory = target->memory };
	layout_init(&runtime.layout);
	layout_set(&runtime.layout, field, offset, ORIGIN_DESCRIPTOR);
	uint8_t byte;
	CU_ASSERT(!memory_u8(target->memory, IMAGE + 0x80, &byte));
	module_prove_image(&runtime.base, OWN, IMAGE);
	module_prove_image(&runtime.base, OWN, 0x1234); /* no file is there */
	ASSERT_UINT(target_file_state(target, file_path), expected);
	CU_ASSERT(memory_u8(target->memory, IMAGE + 0x80, &byte) ==
		  (expected == TARGET_FILE_MATCHED));
	target_destroy(target);
	elf_maker_deinit(&maker);
}

TEST(what_the_runtime_read_proves_the_file)
{
	make_scene();
	check(L_MODULE_PE_ASSEMBLY, 216, TARGET_FILE_MATCHED);
	/* 9: only Base is known, which follows. */
	check(L_MODULE_BASE, 224, TARGET_FILE_MATCHED);
}

/* Each number counts: a guess has to be right in all of them. */
TEST(any_other_number_proves_that_it_is_another)
{
	static const size_t strings[] = { IMPORT + 1360, IMPORT + 1392, IMPORT + 1424 };
	for (size_t i = 0; i < 3; i++) {
		make_scene();
		own[strings[i]]++;
		check(L_MODULE_PE_ASSEMBLY, 216, TARGET_FILE_REJECTED);
	}
	for (size_t i = 0; i < SIZES_HEADER + 4 * SIZES_TABLES; i++) {
		if (i == 4) /* its version: then it is no reader of metadata */
			continue;
		make_scene();
		own[SCHEMA + i] ^= 1;
		check(L_MODULE_PE_ASSEMBLY, 216, TARGET_FILE_REJECTED);
	}
}

TEST(without_the_runtimes_own_numbers_nothing_is_proven)
{
	make_scene();
	check(L_MODULE_DYNAMIC_METADATA, 216, TARGET_FILE_UNVERIFIED);
	own[SCHEMA + 4] = 0;
	check(L_MODULE_PE_ASSEMBLY, 216, TARGET_FILE_UNVERIFIED);
	make_scene();
	put64(216, 0);
	check(L_MODULE_PE_ASSEMBLY, 216, TARGET_FILE_UNVERIFIED);
	put64(216, OWN + OWN_SIZE - 8);
	check(L_MODULE_PE_ASSEMBLY, 216, TARGET_FILE_UNVERIFIED);
	make_scene();
	put64(ASSEMBLY + 24, OWN + OWN_SIZE - 1400);
	check(L_MODULE_PE_ASSEMBLY, 216, TARGET_FILE_UNVERIFIED);
	/* The file must not prove itself. */
	put64(ASSEMBLY + 24, IMAGE);
	check(L_MODULE_PE_ASSEMBLY, 216, TARGET_FILE_UNVERIFIED);
}

/* Whatever is there in place of an image is not one, and no harm comes of it. */
TEST(no_image_is_never_the_one)
{
	for (uint32_t cut = 4; cut < 0x400; cut += 7) {
		make_scene();
		CU_ASSERT(write_file(file_path, file_bytes, cut));
		/* Its header says 0x80; what ends before that is not an image at all. */
		check(L_MODULE_PE_ASSEMBLY, 216,
		      cut < 0x84 ? TARGET_FILE_NO_IMAGE : TARGET_FILE_REJECTED);
	}
}

SUITE(.name = "module_proof", .set_up = make_folder, .tear_down = remove_folder)
