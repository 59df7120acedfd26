/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/code/method_list.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/job.h"

#define CODE_BASE ((uint64_t)0x7e12 << 32 | 0x340000)
#define CODE_SIZE 0x20000u
#define METHOD    ((uint64_t)0x7e1300001238)
#define OTHER     ((uint64_t)0x7e1300004560)

struct fixture {
	struct fake_clr *fake;
	struct runtime *runtime;
	struct fake_memory *memory;
	uint64_t section; /* RangeSection of the code */
};

static struct fixture set_up(void)
{
	struct fixture fixture = { .fake = fake_clr_create(NULL) };
	fixture.memory = &fixture.fake->memory;
	fixture.runtime = fake_runtime(fixture.fake);
	coreclr_of(fixture.runtime)->gc_info_version = 4;
	uint64_t slot = fake_range_map(fixture.fake, CODE_BASE);
	uint64_t fragment = fake_alloc(fixture.memory, 32);
	fixture.section = fake_alloc(fixture.memory, 64);
	fake_poke_u64(fixture.memory, slot, fragment);
	fake_poke_u64(fixture.memory, fragment + 8, CODE_BASE);
	fake_poke_u64(fixture.memory, fragment + 16, CODE_BASE + CODE_SIZE);
	fake_poke_u64(fixture.memory, fragment + 24, fixture.section);
	fake_poke_u64(fixture.memory, fixture.section, CODE_BASE);
	fake_poke_u64(fixture.memory, fixture.section + 8, CODE_BASE + CODE_SIZE);
	fake_map(fixture.memory, CODE_BASE, CODE_SIZE);
	return fixture;
}

/* Forget what was looked up. */
static void forget(struct fixture *fixture)
{
	fake_forget_code(fixture->fake);
}

static void tear_down(struct fixture *fixture)
{
	fake_clr_destroy(fixture->fake);
}

static bool look_up(struct fixture *fixture, uint64_t code, struct code_info *ret)
{
	*ret = (struct code_info){ .start = 77, .method_desc = 78 };
	bool found = runtime_code_at(fixture->runtime, code, ret);
	CU_ASSERT(found || (ret->start == 77 && ret->method_desc == 78 && !ret->function));
	return found;
}

/* The address of the function; 0: none. */
static void check(struct fixture *fixture, uint64_t code, uint64_t start, uint64_t function,
		  uint64_t unwind_info)
{
	for (unsigned int i = 0; i < 2; i++) { /* again, out of the cache */
		struct code_info info;
		ASSERT_UINT(look_up(fixture, code, &info), start != 0);
		if (!start)
			continue;
		ASSERT_UINT(info.start, start);
		ASSERT_UINT(info.function, function);
		ASSERT_UINT(info.unwind_info, unwind_info);
		ASSERT_UINT(info.image_base, CODE_BASE);
		ASSERT_UINT(info.is_funclet, function != start);
	}
}

/* A method of 0x100 bytes at 0x40, with two funclets in them; and its nibble map. */
static uint64_t make_jitted(struct fixture *fixture)
{
	static const uint32_t functions[][3] = { { 0x40, 0xa0, 0x800 },
						 { 0xa0, 0xc0, 0x810 },
						 { 0xc0, 0x140, 0x820 } };
	static const uint32_t units[] = { 0x00100000, 0x40 | 9 };
	struct fake_memory *memory = fixture->memory;
	uint64_t header = fake_alloc(memory, 36 + sizeof(functions)), node = fake_alloc(memory, 64),
		 map = fake_alloc(memory, sizeof(units));
	fake_poke_u64(memory, header + 16, 0x1234500);
	fake_poke_u64(memory, header + 24, METHOD);
	fake_poke_u32(memory, header + 32, 3);
	fake_poke(memory, header + 36, functions, sizeof(functions));
	fake_poke_u64(memory, CODE_BASE + 0x40 - 8, header);
	fake_poke(memory, map, units, sizeof(units));
	fake_poke_u64(memory, node + 24, CODE_BASE + 0x200);
	fake_poke_u64(memory, node + 32, CODE_BASE);
	fake_poke_u64(memory, node + 40, map);
	fake_poke_u64(memory, fixture->section + 40, node);
	return header;
}

