/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/assert_more.h"
#include "support/file_scene.h"
#include "support/suite.h"
#include "targets/target_files.h"
#include "util/alloc.h"

#define PAGE SCENE_PAGE
#define BASE SCENE_BASE

TEST(a_missing_file_is_said_when_it_is_needed)
{
	struct elf_maker maker;
	uint8_t byte;
	elf_maker_init(&maker);
	elf_maker_load(&maker, BASE - 16 * PAGE, "own", 4, PAGE, PF_R);
	/* Not the beginning of a file, which the search for modules would look at. */
	elf_maker_file(&maker, BASE, BASE + PAGE, PAGE, "/no/such/module.so");
	struct target *target = elf_maker_open(&maker, NULL);
	CU_ASSERT(memory_u8(target->memory, BASE - 16 * PAGE, &byte));
	target_add_file_findings(target);
	ASSERT_UINT(target->findings.count, 0);
	CU_ASSERT(!memory_u8(target->memory, BASE, &byte));
	target_add_file_findings(target);
	CU_ASSERT(findings_has(&target->findings, FINDING_FILES_MISSING));
	target_destroy(target);
	elf_maker_deinit(&maker);
	struct scene scene = { .path = "/no/such/module.so" };
	assert_state(&scene, TARGET_FILE_MISSING, "files-missing");
	scene.path = scene_folder;
	assert_state(&scene, TARGET_FILE_NOT_REGULAR, "files-missing");
	CU_ASSERT(mkfifo(scene_file, 0600) == 0);
	scene.path = scene_file;
	assert_state(&scene, TARGET_FILE_NOT_REGULAR, "files-missing");
}

TEST(names_of_the_kernel_are_no_files)
{
	static const char *const names[] = { "/memfd:doublemapper (deleted)",
					     "/dev/zero",
					     "[vdso]",
					     "anon_inode:[eventfd]",
					     "",
					     "relative.so",
					     "/SYSV00000000 (deleted)",
					     "/lib/old.so (deleted)",
					     "/proc/1/maps" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct scene scene = { .path = names[i] };
		assert_state(&scene, TARGET_FILE_NONE, NULL);
	}
}

TEST(many_missing_files_are_one_finding)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	elf_maker_load(&maker, 0x1000, "own", 4, PAGE, PF_R);
	for (uint64_t i = 0; i < 20; i++) {
		char path[64];
		(void)snprintf(path, sizeof(path), "/no/such/%u", (unsigned int)i);
		elf_maker_file(&maker, BASE + i * PAGE, BASE + (i + 1) * PAGE, 0, path);
	}
	struct target *target = elf_maker_open(&maker, NULL);
	target_add_file_findings(target);
	ASSERT_UINT_FATAL(target->findings.count, 1);
	CU_ASSERT(strstr(target->findings.rows[0].detail, ": 20 files: /no/such/0 ") != NULL);
	target_destroy(target);
	elf_maker_deinit(&maker);
}

TEST(reads_cross_from_the_core_to_the_file_and_back)
{
	struct elf_maker maker;
	uint8_t buf[4 * 4096];
	struct text image = elf_file("the-build");
	CU_ASSERT(write_file(scene_file, image.bytes, image.size));
	elf_maker_init(&maker);
	elf_maker_file(&maker, BASE, BASE + image.size, 0, scene_file);
	elf_maker_load(&maker, BASE, image.bytes, PAGE, 2 * PAGE, PF_R);
	memset(buf, 'c', sizeof(buf));
	elf_maker_load(&maker, BASE + 0x5800, buf, 0x10, 0x10, PF_R | PF_W);
	struct target *target = elf_maker_open(&maker, NULL);
	uint64_t size = 0;
	ASSERT_UINT(memory_prefix(target->memory, BASE + 0x4ff0, buf, sizeof(buf)), 0x1010);
	CU_ASSERT(buf[0xf] == 0 && buf[0x10] == 'x' && buf[0x80f] == 'x');
	CU_ASSERT(buf[0x810] == 'c' && buf[0x81f] == 'c' && buf[0x820] == 'x');
	/* A run of the file ends where the core has bytes. */
	CU_ASSERT_PTR_NOT_NULL(memory_run(target->memory, BASE + 0x5000, &size));
	ASSERT_UINT(size, 0x800);
	CU_ASSERT_PTR_NOT_NULL(memory_run(target->memory, BASE + 0x5808, &size));
	ASSERT_UINT(size, 8);
	CU_ASSERT_PTR_NOT_NULL(memory_run(target->memory, BASE + 0x5810, &size));
	ASSERT_UINT(size, 0x7f0);
	CU_ASSERT_PTR_NULL(memory_run(target->memory, BASE + 0x6000, &size));
	target_destroy(target);
	elf_maker_deinit(&maker);
	text_deinit(&image);
}

