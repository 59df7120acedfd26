/* SPDX-License-Identifier: MIT */
#include <elf.h>

#include "support/assert_more.h"
#include "support/file_scene.h"
#include "support/suite.h"
#include "targets/target_files.h"

#define PAGE SCENE_PAGE
#define BASE SCENE_BASE

TEST(an_elf_file_is_known_by_its_build_id)
{
	struct scene scene = { .on_disk = elf_file("same-build"), .captured = PAGE };
	assert_state(&scene, TARGET_FILE_MATCHED, NULL);
}

TEST(an_elf_file_of_another_build_is_not_read)
{
	struct scene scene = { .on_disk = elf_file("id-of-file"),
			       .mapped = elf_file("id-of-core"),
			       .captured = PAGE };
	struct target *target = scene_open(&scene);
	uint8_t byte;
	CU_ASSERT(!memory_u8(target->memory, BASE + 0x5000, &byte));
	target_add_file_findings(target);
	ASSERT_UINT_FATAL(target->findings.count, 1);
	/* "id-of-core"; "id-of-file" would be the proof that another core needs */
	CU_ASSERT(strstr(target->findings.rows[0].detail, "69642d6f662d636f7265") != NULL);
	CU_ASSERT(strstr(target->findings.rows[0].detail, "69642d6f662d66696c65") == NULL);
	CU_ASSERT(strstr(target->findings.rows[0].advice, "--sysroot") != NULL);
	target_destroy(target);
	target = scene_open(&scene);
	scene_close(&scene, target);
	scene = (struct scene){ .on_disk = elf_file("id-of-file"),
				.mapped = elf_file("id-of-core"),
				.captured = PAGE };
	assert_state(&scene, TARGET_FILE_MISMATCH, "files-differ");
	scene = (struct scene){ .on_disk = elf_file(NULL),
				.mapped = elf_file("id-of-core"),
				.captured = PAGE };
	assert_state(&scene, TARGET_FILE_MISMATCH, "files-differ");
	/* A text is where a library was. */
	scene = (struct scene){ .mapped = elf_file("id-of-core"), .captured = PAGE };
	text_puts(&scene.on_disk, "hello");
	assert_state(&scene, TARGET_FILE_NO_IMAGE, "files-unverified");
	scene = (struct scene){ .mapped = elf_file("id-of-core"),
				.captured = PAGE,
				.options = { .trust_files = true } };
	text_puts(&scene.on_disk, "hello");
	assert_state(&scene, TARGET_FILE_MISMATCH, "files-differ");
}

/* Nobody guesses 8 bytes, but some have fewer. */
TEST(a_short_build_id_proves_nothing)
{
	struct scene scene = { .on_disk = elf_file("1234567"), .captured = PAGE };
	assert_state(&scene, TARGET_FILE_UNVERIFIED, "files-unverified");
	scene = (struct scene){ .on_disk = elf_file("12345678"), .captured = PAGE };
	assert_state(&scene, TARGET_FILE_MATCHED, NULL);
}

/* The image's headers are not in the core, but the note is: where the file has its own. */
TEST(a_build_id_alone_does)
{
	struct scene scene = { .on_disk = elf_file("same-build"),
			       .captured_at = IMAGE_NOTE,
			       .captured = 64 };
	assert_state(&scene, TARGET_FILE_MATCHED, NULL);
	scene = (struct scene){ .on_disk = elf_file("id-of-file"),
				.mapped = elf_file("id-of-core"),
				.captured_at = IMAGE_NOTE,
				.captured = 64 };
	assert_state(&scene, TARGET_FILE_MISMATCH, "files-differ");
}

/* Such a file is used only by who trusts it. */
TEST(without_anything_to_compare_a_file_is_unverified)
{
	struct scene scene;
	for (int trust = 0; trust < 2; trust++) {
		const struct target_options options = { .trust_files = trust };
		scene = (struct scene){ .on_disk = elf_file("the-build"), .options = options };
		assert_state(&scene, TARGET_FILE_UNVERIFIED, "files-unverified");
		scene = (struct scene){ .on_disk = elf_file(NULL),
					.captured = PAGE,
					.options = options };
		assert_state(&scene, TARGET_FILE_UNVERIFIED, "files-unverified");
		scene = (struct scene){ .on_disk = pe_file(1, 1), .options = options };
		assert_state(&scene, TARGET_FILE_UNVERIFIED, "files-unverified");
	}
	/* Shorter than what was mapped of it. */
	scene = (struct scene){ .mapped = elf_file("the-build") };
	text_append(&scene.on_disk, scene.mapped.bytes, 2 * PAGE);
	assert_state(&scene, TARGET_FILE_MISMATCH, "files-differ");
}

