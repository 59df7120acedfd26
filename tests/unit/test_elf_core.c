/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/assert_more.h"
#include "support/elf_maker.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/sort.h"

#define PAGE ((uint64_t)4096)
#define BASE ((uint64_t)0x7f0000000000)

static uint8_t pages[8 * 4096];

/* Byte i of page p is p * 16 + i % 16 + 1: never zero, different in each page. */
static int fill_pages(void)
{
	for (size_t i = 0; i < sizeof(pages); i++)
		pages[i] = (uint8_t)(i / PAGE * 16 + i % 16 + 1);
	return 0;
}

static const uint8_t *page(size_t index)
{
	return pages + index * PAGE;
}

static void assert_bytes(struct target *target, uint64_t address, const uint8_t *expected,
			 size_t size)
{
	uint8_t buf[sizeof(pages)];
	ASSERT_UINT(memory_prefix(target->memory, address, buf, size), size);
	CU_ASSERT(memcmp(buf, expected, size) == 0);
}

static void assert_run(struct target *target, uint64_t address, uint64_t expected)
{
	uint64_t size = 0;
	const uint8_t *run = memory_run(target->memory, address, &size);
	CU_ASSERT((run != NULL) == (expected > 0));
	ASSERT_UINT(run ? size : 0, expected);
}

static const char *finding_of(const struct target *target, const char *kind)
{
	for (size_t i = 0; i < target->findings.count; i++) {
		if (strcmp(finding_name(target->findings.rows[i].kind), kind) == 0)
			return target->findings.rows[i].detail;
	}
	return "";
}

TEST(loads_are_read_and_neighbours_joined)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	/* Not in the order of addresses; the last two adjoin in both. */
	elf_maker_load(&maker, BASE + 16 * PAGE, page(0), PAGE, PAGE, PF_R | PF_X);
	elf_maker_load(&maker, BASE, page(1), PAGE, PAGE, PF_R);
	elf_maker_load(&maker, BASE + PAGE, page(2), 2 * PAGE, 2 * PAGE, PF_R | PF_W);
	struct target *target = elf_maker_open(&maker, NULL);
	CU_ASSERT(target->kind == TARGET_CORE && target->is_64 && !target->core.is_truncated);
	ASSERT_UINT(target->map.range_count, 3);
	ASSERT_UINT(target->map.ranges[0].start, BASE);
	ASSERT_UINT(target->map.ranges[0].flags, PF_R);
	ASSERT_UINT(target->map.ranges[1].end, BASE + 3 * PAGE);
	ASSERT_UINT(target->map.ranges[2].captured, PAGE);
	assert_bytes(target, BASE, page(1), 3 * PAGE);
	assert_bytes(target, BASE + 16 * PAGE + 5, page(0) + 5, PAGE - 5);
	assert_run(target, BASE + 8, 3 * PAGE - 8);
	assert_run(target, BASE + 3 * PAGE, 0);
	assert_run(target, BASE - 1, 0);
	assert_run(target, BASE + 17 * PAGE - 1, 1);
	ASSERT_UINT(memory_next(target->memory, 0), BASE);
	ASSERT_UINT(memory_next(target->memory, BASE + 3 * PAGE), BASE + 16 * PAGE);
	ASSERT_UINT(memory_next(target->memory, BASE + 17 * PAGE), UINT64_MAX);
	ASSERT_UINT(target->findings.count, 0);
	CU_ASSERT(target->own == target->memory);
	target_destroy(target);
	elf_maker_deinit(&maker);
}

TEST(neighbours_in_memory_alone_are_two_runs_read_as_one)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	elf_maker_load(&maker, BASE + PAGE, page(1), PAGE, PAGE, PF_R);
	elf_maker_load(&maker, BASE, page(0), PAGE, PAGE, PF_R);
	struct target *target = elf_maker_open(&maker, NULL);
	assert_run(target, BASE, PAGE);
	assert_bytes(target, BASE, page(0), 2 * PAGE);
	target_destroy(target);
	elf_maker_deinit(&maker);
}

