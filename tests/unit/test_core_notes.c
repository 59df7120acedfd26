/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <unistd.h>

#include "arch/x86_64/register_table.h"
#include "support/assert_more.h"
#include "support/elf_maker.h"
#include "support/suite.h"

#define PAGE ((uint64_t)4096)
#define BASE ((uint64_t)0x7f0000000000)

static const uint8_t page[4096] = { 1 };

/* Open what @p maker has, with a page of memory. */
static struct target *open_with_page(struct elf_maker *maker)
{
	const struct target_options options = { .no_files = true };
	elf_maker_load(maker, BASE, page, PAGE, PAGE, PF_R | PF_W);
	struct target *target = elf_maker_open(maker, &options);
	elf_maker_deinit(maker);
	return target;
}

TEST(threads_have_their_registers)
{
	struct elf_maker maker;
	uint64_t registers[REGISTER_COUNT];
	for (uint64_t i = 0; i < REGISTER_COUNT; i++)
		registers[i] = 0x1000 + i;
	elf_maker_init(&maker);
	elf_maker_thread(&maker, 100, registers, 11);
	registers[REGISTER_RSP] = 0xabcd;
	elf_maker_thread(&maker, -7, registers, 0);
	struct target *target = open_with_page(&maker);
	ASSERT_UINT(target->threads.count, 2);
	CU_ASSERT(target->core.signal == 11);
	const struct target_thread *thread = target_thread(target, 100);
	REQUIRE(thread);
	ASSERT_UINT(thread->registers[REGISTER_R15], 0x1000);
	ASSERT_UINT(thread->registers[REGISTER_RIP], 0x1000 + 16);
	ASSERT_UINT(thread->registers[REGISTER_FS_BASE], 0x1000 + 21);
	thread = target_thread(target, -7);
	REQUIRE(thread);
	ASSERT_UINT(thread->registers[REGISTER_RSP], 0xabcd);
	CU_ASSERT_PTR_NULL(target_thread(target, 5));
	target_destroy(target);
}

TEST(process_and_auxv_are_taken)
{
	static const uint64_t auxv[][2] = {
		{ AT_PHDR, 0x40 }, { AT_PHNUM, 13 }, { AT_ENTRY, 0x50 },
		{ AT_BASE, 0x60 }, { AT_NULL, 0 },   { AT_PHDR, 0x99 }
	};
	struct elf_maker maker;
	elf_maker_init(&maker);
	elf_maker_process(&maker, 4711, "a-name-of-15-by", "");
	elf_maker_auxv(&maker, auxv, 6);
	struct target *target = open_with_page(&maker);
	CU_ASSERT(target->pid == 4711);
	ASSERT_TEXT(target->name, "a-name-of-15-by");
	ASSERT_UINT(target->auxv.phdr, 0x40);
	ASSERT_UINT(target->auxv.phnum, 13);
	ASSERT_UINT(target->auxv.entry, 0x50);
	ASSERT_UINT(target->auxv.base, 0x60);
	target_destroy(target);
}

TEST(mapped_files_are_sorted_and_found)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	maker.file_unit = PAGE;
	elf_maker_file(&maker, BASE + 4 * PAGE, BASE + 6 * PAGE, 3, "/b");
	elf_maker_file(&maker, BASE, BASE + 2 * PAGE, 0, "/a");
	struct target *target = open_with_page(&maker);
	ASSERT_UINT(target->map.mapping_count, 2);
	ASSERT_TEXT(target->map.mappings[0].path, "/a");
	ASSERT_UINT(target->map.mappings[1].offset, 3 * PAGE);
	CU_ASSERT(target_mapping_at(&target->map, BASE) == &target->map.mappings[0]);
	CU_ASSERT(target_mapping_at(&target->map, BASE + 2 * PAGE - 1) == &target->map.mappings[0]);
	CU_ASSERT_PTR_NULL(target_mapping_at(&target->map, BASE + 2 * PAGE));
	CU_ASSERT(target_mapping_at(&target->map, BASE + 5 * PAGE) == &target->map.mappings[1]);
	CU_ASSERT_PTR_NULL(target_mapping_at(&target->map, BASE + 6 * PAGE));
	CU_ASSERT_PTR_NULL(target_mapping_at(&target->map, 0));
	ASSERT_UINT(target->findings.count, 0);
	target_destroy(target);
}

