/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "arch/x86_64/frame_registers.h"
#include "support/assert_more.h"
#include "support/fake_memory.h"
#include "support/gc_info_maker.h"
#include "support/suite.h"
#include "unwind/gc_info.h"
#include "util/alloc.h"
#include "util/text.h"

#define ADDRESS ((uint64_t)0x7f0000001003)

/* "rbx rbp+8i sp-10* caller+0u": i interior, p pinned, u untracked. */
static void print_slots(const struct gc_info *info, struct text *text)
{
	static const char *const bases[] = { "caller", "sp", "fp" };
	for (size_t i = 0; i < info->slots_count; i++) {
		const struct gc_slot *slot = &info->slots[i];
		if (i)
			text_puts(text, " ");
		if (slot->base == GC_SLOT_REGISTER) {
			text_puts(text, arch_x86_64.register_names[slot->number]);
		} else {
			text_printf(text, "%s%+d", bases[slot->base], slot->offset);
		}
		text_printf(text, "%s%s%s", slot->flags & GC_SLOT_INTERIOR ? "i" : "",
			    slot->flags & GC_SLOT_PINNED ? "p" : "", slot->is_untracked ? "u" : "");
	}
}

static enum gc_info_result decode(const uint8_t *bytes, size_t size, bool no_runs,
				  const struct gc_info_query *query, struct gc_info *info)
{
	struct fake_memory memory;
	fake_memory_init(&memory);
	memory.no_runs = no_runs;
	if (size) {
		fake_map(&memory, ADDRESS, size);
		fake_poke(&memory, ADDRESS, bytes, size);
	}
	enum gc_info_result result = gc_info_decode(&memory.memory, ADDRESS, query, info);
	fake_memory_deinit(&memory);
	return result;
}

/* NULL: it is bad. */
static void check(const struct writer *writer, const struct gc_info_query *query,
		  const char *expected)
{
	for (unsigned int no_runs = 0; no_runs < 2; no_runs++) {
		struct gc_info info = { 0 };
		struct text text = { 0 };
		enum gc_info_result result =
			decode(writer->bytes, (writer->bits + 7) / 8, no_runs, query, &info);
		ASSERT_UINT(result, expected ? GC_INFO_OK : GC_INFO_BAD);
		print_slots(&info, &text);
		ASSERT_TEXT(text.bytes ? text.bytes : "", expected ? expected : "");
		text_deinit(&text);
		gc_info_deinit(&info);
	}
}

static struct gc_info_query caller(unsigned int version, uint32_t offset)
{
	return (struct gc_info_query){ .arch = &arch_x86_64, .version = version, .offset = offset };
}

static struct gc_info_query active(unsigned int version, uint32_t offset)
{
	return (struct gc_info_query){
		.arch = &arch_x86_64, .version = version, .offset = offset, .is_active = true
	};
}