TEST(bytes_beyond_filesz_are_missing_not_zero)
{
	struct elf_maker maker;
	uint8_t byte;
	elf_maker_init(&maker);
	elf_maker_load(&maker, BASE, page(0), PAGE, 4 * PAGE, PF_R);
	elf_maker_load(&maker, BASE + 8 * PAGE, page(0), 0, PAGE, PF_R);
	struct target *target = elf_maker_open(&maker, NULL);
	ASSERT_UINT(target->map.range_count, 2);
	ASSERT_UINT(target->map.ranges[0].end, BASE + 4 * PAGE);
	ASSERT_UINT(target->map.ranges[0].captured, PAGE);
	ASSERT_UINT(target->map.ranges[1].captured, 0);
	CU_ASSERT(memory_u8(target->memory, BASE + PAGE - 1, &byte));
	CU_ASSERT(!memory_u8(target->memory, BASE + PAGE, &byte));
	CU_ASSERT(!memory_u8(target->memory, BASE + 8 * PAGE, &byte));
	CU_ASSERT(!target->core.is_truncated);
	target_destroy(target);
	elf_maker_deinit(&maker);
}

TEST(offsets_need_no_alignment)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	maker.skew = 0x798;
	elf_maker_process(&maker, 5, "dotnet", "dotnet app.dll");
	elf_maker_load(&maker, BASE, page(0), 2 * PAGE, 2 * PAGE, PF_R);
	elf_maker_load(&maker, BASE + 4 * PAGE, page(2), PAGE, PAGE, PF_R);
	struct target *target = elf_maker_open(&maker, NULL);
	ASSERT_UINT(target->core.producer, PRODUCER_GCORE);
	assert_bytes(target, BASE, page(0), 2 * PAGE);
	assert_bytes(target, BASE + 4 * PAGE, page(2), PAGE);
	target_destroy(target);
	elf_maker_deinit(&maker);
}

TEST(of_overlapping_loads_the_first_of_the_file_wins)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	elf_maker_load(&maker, BASE + 2 * PAGE, page(0), 2 * PAGE, 2 * PAGE, PF_R);
	/* Around the first: what it does not cover, before and after. */
	elf_maker_load(&maker, BASE + PAGE, page(2), 4 * PAGE, 4 * PAGE, PF_W);
	/* Hidden by the second. */
	elf_maker_load(&maker, BASE + 4 * PAGE, page(7), PAGE, PAGE, PF_X);
	struct target *target = elf_maker_open(&maker, NULL);
	CU_ASSERT(findings_has(&target->findings, FINDING_OVERLAPPING_SEGMENTS));
	ASSERT_UINT(target->map.range_count, 3);
	for (size_t i = 1; i < target->map.range_count; i++)
		CU_ASSERT(target->map.ranges[i].start >= target->map.ranges[i - 1].end);
	assert_bytes(target, BASE + PAGE, page(2), PAGE);
	assert_bytes(target, BASE + 2 * PAGE, page(0), 2 * PAGE);
	assert_bytes(target, BASE + 4 * PAGE, page(5), PAGE);
	assert_run(target, BASE + 5 * PAGE, 0);
	target_destroy(target);
	elf_maker_deinit(&maker);
}

/* The owner of each page by the rule's own words, for loads of random places and sizes. */
TEST(overlaps_are_split_by_the_rule)
{
	unsigned int seed = 1;
	for (unsigned int round = 0; round < 200; round++) {
		struct elf_maker maker;
		int owner[64];
		memset(owner, -1, sizeof(owner));
		elf_maker_init(&maker);
		for (int i = 0; i < 8; i++) {
			seed = seed * 1103515245 + 12345;
			uint64_t first = seed >> 8 & 31, count = (seed >> 16 & 7) + 1;
			uint64_t captured = (seed >> 24 & 7) < count ? seed >> 24 & 7 : count;
			elf_maker_load(&maker, BASE + first * PAGE, pages, captured * PAGE,
				       count * PAGE, PF_R);
			for (uint64_t p = first; p < first + count; p++) {
				if (owner[p] == -1)
					owner[p] = p - first < captured ? (int)(p - first) : -2;
			}
		}
		struct target *target = elf_maker_open(&maker, NULL);
		for (uint64_t p = 0; p < 64; p++) {
			uint8_t byte = 0;
			bool has = memory_u8(target->memory, BASE + p * PAGE, &byte);
			ASSERT_UINT(has, owner[p] >= 0);
			if (has)
				ASSERT_UINT(byte, pages[(size_t)owner[p] * PAGE]);
		}
		target_destroy(target);
		elf_maker_deinit(&maker);
	}
}

