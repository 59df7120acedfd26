/* SPDX-License-Identifier: MIT */
#include "metadata/image.h"
#include "support/assert_more.h"
#include "support/fake_memory.h"
#include "support/metadata_maker.h"
#include "support/suite.h"

#define BASE ((uint64_t)0x7000 << 24)

static const uint8_t content[] = "metadata stand here";

static uint32_t make(struct fake_memory *memory, const struct image_kind *kind)
{
	uint32_t size;
	uint8_t *bytes = maker_image(kind, content, sizeof(content), &size);
	fake_memory_init(memory);
	fake_map(memory, BASE, size);
	fake_poke(memory, BASE, bytes, size);
	free(bytes);
	return size;
}

static void check(const struct image_kind *kind)
{
	struct fake_memory memory;
	uint32_t size = make(&memory, kind);
	struct image image = { 0 };
	CU_ASSERT(image_find_metadata(&memory.memory, BASE, kind->is_mapped, &image));
	ASSERT_UINT(image.metadata_size, sizeof(content));
	ASSERT_UINT(image.timestamp, 0x5eed5eed);
	ASSERT_UINT(image.image_size, 0x2000 + 72 + sizeof(content));
	ASSERT_UINT(image.is_mapped, kind->is_mapped);
	uint8_t read[sizeof(content)] = { 0 };
	CU_ASSERT(memory_read(&memory.memory, image.metadata, read, sizeof(read)));
	CU_ASSERT(memcmp(read, content, sizeof(read)) == 0);
	uint64_t address = 0;
	CU_ASSERT(image_locate(&memory.memory, BASE, kind->is_mapped, 0x2000 + 72, 4, &address));
	ASSERT_UINT(address, image.metadata);
	CU_ASSERT(
		!image_locate(&memory.memory, BASE, kind->is_mapped, 0x2000 + 72, size, &address));
	CU_ASSERT(!image_locate(&memory.memory, BASE, kind->is_mapped, 0xfffffff0, 4, &address));
	fake_memory_deinit(&memory);
}

TEST(test_kinds)
{
	check(&(struct image_kind){ .is_mapped = true });
	check(&(struct image_kind){ .is_mapped = false });
	check(&(struct image_kind){ .is_mapped = true, .is_pe32 = true });
	check(&(struct image_kind){ .is_mapped = false, .is_pe32 = true });
}

static void check_pdb(const struct image_kind *kind, uint8_t guid, uint32_t age, bool expected)
{
	struct fake_memory memory;
	uint32_t size = make(&memory, kind);
	uint8_t bytes[IMAGE_GUID_SIZE];
	memset(bytes, guid, sizeof(bytes));
	CU_ASSERT(image_has_pdb(&memory.memory, BASE, kind->is_mapped, bytes, age) == expected);
	/* However its end is cut, it is said to have none. */
	for (uint32_t cut = 1; cut <= 80 && kind->pdb; cut++) {
		struct fake_memory shorter;
		uint32_t all;
		uint8_t *image = maker_image(kind, content, sizeof(content), &all);
		fake_memory_init(&shorter);
		fake_map(&shorter, BASE, size - cut);
		fake_poke(&shorter, BASE, image, size - cut);
		CU_ASSERT(!image_has_pdb(&shorter.memory, BASE, kind->is_mapped, bytes, age));
		fake_memory_deinit(&shorter);
		free(image);
	}
	fake_memory_deinit(&memory);
}

TEST(test_pdb)
{
	check_pdb(&(struct image_kind){ .pdb = 0x5a }, 0x5a, 1, true);
	check_pdb(&(struct image_kind){ .pdb = 0x5a, .is_mapped = true }, 0x5a, 1, true);
	check_pdb(&(struct image_kind){ .pdb = 0x5a, .is_pe32 = true }, 0x5a, 1, true);
	check_pdb(&(struct image_kind){ .pdb = 0x5a }, 0x5a, 2, false);
	check_pdb(&(struct image_kind){ .pdb = 0x5a }, 0x5b, 1, false);
	check_pdb(&(struct image_kind){ 0 }, 0, 0, false);
}