TEST(test_header)
{
	for (unsigned int version = 2; version <= 5; version++) {
		struct gc_info info = { 0 };
		struct gc_info_query query = caller(version, 7);
		struct writer slim = { .bits = 0 }, fat = { .bits = 0 };
		put_slim(&slim, version, true, 1000, 0);
		put_counts(&slim, 0, 0, 0);
		ASSERT_UINT(decode(slim.bytes, sizeof(slim.bytes), false, &query, &info),
			    GC_INFO_OK);
		ASSERT_UINT(info.code_length, 1000);
		ASSERT_UINT(info.frame_register, REG_RBP);
		CU_ASSERT(!info.wants_only_leaf && !info.is_interruptible);
		ASSERT_UINT(info.slots_count, 0);
		/* all flags but the one that is not used: everything they announce is there */
		put(&fat, 1, 1);
		put(&fat, 10, 0x3ff & ~2u);
		if (version < 4)
			put(&fat, 4, 2);
		put_unsigned(&fat, 8, 70000);
		put_unsigned(&fat, 5, 63);   /* prologue */
		put_unsigned(&fat, 3, 10);   /* epilogue */
		put_signed(&fat, 6, -5);     /* cookie */
		put_signed(&fat, 6, 400);    /* PSPSym */
		put_signed(&fat, 6, -40000); /* generics' context */
		put_unsigned(&fat, 3, REG_RBX ^ 5);
		put_unsigned(&fat, 4, 300); /* Edit and Continue */
		put_signed(&fat, 6, -1);    /* reverse P/Invoke */
		put_unsigned(&fat, 3, 9);   /* scratch area */
		put_unsigned(&fat, 2, 0);
		put_unsigned(&fat, 1, 0);
		put_counts(&fat, 0, 0, 1);
		put_slot(&fat, GC_SLOT_FRAME_REGISTER, -4096, 3);
		ASSERT_UINT(decode(fat.bytes, sizeof(fat.bytes), false, &query, &info), GC_INFO_OK);
		ASSERT_UINT(info.code_length, 70000);
		ASSERT_UINT(info.frame_register, REG_RBX);
		CU_ASSERT(info.wants_only_leaf);
		ASSERT_UINT(info.places.prologue, 64);
		ASSERT_UINT(info.places.epilogue, 10);
		CU_ASSERT_EQUAL(info.places.cookie, -40);
		CU_ASSERT_EQUAL(info.places.psp_symbol, 3200);
		CU_ASSERT_EQUAL(info.places.context, -320000);
		ASSERT_UINT(info.places.context_kind, GC_CONTEXT_THIS);
		ASSERT_UINT(info.places.argument_bytes, 72);
		gc_info_deinit(&info);
		check(&fat, &query, "fp-4096ipu");
		query.no_untracked = true;
		check(&fat, &query, "");
		query.version = version == 5 ? 6 : 1;
		check(&fat, &query, NULL);
	}
	struct writer no_frame = { .bits = 0 };
	struct gc_info info = { 0 };
	struct gc_info_query query = caller(4, 7);
	put_slim(&no_frame, 4, false, 10, 0);
	put_counts(&no_frame, 0, 0, 0);
	ASSERT_UINT(decode(no_frame.bytes, 8, false, &query, &info), GC_INFO_OK);
	ASSERT_UINT(info.frame_register, ARCH_NONE);
	CU_ASSERT_EQUAL(info.places.cookie, GC_INFO_NO_PLACE);
	CU_ASSERT_EQUAL(info.places.psp_symbol, GC_INFO_NO_PLACE);
	ASSERT_UINT(info.places.context_kind, GC_CONTEXT_NONE);
	ASSERT_UINT(info.places.prologue, 0);
	gc_info_deinit(&info);
}

/* Slots: rbx, r12 (one after the other: a delta), r14 interior; sp+8, fp-16, caller+24 pinned. */
static void put_table(struct writer *writer)
{
	put_counts(writer, 3, 3, 2);
	put_register(writer, REG_RBX, 0);
	put_unsigned(writer, 2, REG_R12 - REG_RBX - 1);
	put_unsigned(writer, 2, REG_R14 - REG_R12 - 1);
	put_slot(writer, GC_SLOT_SP, 8, 1);
	put_slot(writer, GC_SLOT_FRAME_REGISTER, -16, 0);
	put(writer, 2, GC_SLOT_CALLER_SP); /* flags as before, offset by how much more */
	put_unsigned(writer, 4, (24 + 16) / 8);
	put_slot(writer, GC_SLOT_SP, 32, 2);
	put_slot(writer, GC_SLOT_FRAME_REGISTER, -128, 0);
}
#define TRACKED   6
#define UNTRACKED "sp+32pu fp-128u"

