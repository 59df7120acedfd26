/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "support/assert_more.h"
#include "support/elf_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

#define PAGE   ((uint64_t)4096)
#define BASE   ((uint64_t)0x7f0000000000)
#define MEMORY ((size_t)2 << 20)

static struct text core;   /* the core itself */
static size_t data_offset; /* of its memory in it */
static char path[] = "/tmp/heapdump-unpack-XXXXXX";

/* 2 MB: noise, which does not pack, and zeros. */
static int make_core(void)
{
	struct elf_maker maker;
	uint8_t *bytes = mem_calloc(MEMORY, 1);
	unsigned int seed = 5;
	int fd = mkstemp(path);
	if (!bytes || fd < 0)
		return 1;
	for (size_t i = 0; i < MEMORY / 4; i++) {
		seed = seed * 1103515245 + 12345;
		bytes[i] = (uint8_t)(seed >> 16);
	}
	elf_maker_init(&maker);
	elf_maker_process(&maker, 4711, "dotnet", "");
	elf_maker_load(&maker, BASE, bytes, MEMORY, MEMORY, PF_R | PF_W);
	core = elf_maker_build(&maker);
	data_offset = maker.loads[0].offset;
	elf_maker_deinit(&maker);
	mem_free(bytes);
	return close(fd);
}

static int free_core(void)
{
	text_deinit(&core);
	return unlink(path);
}

/* Append frames of @p size bytes each; without their sizes when @p as_stream. */
static struct text pack(const char *bytes, size_t total, size_t size, bool as_stream)
{
	struct text packed = { 0 };
	ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t capacity = ZSTD_compressBound(size);
	char *buf = mem_alloc(capacity, 1);
	REQUIRE(context);
	REQUIRE(buf);
	(void)ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, !as_stream);
	(void)ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	for (size_t i = 0; i < total; i += size) {
		size_t piece = size < total - i ? size : total - i;
		size_t got = ZSTD_compress2(context, buf, capacity, bytes + i, piece);
		CU_ASSERT_FATAL(!ZSTD_isError(got));
		text_append(&packed, buf, got);
	}
	(void)ZSTD_freeCCtx(context);
	mem_free(buf);
	return packed;
}

static enum hd_status open_packed(const struct text *packed, uint64_t max_mem, struct job *job,
				  struct target **ret, struct hd_error *err)
{
	const struct target_options options = { .max_mem = max_mem };
	CU_ASSERT_FATAL(write_file(path, packed->bytes, packed->size));
	return target_open_core(path, &options, job, ret, err);
}

static void assert_whole(const struct target *target, const struct text *packed)
{
	CU_ASSERT(target->core.is_compressed && !target->core.is_truncated);
	ASSERT_UINT(target->core.file_size, packed->size);
	ASSERT_UINT(target->core.unpacked_size, core.size);
	CU_ASSERT(target->pid == 4711);
	uint64_t size = 0;
	const uint8_t *run = memory_run(target->memory, BASE, &size);
	REQUIRE(run);
	ASSERT_UINT(size, MEMORY);
	CU_ASSERT(memcmp(run, core.bytes + data_offset, MEMORY) == 0);
}

static bool is_core(const char *name)
{
	bool is = false;
	ASSERT_UINT(target_is_core(name, &is, NULL), HD_OK);
	return is;
}

TEST(packed_cores_are_read)
{
	static const size_t frames[] = { (size_t)4 << 20, 100000, 65536 };
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		for (int as_stream = 0; as_stream < 2; as_stream++) {
			struct text packed = pack(core.bytes, core.size, frames[i], as_stream);
			struct target *target = NULL;
			struct job job = { 0 };
			CU_ASSERT_FATAL(open_packed(&packed, 0, &job, &target, NULL) == HD_OK);
			REQUIRE(target);
			ASSERT_UINT(job.done, packed.size);
			CU_ASSERT(is_core(path));
			assert_whole(target, &packed);
			ASSERT_UINT(target->findings.count, 0);
			target_destroy(target);
			text_deinit(&packed);
		}
	}
}

TEST(skippable_frames_are_skipped)
{
	struct text packed = { 0 }, frame = pack(core.bytes, core.size, core.size, false);
	/* Magic number, size, bytes. */
	text_append(&packed, "\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00", 9); /* an empty frame */
	text_append(&packed, "\x50\x2a\x4d\x18\x03\x00\x00\x00zzz", 11);
	text_append(&packed, frame.bytes, frame.size);
	struct target *target = NULL;
	CU_ASSERT_FATAL(open_packed(&packed, 0, NULL, &target, NULL) == HD_OK);
	REQUIRE(target);
	assert_whole(target, &packed);
	target_destroy(target);
	text_deinit(&packed);
	text_deinit(&frame);
}

static void assert_failure(const struct text *packed, uint64_t max_mem, enum hd_status status,
			   const char *part)
{
	struct target *target = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(open_packed(packed, max_mem, NULL, &target, &err), status);
	CU_ASSERT_PTR_NULL(target);
	if (!strstr(err.message, part))
		ASSERT_TEXT(err.message, part);
}