TEST(test_jit)
{
	struct fixture fixture = set_up();
	uint64_t header = make_jitted(&fixture);
	struct code_info info;
	CU_ASSERT(look_up(&fixture, CODE_BASE + 0x41, &info));
	ASSERT_UINT(info.method_desc, METHOD);
	ASSERT_UINT(info.gc_info, 0x1234500);
	ASSERT_UINT(info.gc_info_version, 4);
	CU_ASSERT(!info.is_precompiled);
	uint64_t start = CODE_BASE + 0x40;
	check(&fixture, CODE_BASE + 0x3f, 0, 0, 0);
	check(&fixture, start, start, start, CODE_BASE + 0x800);
	check(&fixture, CODE_BASE + 0x9f, start, start, CODE_BASE + 0x800);
	check(&fixture, CODE_BASE + 0xa0, start, CODE_BASE + 0xa0, CODE_BASE + 0x810);
	check(&fixture, CODE_BASE + 0xbf, start, CODE_BASE + 0xa0, CODE_BASE + 0x810);
	check(&fixture, CODE_BASE + 0xc0, start, CODE_BASE + 0xc0, CODE_BASE + 0x820);
	check(&fixture, CODE_BASE + 0x13f, start, CODE_BASE + 0xc0, CODE_BASE + 0x820);
	check(&fixture, CODE_BASE + 0x140, 0, 0, 0); /* after its end */
	check(&fixture, CODE_BASE + CODE_SIZE, 0, 0, 0);
	check(&fixture, 0, 0, 0, 0);
	check(&fixture, UINT64_MAX, 0, 0, 0);
	/* without unwind information it cannot be walked */
	forget(&fixture);
	fake_poke_u32(fixture.memory, header + 32, 0);
	check(&fixture, start, 0, 0, 0);
	forget(&fixture);
	fake_poke_u32(fixture.memory, header + 32, UINT32_MAX);
	check(&fixture, start, 0, 0, 0);
	CU_ASSERT(!runtime_code_failed(fixture.runtime));
	tear_down(&fixture);
}

/* The only body is that of @p method at @p start. */
static void check_body(struct fixture *fixture, uint64_t method, uint64_t start, bool is_partial)
{
	struct method_bodies bodies;
	size_t count;
	struct job job = { 0 };
	CU_ASSERT_EQUAL_FATAL(method_bodies_read(fixture->runtime, &job, &bodies, NULL), HD_OK);
	ASSERT_UINT(bodies.rows_count, start ? 1 : 0);
	CU_ASSERT(bodies.is_partial == is_partial);
	if (start && bodies.rows_count == 1) {
		ASSERT_UINT(method_bodies_of(&bodies, method, &count), 0);
		ASSERT_UINT(count, 1);
		ASSERT_UINT(bodies.rows[0].start, start);
		(void)method_bodies_of(&bodies, method + 8, &count);
		ASSERT_UINT(count, 0);
	}
	method_bodies_deinit(&bodies);
}

TEST(bodies_of_the_jit_are_found_without_an_address)
{
	struct fixture fixture = set_up();
	uint64_t header = make_jitted(&fixture), node;
	check_body(&fixture, METHOD, CODE_BASE + 0x40, false);
	fake_poke_u64(fixture.memory, CODE_BASE + 0x40 - 8, 7); /* a stub */
	check_body(&fixture, 0, 0, false);
	fake_poke_u64(fixture.memory, CODE_BASE + 0x40 - 8, header);
	CU_ASSERT_FATAL(memory_u64(&fixture.memory->memory, fixture.section + 40, &node));
	fake_poke_u64(fixture.memory, node + 24, CODE_BASE + CODE_SIZE + 1); /* too long */
	check_body(&fixture, 0, 0, true);
	fake_poke_u64(fixture.memory, node + 24, CODE_BASE + CODE_SIZE); /* the map is shorter */
	check_body(&fixture, METHOD, CODE_BASE + 0x40, true);
	tear_down(&fixture);
}