/* arm64 has kernels with pages of 16 and 64 KB: the note has its unit. */
TEST(mapped_files_have_the_pages_of_their_kernel)
{
	for (uint64_t unit = PAGE; unit <= (uint64_t)16 * PAGE; unit *= 4) {
		struct elf_maker maker;
		elf_maker_init(&maker);
		maker.file_unit = unit;
		elf_maker_file(&maker, BASE, BASE + 2 * unit, 0, "/a");
		elf_maker_file(&maker, BASE + 2 * unit, BASE + 3 * unit, 2, "/a");
		struct target *target = open_with_page(&maker);
		ASSERT_UINT(target->map.mapping_count, 2);
		ASSERT_UINT(target->map.mappings[1].offset, 2 * unit);
		CU_ASSERT(target_mapping_at(&target->map, BASE + 3 * unit - 1) ==
			  &target->map.mappings[1]);
		ASSERT_UINT(target->findings.count, 0);
		target_destroy(target);
	}
}

TEST(mapped_files_that_cannot_be_are_findings)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	maker.file_unit = PAGE;
	elf_maker_file(&maker, BASE + PAGE, BASE, 0, "/ends-before-it-starts");
	elf_maker_file(&maker, BASE, BASE + PAGE, UINT64_MAX / 2, "/offset-wraps");
	elf_maker_file(&maker, BASE, BASE + 4 * PAGE, 0, "/a");
	elf_maker_file(&maker, BASE + PAGE, BASE + 2 * PAGE, 0, "/inside");
	elf_maker_file(&maker, BASE + 3 * PAGE, BASE + 6 * PAGE, 1, "/overlaps");
	struct target *target = open_with_page(&maker);
	CU_ASSERT(findings_has(&target->findings, FINDING_ODD_NOTE));
	ASSERT_UINT(target->map.mapping_count, 2);
	ASSERT_TEXT(target->map.mappings[0].path, "/a");
	ASSERT_TEXT(target->map.mappings[1].path, "/overlaps");
	ASSERT_UINT(target->map.mappings[1].start, BASE + 4 * PAGE);
	ASSERT_UINT(target->map.mappings[1].offset, 2 * PAGE);
	target_destroy(target);
}

/* A note whose bytes are these. */
static struct target *open_with_note(uint32_t type, const void *bytes, size_t size)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	elf_maker_note(&maker, "CORE", type, bytes, size);
	return open_with_page(&maker);
}

TEST(notes_too_short_are_findings)
{
	static const uint32_t types[] = { NT_PRSTATUS, NT_PRPSINFO, NT_FILE };
	static const uint8_t bytes[8];
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct target *target = open_with_note(types[i], bytes, sizeof(bytes));
		CU_ASSERT(findings_has(&target->findings, FINDING_ODD_NOTE));
		ASSERT_UINT(target->threads.count, 0);
		ASSERT_UINT(target->map.mapping_count, 0);
		target_destroy(target);
		target = open_with_note(types[i], "", 0);
		CU_ASSERT(findings_has(&target->findings, FINDING_ODD_NOTE));
		target_destroy(target);
	}
}