/* The name of the portable PDB in such an image; NULL: there is none. */
static const char *portable_of(const struct image_kind *kind)
{
	static struct image_pdb found;
	static const uint8_t id[] = { 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a,
				      0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x78, 0x56, 0x34, 0x12 };
	struct fake_memory memory;
	(void)make(&memory, kind);
	bool is_found = image_find_pdb(&memory.memory, BASE, kind->is_mapped, &found);
	CU_ASSERT(is_found || !kind->is_embedded);
	if (is_found) {
		CU_ASSERT(found.is_embedded == kind->is_embedded);
		CU_ASSERT(!found.is_portable || memcmp(found.id, id, sizeof(id)) == 0);
	}
	fake_memory_deinit(&memory);
	return is_found && found.is_portable ? found.name : NULL;
}

TEST(portable_pdbs_have_a_name_without_folders)
{
	char name[300];
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	struct image_kind kind = { .pdb = 0x5a };
	CU_ASSERT_PTR_NULL(portable_of(&kind)); /* that of Windows */
	kind.is_embedded = true;
	CU_ASSERT_PTR_NULL(portable_of(&kind));
	kind.portable = "/src/obj/shop.pdb";
	ASSERT_TEXT(portable_of(&kind), "shop.pdb");
	kind.is_mapped = true;
	ASSERT_TEXT(portable_of(&kind), "shop.pdb");
	kind.is_embedded = false;
	kind.portable = "C:\\src\\shop.pdb";
	ASSERT_TEXT(portable_of(&kind), "shop.pdb");
	static const char *const bad[] = { "", "/src/", "..", "a/..", "/." };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		kind.portable = bad[i];
		CU_ASSERT_PTR_NULL(portable_of(&kind));
	}
	kind.portable = name;
	CU_ASSERT_PTR_NULL(portable_of(&kind));
}

/* The wrong way to look at it finds nothing, or nothing outside the image. */
TEST(test_wrong_layout)
{
	struct fake_memory memory;
	struct image image;
	make(&memory, &(struct image_kind){ .is_mapped = false });
	if (image_find_metadata(&memory.memory, BASE, true, &image))
		CU_ASSERT(image.metadata < BASE + image.image_size);
	fake_memory_deinit(&memory);
}

/* Each byte of the headers gone, each word another: no more than a false. */
TEST(test_damage)
{
	static const uint32_t values[] = { 0, 0x7fffffff, 0xffffffff, 0x80000000 };
	const struct image_kind kind = { .is_mapped = false };
	struct fake_memory memory;
	struct image image;
	uint32_t size = make(&memory, &kind);
	uint8_t *bytes = calloc(size, 1);
	REQUIRE(bytes);
	CU_ASSERT(memory_read(&memory.memory, BASE, bytes, size));
	fake_memory_deinit(&memory);
	for (uint32_t cut = 0; cut < 0x400; cut++) {
		fake_memory_init(&memory);
		fake_map(&memory, BASE, cut + 1);
		fake_poke(&memory, BASE, bytes, cut + 1);
		CU_ASSERT(!image_find_metadata(&memory.memory, BASE, false, &image));
		fake_memory_deinit(&memory);
	}
	make(&memory, &kind);
	for (uint32_t offset = 0; offset < 0x440; offset++) {
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			fake_poke_u32(&memory, BASE + offset, values[i]);
			(void)image_find_metadata(&memory.memory, BASE, false, &image);
			(void)image_find_metadata(&memory.memory, BASE, true, &image);
			fake_poke(&memory, BASE + offset, bytes + offset, 4);
		}
	}
	CU_ASSERT(image_find_metadata(&memory.memory, BASE, false, &image));
	CU_ASSERT(!image_find_metadata(&memory.memory, UINT64_MAX - 10, false, &image));
	fake_memory_deinit(&memory);
	free(bytes);
}

SUITE(.name = "image")