/* The runtime's own facts about code are there without the code. */
TEST(test_lost_code)
{
	struct fixture fixture = set_up();
	struct fake_hidden hidden;
	uint8_t byte;
	fake_hide(&hidden, fixture.memory, CODE_BASE, CODE_BASE + CODE_SIZE);
	fixture.runtime->memory = &hidden.memory;
	CU_ASSERT(!memory_u8(fixture.runtime->memory, CODE_BASE + 8, &byte));
	CU_ASSERT(runtime_has_code_at(fixture.runtime, CODE_BASE));
	CU_ASSERT(runtime_has_code_at(fixture.runtime, CODE_BASE + CODE_SIZE - 1));
	CU_ASSERT(!runtime_has_code_at(fixture.runtime, CODE_BASE + CODE_SIZE));
	CU_ASSERT(!runtime_has_code_at(fixture.runtime, 0x4141414141414141));
	fixture.runtime->memory = &fixture.memory->memory;
	tear_down(&fixture);
}

/* ReadyToRunInfo of a module, its functions, and an empty map of entry points. */
struct r2r {
	uint64_t module, info, header, buckets;
};

static struct r2r make_r2r(struct fixture *fixture, uint32_t bucket_count)
{
	static const uint32_t functions[][3] = { { 0x1000, 0x1100, 0x900 },
						 { 0x1100, 0x1140, 0x910 },
						 { 0x1140, 0x1180, 0x920 },
						 { 0x2000, 0x2080, 0x930 },
						 { 0x3000, 0x3080, 0x940 } };
	struct fake_memory *memory = fixture->memory;
	struct r2r r2r = { .module = fake_module(fixture->fake),
			   .info = fake_alloc(memory, 512),
			   .header = fake_alloc(memory, 16),
			   .buckets = fake_alloc(memory, 64 * ((uint64_t)bucket_count + 1)) };
	uint64_t table = fake_alloc(memory, sizeof(functions));
	uint16_t major = 16;
	uint8_t codes = 3;
	fake_poke(memory, table, functions, sizeof(functions));
	fake_poke_u64(memory, fixture->section + 32, r2r.module);
	fake_poke_u64(memory, r2r.module + FAKE_MODULE_READY_TO_RUN, r2r.info);
	fake_poke_u64(memory, r2r.info + 16, r2r.header);
	fake_poke_u64(memory, r2r.info + 80, table);
	fake_poke_u32(memory, r2r.info + 88, 5);
	fake_poke_u64(memory, r2r.info + 360 + 16, r2r.buckets);
	fake_poke_u32(memory, r2r.buckets, bucket_count);
	fake_poke_u32(memory, r2r.header, 0x00525452);
	fake_poke(memory, r2r.header + 4, &major, 2);
	fake_poke(memory, CODE_BASE + 0x900 + 2, &codes, 1);
	return r2r;
}

static void put_entry(struct fixture *fixture, const struct r2r *r2r, unsigned int bucket,
		      unsigned int slot, uint64_t code, uint64_t method)
{
	uint64_t at = r2r->buckets + 64 * ((uint64_t)bucket + 1) + 8 * (uint64_t)slot;
	fake_poke_u64(fixture->memory, at, code);
	/* a flag on top: other keys went past this bucket */
	fake_poke_u64(fixture->memory, at + 32, method >> 1 | (uint64_t)1 << 63);
}

/*
 * Small dumps lack the data of images: the file has it, for the base that the compiler wrote it for
 * (doc/coreclr.md 21.3).
 */
TEST(addresses_out_of_an_image_are_moved_to_its_base)
{
	static const uint64_t preferred = 0x140000000;
	struct fixture fixture = set_up();
	struct fake_memory *memory = fixture.memory;
	(void)make_r2r(&fixture, 1);
	fake_poke_u32(memory, CODE_BASE, 0x5a4d);
	fake_poke_u32(memory, CODE_BASE + 60, 0x80);
	fake_poke_u32(memory, CODE_BASE + 0x80, 0x4550);
	fake_poke_u32(memory, CODE_BASE + 0x98, 0x20b);
	fake_poke_u64(memory, CODE_BASE + 0x98 + 24, preferred);
	fake_poke_u32(memory, CODE_BASE + 0x98 + 56, CODE_SIZE);
	const struct {
		uint64_t stored, want;
	} cases[] = {
		{ preferred + 0x1150, CODE_BASE + 0x1150 },
		{ CODE_BASE + 0x1150, CODE_BASE + 0x1150 }, /* the process has moved it */
		{ preferred + CODE_SIZE, preferred + CODE_SIZE },
		{ preferred - 1, preferred - 1 },
		{ 0, 0 },
	};
	const uint64_t data = CODE_BASE + 0x18000, apart = fake_alloc(memory, 8);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t found = 77;
		fake_poke_u64(memory, data, cases[i].stored);
		CU_ASSERT(runtime_code_pointer(fixture.runtime, data, &found));
		ASSERT_UINT(found, cases[i].want);
		/* Where there is no image, it is what it is. */
		fake_poke_u64(memory, apart, cases[i].stored);
		CU_ASSERT(runtime_code_pointer(fixture.runtime, apart, &found));
		ASSERT_UINT(found, cases[i].stored);
	}
	uint64_t found = 77;
	CU_ASSERT_FALSE(runtime_code_pointer(fixture.runtime, 0x123450, &found));
	ASSERT_UINT(found, 77);
	tear_down(&fixture);
}

