/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/layout.h"
#include "runtime/coreclr/layout_fill.h"
#include "runtime/descriptor.h"
#include "runtime/nativeaot/layout.h"
#include "support/assert_more.h"
#include "support/fake_export.h"
#include "support/suite.h"
#include "util/alloc.h"

#define DESCRIPTOR (FAKE_MODULE_BASE + FAKE_PLACE_DESCRIPTOR)

/* A runtime with a descriptor of that text. */
static struct fake_clr *make(const struct fake_export *options)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	fake_export(fake, options);
	return fake;
}

static enum hd_status read(struct fake_clr *fake, struct descriptor **ret, struct hd_error *err)
{
	*ret = NULL;
	return descriptor_read(&fake->target, &fake->target.modules[0], DESCRIPTOR, ret, err);
}

/* Read a text that must be good. */
static struct fake_clr *open(const char *json, struct descriptor **ret)
{
	static const uint64_t pointers[] = { 0, 0x1234, 0x5678 };
	struct fake_clr *fake = make(
		&(struct fake_export){ .json = json, .pointers = pointers, .pointer_count = 3 });
	struct hd_error err = { 0 };
	ASSERT_UINT(read(fake, ret, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	REQUIRE(*ret);
	return fake;
}

static void close(struct fake_clr *fake, struct descriptor *descriptor)
{
	descriptor_destroy(descriptor);
	fake_clr_destroy(fake);
}

/* linux-arm64 of 11 has one field more than x64 in front of these. */
TEST(fields_of_nativeaot_that_are_not_told_move_with_the_others)
{
	struct descriptor *descriptor = NULL;
	struct fake_clr *fake = open("{\"version\":0,\"types\":{\"Thread\":{\"OSId\":184,"
				     "\"LinkNext\":96,\"ExceptionTracker\":128}}}",
				     &descriptor);
	struct aot_layout layout;
	aot_layout_init(&layout, 11);
	ASSERT_UINT(layout.offsets[AOT_THREAD_INLINED_STATICS], 144);
	aot_layout_take_descriptor(&layout, descriptor);
	ASSERT_UINT(layout.offsets[AOT_THREAD_EXCEPTIONS], 128);
	ASSERT_UINT(layout.offsets[AOT_THREAD_STATICS], 144);
	ASSERT_UINT(layout.offsets[AOT_THREAD_INLINED_STATICS], 152);
	ASSERT_UINT(layout.offsets[AOT_THREAD_INTERRUPTED], 200);
	ASSERT_UINT(layout.offsets[AOT_THREAD_HIJACKED], 104);
	close(fake, descriptor);
}

TEST(offsets)
{
	struct descriptor *descriptor = NULL;
	struct fake_clr *fake =
		open("{\"version\":0,\"types\":{\"T\":{\"A\":8,\"B\":[16,\"uint32\"],"
		     "\"!\":24,\"C\":\"0x20\",\"D\":\"12\"}},\"more\":[1]}",
		     &descriptor);
	static const struct {
		const char *name;
		int64_t offset;
	} known[] = { { "A", 8 }, { "B", 16 }, { "!", 24 }, { "C", 32 }, { "D", 12 } };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		int64_t offset = -1;
		CU_ASSERT_TRUE(descriptor_offset(descriptor, "T", known[i].name, &offset));
		ASSERT_UINT((uint64_t)offset, (uint64_t)known[i].offset);
	}
	int64_t offset = -7;
	CU_ASSERT_FALSE(descriptor_offset(descriptor, "T", "E", &offset));
	CU_ASSERT_FALSE(descriptor_offset(descriptor, "U", "A", &offset));
	ASSERT_UINT((uint64_t)offset, (uint64_t)-7);
	CU_ASSERT_TRUE(descriptor_has_type(descriptor, "T"));
	CU_ASSERT_FALSE(descriptor_has_type(descriptor, "U"));
	CU_ASSERT_FALSE(descriptor_has_parts(descriptor));
	close(fake, descriptor);
}

TEST(globals)
{
	struct descriptor *descriptor = NULL;
	struct fake_clr *fake =
		open("{\"globals\":{\"N\":7,\"S\":[\"0xfe\",\"uint8\"],\"I\":[[1],\"pointer\"],"
		     "\"J\":[2],\"T\":[\"x64\",\"string\"],\"Z\":[[0],\"pointer\"]},"
		     "\"contracts\":{\"Thread\":\"c1\",\"Loader\":1}}",
		     &descriptor);
	static const struct {
		const char *name;
		uint64_t value;
	} known[] = { { "N", 7 }, { "S", 0xfe }, { "I", 0x1234 }, { "J", 0x5678 } };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		uint64_t value = 0;
		CU_ASSERT_TRUE(descriptor_global(descriptor, known[i].name, &value));
		ASSERT_UINT(value, known[i].value);
	}
	uint64_t value = 0;
	CU_ASSERT_FALSE(descriptor_global(descriptor, "T", &value));
	/* Entry 0 is not used. */
	CU_ASSERT_FALSE(descriptor_global(descriptor, "Z", &value));
	ASSERT_TEXT(descriptor_text(descriptor, "T"), "x64");
	CU_ASSERT_PTR_NULL(descriptor_text(descriptor, "N"));
	close(fake, descriptor);
}

