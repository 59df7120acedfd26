/* SPDX-License-Identifier: MIT */
/* Where the PDB of a module is looked for, and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/module_pdb.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"
#include "util/alloc.h"

#define PACKED_MAX 4096u

/* "MPDB", a size, and one block that is stored (RFC 1951 3.2.4). */
struct packed {
	uint8_t bytes[PACKED_MAX];
	uint32_t size;
};

static void pack(struct packed *packed, const uint8_t *bytes, uint32_t size, uint32_t said)
{
	const uint16_t length = (uint16_t)size, other = (uint16_t)~length;
	REQUIRE(size + 13 <= PACKED_MAX ? packed : NULL);
	memcpy(packed->bytes, "MPDB", 4);
	memcpy(packed->bytes + 4, &said, 4);
	packed->bytes[8] = 1;
	memcpy(packed->bytes + 9, &length, 2);
	memcpy(packed->bytes + 11, &other, 2);
	memcpy(packed->bytes + 13, bytes, size);
	packed->size = size + 13;
}

struct scene {
	struct fake_clr *fake;
	struct module module;
	uint64_t budget;
	struct pdb *pdb;
};

/* A module whose image is @p kind, and its PDB as it is found. */
static void look(struct scene *scene, const struct image_kind *kind, uint64_t budget)
{
	struct metadata_maker maker;
	maker_init(&maker);
	MAKER_ROW(&maker, MD_MODULE, 0, maker_string(&maker, "shop.dll"), 0, 0, 0);
	scene->fake = fake_clr_create(NULL);
	scene->module = (struct module){ .path = NULL, .is_mapped = kind->is_mapped };
	scene->module.image_base = fake_image(scene->fake, scene->fake->module, &maker, kind, NULL);
	maker_deinit(&maker);
	scene->budget = budget;
	scene->pdb =
		module_pdb_open(fake_runtime(scene->fake), &scene->module, NULL, &scene->budget);
}

static void end(struct scene *scene, const char *finding)
{
	struct findings *findings = &scene->fake->target.findings;
	if (finding) {
		CU_ASSERT_PTR_NULL(scene->pdb);
		ASSERT_UINT_FATAL(findings->count, 1);
		if (!strstr(findings->rows[0].detail, finding))
			ASSERT_TEXT(findings->rows[0].detail, finding);
	} else {
		CU_ASSERT_PTR_NOT_NULL(scene->pdb);
		ASSERT_UINT(findings->count, 0);
	}
	pdb_destroy(scene->pdb);
	findings_deinit(findings);
	fake_clr_destroy(scene->fake);
}

/* The bytes of a PDB with one Document. */
static uint8_t *make_pdb(uint32_t *ret_size)
{
	struct metadata_maker maker;
	maker_init(&maker);
	maker.is_pdb = true;
	maker.pdb_id = 0xab;
	MAKER_ROW(&maker, MD_DOCUMENT, maker_blob(&maker, "\0\0", 2), 0, 0, 0);
	uint8_t *bytes = maker_finish(&maker, ret_size);
	maker_deinit(&maker);
	return bytes;
}

TEST(a_pdb_inside_of_its_module_is_unpacked)
{
	uint32_t size;
	uint8_t *bytes = make_pdb(&size);
	struct packed packed;
	struct scene scene;
	pack(&packed, bytes, size, size);
	struct image_kind kind = {
		.pdb = 0x5a, .is_embedded = true, .packed = packed.bytes, .packed_size = packed.size
	};
	for (unsigned int i = 0; i < 2; i++) {
		kind.is_mapped = i == 1;
		look(&scene, &kind, 1 << 20);
		ASSERT_UINT(pdb_id(scene.pdb)[0], 0xab);
		ASSERT_UINT(scene.budget, (1 << 20) - size);
		end(&scene, NULL);
	}
	/* The module names another id. */
	kind.portable = "/src/shop.pdb";
	look(&scene, &kind, 1 << 20);
	end(&scene, "is of another build");
	free(bytes);
}

TEST(a_damaged_pdb_inside_of_a_module_is_refused)
{
	uint32_t size;
	uint8_t *bytes = make_pdb(&size);
	struct packed packed;
	struct scene scene;
	struct image_kind kind = { .pdb = 0x5a, .is_embedded = true, .packed = packed.bytes };
	static const int32_t lies[] = { -1, 1 };
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		pack(&packed, bytes, size, size + (uint32_t)lies[i]);
		kind.packed_size = packed.size;
		look(&scene, &kind, 1 << 20);
		end(&scene, "the PDB inside it is damaged");
	}
	/* More than deflate can make of so few bytes: no memory is taken for it. */
	pack(&packed, bytes, size, 0x7fffffff);
	look(&scene, &kind, UINT64_MAX);
	end(&scene, "the PDB inside it is damaged");
	/* More than may be read. */
	pack(&packed, bytes, size, size);
	look(&scene, &kind, size - 1);
	ASSERT_UINT(scene.budget, size - 1);
	end(&scene, "the PDB inside it is too large");
	/* Another beginning, and what is unpacked is not a PDB. */
	packed.bytes[0] = 'N';
	look(&scene, &kind, 1 << 20);
	end(&scene, "the PDB inside it is damaged");
	pack(&packed, (const uint8_t *)"text", 4, 4);
	kind.packed_size = packed.size;
	look(&scene, &kind, 1 << 20);
	end(&scene, "its own PDB");
	free(bytes);
}

/*
 * A file of a core that nothing proves: the PDB next to it is not read.  It is damaged, which would
 * be said if it was.
 */
TEST(a_pdb_is_not_read_before_its_module_is_proven)
{
	char folder[] = "/tmp/test_module_pdb.XXXXXX", path[64], module[64];
	REQUIRE(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/shop.pdb", folder);
	(void)snprintf(module, sizeof(module), "%s/shop.dll", folder);
	FILE *file = fopen(path, "w");
	REQUIRE(file);
	(void)fputs("BSJB and nothing else", file);
	(void)fclose(file);
	struct scene scene;
	look(&scene, &(struct image_kind){ .pdb = 0x5a, .portable = "/src/shop.pdb" }, 1 << 20);
	CU_ASSERT_PTR_NULL(scene.pdb);
	ASSERT_UINT(scene.fake->target.findings.count, 0);
	struct target *target = &scene.fake->target;
	struct target_mapping mapping = { .start = scene.module.image_base,
					  .end = scene.module.image_base + 0x1000,
					  .path = module };
	enum target_kind kind = target->kind;
	target->kind = TARGET_CORE;
	target->map.mappings = &mapping;
	target->map.mapping_count = 1;
	scene.pdb = module_pdb_open(scene.fake->runtime, &scene.module, NULL, &scene.budget);
	ASSERT_UINT(scene.budget, 1 << 20);
	target->kind = kind;
	target->map.mappings = NULL;
	target->map.mapping_count = 0;
	end(&scene, "lies next to a file that is not proven to be the module's");
	CU_ASSERT(unlink(path) == 0 && rmdir(folder) == 0);
}

SUITE(.name = "module_pdb")