TEST(pn_xnum_takes_the_number_from_section_0)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	maker.with_xnum = true;
	elf_maker_process(&maker, 9, "dotnet", "");
	for (uint64_t i = 0; i < 70000; i++)
		elf_maker_load(&maker, BASE + i * 2 * PAGE, NULL, 0, PAGE, PF_R);
	elf_maker_load(&maker, BASE - PAGE, page(3), PAGE, PAGE, PF_R);
	struct text core = elf_maker_build(&maker);
	struct target *target = NULL;
	CU_ASSERT_FATAL(core_open_bytes(core.bytes, core.size, NULL, &target, NULL) == HD_OK);
	REQUIRE(target);
	ASSERT_UINT(target->map.range_count, 70001);
	CU_ASSERT(target->pid == 9);
	assert_bytes(target, BASE - PAGE, page(3), PAGE);
	target_destroy(target);
	target = NULL;
	/* Cut before section 0: the number follows from where the first segment begins. */
	CU_ASSERT_FATAL(core_open_bytes(core.bytes, core.size - 64, NULL, &target, NULL) == HD_OK);
	REQUIRE(target);
	ASSERT_UINT(target->map.range_count, 70001);
	assert_bytes(target, BASE - PAGE, page(3), PAGE);
	target_destroy(target);
	text_deinit(&core);
	elf_maker_deinit(&maker);
}

/* Open bytes that must be refused; the message has @p part. */
static void assert_refused(const void *bytes, size_t size, enum hd_status status, const char *part)
{
	struct target *target = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(core_open_bytes(bytes, size, NULL, &target, &err), status);
	CU_ASSERT_PTR_NULL(target);
	if (!strstr(err.message, part))
		ASSERT_TEXT(err.message, part);
}

static void assert_refused_as(const struct elf_maker *how, enum hd_status status, const char *part)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	maker.type = how->type;
	maker.machine = how->machine;
	maker.class = how->class;
	maker.data = how->data;
	elf_maker_load(&maker, BASE, page(0), PAGE, PAGE, PF_R);
	struct text core = elf_maker_build(&maker);
	if (maker.data == ELFDATA2MSB) {
		uint16_t swapped[] = { __builtin_bswap16(how->type),
				       __builtin_bswap16(how->machine) };
		memcpy(core.bytes + EI_NIDENT, swapped, sizeof(swapped));
	}
	assert_refused(core.bytes, core.size, status, part);
	text_deinit(&core);
	elf_maker_deinit(&maker);
}

TEST(other_kinds_of_file_are_refused_by_name)
{
	struct elf_maker how;
	elf_maker_init(&how);
	how.type = ET_EXEC;
	assert_refused_as(&how, HD_ERR_UNSUPPORTED, "is a program or library, not a core");
	how.type = ET_DYN;
	assert_refused_as(&how, HD_ERR_UNSUPPORTED, "give its process id or its core file");
	how.type = ET_REL;
	assert_refused_as(&how, HD_ERR_UNSUPPORTED, "but not a core");
	how.type = ET_CORE;
	how.machine = EM_RISCV;
	assert_refused_as(&how, HD_ERR_UNSUPPORTED, "core of RISC-V: only x86-64, arm64");
	how.machine = EM_PPC64;
	how.data = ELFDATA2MSB;
	assert_refused_as(&how, HD_ERR_UNSUPPORTED, "POWER, big-endian");
	how.data = ELFDATA2LSB;
	how.machine = EM_386;
	how.class = ELFCLASS32;
	assert_refused_as(&how, HD_ERR_UNSUPPORTED, "x86 (32 bits)");
	how.machine = EM_X86_64;
	assert_refused_as(&how, HD_ERR_UNSUPPORTED, "32-bit process");
	assert_refused("", 0, HD_ERR_FORMAT, "is empty");
	assert_refused("hello, world: a text", 20, HD_ERR_UNSUPPORTED, "is not an ELF core");
	assert_refused("\x7f"
		       "ELF\2\1\1\0\0\0\0\0\0\0\0\0\4",
		       17, HD_ERR_FORMAT, "ends within its ELF header (17 bytes)");
	how.class = 3;
	assert_refused_as(&how, HD_ERR_FORMAT, "is damaged: its ELF header names a class");
	struct target *target = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(target_open_core("/tmp", NULL, NULL, &target, &err), HD_ERR_OS);
	ASSERT_UINT(target_open_core("/no/such/core", NULL, NULL, &target, &err), HD_ERR_OS);
	CU_ASSERT(strstr(err.message, "/no/such/core") != NULL);
}

