/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/assert_more.h"
#include "support/elf_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

#define PAGE ((uint64_t)4096)
#define BASE ((uint64_t)0x7f0000000000)

static char folder[64], file_path[128];

static void make_folder(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/heapdump-files-XXXXXX");
	CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
	(void)snprintf(file_path, sizeof(file_path), "%s/module", folder);
}

static void remove_folder(void)
{
	char command[128];
	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	CU_ASSERT(system(command) == 0); /* NOLINT: a path of our own */
}

/* An ELF image of 0x6000 bytes, whose last page is full of 'x'. */
static struct text elf_file(const char *build_id)
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

static void put32(struct text *text, size_t offset, uint32_t value)
{
	memcpy(text->bytes + offset, &value, sizeof(value));
}

/* A PE file of nine pages: headers in the first, then bytes that @p seed makes. */
static struct text pe_file(uint32_t timestamp, unsigned int seed)
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
	return text;
}

/* The file on disk, and what the core has of the one that was mapped. */
struct scene {
	struct text on_disk;
	struct text mapped;
	uint64_t captured_at, captured; /* bytes of mapped that are in the core */
	uint32_t flags;
	const char *path;
	struct target_options options;
};

static struct target *scene_open(struct scene *scene)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	if (scene->on_disk.bytes)
		CU_ASSERT(write_file(file_path, scene->on_disk.bytes, scene->on_disk.size));
	const struct text *mapped = scene->mapped.bytes ? &scene->mapped : &scene->on_disk;
	uint64_t size = mapped->size ? mapped->size : 8 * PAGE;
	elf_maker_file(&maker, BASE, BASE + size, 0, scene->path ? scene->path : file_path);
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

static void scene_close(struct scene *scene, struct target *target)
{
	target_destroy(target);
	text_deinit(&scene->on_disk);
	text_deinit(&scene->mapped);
}

static const char *path_of(const struct scene *scene)
{
	return scene->path ? scene->path : file_path;
}

/* The state, whether a byte behind what is captured can be read, and the finding that stands. */
static void assert_state(struct scene *scene, enum target_file_state state, const char *finding)
{
	struct target *target = scene_open(scene);
	uint8_t byte = 0;
	uint64_t address = BASE + 0x3008;
	bool is_used = state == TARGET_FILE_MATCHED || state == TARGET_FILE_UNVERIFIED;
	ASSERT_UINT(memory_u8(target->memory, address, &byte), is_used);
	if (is_used)
		ASSERT_UINT(byte, (uint8_t)scene->on_disk.bytes[0x3008]);
	CU_ASSERT(!memory_u8(target->own, address, &byte));
	ASSERT_UINT(target_file_state(target, path_of(scene)), state);
	target_add_file_findings(target);
	target_add_file_findings(target); /* and not twice */
	ASSERT_UINT(target->findings.count, finding != NULL);
	if (finding && target->findings.count) {
		ASSERT_TEXT(target->findings.rows[0].kind, finding);
		CU_ASSERT(strstr(target->findings.rows[0].detail, path_of(scene)) != NULL);
		CU_ASSERT_PTR_NOT_NULL(target->findings.rows[0].advice);
	}
	scene_close(scene, target);
}

static void an_elf_file_is_known_by_its_build_id(void)
{
	struct scene scene = { .on_disk = elf_file("same-id"), .captured = PAGE };
	assert_state(&scene, TARGET_FILE_MATCHED, NULL);
}

static void an_elf_file_of_another_build_is_not_read(void)
{
	struct scene scene = { .on_disk = elf_file("id-of-file"),
			       .mapped = elf_file("id-of-core"),
			       .captured = PAGE };
	struct target *target = scene_open(&scene);
	uint8_t byte;
	CU_ASSERT(!memory_u8(target->memory, BASE + 0x5000, &byte));
	target_add_file_findings(target);
	ASSERT_UINT_FATAL(target->findings.count, 1);
	/* "id-of-core", "id-of-file" */
	CU_ASSERT(strstr(target->findings.rows[0].detail, "69642d6f662d636f7265") != NULL);
	CU_ASSERT(strstr(target->findings.rows[0].detail, "69642d6f662d66696c65") != NULL);
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
	assert_state(&scene, TARGET_FILE_MISMATCH, "files-differ");
}