TEST(a_rejected_file_is_not_read_any_more)
{
	struct scene scene = { .on_disk = elf_file("same-build"), .captured = PAGE };
	struct target *target = scene_open(&scene);
	uint8_t byte;
	uint64_t size;
	const uint8_t *run = memory_run(target->memory, BASE + 0x5000, &size);
	REQUIRE(run);
	target_reject_file(target, scene_file, "the core has MVID 1, the file 2");
	target_reject_file(target, "/not/mapped", "nothing");
	CU_ASSERT(!memory_u8(target->memory, BASE + 0x5000, &byte));
	ASSERT_UINT(*run, 'x'); /* still mapped */
	ASSERT_UINT(target_file_state(target, scene_file), TARGET_FILE_REJECTED);
	ASSERT_UINT(target_file_state(target, "/not/mapped"), TARGET_FILE_NONE);
	ASSERT_UINT_FATAL(target->findings.count, 1);
	CU_ASSERT(strstr(target->findings.rows[0].detail, "MVID 1, the file 2") != NULL);
	scene_close(&scene, target);
}

TEST(a_confirmed_file_is_no_finding)
{
	struct scene scene = { .on_disk = pe_file(77, 1), .options = { .trust_files = true } };
	struct target *target = scene_open(&scene);
	uint8_t byte;
	CU_ASSERT(memory_u8(target->memory, BASE, &byte));
	target_add_file_findings(target);
	ASSERT_UINT(target->findings.count, 1);
	target_confirm_file(target, "/not/mapped");
	target_confirm_file(target, scene_file);
	ASSERT_UINT(target->findings.count, 0);
	ASSERT_UINT(target_file_state(target, scene_file), TARGET_FILE_MATCHED);
	target_reject_file(target, scene_file, "no");
	target_confirm_file(target, scene_file);
	ASSERT_UINT(target_file_state(target, scene_file), TARGET_FILE_REJECTED);
	scene_close(&scene, target);
}

/* A prover: how often it was asked, and its answer. */
struct prover {
	unsigned int asked;
	enum target_proof answer;
};

static enum target_proof prove(void *arg, struct memory *file)
{
	struct prover *prover = arg;
	uint16_t magic;
	prover->asked++;
	CU_ASSERT(memory_u16(file, 0, &magic) && magic == 0x5a4d);
	return prover->answer;
}

/* Its bytes are to be had by the prover, and by nobody else before it has said yes. */
TEST(a_file_is_read_only_after_its_proof)
{
	struct scene scene = { .on_disk = pe_file(77, 1) };
	struct target *target = scene_open(&scene);
	struct prover prover = { .answer = TARGET_PROOF_NONE };
	uint8_t byte;
	target_prove_file(target, "/not/mapped", prove, &prover);
	ASSERT_UINT(prover.asked, 0);
	target_prove_file(target, scene_file, prove, &prover);
	ASSERT_UINT(prover.asked, 1);
	CU_ASSERT(!memory_u8(target->memory, BASE + PAGE, &byte));
	ASSERT_UINT(target_file_state(target, scene_file), TARGET_FILE_UNVERIFIED);
	prover.answer = TARGET_PROOF_SAME;
	target_prove_file(target, scene_file, prove, &prover);
	CU_ASSERT(memory_u8(target->memory, BASE + PAGE, &byte));
	ASSERT_UINT(target_file_state(target, scene_file), TARGET_FILE_MATCHED);
	ASSERT_UINT(target->findings.count, 0);
	prover.answer = TARGET_PROOF_OTHER;
	target_prove_file(target, scene_file, prove, &prover);
	ASSERT_UINT(prover.asked, 2);
	scene_close(&scene, target);
}