TEST(max_mem_is_kept)
{
	for (int as_stream = 0; as_stream < 2; as_stream++) {
		struct text packed = pack(core.bytes, core.size, 500000, as_stream);
		assert_failure(&packed, core.size - 1, HD_ERR_NOMEM, "zstd -d");
		assert_failure(&packed, core.size - 1, HD_ERR_NOMEM, "--max-mem");
		struct target *target = NULL;
		/* It has room for the bytes alone, and then for the list of segments too. */
		assert_failure(&packed, core.size, HD_ERR_NOMEM, "--max-mem");
		CU_ASSERT_FATAL(open_packed(&packed, core.size + 8192, NULL, &target, NULL) ==
				HD_OK);
		target_destroy(target);
		text_deinit(&packed);
	}
}

TEST(damage_is_named_with_its_place)
{
	struct text packed = pack(core.bytes, core.size, 300000, false);
	packed.bytes[packed.size / 2] ^= 0x55;
	packed.bytes[packed.size / 2 + 1] ^= 0x55;
	assert_failure(&packed, 0, HD_ERR_FORMAT, "is damaged at byte ");
	text_deinit(&packed);
	packed = pack(core.bytes, core.size, 300000, false);
	text_puts(&packed, "and what is this?");
	assert_failure(&packed, 0, HD_ERR_FORMAT, "is damaged at byte ");
	text_deinit(&packed);
	/* A window of 2^41 bytes. */
	text_append(&packed, "\x28\xb5\x2f\xfd\x00\xf8\x01\x00\x00", 9);
	assert_failure(&packed, 1 << 20, HD_ERR_FORMAT, "too much memory");
	text_deinit(&packed);
	/* The frame says that it is of 2^63 bytes. */
	text_append(&packed, "\x28\xb5\x2f\xfd\xe0\x00\x00\x00\x00\x00\x00\x00\x80\x01\x00\x00",
		    16);
	assert_failure(&packed, 1 << 20, HD_ERR_NOMEM, "max-mem");
	text_deinit(&packed);
	/* Packed zstd within zstd is not a core. */
	packed = pack("\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00", 9, 9, false);
	assert_failure(&packed, 0, HD_ERR_UNSUPPORTED, "is not an ELF core");
	text_deinit(&packed);
}

TEST(what_came_before_a_cut_is_read)
{
	struct text packed = pack(core.bytes, core.size, 100000, true);
	unsigned int opened = 0;
	for (size_t size = packed.size - 1; size > 0; size = size * 15 / 16) {
		struct text cut = { .bytes = packed.bytes, .size = size };
		struct target *target = NULL;
		struct hd_error err = { 0 };
		enum hd_status status = open_packed(&cut, 0, NULL, &target, &err);
		if (size < 4) {
			ASSERT_UINT(status, HD_ERR_UNSUPPORTED);
			continue;
		}
		CU_ASSERT(status == HD_OK || status == HD_ERR_FORMAT);
		if (status == HD_OK) {
			CU_ASSERT(findings_has(&target->findings, FINDING_TRUNCATED));
			opened++;
			target_destroy(target);
		}
	}
	CU_ASSERT(opened > 10);
	text_deinit(&packed);
}

TEST(is_core_looks_into_the_packed_file)
{
	static const char dump[] = "a 2 x 1\nt 1 T\no 10 1 8 20 30\n";
	struct text packed = pack(dump, sizeof(dump), sizeof(dump), false);
	CU_ASSERT(write_file(path, packed.bytes, packed.size));
	CU_ASSERT(!is_core(path));
	text_deinit(&packed);
	/* A program is not a core. */
	struct text program = { 0 };
	text_append(&program, core.bytes, core.size);
	program.bytes[16] = 3;
	packed = pack(program.bytes, program.size, program.size, false);
	CU_ASSERT(write_file(path, packed.bytes, packed.size));
	CU_ASSERT(!is_core(path));
	text_deinit(&packed);
	text_deinit(&program);
	CU_ASSERT(write_file(path, "\x28\xb5\x2f\xfd garbage", 12));
	CU_ASSERT(!is_core(path));
	CU_ASSERT(write_file(path, "\x28\xb5\x2f\xfd", 4));
	CU_ASSERT(!is_core(path));
}

static int is_cancelled(void *arg)
{
	(void)arg;
	return 1;
}

TEST(unpacking_can_be_cancelled)
{
	struct text packed = pack(core.bytes, core.size, 100000, false);
	struct target *target = NULL;
	struct job job = { .cancelled = is_cancelled };
	ASSERT_UINT(open_packed(&packed, 0, &job, &target, NULL), HD_ERR_CANCELLED);
	CU_ASSERT_PTR_NULL(target);
	text_deinit(&packed);
}

TEST(every_failed_allocation_is_told)
{
	struct text packed = pack(core.bytes, core.size, 700000, false);
	uint64_t nth = 1;
	for (bool failed = true; failed && nth < 1000; nth++) {
		struct target *target = NULL;
		alloc_fail_at(nth);
		enum hd_status status = open_packed(&packed, 0, NULL, &target, NULL);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || (failed && status == HD_ERR_NOMEM));
		target_destroy(target);
	}
	CU_ASSERT(nth > 5 && nth < 1000);
	text_deinit(&packed);
}

SUITE(.name = "unpack", .init = make_core, .cleanup = free_core)