/* The image's headers are not in the core, but the note is: where the file has its own. */
static void a_build_id_alone_does(void)
{
	struct scene scene = { .on_disk = elf_file("same-id"),
			       .captured_at = IMAGE_NOTE,
			       .captured = 64 };
	assert_state(&scene, TARGET_FILE_MATCHED, NULL);
	scene = (struct scene){ .on_disk = elf_file("id-of-file"),
				.mapped = elf_file("id-of-core"),
				.captured_at = IMAGE_NOTE,
				.captured = 64 };
	assert_state(&scene, TARGET_FILE_MISMATCH, "files-differ");
}

static void without_anything_to_compare_a_file_is_unverified(void)
{
	struct scene scene = { .on_disk = elf_file("id") };
	assert_state(&scene, TARGET_FILE_UNVERIFIED, "files-unverified");
	scene = (struct scene){ .on_disk = elf_file(NULL), .captured = PAGE };
	assert_state(&scene, TARGET_FILE_UNVERIFIED, "files-unverified");
	scene = (struct scene){ .on_disk = pe_file(1, 1) };
	assert_state(&scene, TARGET_FILE_UNVERIFIED, "files-unverified");
	/* Shorter than what was mapped of it. */
	scene = (struct scene){ .mapped = elf_file("id") };
	text_append(&scene.on_disk, scene.mapped.bytes, 2 * PAGE);
	assert_state(&scene, TARGET_FILE_MISMATCH, "files-differ");
}

static void a_pe_file_is_known_by_its_headers(void)
{
	struct scene scene = { .on_disk = pe_file(77, 1), .captured = PAGE };
	assert_state(&scene, TARGET_FILE_MATCHED, NULL);
	scene = (struct scene){ .on_disk = pe_file(77, 1),
				.mapped = pe_file(78, 1),
				.captured = PAGE };
	assert_state(&scene, TARGET_FILE_MISMATCH, "files-differ");
}

static void a_pe_file_is_known_by_captured_pages(void)
{
	struct scene scene = { .on_disk = pe_file(77, 1),
			       .captured_at = PAGE,
			       .captured = 2 * PAGE };
	assert_state(&scene, TARGET_FILE_MATCHED, NULL);
	scene = (struct scene){ .on_disk = pe_file(77, 1),
				.mapped = pe_file(77, 2),
				.captured_at = PAGE,
				.captured = 2 * PAGE };
	assert_state(&scene, TARGET_FILE_MISMATCH, "files-differ");
	/* Some words were relocated. */
	scene = (struct scene){ .on_disk = pe_file(77, 1),
				.mapped = pe_file(77, 1),
				.captured_at = PAGE,
				.captured = 2 * PAGE };
	for (size_t i = 0; i < 100; i++)
		put32(&scene.mapped, PAGE + i * 24, 0x1234);
	assert_state(&scene, TARGET_FILE_MATCHED, NULL);
	/* What was writable may be anything. */
	scene = (struct scene){ .on_disk = pe_file(77, 1),
				.mapped = pe_file(77, 2),
				.captured_at = PAGE,
				.captured = 2 * PAGE,
				.flags = PF_R | PF_W };
	assert_state(&scene, TARGET_FILE_UNVERIFIED, "files-unverified");
	/* But what is alike was not by chance. */
	scene = (struct scene){ .on_disk = pe_file(77, 1),
				.captured_at = 4 * PAGE,
				.captured = PAGE,
				.flags = PF_R | PF_W };
	assert_state(&scene, TARGET_FILE_MATCHED, NULL);
}