TEST(counts_beyond_the_note_are_findings)
{
	struct {
		uint64_t count, unit, row[3];
		char path[8];
	} files = { UINT64_MAX, 1, { BASE, BASE + PAGE, 0 }, "/a" };
	struct target *target = open_with_note(NT_FILE, &files, sizeof(files));
	CU_ASSERT(findings_has(&target->findings, FINDING_ODD_NOTE));
	ASSERT_UINT(target->map.mapping_count, 1);
	target_destroy(target);
	/* Rows for two, one path that does not end. */
	files.count = 1;
	memset(files.path, 'x', sizeof(files.path));
	target = open_with_note(NT_FILE, &files, sizeof(files));
	CU_ASSERT(findings_has(&target->findings, FINDING_ODD_NOTE));
	ASSERT_UINT(target->map.mapping_count, 0);
	target_destroy(target);
}

TEST(a_note_larger_than_its_segment_ends_them)
{
	static const uint32_t lies[] = { 0xffffffff, 0x7fffffff, 400, 0xfffffffc };
	for (size_t i = 0; i < 2 * sizeof(lies) / sizeof(lies[0]); i++) {
		struct elf_maker maker;
		elf_maker_init(&maker);
		elf_maker_thread(&maker, 1, NULL, 0);
		elf_maker_thread(&maker, 2, NULL, 0);
		elf_maker_load(&maker, BASE, page, PAGE, PAGE, PF_R);
		struct text core = elf_maker_build(&maker);
		/* n_namesz and n_descsz of the second of two equal notes. */
		size_t second = maker.notes_offset + maker.notes_size / 2 + i % 2 * 4;
		memcpy(core.bytes + second, &lies[i / 2], sizeof(lies[0]));
		struct target *target = NULL;
		CU_ASSERT_FATAL(core_open_bytes(core.bytes, core.size, NULL, &target, NULL) ==
				HD_OK);
		REQUIRE(target);
		ASSERT_UINT(target->threads.count, 1);
		CU_ASSERT(findings_has(&target->findings, FINDING_ODD_NOTE));
		target_destroy(target);
		text_deinit(&core);
		elf_maker_deinit(&maker);
	}
}

TEST(the_producer_shows_in_the_notes)
{
	static const uint8_t info[128];
	struct elf_maker maker;
	struct target *target;
	elf_maker_init(&maker);
	elf_maker_process(&maker, 1, "dotnet", "");
	elf_maker_thread(&maker, 1, NULL, 0);
	target = open_with_page(&maker);
	ASSERT_UINT(target->core.producer, PRODUCER_CREATEDUMP);
	target_destroy(target);

	elf_maker_init(&maker);
	elf_maker_process(&maker, 1, "dotnet", "dotnet a.dll");
	elf_maker_thread(&maker, 1, NULL, 0);
	elf_maker_note(&maker, "LINUX", NT_X86_XSTATE, info, sizeof(info));
	elf_maker_note(&maker, "GDB", 0xff000000, "<target/>", 10);
	target = open_with_page(&maker);
	ASSERT_UINT(target->core.producer, PRODUCER_GCORE);
	target_destroy(target);

	elf_maker_init(&maker);
	elf_maker_thread(&maker, 1, NULL, 6);
	elf_maker_process(&maker, 1, "dotnet", "dotnet a.dll");
	elf_maker_note(&maker, "CORE", NT_SIGINFO, info, sizeof(info));
	target = open_with_page(&maker);
	ASSERT_UINT(target->core.producer, PRODUCER_KERNEL);
	target_destroy(target);

	elf_maker_init(&maker);
	target = open_with_page(&maker);
	ASSERT_UINT(target->core.producer, PRODUCER_UNKNOWN);
	target_destroy(target);
}

/* A core with a file of 20 pages, of which some are captured, and memory of its own. */
static enum core_content content_with(uint64_t file_pages, uint64_t heap_size, uint64_t stack)
{
	static const uint8_t zeros[1 << 20];
	struct elf_maker maker;
	uint64_t registers[REGISTER_COUNT] = { 0 };
	elf_maker_init(&maker);
	registers[REGISTER_RSP] = stack;
	elf_maker_thread(&maker, 1, registers, 0);
	elf_maker_file(&maker, BASE + 64 * PAGE, BASE + 84 * PAGE, 0, "/a");
	elf_maker_load(&maker, BASE + 64 * PAGE, zeros, file_pages * PAGE, 20 * PAGE, PF_R | PF_X);
	elf_maker_load(&maker, BASE + 128 * PAGE, zeros, heap_size, heap_size, PF_R | PF_W);
	struct target *target = open_with_page(&maker);
	enum core_content content = target->core.content;
	target_destroy(target);
	return content;
}