TEST(test_ready_to_run)
{
	struct fixture fixture = set_up();
	struct r2r r2r = make_r2r(&fixture, 3);
	struct code_info info;
	put_entry(&fixture, &r2r, 2, 3, CODE_BASE + 0x1000, METHOD);
	put_entry(&fixture, &r2r, 0, 0, CODE_BASE + 0x2000, OTHER);
	put_entry(&fixture, &r2r, 1, 1, 1, OTHER); /* deleted */
	CU_ASSERT(look_up(&fixture, CODE_BASE + 0x1150, &info));
	ASSERT_UINT(info.method_desc, METHOD);
	/* after the method's own unwind codes, of which there are 3, and a handler: 4 + 6 + 4 */
	ASSERT_UINT(info.gc_info, CODE_BASE + 0x900 + 16);
	ASSERT_UINT(info.gc_info_version, 4);
	CU_ASSERT(info.is_precompiled);
	uint64_t start = CODE_BASE + 0x1000;
	check(&fixture, CODE_BASE + 0xfff, 0, 0, 0);
	check(&fixture, start, start, start, CODE_BASE + 0x900);
	check(&fixture, CODE_BASE + 0x10ff, start, start, CODE_BASE + 0x900);
	check(&fixture, CODE_BASE + 0x1100, start, CODE_BASE + 0x1100, CODE_BASE + 0x910);
	check(&fixture, CODE_BASE + 0x117f, start, CODE_BASE + 0x1140, CODE_BASE + 0x920);
	check(&fixture, CODE_BASE + 0x1180, 0, 0, 0); /* between functions */
	check(&fixture, CODE_BASE + 0x2001, CODE_BASE + 0x2000, CODE_BASE + 0x2000,
	      CODE_BASE + 0x930);
	struct method_bodies bodies;
	struct job job = { 0 };
	CU_ASSERT_EQUAL_FATAL(method_bodies_read(fixture.runtime, &job, &bodies, NULL), HD_OK);
	ASSERT_UINT_FATAL(bodies.rows_count, 2);
	CU_ASSERT(!bodies.is_partial && bodies.rows[0].is_precompiled);
	ASSERT_UINT(bodies.rows[0].method_desc, METHOD);
	ASSERT_UINT(bodies.rows[0].start, start);
	ASSERT_UINT(bodies.rows[1].start, CODE_BASE + 0x2000);
	method_bodies_deinit(&bodies);
	tear_down(&fixture);
}

/* GCInfo's version follows that of the image. */
TEST(test_versions)
{
	static const struct {
		uint16_t major;
		unsigned int version;
	} cases[] = { { 8, 2 }, { 9, 2 }, { 10, 3 }, { 11, 4 }, { 16, 4 }, { 18, 4 } };
	struct fixture fixture = set_up();
	struct r2r r2r = make_r2r(&fixture, 1);
	struct code_info info;
	put_entry(&fixture, &r2r, 0, 0, CODE_BASE + 0x1000, METHOD);
	coreclr_of(fixture.runtime)->gc_info_version = 7;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_poke(fixture.memory, r2r.header + 4, &cases[i].major, 2);
		forget(&fixture);
		CU_ASSERT(look_up(&fixture, CODE_BASE + 0x1000, &info));
		ASSERT_UINT(info.gc_info_version, cases[i].version);
	}
	/* no header: as the runtime's own code */
	fake_poke_u32(fixture.memory, r2r.header, 0);
	forget(&fixture);
	CU_ASSERT(look_up(&fixture, CODE_BASE + 0x1000, &info));
	ASSERT_UINT(info.gc_info_version, 7);
	tear_down(&fixture);
}