/* Three safe points, one bit for each slot. */
static struct writer make_safe_points(unsigned int version)
{
	static const uint32_t offsets[] = { 10, 60, 99 };
	static const uint8_t states[] = { 0x01, 0x3f, 0x28 };
	struct writer writer = { .bits = 0 };
	put_slim(&writer, version, true, 100, 3);
	for (size_t i = 0; i < 3; i++) /* 7 bits for offsets below 100 */
		put(&writer, 7, offsets[i] - (version < 4));
	put_table(&writer);
	put(&writer, 1, 0);
	for (size_t i = 0; i < 3; i++)
		put(&writer, TRACKED, states[i]);
	return writer;
}

TEST(test_safe_points)
{
	for (unsigned int version = 2; version <= 5; version++) {
		struct writer writer = make_safe_points(version);
		struct gc_info_query query = caller(version, 10);
		check(&writer, &query, "rbx " UNTRACKED);
		query.offset = 60;
		check(&writer, &query, "rbx r12 r14 sp+8i fp-16 caller+24 " UNTRACKED);
		query.offset = 99;
		check(&writer, &query, "sp+8i caller+24 " UNTRACKED);
		query.no_untracked = true;
		check(&writer, &query, "sp+8i caller+24");
		query.no_untracked = false;
		/* neither before nor after the call, nor when an exception came from there */
		for (uint32_t offset = 58; offset < 64; offset++) {
			query.offset = offset;
			if (offset != 60)
				check(&writer, &query, UNTRACKED);
		}
		query.offset = 60;
		query.is_aborted = true;
		check(&writer, &query, UNTRACKED);
		/* a thread that stopped directly after the call */
		query = active(version, 60);
		check(&writer, &query, "rbx r12 r14 sp+8i fp-16 caller+24 " UNTRACKED);
		query.offset = 0;
		check(&writer, &query, UNTRACKED);
	}
}

static enum gc_info_result list_points(const struct writer *writer,
				       const struct gc_info_query *query,
				       struct gc_info_points *points)
{
	struct fake_memory memory;
	fake_memory_init(&memory);
	fake_map(&memory, ADDRESS, sizeof(writer->bytes));
	fake_poke(&memory, ADDRESS, writer->bytes, sizeof(writer->bytes));
	enum gc_info_result result = gc_info_points_read(&memory.memory, ADDRESS, query, points);
	fake_memory_deinit(&memory);
	return result;
}

/* They are return addresses in each version. */
TEST(safe_points_are_listed)
{
	struct gc_info_points points = { 0 };
	for (unsigned int version = 2; version <= 5; version++) {
		struct writer writer = make_safe_points(version);
		struct gc_info_query query = caller(version, 0);
		ASSERT_UINT(list_points(&writer, &query, &points), GC_INFO_OK);
		ASSERT_UINT(points.safe_points_count, 3);
		ASSERT_UINT(points.safe_points[0], 10);
		ASSERT_UINT(points.safe_points[1], 60);
		ASSERT_UINT(points.safe_points[2], 99);
		ASSERT_UINT(points.ranges_count, 0);
	}
	gc_info_points_deinit(&points);
}

TEST(ranges_are_listed)
{
	struct gc_info_points points = { 0 };
	struct gc_info_query query = caller(4, 0);
	struct writer writer = { .bits = 0 };
	put_fat(&writer, 4, 0x40, 100, 0, 0);
	put_unsigned(&writer, 1, 2); /* ranges: 16 to 32, 40 to 100 */
	put_unsigned(&writer, 6, 16);
	put_unsigned(&writer, 6, 15);
	size_t second = writer.bits;
	put_unsigned(&writer, 6, 8);
	put_unsigned(&writer, 6, 59);
	ASSERT_UINT(list_points(&writer, &query, &points), GC_INFO_OK);
	ASSERT_UINT(points.safe_points_count, 0);
	ASSERT_UINT(points.ranges_count, 2);
	ASSERT_UINT(points.ranges[0].begin, 16);
	ASSERT_UINT(points.ranges[0].end, 32);
	ASSERT_UINT(points.ranges[1].begin, 40);
	ASSERT_UINT(points.ranges[1].end, 100);
	/* one that ends after the code */
	memset(writer.bytes + second / 8 + 1, 0, sizeof(writer.bytes) - second / 8 - 1);
	writer.bytes[second / 8] &= (uint8_t)((1u << second % 8) - 1);
	writer.bits = second;
	put_unsigned(&writer, 6, 8);
	put_unsigned(&writer, 6, 60);
	ASSERT_UINT(list_points(&writer, &query, &points), GC_INFO_BAD);
	query.version = 6;
	ASSERT_UINT(list_points(&writer, &query, &points), GC_INFO_BAD);
	gc_info_points_deinit(&points);
}