TEST(a_core_without_memory_is_refused)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	struct text core = elf_maker_build(&maker);
	assert_refused(core.bytes, core.size, HD_ERR_FORMAT, "has no segments");
	text_deinit(&core);
	elf_maker_thread(&maker, 1, NULL, 0);
	core = elf_maker_build(&maker);
	assert_refused(core.bytes, core.size, HD_ERR_FORMAT, "has no memory segments");
	text_deinit(&core);
	elf_maker_deinit(&maker);
}

TEST(header_sizes_that_lie_are_refused)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	elf_maker_load(&maker, BASE, page(0), PAGE, PAGE, PF_R);
	struct text core = elf_maker_build(&maker);
	Elf64_Ehdr header, good;
	memcpy(&good, core.bytes, sizeof(good));
	header = good;
	header.e_phentsize = 55;
	memcpy(core.bytes, &header, sizeof(header));
	assert_refused(core.bytes, core.size, HD_ERR_FORMAT, "program headers of 55 bytes");
	header = good;
	header.e_phoff = UINT64_MAX - 10;
	memcpy(core.bytes, &header, sizeof(header));
	assert_refused(core.bytes, core.size, HD_ERR_FORMAT, "ends within its program headers");
	header = good;
	header.e_phnum = 65000;
	memcpy(core.bytes, &header, sizeof(header));
	assert_refused(core.bytes, core.size, HD_ERR_FORMAT, "ends within its program headers");
	text_deinit(&core);
	elf_maker_deinit(&maker);
}

TEST(segments_that_lie_are_findings)
{
	struct elf_maker maker;
	uint8_t byte;
	elf_maker_init(&maker);
	elf_maker_load(&maker, BASE, page(0), PAGE, PAGE, PF_R);
	elf_maker_load(&maker, UINT64_MAX - PAGE, page(1), PAGE, 8 * PAGE, PF_R);
	elf_maker_load(&maker, BASE + 8 * PAGE, page(2), PAGE, 16, PF_R);
	elf_maker_load(&maker, BASE + 32 * PAGE, NULL, UINT64_MAX, UINT64_MAX, PF_R);
	struct target *target = elf_maker_open(&maker, NULL);
	assert_bytes(target, BASE, page(0), PAGE);
	assert_bytes(target, BASE + 8 * PAGE, page(2), PAGE);
	assert_bytes(target, UINT64_MAX - PAGE, page(1), PAGE);
	CU_ASSERT(!memory_u8(target->memory, UINT64_MAX, &byte));
	CU_ASSERT(findings_has(&target->findings, FINDING_ODD_SEGMENT));
	CU_ASSERT(target->core.is_truncated);
	target_destroy(target);
	elf_maker_deinit(&maker);
}

/* A small core of the usual shape. */
static struct text small_core(bool notes_last)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	maker.notes_last = notes_last;
	elf_maker_process(&maker, 4711, "dotnet", "");
	elf_maker_file(&maker, BASE, BASE + 2 * PAGE, 0, "/no/such/library.so");
	elf_maker_thread(&maker, 4712, NULL, 6);
	elf_maker_load(&maker, BASE, page(0), 2 * PAGE, 2 * PAGE, PF_R);
	elf_maker_load(&maker, BASE + 4 * PAGE, page(2), PAGE, 3 * PAGE, PF_R | PF_W);
	elf_maker_load(&maker, BASE + 9 * PAGE, page(3), 4 * PAGE, 4 * PAGE, PF_R | PF_W);
	struct text core = elf_maker_build(&maker);
	elf_maker_deinit(&maker);
	return core;
}

/* Whatever is left of a core is read rightly, and what is not is said. */
static void assert_truncated(const struct text *core, const struct target *whole, size_t size)
{
	struct target *target = NULL;
	struct hd_error err = { 0 };
	enum hd_status status = core_open_bytes(core->bytes, size, NULL, &target, &err);
	if (status != HD_OK) {
		ASSERT_UINT(status, size < SELFMAG ? HD_ERR_UNSUPPORTED : HD_ERR_FORMAT);
		CU_ASSERT(strstr(err.message, "ends within") || size < SELFMAG);
		return;
	}
	REQUIRE(target);
	ASSERT_UINT(target->core.file_size, size);
	ASSERT_UINT(target->core.is_truncated, size < core->size);
	ASSERT_UINT(findings_has(&target->findings, FINDING_TRUNCATED), size < core->size);
	for (size_t i = 0; i < whole->map.range_count; i++) {
		const struct target_range *range = &whole->map.ranges[i];
		uint8_t was[PAGE], is[PAGE];
		size_t had = memory_prefix(whole->own, range->start, was, sizeof(was));
		size_t has = memory_prefix(target->own, range->start, is, sizeof(is));
		CU_ASSERT(has <= had && memcmp(was, is, has) == 0);
	}
	target_destroy(target);
}