TEST(layout_is_filled)
{
	struct descriptor *descriptor = NULL;
	struct fake_clr *fake =
		open("{\"types\":{\"MethodTable\":{\"MTFlags\":4,\"BaseSize\":70000,"
		     "\"Module\":-8},\"MethodDescChunk\":{\"!\":40}}}",
		     &descriptor);
	struct layout layout;
	layout_init(&layout);
	layout_take_descriptor(&layout, descriptor);
	ASSERT_UINT((uint64_t)layout.offsets[L_MT_FLAGS], 4);
	ASSERT_UINT((uint64_t)layout.offsets[L_METHOD_CHUNK_SIZE], 40);
	ASSERT_UINT(layout.origins[L_MT_FLAGS], ORIGIN_DESCRIPTOR);
	CU_ASSERT_FALSE(layout_has(&layout, L_MT_BASE_SIZE));
	CU_ASSERT_FALSE(layout_has(&layout, L_MT_MODULE));
	close(fake, descriptor);
}

/* Whatever the values are: nothing is taken of them, and nothing breaks. */
TEST(hostile_values)
{
	static const char *const texts[] = {
		"{}",
		"{\"types\":[],\"globals\":7}",
		"{\"types\":{\"T\":[]},\"globals\":{\"G\":[]}}",
		"{\"types\":{\"T\":7},\"globals\":{\"G\":{}}}",
		"{\"types\":{\"T\":{\"A\":null}},\"globals\":{\"G\":null}}",
		"{\"types\":{\"T\":{\"A\":[]}},\"globals\":{\"G\":[[]]}}",
		"{\"types\":{\"T\":{\"A\":[[[]],\"x\"]}},\"globals\":{\"G\":[[[1]],\"x\"]}}",
		"{\"types\":{\"T\":{\"A\":-1}},\"globals\":{\"G\":[[3],\"pointer\"]}}",
		"{\"types\":{\"T\":{\"A\":65536}},\"globals\":{\"G\":[[-1],\"pointer\"]}}",
		"{\"types\":{\"T\":{\"A\":\"-1\"}},\"globals\":{\"G\":[[9999999999],\"p\"]}}",
		"{\"types\":{\"T\":{\"A\":\"0x10000\"}},\"globals\":{\"G\":\"99999999999999999999\"}}",
		"{\"types\":{\"T\":{\"A\":1.5}},\"globals\":{\"G\":\"0x\"}}",
		"{\"types\":{\"T\":{\"A\":\"8x\"}},\"globals\":{\"G\":\"\"}}",
		"{\"types\":{\"T\":{\"A\":true}},\"globals\":{\"G\":[1,2,3]}}",
		"{\"subDescriptors\":7}",
		"{\"subDescriptors\":{\"GC\":[[1],\"pointer\"],\"X\":[[9],\"pointer\"],\"Y\":3}}",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct descriptor *descriptor = NULL;
		struct fake_clr *fake = open(texts[i], &descriptor);
		int64_t offset = 0;
		uint64_t value = 0;
		CU_ASSERT_FALSE(descriptor_offset(descriptor, "T", "A", &offset));
		CU_ASSERT_FALSE(descriptor_global(descriptor, "G", &value));
		close(fake, descriptor);
	}
}