/* From 11 on nothing of a frame is alive that an exception has ended, but in ranges. */
TEST(aborted_frames_of_11_have_no_slots)
{
	struct writer points = make_safe_points(5);
	struct gc_info_query query = caller(5, 60);
	query.is_dead = true;
	check(&points, &query, "rbx r12 r14 sp+8i fp-16 caller+24 " UNTRACKED);
	query.is_aborted = true;
	check(&points, &query, "");
}

/*
 * States that lie elsewhere: as runs whose numbers have 4 and 2 bits by turns, first that of the
 * dead slots, which is not one less.
 */
TEST(test_shared_states)
{
	static const struct {
		bool first_is_wide;
		uint8_t runs[6], count;
		const char *expected;
	} cases[] = {
		/* 1 dead, 2 live, 1 dead, 2 live */
		{ true, { 1, 1, 0, 1 }, 4, "r12 r14 fp-16 caller+24 " UNTRACKED },
		{ false, { 1, 1, 0, 1 }, 4, "r12 r14 fp-16 caller+24 " UNTRACKED },
		{ true, { 0, 5 }, 2, "rbx r12 r14 sp+8i fp-16 caller+24 " UNTRACKED },
		{ false, { 5, 0 }, 2, "caller+24 " UNTRACKED },
		{ true, { 6 }, 1, UNTRACKED },
		{ true, { 0, 0, 0, 0, 0, 1 }, 6, "rbx r14 fp-16 caller+24 " UNTRACKED },
		/* too many */
		{ true, { 0, 6 }, 2, NULL },
		{ true, { 7 }, 1, NULL },
		{ true, { 0, 0, 5 }, 3, NULL },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct writer writer = { .bits = 0 };
		struct gc_info_query query = caller(4, 60);
		bool is_wide = cases[i].first_is_wide;
		put_slim(&writer, 4, true, 100, 2);
		put(&writer, 7, 20);
		put(&writer, 7, 60);
		put_table(&writer);
		put(&writer, 1, 1);
		put_unsigned(&writer, 3, 6 - 1);
		put(&writer, 6, 0);
		put(&writer, 6, 7);
		align(&writer);
		put(&writer, 1, 0);
		put(&writer, TRACKED, 0x11);
		put(&writer, 1, 1);
		put(&writer, 1, !is_wide);
		for (size_t k = 0; k < cases[i].count; k++, is_wide = !is_wide)
			put_unsigned(&writer, is_wide ? 4 : 2, cases[i].runs[k]);
		check(&writer, &query, cases[i].expected);
		query.offset = 20;
		check(&writer, &query, "rbx fp-16 " UNTRACKED);
	}
}

/*
 * Ranges [16,80) and [90,120): 94 bytes, two chunks.  Slots rax, rbx, sp+0 (in the scratch area),
 * sp+16; one untracked.
 */