/* A component of a composite image: the map is that of the whole image. */
TEST(test_composite)
{
	struct fixture fixture = set_up();
	struct r2r r2r = make_r2r(&fixture, 1);
	uint64_t composite = fake_alloc(fixture.memory, 512);
	put_entry(&fixture, &r2r, 0, 0, CODE_BASE + 0x1000, METHOD);
	fake_poke_u64(fixture.memory, composite + 360 + 16, r2r.buckets);
	fake_poke_u64(fixture.memory, r2r.info + 360 + 16, 0);
	check(&fixture, CODE_BASE + 0x1000, 0, 0, 0);
	fake_poke_u64(fixture.memory, r2r.info + 40, composite);
	forget(&fixture);
	check(&fixture, CODE_BASE + 0x1000, CODE_BASE + 0x1000, CODE_BASE + 0x1000,
	      CODE_BASE + 0x900);
	tear_down(&fixture);
}

TEST(test_damage)
{
	struct fixture fixture = set_up();
	struct r2r r2r = make_r2r(&fixture, 1);
	uint64_t start = CODE_BASE + 0x1000;
	/* an entry point that is no function's start */
	put_entry(&fixture, &r2r, 0, 0, CODE_BASE + 0xff8, METHOD);
	check(&fixture, start, 0, 0, 0);
	/* outside the image */
	put_entry(&fixture, &r2r, 0, 0, CODE_BASE - 0x1000, METHOD);
	forget(&fixture);
	check(&fixture, start, 0, 0, 0);
	put_entry(&fixture, &r2r, 0, 0, start, METHOD);
	forget(&fixture);
	check(&fixture, start, start, start, CODE_BASE + 0x900);
	/* a map that claims more than there is: what is there counts; and one that is absurd */
	fake_poke_u32(fixture.memory, r2r.buckets, 100000);
	forget(&fixture);
	check(&fixture, start, start, start, CODE_BASE + 0x900);
	/* what is not may be a method of its own: no funclets are told then */
	check(&fixture, start + 0x100, 0, 0, 0);
	fake_poke_u32(fixture.memory, r2r.buckets, UINT32_MAX);
	forget(&fixture);
	check(&fixture, start, 0, 0, 0);
	fake_poke_u32(fixture.memory, r2r.buckets, 1);
	/* functions that cannot be read */
	fake_poke_u64(fixture.memory, r2r.info + 80, 0x10);
	forget(&fixture);
	check(&fixture, start, 0, 0, 0);
	fake_poke_u64(fixture.memory, r2r.module + FAKE_MODULE_READY_TO_RUN, 0x10);
	forget(&fixture);
	check(&fixture, start, 0, 0, 0);
	fake_poke_u64(fixture.memory, r2r.module + FAKE_MODULE_READY_TO_RUN, 0);
	forget(&fixture);
	check(&fixture, start, 0, 0, 0);
	coreclr_of(fixture.runtime)->layout.origins[L_R2R_ENTRY_POINTS] = ORIGIN_NONE;
	forget(&fixture);
	check(&fixture, start, 0, 0, 0);
	tear_down(&fixture);
}

/* The bucket that the runtime puts a key into first, and how far it goes on from there (hash.h). */
static uint32_t first_bucket(uint64_t code, uint32_t count)
{
	return (uint32_t)(code / 4) % count;
}

static uint32_t next_bucket(uint64_t code, uint32_t count)
{
	uint32_t step = 1 + ((uint32_t)(code / 32) + 1) % (count - 1);
	return ((uint32_t)(code / 4) + step) % count;
}