static void a_missing_file_is_said_when_it_is_needed(void)
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
	CU_ASSERT(findings_has(&target->findings, "files-missing"));
	target_destroy(target);
	elf_maker_deinit(&maker);
	struct scene scene = { .path = "/no/such/module.so" };
	assert_state(&scene, TARGET_FILE_MISSING, "files-missing");
	scene.path = folder;
	assert_state(&scene, TARGET_FILE_NOT_REGULAR, "files-missing");
	CU_ASSERT(mkfifo(file_path, 0600) == 0);
	scene.path = file_path;
	assert_state(&scene, TARGET_FILE_NOT_REGULAR, "files-missing");
}

static void names_of_the_kernel_are_no_files(void)
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

static void many_missing_files_are_one_finding(void)
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

static void reads_cross_from_the_core_to_the_file_and_back(void)
{
	struct elf_maker maker;
	uint8_t buf[4 * 4096];
	struct text image = elf_file("id");
	CU_ASSERT(write_file(file_path, image.bytes, image.size));
	elf_maker_init(&maker);
	elf_maker_file(&maker, BASE, BASE + image.size, 0, file_path);
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

static void a_rejected_file_is_not_read_any_more(void)
{
	struct scene scene = { .on_disk = elf_file("same-id"), .captured = PAGE };
	struct target *target = scene_open(&scene);
	uint8_t byte;
	uint64_t size;
	const uint8_t *run = memory_run(target->memory, BASE + 0x5000, &size);
	REQUIRE(run);
	target_reject_file(target, file_path, "the core has MVID 1, the file 2");
	target_reject_file(target, "/not/mapped", "nothing");
	CU_ASSERT(!memory_u8(target->memory, BASE + 0x5000, &byte));
	ASSERT_UINT(*run, 'x'); /* still mapped */
	ASSERT_UINT(target_file_state(target, file_path), TARGET_FILE_REJECTED);
	ASSERT_UINT(target_file_state(target, "/not/mapped"), TARGET_FILE_NONE);
	ASSERT_UINT_FATAL(target->findings.count, 1);
	CU_ASSERT(strstr(target->findings.rows[0].detail, "MVID 1, the file 2") != NULL);
	scene_close(&scene, target);
}

static void a_confirmed_file_is_no_finding(void)
{
	struct scene scene = { .on_disk = pe_file(77, 1) };
	struct target *target = scene_open(&scene);
	uint8_t byte;
	CU_ASSERT(memory_u8(target->memory, BASE, &byte));
	target_add_file_findings(target);
	ASSERT_UINT(target->findings.count, 1);
	target_confirm_file(target, "/not/mapped");
	target_confirm_file(target, file_path);
	ASSERT_UINT(target->findings.count, 0);
	ASSERT_UINT(target_file_state(target, file_path), TARGET_FILE_MATCHED);
	target_reject_file(target, file_path, "no");
	target_confirm_file(target, file_path);
	ASSERT_UINT(target_file_state(target, file_path), TARGET_FILE_REJECTED);
	scene_close(&scene, target);
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

static void several_threads_may_read(void)
{
	struct scene scene = { .on_disk = elf_file("id"), .captured = PAGE };
	struct target *target = scene_open(&scene);
	CU_ASSERT(target->memory->is_parallel && target->own->is_parallel);
	run_parallel(8, read_at_once, target);
	scene_close(&scene, target);
}

static void below_a_sysroot_nothing_leads_out(void)
{
	struct scene scene = { .on_disk = elf_file("id"),
			       .captured = PAGE,
			       .path = "/lib/m.so",
			       .options = { .sysroot = folder } };
	char path[160], target_path[160];
	assert_state(&scene, TARGET_FILE_MISSING, "files-missing");
	scene.on_disk = elf_file("id");
	(void)snprintf(path, sizeof(path), "%s/lib", folder);
	CU_ASSERT_FATAL(mkdir(path, 0700) == 0);
	(void)snprintf(path, sizeof(path), "%s/lib/m.so", folder);
	CU_ASSERT(write_file(path, scene.on_disk.bytes, scene.on_disk.size));
	assert_state(&scene, TARGET_FILE_MATCHED, NULL);
	/* A link to an absolute path is one below the sysroot. */
	scene.on_disk = elf_file("id");
	CU_ASSERT(unlink(path) == 0 && symlink(file_path, path) == 0);
	assert_state(&scene, TARGET_FILE_MISSING, "files-missing");
	scene.on_disk = elf_file("id");
	(void)snprintf(target_path, sizeof(target_path), "/../..%s", file_path);
	scene.path = target_path;
	assert_state(&scene, TARGET_FILE_MISSING, "files-missing");
	/* Without a sysroot that path is the file. */
	scene.on_disk = elf_file("id");
	scene.options.sysroot = NULL;
	assert_state(&scene, TARGET_FILE_MATCHED, NULL);
}

static void no_files_opens_none(void)
{
	for (int no_files = 0; no_files < 2; no_files++) {
		struct scene scene = { .on_disk = elf_file("id"),
				       .captured = PAGE,
				       .options = { .no_files = no_files } };
		CU_ASSERT(write_file(file_path, scene.on_disk.bytes, scene.on_disk.size));
		int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
		CU_ASSERT_FATAL(watch >= 0);
		text_deinit(&scene.mapped);
		scene.mapped = scene.on_disk;
		scene.on_disk = (struct text){ 0 };
		CU_ASSERT(inotify_add_watch(watch, file_path, IN_OPEN) >= 0);
		struct target *target = scene_open(&scene);
		uint8_t byte;
		CU_ASSERT(memory_u8(target->memory, BASE + 0x5000, &byte) == !no_files);
		ASSERT_UINT(target_file_state(target, file_path),
			    no_files ? TARGET_FILE_NONE : TARGET_FILE_MATCHED);
		char event[256];
		CU_ASSERT((read(watch, event, sizeof(event)) > 0) == !no_files);
		(void)close(watch);
		scene_close(&scene, target);
	}
}

static void the_last_page_of_a_file_ends_with_zeros(void)
{
	struct scene scene = { .on_disk = elf_file("id"), .captured = PAGE };
	text_append(&scene.on_disk, "tail", 4);
	struct target *target = scene_open(&scene);
	char buf[8] = "xxxxxxx";
	/* The mapping ends with the file's 4 bytes; the row of NT_FILE says so. */
	ASSERT_UINT(memory_prefix(target->memory, BASE + 0x6000, buf, sizeof(buf)), 4);
	CU_ASSERT(memcmp(buf, "tail", 4) == 0);
	scene_close(&scene, target);
}

static void a_failed_allocation_is_told(void)
{
	struct scene scene = { .on_disk = elf_file("id"), .captured = PAGE };
	struct elf_maker maker;
	CU_ASSERT(write_file(file_path, scene.on_disk.bytes, scene.on_disk.size));
	elf_maker_init(&maker);
	elf_maker_file(&maker, BASE, BASE + 0x6000, 0, file_path);
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

#define TEST(name)          \
	{                   \
#name, name \
	}

int main(void)
{
	CU_TestInfo tests[] = {
		TEST(an_elf_file_is_known_by_its_build_id),
		TEST(an_elf_file_of_another_build_is_not_read),
		TEST(a_build_id_alone_does),
		TEST(without_anything_to_compare_a_file_is_unverified),
		TEST(a_pe_file_is_known_by_its_headers),
		TEST(a_pe_file_is_known_by_captured_pages),
		TEST(a_missing_file_is_said_when_it_is_needed),
		TEST(names_of_the_kernel_are_no_files),
		TEST(many_missing_files_are_one_finding),
		TEST(reads_cross_from_the_core_to_the_file_and_back),
		TEST(a_rejected_file_is_not_read_any_more),
		TEST(a_confirmed_file_is_no_finding),
		TEST(several_threads_may_read),
		TEST(below_a_sysroot_nothing_leads_out),
		TEST(no_files_opens_none),
		TEST(the_last_page_of_a_file_ends_with_zeros),
		TEST(a_failed_allocation_is_told),
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = { { .pName = "module_files",
				    .pTests = tests,
				    .pSetUpFunc = make_folder,
				    .pTearDownFunc = remove_folder },
				  CU_SUITE_INFO_NULL };
	return suite_main(suites);
}
