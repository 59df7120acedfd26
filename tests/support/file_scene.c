/* SPDX-License-Identifier: MIT */
#include "support/file_scene.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/assert_more.h"
#include "support/suite.h"
#include "targets/target_files.h"

#define PAGE SCENE_PAGE
#define BASE SCENE_BASE

char scene_folder[64], scene_file[128];

void scene_make_folder(void)
{
	(void)snprintf(scene_folder, sizeof(scene_folder), "/tmp/heapdump-files-XXXXXX");
	CU_ASSERT_FATAL(mkdtemp(scene_folder) != NULL);
	(void)snprintf(scene_file, sizeof(scene_file), "%s/module", scene_folder);
}

void scene_remove_folder(void)
{
	char command[128];
	(void)snprintf(command, sizeof(command), "rm -r %s", scene_folder);
	CU_ASSERT(system(command) == 0); /* NOLINT: a path of our own */
}

/* An ELF image of 0x6000 bytes, whose last page is full of 'x'. */
struct text elf_file(const char *build_id)
{
	static char data[4096];
	memset(data, 'x', sizeof(data));
	const struct image_spec spec = { .base = BASE,
					 .build_id = build_id,
					 .data_at = 0x5000,
					 .data = data,
					 .data_size = sizeof(data) };
	return image_make(&spec, false);
}

void put32(struct text *text, size_t offset, uint32_t value)
{
	memcpy(text->bytes + offset, &value, sizeof(value));
}

/* A PE file of nine pages: headers in the first, then bytes that @p seed makes. */
struct text pe_file(uint32_t timestamp, unsigned int seed)
{
	struct text text = { 0 };
	for (size_t i = 0; i < 9 * PAGE; i++) {
		seed = seed * 1103515245 + 12345;
		char byte = (char)(seed >> 16);
		text_append(&text, &byte, 1);
	}
	REQUIRE(text.bytes);
	memset(text.bytes, 0, PAGE);
	memcpy(text.bytes, "MZ", 2);
	put32(&text, 0x3c, 0x80);
	memcpy(text.bytes + 0x80, "PE\0\0", 4);
	put32(&text, 0x80 + 8, timestamp);
	put32(&text, 0x80 + 24 + 56, 0x4000);
	put32(&text, 0x80 + 24 + 60, 0x400);
	return text;
}

struct target *scene_open(struct scene *scene)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	if (scene->on_disk.bytes)
		CU_ASSERT(write_file(scene_file, scene->on_disk.bytes, scene->on_disk.size));
	const struct text *mapped = scene->mapped.bytes ? &scene->mapped : &scene->on_disk;
	uint64_t size = mapped->size ? mapped->size : 8 * PAGE;
	elf_maker_file(&maker, BASE, BASE + size, 0, scene->path ? scene->path : scene_file);
	/* So that there is memory at all. */
	elf_maker_load(&maker, BASE - 16 * PAGE, "own", 4, PAGE, PF_R);
	if (scene->captured) {
		elf_maker_load(&maker, BASE + scene->captured_at,
			       mapped->bytes + scene->captured_at, scene->captured, scene->captured,
			       scene->flags ? scene->flags : PF_R);
	}
	struct target *target = elf_maker_open(&maker, &scene->options);
	elf_maker_deinit(&maker);
	return target;
}

void scene_close(struct scene *scene, struct target *target)
{
	target_destroy(target);
	text_deinit(&scene->on_disk);
	text_deinit(&scene->mapped);
}

static const char *path_of(const struct scene *scene)
{
	return scene->path ? scene->path : scene_file;
}

/* The state, whether a byte after what is captured can be read, and the finding that stands. */
void assert_state(struct scene *scene, enum target_file_state state, const char *finding)
{
	struct target *target = scene_open(scene);
	uint8_t byte = 0;
	uint64_t address = BASE + 0x3008;
	bool is_used = state == TARGET_FILE_MATCHED ||
		       (state == TARGET_FILE_UNVERIFIED && scene->options.trust_files);
	ASSERT_UINT(memory_u8(target->memory, address, &byte), is_used);
	if (is_used)
		ASSERT_UINT(byte, (uint8_t)scene->on_disk.bytes[0x3008]);
	CU_ASSERT(!memory_u8(target->own, address, &byte));
	ASSERT_UINT(target_file_state(target, path_of(scene)), state);
	target_add_file_findings(target);
	target_add_file_findings(target); /* and not twice */
	ASSERT_UINT(target->findings.count, finding != NULL);
	if (finding && target->findings.count) {
		ASSERT_TEXT(finding_name(target->findings.rows[0].kind), finding);
		CU_ASSERT(strstr(target->findings.rows[0].detail, path_of(scene)) != NULL);
		CU_ASSERT_PTR_NOT_NULL(target->findings.rows[0].advice);
	}
	scene_close(scene, target);
}