/* A small core has those buckets of a map which the walk of its writer met: they are enough. */
TEST(test_gaps)
{
	enum {
		COUNT = 1931
	};
	struct fixture fixture = set_up();
	struct r2r r2r = make_r2r(&fixture, COUNT);
	uint64_t start = CODE_BASE + 0x1000, other = CODE_BASE + 0x2000;
	put_entry(&fixture, &r2r, first_bucket(start, COUNT), 3, start, METHOD);
	/* the first bucket says that keys went past it */
	put_entry(&fixture, &r2r, first_bucket(other, COUNT), 0, 1, OTHER);
	put_entry(&fixture, &r2r, next_bucket(other, COUNT), 2, other, OTHER);
	struct fake_hidden hidden;
	uint32_t lost = 0;
	while (lost == first_bucket(start, COUNT) || lost == first_bucket(other, COUNT) ||
	       lost == next_bucket(other, COUNT) || lost == first_bucket(start + 0x100, COUNT) ||
	       lost == first_bucket(start + 0x140, COUNT))
		lost++;
	uint64_t at = r2r.buckets + 64 * ((uint64_t)lost + 1);
	fake_hide(&hidden, fixture.memory, at, at + 64);
	fixture.runtime->memory = &hidden.memory;
	check(&fixture, start + 8, start, start, CODE_BASE + 0x900);
	check(&fixture, CODE_BASE + 0x1150, start, CODE_BASE + 0x1140, CODE_BASE + 0x920);
	check(&fixture, other + 8, other, other, CODE_BASE + 0x930);
	/* what lies between may be a method of its own: where its bucket is lost, nobody knows */
	at = r2r.buckets + 64 * ((uint64_t)first_bucket(start + 0x100, COUNT) + 1);
	fake_hide(&hidden, fixture.memory, at, at + 64);
	fixture.runtime->memory = &hidden.memory;
	forget(&fixture);
	check(&fixture, start + 8, start, start, CODE_BASE + 0x900);
	check(&fixture, CODE_BASE + 0x1150, 0, 0, 0);
	fixture.runtime->memory = &fixture.memory->memory;
	tear_down(&fixture);
}

TEST(test_many)
{
	/* more entry points than are read at a time, in an order of their own */
	struct fixture fixture = set_up();
	uint32_t count = 3000, functions = count * 4;
	struct r2r r2r = make_r2r(&fixture, count);
	uint64_t table = fake_alloc(fixture.memory, (uint64_t)12 * functions);
	for (uint32_t i = 0; i < functions; i++) {
		uint32_t function[3] = { 0x2000 + 8 * i, 0x2008 + 8 * i, 0x900 };
		uint32_t place = (uint32_t)((uint64_t)i * 7919 % functions);
		fake_poke(fixture.memory, table + 12 * (uint64_t)i, function, sizeof(function));
		put_entry(&fixture, &r2r, place / 4, place % 4, CODE_BASE + function[0],
			  METHOD + 16 * (uint64_t)i);
	}
	fake_poke_u64(fixture.memory, r2r.info + 80, table);
	fake_poke_u32(fixture.memory, r2r.info + 88, functions);
	for (uint32_t i = 0; i < functions; i++) {
		struct code_info info = { 0 };
		CU_ASSERT(runtime_code_at(fixture.runtime, CODE_BASE + 0x2003 + 8 * (uint64_t)i,
					  &info));
		ASSERT_UINT(info.start, CODE_BASE + 0x2000 + 8 * (uint64_t)i);
		ASSERT_UINT(info.method_desc, METHOD + 16 * (uint64_t)i);
	}
	tear_down(&fixture);
}

TEST(test_no_memory)
{
	bool failed = true;
	for (uint64_t nth = 1; failed; nth++) {
		struct fixture fixture = set_up();
		struct r2r r2r = make_r2r(&fixture, 1);
		struct code_info info = { 0 };
		put_entry(&fixture, &r2r, 0, 0, CODE_BASE + 0x1000, METHOD);
		alloc_fail_at(nth);
		bool found = runtime_code_at(fixture.runtime, CODE_BASE + 0x1000, &info);
		failed = alloc_calls() >= nth;
		ASSERT_UINT(found, !failed);
		ASSERT_UINT(runtime_code_failed(fixture.runtime), failed);
		alloc_fail_at(0);
		/* with memory again it is found */
		CU_ASSERT(runtime_code_at(fixture.runtime, CODE_BASE + 0x1000, &info));
		ASSERT_UINT(info.method_desc, METHOD);
		CU_ASSERT(!runtime_code_failed(fixture.runtime));
		tear_down(&fixture);
	}
}

SUITE(.name = "code")