static void check_refused(const struct fake_export *options, enum hd_status expected)
{
	struct fake_clr *fake = make(options);
	struct descriptor *descriptor = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(read(fake, &descriptor, &err), expected);
	CU_ASSERT_PTR_NULL(descriptor);
	CU_ASSERT(err.message[0] != '\0');
	fake_clr_destroy(fake);
}

TEST(broken_text)
{
	static const char *const texts[] = { "x",          "[]",           "7",
					     "{",          "{\"a\":}",     "{\"types\":{}",
					     "\xff\xfe{}", "{\"a\":1e999}" };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check_refused(&(struct fake_export){ .json = texts[i] }, HD_ERR_FORMAT);
	check_refused(&(struct fake_export){ .json = "{}\0{}", .json_size = 5 }, HD_ERR_FORMAT);
	/* Nested too deep for any stack. */
	enum {
		DEPTH = 100000
	};
	char *deep = malloc(DEPTH + 8);
	REQUIRE(deep);
	memcpy(deep, "{\"a\":", 5);
	memset(deep + 5, '[', DEPTH);
	check_refused(&(struct fake_export){ .json = deep, .json_size = DEPTH }, HD_ERR_FORMAT);
	free(deep);
}

TEST(broken_header)
{
	static const struct {
		unsigned int at;
		uint32_t value;
		enum hd_status expected;
	} cases[] = {
		{ 0, 7, HD_ERR_FORMAT },           /* magic */
		{ 8, 3, HD_ERR_FORMAT },           /* 32 bits */
		{ 12, 0x7fffffff, HD_ERR_FORMAT }, /* too much text */
		{ 12, 0, HD_ERR_FORMAT },          /* no text */
		{ 12, 100000, HD_ERR_FAULT },      /* text that is not there */
		{ 24, 0x7fffffff, HD_ERR_FORMAT }, /* too many pointers */
		{ 20, 0, HD_ERR_FAULT },           /* text nowhere */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_clr *fake = make(&(struct fake_export){ .json = "{}" });
		fake_poke_u32(&fake->memory, DESCRIPTOR + cases[i].at, cases[i].value);
		struct descriptor *descriptor = NULL;
		struct hd_error err = { 0 };
		ASSERT_UINT(read(fake, &descriptor, &err), cases[i].expected);
		fake_clr_destroy(fake);
	}
}

TEST(not_there)
{
	struct fake_clr *fake = make(&(struct fake_export){ .json = "{}" });
	struct descriptor *descriptor = NULL;
	struct hd_error err = { 0 };
	const struct target_module *module = &fake->target.modules[0];
	ASSERT_UINT(descriptor_read(&fake->target, module, 0x10, &descriptor, &err), HD_ERR_FAULT);
	ASSERT_UINT(err.address, 0x10);
	ASSERT_UINT(descriptor_read(&fake->target, module, UINT64_MAX - 8, &descriptor, NULL),
		    HD_ERR_FAULT);
	fake_clr_destroy(fake);
}

/* The page is the file's: both pointers and the pointer data need their relocations. */
TEST(page_of_the_file)
{
	const uint64_t pointers[] = { 0, FAKE_MODULE_BASE + 0x8010 };
	struct fake_clr *fake = make(
		&(struct fake_export){ .json = "{\"globals\":{\"AppDomain\":[[1],\"pointer\"]}}",
				       .pointers = pointers,
				       .pointer_count = 2,
				       .unrelocated = true });
	ASSERT_UINT(fake_peek_u64(&fake->memory, DESCRIPTOR + 16), 0);
	struct descriptor *descriptor = NULL;
	ASSERT_UINT(read(fake, &descriptor, NULL), HD_OK);
	REQUIRE(descriptor);
	uint64_t value = 0;
	CU_ASSERT_TRUE(descriptor_global(descriptor, "AppDomain", &value));
	ASSERT_UINT(value, FAKE_MODULE_BASE + 0x8010);
	close(fake, descriptor);
}