static struct writer make_ranges(unsigned int version, bool has_second)
{
	struct writer writer = { .bits = 0 };
	put_fat(&writer, version, 0x40 | 0x80, 128, 16, 0);
	put_unsigned(&writer, 1, 2);
	put_unsigned(&writer, 6, 16);
	put_unsigned(&writer, 6, 64 - 1);
	put_unsigned(&writer, 6, 10);
	put_unsigned(&writer, 6, 30 - 1);
	put_counts(&writer, 2, 2, 1);
	put_register(&writer, REG_RAX, 0);
	put_unsigned(&writer, 2, REG_RBX - REG_RAX - 1);
	put_slot(&writer, GC_SLOT_SP, 0, 0);
	put(&writer, 2, GC_SLOT_SP);
	put_unsigned(&writer, 4, 2);
	put_slot(&writer, GC_SLOT_FRAME_REGISTER, -8, 0);
	/* pointers of 6 bits, 0: no chunk of its own */
	put_unsigned(&writer, 3, 6);
	put(&writer, 6, 1);
	put(&writer, 6, has_second ? 1 + 48 : 0);
	align(&writer);
	size_t begin = writer.bits;
	/* all may be live; at the end rbx is; rax lives in [5,20), rbx from 40 on, sp+0 in [50,60) */
	put(&writer, 1, 0);
	put(&writer, 4, 0x7);
	put(&writer, 3, 0x2);
	put(&writer, 7, 1 | 5 << 1);
	put(&writer, 7, 1 | 20 << 1);
	put(&writer, 1, 0);
	put(&writer, 7, 1 | 40 << 1);
	put(&writer, 1, 0);
	put(&writer, 7, 1 | 50 << 1);
	put(&writer, 7, 1 | 60 << 1);
	put(&writer, 1, 0);
	if (has_second) {
		/* runs: 3 dead, 1 live: sp+16, live until 10 */
		writer.bits = begin + 48;
		put(&writer, 1, 1);
		put(&writer, 1, 0);
		put_unsigned(&writer, 4, 3);
		put_unsigned(&writer, 2, 0);
		put(&writer, 1, 0);
		put(&writer, 7, 1 | 10 << 1);
		put(&writer, 1, 0);
	}
	return writer;
}

TEST(test_ranges)
{
	static const struct {
		uint32_t offset;
		const char *active, *caller;
	} cases[] = {
		/* before the first, between, after: only what is always live */
		{ 15, "fp-8u", "fp-8u" },
		{ 85, "fp-8u", "fp-8u" },
		{ 120, "fp-8u", "fp-8u" },
		{ 16, "fp-8u", "fp-8u" },
		{ 16 + 4, "fp-8u", "fp-8u" },
		{ 16 + 5, "rax fp-8u", "fp-8u" },
		{ 16 + 19, "rax fp-8u", "fp-8u" },
		{ 16 + 20, "fp-8u", "fp-8u" },
		{ 16 + 39, "fp-8u", "fp-8u" },
		{ 16 + 40, "rbx fp-8u", "rbx fp-8u" },
		{ 16 + 55, "rbx sp+0 fp-8u", "rbx fp-8u" },
		{ 16 + 60, "rbx fp-8u", "rbx fp-8u" },
		/* the second range and chunk */
		{ 90, "sp+16 fp-8u", "sp+16 fp-8u" },
		{ 99, "sp+16 fp-8u", "sp+16 fp-8u" },
		{ 100, "fp-8u", "fp-8u" },
	};
	for (unsigned int version = 2; version <= 5; version++) {
		struct writer writer = make_ranges(version, true);
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct gc_info_query query = active(version, cases[i].offset);
			check(&writer, &query, cases[i].active);
			/* that an exception came from there changes nothing in a range */
			query.is_aborted = true;
			check(&writer, &query, cases[i].active);
			query.is_dead = true;
			uint32_t at = cases[i].offset;
			bool is_in_range = (at >= 16 && at < 80) || (at >= 90 && at < 120);
			check(&writer, &query, is_in_range ? cases[i].active : "");
			query = caller(version, cases[i].offset + (version < 4));
			check(&writer, &query, cases[i].caller);
		}
	}
	/* a chunk without states goes on with the last ones */
	struct writer writer = make_ranges(4, false);
	struct gc_info_query query = active(4, 95);
	struct gc_info info = { 0 };
	check(&writer, &query, "rbx fp-8u");
	ASSERT_UINT(decode(writer.bytes, sizeof(writer.bytes), false, &query, &info), GC_INFO_OK);
	CU_ASSERT(info.is_interruptible && info.wants_only_leaf);
	query.offset = 85;
	ASSERT_UINT(decode(writer.bytes, sizeof(writer.bytes), false, &query, &info), GC_INFO_OK);
	CU_ASSERT(!info.is_interruptible);
	gc_info_deinit(&info);
}