/* One file by many names, each with another guess at it: the first that is wrong is the last. */
TEST(a_core_has_one_guess_at_a_file)
{
	struct text image = pe_file(77, 1), other = pe_file(78, 1);
	char alias[160], link_path[160];
	struct elf_maker maker;
	elf_maker_init(&maker);
	CU_ASSERT(write_file(scene_file, image.bytes, image.size));
	(void)snprintf(alias, sizeof(alias), "%s/./module", scene_folder);
	(void)snprintf(link_path, sizeof(link_path), "%s/link", scene_folder);
	CU_ASSERT(link(scene_file, link_path) == 0);
	elf_maker_load(&maker, BASE, other.bytes, PAGE, PAGE, PF_R);
	elf_maker_load(&maker, BASE + 16 * PAGE, image.bytes, PAGE, PAGE, PF_R);
	elf_maker_file(&maker, BASE, BASE + image.size, 0, alias);
	elf_maker_file(&maker, BASE + 16 * PAGE, BASE + 16 * PAGE + image.size, 0, link_path);
	elf_maker_file(&maker, BASE + 32 * PAGE, BASE + 32 * PAGE + image.size, 0, scene_file);
	struct target *target = elf_maker_open(&maker, NULL);
	struct prover prover = { .answer = TARGET_PROOF_SAME };
	/* Nothing has been tried yet: what the third is, only a prover could tell. */
	ASSERT_UINT(target_file_state(target, scene_file), TARGET_FILE_UNVERIFIED);
	ASSERT_UINT(target_file_state(target, alias), TARGET_FILE_MISMATCH);
	ASSERT_UINT(target_file_state(target, link_path), TARGET_FILE_MISMATCH);
	target_prove_file(target, scene_file, prove, &prover);
	ASSERT_UINT(prover.asked, 0);
	ASSERT_UINT(target_file_state(target, scene_file), TARGET_FILE_REJECTED);
	target_destroy(target);
	CU_ASSERT(unlink(link_path) == 0);
	elf_maker_deinit(&maker);
	text_deinit(&image);
	text_deinit(&other);
}

static void read_at_once(void *arg, unsigned int index)
{
	struct target *target = arg;
	for (uint64_t i = 0; i < 2000; i++) {
		char byte = 0;
		uint64_t address = BASE + 0x5000 + (i * 37 + index) % PAGE;
		if (memory_prefix(target->memory, address, &byte, 1) != 1 || byte != 'x')
			abort();
	}
}

TEST(several_threads_may_read)
{
	struct scene scene = { .on_disk = elf_file("the-build"), .captured = PAGE };
	struct target *target = scene_open(&scene);
	CU_ASSERT(target->memory->is_parallel && target->own->is_parallel);
	run_parallel(8, NULL, read_at_once, target);
	scene_close(&scene, target);
}