TEST(a_cut_core_opens_with_what_is_left)
{
	for (int notes_last = 0; notes_last < 2; notes_last++) {
		struct text core = small_core(notes_last);
		struct target *whole = NULL;
		CU_ASSERT_FATAL(core_open_bytes(core.bytes, core.size, NULL, &whole, NULL) ==
				HD_OK);
		REQUIRE(whole);
		/* Each byte of the headers and notes, and each 61st after. */
		for (size_t size = core.size; size > 0;) {
			assert_truncated(&core, whole, size);
			size -= size > 2048 + 61 ? 61 : 1;
		}
		target_destroy(whole);
		text_deinit(&core);
	}
}

TEST(truncation_says_how_much_is_gone)
{
	struct text core = small_core(false);
	struct target *target = NULL;
	CU_ASSERT_FATAL(core_open_bytes(core.bytes, core.size - 2 * PAGE, NULL, &target, NULL) ==
			HD_OK);
	REQUIRE(target);
	ASSERT_UINT(target->core.missing_bytes, 2 * PAGE);
	const char *detail = finding_of(target, "truncated");
	CU_ASSERT(strstr(detail, ": 8192 bytes (") != NULL);
	CU_ASSERT(target->pid == 4711);
	ASSERT_UINT(target->map.ranges[2].captured, 2 * PAGE);
	ASSERT_UINT(target->map.ranges[2].end - target->map.ranges[2].start, 4 * PAGE);
	target_destroy(target);
	text_deinit(&core);
}

TEST(notes_behind_the_cut_are_said_to_be_gone)
{
	struct text core = small_core(true);
	struct target *target = NULL;
	CU_ASSERT_FATAL(core_open_bytes(core.bytes, core.size - 2 * PAGE, NULL, &target, NULL) ==
			HD_OK);
	REQUIRE(target);
	CU_ASSERT(strstr(finding_of(target, "truncated"), "with the notes") != NULL);
	ASSERT_UINT(target->threads.count, 0);
	target_destroy(target);
	text_deinit(&core);
}

static bool is_core(const char *name)
{
	bool is = false;
	ASSERT_UINT(target_is_core(name, &is, NULL), HD_OK);
	return is;
}

TEST(bytes_of_the_file_are_given_twice_at_most)
{
	static const uint8_t bytes[64 << 10] = { 1 };
	struct elf_maker maker;
	elf_maker_init(&maker);
	elf_maker_load(&maker, BASE, bytes, sizeof(bytes), sizeof(bytes), PF_R | PF_W);
	for (uint64_t i = 1; i < 50; i++)
		elf_maker_load(&maker, BASE + i * 2 * sizeof(bytes), NULL, sizeof(bytes),
			       sizeof(bytes), PF_R | PF_W);
	struct text core = elf_maker_build(&maker);
	for (size_t i = 1; i < 50; i++)
		memcpy(core.bytes + MAKER_PHDR(i) + offsetof(Elf64_Phdr, p_offset),
		       core.bytes + MAKER_PHDR(0) + offsetof(Elf64_Phdr, p_offset), 8);
	struct target *target = NULL;
	CU_ASSERT_FATAL(core_open_bytes(core.bytes, core.size, NULL, &target, NULL) == HD_OK);
	REQUIRE(target);
	ASSERT_UINT(target->map.range_count, 50);
	uint64_t sum = 0;
	for (size_t i = 0; i < target->map.range_count; i++)
		sum += target->map.ranges[i].captured;
	CU_ASSERT(sum >= sizeof(bytes) && sum <= 2 * core.size);
	/* The first has its bytes, and a single one that shares them as well. */
	ASSERT_UINT(target->map.ranges[0].captured, sizeof(bytes));
	ASSERT_UINT(target->map.ranges[1].captured, sizeof(bytes));
	ASSERT_UINT(target->map.ranges[49].captured, 0);
	CU_ASSERT(findings_has(&target->findings, FINDING_ODD_SEGMENT) &&
		  !target->core.is_truncated);
	target_destroy(target);
	text_deinit(&core);
	elf_maker_deinit(&maker);
}