TEST(a_pe_file_is_known_by_its_headers)
{
	struct scene scene = { .on_disk = pe_file(77, 1), .captured = PAGE };
	assert_state(&scene, TARGET_FILE_MATCHED, NULL);
	scene = (struct scene){ .on_disk = pe_file(77, 1),
				.mapped = pe_file(78, 1),
				.captured = PAGE };
	assert_state(&scene, TARGET_FILE_MISMATCH, "files-differ");
}

/* The time stamp and the size of the image can be guessed; all headers together cannot. */
TEST(a_pe_file_is_known_by_all_its_headers)
{
	struct scene scene = { .on_disk = pe_file(77, 1),
			       .mapped = pe_file(77, 1),
			       .captured = PAGE };
	put32(&scene.mapped, 0x3fc, 1);
	assert_state(&scene, TARGET_FILE_MISMATCH, "files-differ");
	/* Headers that the core has not to their end, or that end before their begin. */
	scene = (struct scene){ .on_disk = pe_file(77, 1), .captured = 0x3ff };
	assert_state(&scene, TARGET_FILE_UNVERIFIED, "files-unverified");
	scene = (struct scene){ .on_disk = pe_file(77, 1), .captured = PAGE };
	put32(&scene.on_disk, 0x80 + 24 + 60, 2);
	assert_state(&scene, TARGET_FILE_UNVERIFIED, "files-unverified");
	scene = (struct scene){ .on_disk = pe_file(77, 1), .captured = PAGE };
	put32(&scene.on_disk, 0x80 + 24 + 60, 0x80000000);
	assert_state(&scene, TARGET_FILE_UNVERIFIED, "files-unverified");
}

/*
 * A file that only root reads: no image; and images of which the core's author has a page, or
 * a guess, or nothing at all.
 */
TEST(pages_prove_nothing)
{
	struct scene scene = { .captured_at = PAGE, .captured = PAGE };
	static char text[5 * 4096];
	memset(text, 'x', sizeof(text));
	text_append(&scene.on_disk, text, sizeof(text));
	assert_state(&scene, TARGET_FILE_NO_IMAGE, "files-unverified");
	scene = (struct scene){ .on_disk = pe_file(77, 1), .captured_at = PAGE, .captured = PAGE };
	assert_state(&scene, TARGET_FILE_UNVERIFIED, "files-unverified");
	scene = (struct scene){ .on_disk = elf_file(NULL),
				.captured_at = 0x5000,
				.captured = PAGE,
				.flags = PF_R | PF_X };
	assert_state(&scene, TARGET_FILE_UNVERIFIED, "files-unverified");
	/* Only the first letters of a PE image. */
	scene = (struct scene){ .captured = PAGE };
	text_append(&scene.on_disk, "MZ", 2);
	text_append(&scene.on_disk, text, sizeof(text));
	assert_state(&scene, TARGET_FILE_NO_IMAGE, "files-unverified");
}

TEST(to_who_trusts_a_pe_file_is_known_by_captured_pages)
{
	const struct target_options trusting = { .trust_files = true };
	struct scene scene = { .on_disk = pe_file(77, 1),
			       .captured_at = PAGE,
			       .captured = 2 * PAGE,
			       .options = trusting };
	assert_state(&scene, TARGET_FILE_MATCHED, NULL);
	scene = (struct scene){ .options = trusting,
				.on_disk = pe_file(77, 1),
				.mapped = pe_file(77, 2),
				.captured_at = PAGE,
				.captured = 2 * PAGE };
	assert_state(&scene, TARGET_FILE_MISMATCH, "files-differ");
	/* Some words were relocated. */
	scene = (struct scene){ .options = trusting,
				.on_disk = pe_file(77, 1),
				.mapped = pe_file(77, 1),
				.captured_at = PAGE,
				.captured = 2 * PAGE };
	for (size_t i = 0; i < 100; i++)
		put32(&scene.mapped, PAGE + i * 24, 0x1234);
	assert_state(&scene, TARGET_FILE_MATCHED, NULL);
	/* Bytes that were writable may be anything. */
	scene = (struct scene){ .options = trusting,
				.on_disk = pe_file(77, 1),
				.mapped = pe_file(77, 2),
				.captured_at = PAGE,
				.captured = 2 * PAGE,
				.flags = PF_R | PF_W };
	assert_state(&scene, TARGET_FILE_UNVERIFIED, "files-unverified");
	/* But what is alike was not by chance. */
	scene = (struct scene){ .options = trusting,
				.on_disk = pe_file(77, 1),
				.captured_at = 4 * PAGE,
				.captured = PAGE,
				.flags = PF_R | PF_W };
	assert_state(&scene, TARGET_FILE_MATCHED, NULL);
}

SUITE(.name = "file_match", .set_up = scene_make_folder, .tear_down = scene_remove_folder)