TEST(the_content_shows_in_the_segments)
{
	uint64_t heap = BASE + 128 * PAGE;
	ASSERT_UINT(content_with(20, 1 << 20, 0), CONTENT_FULL);
	ASSERT_UINT(content_with(18, 1 << 20, 0), CONTENT_FULL);
	ASSERT_UINT(content_with(2, 1 << 20, 0), CONTENT_HEAP);
	ASSERT_UINT(content_with(2, 1 << 16, 0), CONTENT_MINI);
	/* A stack may be long in any dump. */
	ASSERT_UINT(content_with(2, 1 << 20, heap + 8), CONTENT_MINI);
}

/* The core of @p maker, in which all loads but the first become notes: each has all of them. */
static struct text with_repeated_notes(struct elf_maker *maker, size_t copies)
{
	elf_maker_load(maker, BASE, page, PAGE, PAGE, PF_R | PF_W);
	for (size_t i = 0; i < copies; i++)
		elf_maker_load(maker, 0, NULL, 0, 0, 0);
	struct text core = elf_maker_build(maker);
	for (size_t i = 0; i < copies; i++)
		memcpy(core.bytes + MAKER_PHDR(2 + i), core.bytes + MAKER_PHDR(0),
		       sizeof(Elf64_Phdr));
	return core;
}

TEST(notes_that_many_segments_have_are_read_once)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	elf_maker_thread(&maker, 1, NULL, 11);
	elf_maker_thread(&maker, 2, NULL, 0);
	elf_maker_file(&maker, BASE, BASE + PAGE, 0, "/a");
	struct text core = with_repeated_notes(&maker, 300);
	struct target *target = NULL;
	CU_ASSERT_FATAL(core_open_bytes(core.bytes, core.size, NULL, &target, NULL) == HD_OK);
	REQUIRE(target);
	ASSERT_UINT(target->threads.count, 2);
	ASSERT_UINT(target->map.mapping_count, 1);
	CU_ASSERT(target->core.signal == 11);
	ASSERT_UINT_FATAL(target->findings.count, 1);
	ASSERT_TEXT(finding_name(target->findings.rows[0].kind), "odd-note");
	CU_ASSERT(!strncmp(target->findings.rows[0].detail, "300 segments of notes", 21));
	target_destroy(target);
	text_deinit(&core);
	elf_maker_deinit(&maker);
}

TEST(notes_of_segments_that_overlap_are_all_read)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	for (int32_t i = 0; i < 6; i++)
		elf_maker_thread(&maker, 10 + i, NULL, 0);
	struct text core = with_repeated_notes(&maker, 2);
	/* The last four, the first two, and from the second to the fourth. */
	uint64_t one = maker.notes_size / 6;
	const uint64_t parts[3][2] = { { 2, 4 }, { 0, 2 }, { 1, 3 } };
	for (size_t i = 0; i < 3; i++) {
		Elf64_Phdr header;
		char *at = core.bytes + MAKER_PHDR(i ? i + 1 : 0);
		memcpy(&header, at, sizeof(header));
		header.p_offset = maker.notes_offset + parts[i][0] * one;
		header.p_filesz = parts[i][1] * one;
		memcpy(at, &header, sizeof(header));
	}
	struct target *target = NULL;
	CU_ASSERT_FATAL(core_open_bytes(core.bytes, core.size, NULL, &target, NULL) == HD_OK);
	REQUIRE(target);
	ASSERT_UINT_FATAL(target->threads.count, 6);
	for (int32_t i = 0; i < 6; i++)
		CU_ASSERT(target->threads.rows[i].tid == 10 + i);
	CU_ASSERT(findings_has(&target->findings, FINDING_ODD_NOTE));
	target_destroy(target);
	text_deinit(&core);
	elf_maker_deinit(&maker);
}