TEST(is_core_looks_at_the_first_bytes)
{
	char folder[] = "/tmp/heapdump-core-XXXXXX", path[64];
	CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
	(void)snprintf(path, sizeof(path), "%s/core", folder);
	struct text core = small_core(false);
	CU_ASSERT(write_file(path, core.bytes, core.size));
	CU_ASSERT(is_core(path));
	CU_ASSERT(write_file(path,
			     "\x7f"
			     "ELF",
			     4));
	CU_ASSERT(is_core(path));
	CU_ASSERT(write_file(path,
			     "\x7f"
			     "EL",
			     3));
	CU_ASSERT(!is_core(path));
	CU_ASSERT(write_file(path, "", 0));
	CU_ASSERT(!is_core(path));
	CU_ASSERT(!is_core(folder));
	CU_ASSERT(unlink(path) == 0 && mkfifo(path, 0600) == 0);
	CU_ASSERT(!is_core(path));
	bool unused;
	struct hd_error err;
	ASSERT_UINT(target_is_core("/no/such/file", &unused, &err), HD_ERR_OS);
	ASSERT_TEXT(err.message, "/no/such/file: cannot open: No such file or directory");
	CU_ASSERT(unlink(path) == 0 && rmdir(folder) == 0);
	text_deinit(&core);
}

TEST(every_failed_allocation_is_told)
{
	struct text core = small_core(false);
	uint64_t nth = 1;
	for (bool failed = true; failed && nth < 1000; nth++) {
		struct target *target = NULL;
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		enum hd_status status = core_open_bytes(core.bytes, core.size, NULL, &target, &err);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || (failed && status == HD_ERR_NOMEM));
		ASSERT_UINT(err.status, status);
		CU_ASSERT((target != NULL) == (status == HD_OK));
		target_destroy(target);
	}
	CU_ASSERT(nth > 10 && nth < 1000);
	text_deinit(&core);
}

#define CUTS_MAX 4096u

/* 50 random places, and the ends of each program header and of each segment; ascending. */
static size_t cuts_of(const char *path, uint64_t *cuts)
{
	FILE *file = fopen(path, "rbe");
	Elf64_Ehdr header;
	size_t count = 0;
	uint64_t seed = 7;
	REQUIRE(file);
	CU_ASSERT_FATAL(fread(&header, sizeof(header), 1, file) == 1);
	CU_ASSERT_FATAL(header.e_phnum < 1000 && header.e_phoff == sizeof(header));
	for (unsigned int i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;
		CU_ASSERT_FATAL(fread(&segment, sizeof(segment), 1, file) == 1);
		cuts[count++] = MAKER_PHDR((uint64_t)i);
		cuts[count++] = segment.p_offset;
		cuts[count++] = segment.p_offset + segment.p_filesz - 1;
	}
	for (uint64_t i = 0, last = cuts[count - 1]; i < 50; i++) {
		seed = seed * 6364136223846793005 + 1442695040888963407;
		cuts[count] = (seed >> 20) % last;
		count++;
	}
	(void)fclose(file);
	sort_u64(cuts, count);
	return count;
}

/* One copy of a real core, shrunk downwards. */
TEST(a_real_core_opens_at_every_size)
{
	static const char core_path[] = HD_SOURCE_DIR "/corefiles/build/wks10-heap.core";
	static const char copy_path[] = "heapdump-cut.core";
	static uint64_t cuts[CUTS_MAX];
	if (access(core_path, R_OK)) {
		(void)printf("(no %s: skipped) ", core_path);
		return;
	}
	char command[256];
	(void)snprintf(command, sizeof(command), "cp %s %s", core_path, copy_path);
	CU_ASSERT_FATAL(system(command) == 0); /* NOLINT: constant paths */
	size_t count = cuts_of(copy_path, cuts), opened = 0;
	for (size_t i = count; i-- > 0;) {
		const struct target_options options = { .no_files = true };
		struct target *target = NULL;
		CU_ASSERT_FATAL(truncate(copy_path, (off_t)cuts[i]) == 0);
		enum hd_status status = target_open_core(copy_path, &options, NULL, &target, NULL);
		CU_ASSERT(status == HD_OK || status == HD_ERR_FORMAT);
		CU_ASSERT(status == HD_ERR_FORMAT || target->core.is_truncated);
		opened += status == HD_OK;
		target_destroy(target);
	}
	CU_ASSERT(opened > count / 2);
	(void)unlink(copy_path);
}

SUITE(.name = "elf_core", .init = fill_pages)