TEST(below_a_sysroot_nothing_leads_out)
{
	struct scene scene = { .on_disk = elf_file("the-build"),
			       .captured = PAGE,
			       .path = "/lib/m.so",
			       .options = { .sysroot = scene_folder } };
	char path[160], target_path[160];
	assert_state(&scene, TARGET_FILE_MISSING, "files-missing");
	scene.on_disk = elf_file("the-build");
	(void)snprintf(path, sizeof(path), "%s/lib", scene_folder);
	CU_ASSERT_FATAL(mkdir(path, 0700) == 0);
	(void)snprintf(path, sizeof(path), "%s/lib/m.so", scene_folder);
	CU_ASSERT(write_file(path, scene.on_disk.bytes, scene.on_disk.size));
	assert_state(&scene, TARGET_FILE_MATCHED, NULL);
	/* A link to an absolute path is one below the sysroot. */
	scene.on_disk = elf_file("the-build");
	CU_ASSERT(unlink(path) == 0 && symlink(scene_file, path) == 0);
	assert_state(&scene, TARGET_FILE_MISSING, "files-missing");
	scene.on_disk = elf_file("the-build");
	(void)snprintf(target_path, sizeof(target_path), "/../..%s", scene_file);
	scene.path = target_path;
	assert_state(&scene, TARGET_FILE_MISSING, "files-missing");
	/* Without a sysroot that path is the file. */
	scene.on_disk = elf_file("the-build");
	scene.options.sysroot = NULL;
	assert_state(&scene, TARGET_FILE_MATCHED, NULL);
}

TEST(no_files_opens_none)
{
	for (int no_files = 0; no_files < 2; no_files++) {
		struct scene scene = { .on_disk = elf_file("the-build"),
				       .captured = PAGE,
				       .options = { .no_files = no_files } };
		CU_ASSERT(write_file(scene_file, scene.on_disk.bytes, scene.on_disk.size));
		int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
		CU_ASSERT_FATAL(watch >= 0);
		text_deinit(&scene.mapped);
		scene.mapped = scene.on_disk;
		scene.on_disk = (struct text){ 0 };
		CU_ASSERT(inotify_add_watch(watch, scene_file, IN_OPEN) >= 0);
		struct target *target = scene_open(&scene);
		uint8_t byte;
		CU_ASSERT(memory_u8(target->memory, BASE + 0x5000, &byte) == !no_files);
		ASSERT_UINT(target_file_state(target, scene_file),
			    no_files ? TARGET_FILE_NONE : TARGET_FILE_MATCHED);
		char event[256];
		CU_ASSERT((read(watch, event, sizeof(event)) > 0) == !no_files);
		(void)close(watch);
		scene_close(&scene, target);
	}
}

TEST(the_last_page_of_a_file_ends_with_zeros)
{
	struct scene scene = { .on_disk = elf_file("the-build"), .captured = PAGE };
	text_append(&scene.on_disk, "tail", 4);
	struct target *target = scene_open(&scene);
	char buf[8] = "xxxxxxx";
	/* The mapping ends with the file's 4 bytes; the row of NT_FILE says so. */
	ASSERT_UINT(memory_prefix(target->memory, BASE + 0x6000, buf, sizeof(buf)), 4);
	CU_ASSERT(memcmp(buf, "tail", 4) == 0);
	scene_close(&scene, target);
}

TEST(a_failed_allocation_is_told)
{
	struct scene scene = { .on_disk = elf_file("the-build"), .captured = PAGE };
	struct elf_maker maker;
	CU_ASSERT(write_file(scene_file, scene.on_disk.bytes, scene.on_disk.size));
	elf_maker_init(&maker);
	elf_maker_file(&maker, BASE, BASE + 0x6000, 0, scene_file);
	elf_maker_load(&maker, BASE, scene.on_disk.bytes, PAGE, PAGE, PF_R);
	struct text core = elf_maker_build(&maker);
	uint64_t nth = 1;
	for (bool failed = true; failed && nth < 1000; nth++) {
		struct target *target = NULL;
		alloc_fail_at(nth);
		enum hd_status status = core_open_bytes(core.bytes, core.size, NULL, &target, NULL);
		if (target)
			target_add_file_findings(target);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || (failed && status == HD_ERR_NOMEM));
		target_destroy(target);
	}
	CU_ASSERT(nth > 10 && nth < 1000);
	text_deinit(&core);
	text_deinit(&scene.on_disk);
	elf_maker_deinit(&maker);
}

SUITE(.name = "module_files", .set_up = scene_make_folder, .tear_down = scene_remove_folder)