TEST(threads_are_found_in_any_order)
{
	struct elf_maker maker;
	uint64_t registers[REGISTER_COUNT] = { 0 };
	elf_maker_init(&maker);
	for (int32_t i = 0; i < 1000; i++) {
		registers[REGISTER_RIP] = (uint64_t)i;
		elf_maker_thread(&maker, i * 7919 % 500 - 20, registers, 0);
	}
	struct target *target = open_with_page(&maker);
	ASSERT_UINT(target->threads.count, 1000);
	for (int32_t i = 0; i < 500; i++) {
		const struct target_thread *thread = target_thread(target, i * 7919 % 500 - 20);
		REQUIRE(thread);
		/* Each id is there twice: the first counts. */
		CU_ASSERT(thread == &target->threads.rows[i]);
	}
	CU_ASSERT_PTR_NULL(target_thread(target, -21));
	CU_ASSERT_PTR_NULL(target_thread(target, 480));
	target_destroy(target);
}

/* Does a core of @p maker need more than @p most, and say so? */
static void assert_needs_more(struct elf_maker *maker, uint64_t most)
{
	const struct target_options options = { .no_files = true, .max_mem = most };
	struct target *target = NULL;
	struct hd_error err = { 0 };
	elf_maker_load(maker, BASE, page, PAGE, PAGE, PF_R | PF_W);
	struct text core = elf_maker_build(maker);
	enum hd_status status = core_open_bytes(core.bytes, core.size, &options, &target, &err);
	ASSERT_UINT(status, HD_ERR_NOMEM);
	CU_ASSERT_PTR_NULL(target);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "--max-mem"));
	target_destroy(target);
	text_deinit(&core);
	elf_maker_deinit(maker);
}

TEST(lists_count_against_max_mem)
{
	struct elf_maker maker;
	char path[1001];
	elf_maker_init(&maker);
	for (int32_t i = 0; i < 1000; i++)
		elf_maker_thread(&maker, i, NULL, 0);
	assert_needs_more(&maker, 64 << 10);
	elf_maker_init(&maker);
	for (uint64_t i = 0; i < 1000; i++)
		elf_maker_load(&maker, BASE + (i + 1) * PAGE, page, 8, 8, PF_R);
	assert_needs_more(&maker, 64 << 10);
	elf_maker_init(&maker);
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	for (uint64_t i = 0; i < 100; i++)
		elf_maker_file(&maker, BASE + i * PAGE, BASE + (i + 1) * PAGE, 0, path);
	assert_needs_more(&maker, 64 << 10);
}

static int always(void *arg)
{
	(void)arg;
	return 1;
}

TEST(reading_notes_can_be_interrupted)
{
	struct elf_maker maker;
	struct job job = { .cancelled = always };
	struct target *target = NULL;
	struct hd_error err = { 0 };
	char path[] = "/tmp/heapdump-notes-XXXXXX";
	int fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	(void)close(fd);
	elf_maker_init(&maker);
	elf_maker_thread(&maker, 1, NULL, 0);
	elf_maker_load(&maker, BASE, page, PAGE, PAGE, PF_R | PF_W);
	struct text core = elf_maker_build(&maker);
	CU_ASSERT(write_file(path, core.bytes, core.size));
	ASSERT_UINT(target_open_core(path, NULL, &job, &target, &err), HD_ERR_CANCELLED);
	CU_ASSERT_PTR_NULL(target);
	(void)unlink(path);
	text_deinit(&core);
	elf_maker_deinit(&maker);
}

SUITE(.name = "core_notes")