/* A second descriptor at @p address, with text and one pointer. */
static void poke_descriptor(struct fake_clr *fake, uint64_t address, const char *json,
			    uint64_t pointer)
{
	uint64_t pointers = fake_alloc(&fake->memory, 16);
	fake_poke_u64(&fake->memory, pointers + 8, pointer);
	fake_poke_u64(&fake->memory, address, 0x0043414443434e44u);
	fake_poke_u32(&fake->memory, address + 8, 1);
	fake_poke_u32(&fake->memory, address + 12, (uint32_t)strlen(json));
	fake_poke_u64(&fake->memory, address + 16, fake_text(&fake->memory, json));
	fake_poke_u32(&fake->memory, address + 24, 2);
	fake_poke_u64(&fake->memory, address + 32, pointers);
}

#define WITH_PART                                         \
	"{\"globals\":{\"A\":[[1],\"pointer\"],\"B\":1}," \
	"\"subDescriptors\":{\"GC\":[[1],\"pointer\"]}}"

static struct fake_clr *make_part(const char *part)
{
	const uint64_t pointers[] = { 0, fake_global(FAKE_GLOBALS) + 16 };
	struct fake_clr *fake = make(&(struct fake_export){
		.json = WITH_PART, .pointers = pointers, .pointer_count = 2 });
	uint64_t address = fake_alloc(&fake->memory, 40);
	fake_poke_u64(&fake->memory, pointers[1], address);
	poke_descriptor(fake, address, part, 0x99);
	return fake;
}

TEST(sub_descriptor)
{
	struct fake_clr *fake = make_part("{\"globals\":{\"Heaps\":[[1],\"pointer\"],\"B\":2},"
					  "\"types\":{\"GCHeap\":{\"X\":8}}}");
	struct descriptor *descriptor = NULL;
	ASSERT_UINT(read(fake, &descriptor, NULL), HD_OK);
	REQUIRE(descriptor);
	CU_ASSERT_TRUE(descriptor_has_parts(descriptor));
	CU_ASSERT_TRUE(descriptor_has_type(descriptor, "GCHeap"));
	uint64_t value = 0;
	CU_ASSERT_TRUE(descriptor_global(descriptor, "Heaps", &value));
	ASSERT_UINT(value, 0x99);
	CU_ASSERT_TRUE(descriptor_global(descriptor, "B", &value));
	ASSERT_UINT(value, 1);
	close(fake, descriptor);
}

/* One that is not initialised, broken, or the descriptor itself, is as if it were not there. */
TEST(sub_descriptor_is_broken)
{
	struct fake_clr *fake = make_part("nonsense");
	for (unsigned int round = 0; round < 3; round++) {
		struct descriptor *descriptor = NULL;
		struct hd_error err = { 0 };
		ASSERT_UINT(read(fake, &descriptor, &err), HD_OK);
		ASSERT_UINT(err.status, HD_OK);
		REQUIRE(descriptor);
		uint64_t value = 0;
		CU_ASSERT_TRUE(descriptor_global(descriptor, "B", &value));
		descriptor_destroy(descriptor);
		fake_poke_u64(&fake->memory, fake_global(FAKE_GLOBALS) + 16,
			      round ? 0 : DESCRIPTOR);
	}
	fake_clr_destroy(fake);
}

TEST(memory_runs_out)
{
	struct fake_clr *fake = make_part("{\"globals\":{\"C\":2}}");
	for (uint64_t nth = 1; nth < 100; nth++) {
		struct descriptor *descriptor = NULL;
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		enum hd_status status = read(fake, &descriptor, &err);
		bool failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		ASSERT_UINT(status, failed ? HD_ERR_NOMEM : HD_OK);
		ASSERT_UINT(err.status, status);
		descriptor_destroy(descriptor);
		if (!failed) {
			CU_ASSERT(nth > 4);
			break;
		}
	}
	fake_clr_destroy(fake);
}

SUITE(.name = "descriptor")