/* Until 3 a thread stops at no safe point, and what the call returned is not known. */
TEST(test_returned)
{
	for (unsigned int version = 2; version <= 5; version++) {
		struct writer writer = { .bits = 0 };
		put_slim(&writer, version, false, 16, 1);
		put(&writer, 4, 9 - (version < 4));
		put_counts(&writer, 2, 0, 0);
		put_register(&writer, REG_RAX, 0);
		put_unsigned(&writer, 2, REG_RBX - REG_RAX - 1);
		put(&writer, 1, 0);
		put(&writer, 2, 3);
		struct gc_info_query query = active(version, 9);
		check(&writer, &query, version < 3 ? "rbx" : "rax rbx");
		query = caller(version, 9);
		check(&writer, &query, "rbx");
	}
}

static void check_bad_slot(void (*put_slots)(struct writer *writer))
{
	struct writer writer = { .bits = 0 };
	struct gc_info_query query = caller(4, 1);
	put_slim(&writer, 4, false, 16, 0);
	put_slots(&writer);
	writer.bits += 64;
	check(&writer, &query, NULL);
}

static void put_rsp(struct writer *writer)
{
	put_counts(writer, 1, 0, 0);
	put_register(writer, REG_RSP, 0);
}

static void put_register_16(struct writer *writer)
{
	put_counts(writer, 2, 0, 0);
	put_register(writer, REG_R15, 0);
	put_unsigned(writer, 2, 0);
}

static void put_base_3(struct writer *writer)
{
	put_counts(writer, 0, 1, 0);
	put_slot(writer, 3, 8, 0);
}

static void put_no_frame(struct writer *writer)
{
	put_counts(writer, 0, 0, 1);
	put_slot(writer, GC_SLOT_FRAME_REGISTER, 8, 0);
}

static void put_far_slot(struct writer *writer)
{
	put_counts(writer, 0, 1, 0);
	put_slot(writer, GC_SLOT_SP, (int64_t)8 << 28, 0);
}

static void put_many(struct writer *writer)
{
	put_counts(writer, GC_INFO_SLOTS_MAX, 1, 0);
}

TEST(test_bad)
{
	struct gc_info_query query = caller(4, 60);
	check_bad_slot(put_rsp);
	check_bad_slot(put_register_16);
	check_bad_slot(put_base_3);
	check_bad_slot(put_no_frame);
	check_bad_slot(put_far_slot);
	check_bad_slot(put_many);
	struct writer writer = { .bits = 0 };
	put_slim(&writer, 4, true, 0, 0); /* no code */
	put_counts(&writer, 0, 0, 0);
	check(&writer, &query, NULL);
	writer = (struct writer){ .bits = 0 };
	put_slim(&writer, 4, true, 10, 11); /* more safe points than bytes */
	check(&writer, &query, NULL);
	writer = (struct writer){ .bits = 0 };
	put_fat(&writer, 4, 0, 100, 0, 0);
	put_unsigned(&writer, 1, 1);
	put_unsigned(&writer, 6, 90);
	put_unsigned(&writer, 6, 10); /* a range that ends after the code */
	put_counts(&writer, 0, 0, 0);
	check(&writer, &query, NULL);
	writer = (struct writer){ .bits = 0 };
	memset(writer.bytes, 0xff, sizeof(writer.bytes)); /* numbers that never end */
	writer.bits = 8 * sizeof(writer.bytes);
	check(&writer, &query, NULL);
}

/* Every prefix of it, and every bit the other way: an answer, at once. */
TEST(test_damage)
{
	struct writer writers[] = { make_safe_points(4), make_ranges(3, true) };
	for (size_t i = 0; i < 2; i++) {
		const struct writer *writer = &writers[i];
		struct gc_info_query query = active(i ? 3 : 4, i ? 70 : 60);
		struct gc_info info = { 0 };
		size_t size = (writer->bits + 7) / 8;
		ASSERT_UINT(decode(writer->bytes, size, false, &query, &info), GC_INFO_OK);
		for (size_t cut = 0; cut < size; cut++) {
			for (unsigned int no_runs = 0; no_runs < 2; no_runs++) {
				enum gc_info_result result =
					decode(writer->bytes, cut, no_runs, &query, &info);
				CU_ASSERT(result == GC_INFO_BAD || cut + 8 > size);
			}
		}
		for (size_t bit = 0; bit < writer->bits; bit++) {
			struct writer other = *writer;
			other.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			enum gc_info_result result =
				decode(other.bytes, sizeof(other.bytes), bit & 1, &query, &info);
			CU_ASSERT(result == GC_INFO_OK ||
				  (result == GC_INFO_BAD && !info.slots_count));
		}
		gc_info_deinit(&info);
	}
}

/* More of it than is read at a time, where nothing is mapped. */
TEST(test_long)
{
	static struct {
		uint8_t bytes[16384];
	} big;
	struct writer head = { .bits = 0 };
	struct fake_memory memory;
	struct gc_info info = { 0 };
	struct gc_info_query query = caller(4, 1 + 4999);
	fake_memory_init(&memory);
	/* 5,000 safe points of 14 bits each; rbx is live at the last */
	put_slim(&head, 4, false, 16384, 5000);
	memcpy(big.bytes, head.bytes, sizeof(head.bytes));
	size_t bits = head.bits;
	for (uint32_t i = 0; i < 5000; i++) {
		for (unsigned int k = 0; k < 14; k++, bits++)
			big.bytes[bits / 8] |= (uint8_t)(((i + 1) >> k & 1) << bits % 8);
	}
	struct writer tail = { .bits = bits % 8 };
	put_counts(&tail, 1, 0, 0);
	put_register(&tail, REG_RBX, 0);
	put(&tail, 1, 0);
	for (size_t i = 0; i < sizeof(tail.bytes); i++)
		big.bytes[bits / 8 + i] |= tail.bytes[i];
	bits += tail.bits - bits % 8 + 4999;
	big.bytes[bits / 8] |= (uint8_t)(1 << bits % 8);
	fake_map(&memory, ADDRESS, sizeof(big.bytes));
	fake_poke(&memory, ADDRESS, big.bytes, sizeof(big.bytes));
	for (unsigned int no_runs = 0; no_runs < 2; no_runs++) {
		memory.no_runs = no_runs;
		ASSERT_UINT(gc_info_decode(&memory.memory, ADDRESS, &query, &info), GC_INFO_OK);
		ASSERT_UINT(info.slots_count, 1);
		query.offset--;
		ASSERT_UINT(gc_info_decode(&memory.memory, ADDRESS, &query, &info), GC_INFO_OK);
		ASSERT_UINT(info.slots_count, 0);
		query.offset++;
	}
	gc_info_deinit(&info);
	fake_memory_deinit(&memory);
}

TEST(test_no_memory)
{
	struct writer writer = make_safe_points(4);
	struct gc_info_query query = caller(4, 60);
	enum gc_info_result result = GC_INFO_NOMEM;
	for (uint64_t nth = 1; result == GC_INFO_NOMEM; nth++) {
		struct gc_info info = { 0 };
		alloc_fail_at(nth);
		result = decode(writer.bytes, sizeof(writer.bytes), false, &query, &info);
		bool failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		ASSERT_UINT(result, failed ? GC_INFO_NOMEM : GC_INFO_OK);
		ASSERT_UINT(info.slots_count, failed ? 0 : 8);
		gc_info_deinit(&info);
	}
}

SUITE(.name = "gc_info")
