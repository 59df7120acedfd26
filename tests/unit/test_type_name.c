/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/types/field.h"
#include "runtime/coreclr/types/method_table.h"
#include "runtime/coreclr/types/type_name.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"
#include "util/alloc.h"

#define INSTANTIATED 0x10u
#define MD_ARRAY     0x00080000u
#define SZ_ARRAY     0x000a0000u

/* TypeDefs of the metadata that all tests have, in this order from RID 1 on. */
enum {
	DEF_MODULE = 1,
	DEF_OBJECT,
	DEF_STRING,
	DEF_INT,
	DEF_LIST,
	DEF_PAIR,
	DEF_OUTER,
	DEF_INNER,
	DEF_DEEP,
	DEF_GLOBAL,
	DEF_ODD,
	DEF_TREE,
	DEF_CLOSURE,
};
enum {
	REF_OUTER = 1,
	REF_INNER
};

static void fill(struct metadata_maker *maker)
{
	maker_type(maker, "", "<Module>");
	maker_type(maker, "System", "Object");
	maker_type(maker, "System", "String");
	maker_type(maker, "System", "Int32");
	maker_type(maker, "System.Collections.Generic", "List`1");
	maker_type(maker, "Ns", "Pair`2");
	maker_type(maker, "Ns", "Outer`2");
	maker_type(maker, "", "Inner");
	maker_type(maker, "", "Deep`1");
	maker_type(maker, "", "Global");
	maker_type(maker, "Odd", "Name`with`7x");
	maker_type(maker, "Microsoft.FSharp.Collections", "MapTreeModule");
	maker_type(maker, "", "ofList@530");
	maker_nest(maker, DEF_INNER, DEF_OUTER);
	maker_nest(maker, DEF_CLOSURE, DEF_TREE);
	maker_nest(maker, DEF_DEEP, DEF_INNER);
	maker_type_ref(maker, "Far", "Outer`1");
	/* ResolutionScope: tag 3 is a TypeRef */
	MAKER_ROW(maker, MD_TYPE_REF, REF_OUTER << 2 | 3, maker_string(maker, "Inner`1"), 0);
	MAKER_ROW(maker, MD_GENERIC_PARAM, 0, 0, DEF_LIST << 1, maker_string(maker, "TItem"));
	MAKER_ROW(maker, MD_TYPE_SPEC, maker_blob(maker, "\x1d\x08", 2));
	/* a TypeSpec that is itself: CLASS, TypeDefOrRef tag 2, row 2 */
	MAKER_ROW(maker, MD_TYPE_SPEC, maker_blob(maker, "\x12\x0a", 2));
}

struct fixture {
	struct fake_clr *fake;
	struct runtime *runtime;
};

static struct fixture set_up(void)
{
	struct fixture fixture = { .fake = fake_clr_create(NULL) };
	struct metadata_maker maker;
	maker_init(&maker);
	fill(&maker);
	fake_metadata(fixture.fake, fixture.fake->module, &maker);
	maker_deinit(&maker);
	fixture.runtime = fake_runtime(fixture.fake);
	return fixture;
}

static uint64_t make(struct fake_clr *fake, uint32_t rid)
{
	return fake_type(fake, &(struct fake_type){ .base_size = 24, .token = rid });
}

static uint64_t make_generic(struct fake_clr *fake, uint32_t rid, const uint64_t *arguments,
			     uint16_t count)
{
	uint64_t type = fake_type(
		fake, &(struct fake_type){ .base_size = 24, .token = rid, .flags = INSTANTIATED });
	fake_arguments(fake, type, arguments, count);
	return type;
}

static void check(struct fixture *fixture, uint64_t method_table, const char *expected)
{
	const struct type *type = type_find(fixture->runtime, method_table);
	REQUIRE(type);
	size_t size = 0;
	const char *name = type_name(fixture->runtime, type, &size);
	ASSERT_TEXT(name, expected);
	ASSERT_UINT(size, strlen(name));
	CU_ASSERT(type_name(fixture->runtime, type, NULL) == name);
}

TEST(test_plain)
{
	struct fixture fixture = set_up();
	struct fake_clr *fake = fixture.fake;
	check(&fixture, fake->object_type, "System.Object");
	check(&fixture, fake->string_type, "System.String");
	check(&fixture, fake->free_type, "Free");
	check(&fixture, make(fake, DEF_GLOBAL), "Global");
	check(&fixture, make(fake, DEF_INNER), "Ns.Outer`2+Inner");
	check(&fixture, make(fake, DEF_ODD), "Odd.Name`with`7x");
	fake_clr_destroy(fake);
}

TEST(test_arrays)
{
	struct fixture fixture = set_up();
	struct fake_clr *fake = fixture.fake;
	check(&fixture, fake->object_array_type, "System.Object[]");
	uint64_t jagged = fake_array_type(fake, fake->object_array_type);
	check(&fixture, jagged, "System.Object[][]");
	uint64_t string = fake->string_type;
	static const char *const names[] = { "System.String[*]", "System.String[,]",
					     "System.String[,,]" };
	for (uint32_t rank = 1; rank <= 3; rank++) {
		uint64_t type = fake_type(fake, &(struct fake_type){ .base_size = 24 + 8 * rank,
								     .component_size = 8,
								     .flags = MD_ARRAY,
								     .per_inst = string });
		check(&fixture, type, names[rank - 1]);
	}
	uint64_t pointer = fake_param_type(fake, ELEMENT_POINTER, string);
	uint64_t pointers = fake_param_type(fake, ELEMENT_POINTER, pointer);
	check(&fixture, fake_array_type(fake, pointers), "System.String**[]");
	fake_clr_destroy(fake);
}

/* Arguments are dealt out to the levels of nesting by their arity. */
TEST(test_generics)
{
	struct fixture fixture = set_up();
	struct fake_clr *fake = fixture.fake;
	uint64_t integer = make(fake, DEF_INT);
	uint64_t list = make_generic(fake, DEF_LIST, &integer, 1);
	check(&fixture, list, "System.Collections.Generic.List<System.Int32>");
	const uint64_t two[] = { fake->string_type, list };
	check(&fixture, make_generic(fake, DEF_PAIR, two, 2),
	      "Ns.Pair<System.String, System.Collections.Generic.List<System.Int32>>");
	check(&fixture, make_generic(fake, DEF_INNER, two, 2),
	      "Ns.Outer<System.String, System.Collections.Generic.List<System.Int32>>+Inner");
	const uint64_t three[] = { integer, fake->object_array_type, integer };
	check(&fixture, make_generic(fake, DEF_DEEP, three, 3),
	      "Ns.Outer<System.Int32, System.Object[]>+Inner+Deep<System.Int32>");
	/* F# names closures without an arity: what is generic in them is in the instantiation */
	check(&fixture, make_generic(fake, DEF_CLOSURE, two, 2),
	      "Microsoft.FSharp.Collections.MapTreeModule+ofList@530<System.String, "
	      "System.Collections.Generic.List<System.Int32>>");
	check(&fixture, make_generic(fake, DEF_GLOBAL, &integer, 1), "Global<System.Int32>");
	/* fewer arguments than the names ask for */
	check(&fixture, make_generic(fake, DEF_PAIR, &integer, 1), "Ns.Pair<System.Int32>");
	check(&fixture, make_generic(fake, DEF_PAIR, NULL, 0), "Ns.Pair`2");
	/* an open type: its argument is a variable, named in GenericParam */
	uint64_t variable = fake_param_type(fake, ELEMENT_VAR, fake->module);
	fake_poke_u32(&fake->memory, (variable & ~(uint64_t)2) + 40, 0x2a000001);
	check(&fixture, make_generic(fake, DEF_LIST, &variable, 1),
	      "System.Collections.Generic.List<TItem>");
	fake_clr_destroy(fake);
}

TEST(test_unknown)
{
	struct fixture fixture = set_up();
	struct fake_clr *fake = fixture.fake;
	char expected[64];
	uint64_t beyond = make(fake, 4711);
	(void)snprintf(expected, sizeof(expected), "<unknown type %" PRIx64 ">", beyond);
	check(&fixture, beyond, expected);
	uint64_t list = make_generic(fake, DEF_LIST, &beyond, 1);
	char both[128];
	(void)snprintf(both, sizeof(both), "System.Collections.Generic.List<%s>", expected);
	check(&fixture, list, both);
	/* handles that lead nowhere */
	const uint64_t nowhere[] = { 0x1234560, 0x1234562 };
	check(&fixture, make_generic(fake, DEF_PAIR, nowhere, 2),
	      "Ns.Pair<<unknown type 1234560>, <unknown type 1234562>>");
	struct text text = { 0 };
	type_handle_name(fixture.runtime, fake_param_type(fake, 0x44, 0), &text);
	CU_ASSERT(text.size > 0 && !strncmp(text.bytes, "<unknown type ", 14));
	text_deinit(&text);
	fake_clr_destroy(fake);
}

/* A type that contains itself ends: by depth, and by the size of the name. */
TEST(test_cycles)
{
	struct fixture fixture = set_up();
	struct fake_clr *fake = fixture.fake;
	uint64_t self = fake_array_type(fake, 0);
	fake_poke_u64(&fake->memory, self + 48, self);
	const struct type *type = type_find(fixture.runtime, self);
	REQUIRE(type);
	size_t size;
	const char *name = type_name(fixture.runtime, type, &size);
	CU_ASSERT(!strncmp(name, "...[][]", 7));
	ASSERT_UINT(size, 3 + 2 * (NAME_DEPTH_MAX + 1));
	uint64_t twice[] = { 0, 0 };
	uint64_t pair = make_generic(fake, DEF_PAIR, twice, 2);
	uint64_t dictionary = fake_peek_u64(&fake->memory, fake_peek_u64(&fake->memory, pair + 48));
	fake_poke_u64(&fake->memory, dictionary, pair);
	fake_poke_u64(&fake->memory, dictionary + 8, pair);
	type = type_find(fixture.runtime, pair);
	REQUIRE(type);
	name = type_name(fixture.runtime, type, &size);
	CU_ASSERT(!strncmp(name, "Ns.Pair<Ns.Pair<", 16));
	ASSERT_UINT(size, NAME_SIZE_MAX + 3);
	CU_ASSERT(!strcmp(name + size - 3, "..."));
	uint64_t pointer = fake_param_type(fake, ELEMENT_POINTER, 0);
	fake_poke_u64(&fake->memory, (pointer & ~(uint64_t)2) + 16, pointer);
	struct text text = { 0 };
	type_handle_name(fixture.runtime, pointer, &text);
	CU_ASSERT(!text.failed && text.size < 200);
	text_deinit(&text);
	fake_clr_destroy(fake);
}

/* A type of 128 bytes has a name of 64 kB: not each of very many. */
TEST(test_many_long)
{
	struct fixture fixture = set_up();
	struct fake_clr *fake = fixture.fake;
	uint64_t twice[] = { 0, 0 }, sum = 0;
	uint64_t pair = make_generic(fake, DEF_PAIR, twice, 2);
	uint64_t dictionary = fake_peek_u64(&fake->memory, fake_peek_u64(&fake->memory, pair + 48));
	fake_poke_u64(&fake->memory, dictionary, pair);
	fake_poke_u64(&fake->memory, dictionary + 8, pair);
	struct text text = { 0 };
	for (unsigned int i = 0; i < 3000; i++) {
		text.size = 0;
		type_handle_name(fixture.runtime, pair, &text);
		sum += text.size;
	}
	CU_ASSERT(!text.failed && sum < NAME_EXTRA_MAX + (uint64_t)3000 * 2 * NAME_USUAL_SIZE);
	ASSERT_UINT(text.size, NAME_USUAL_SIZE + 3);
	CU_ASSERT(!strcmp(text.bytes + text.size - 3, "..."));
	/* The usual ones are as before. */
	text.size = 0;
	type_handle_name(fixture.runtime, fake->object_array_type, &text);
	ASSERT_TEXT(text.bytes, "System.Object[]");
	text_deinit(&text);
	fake_clr_destroy(fake);
}

static void check_signature(struct fixture *fixture, const char *bytes, size_t size,
			    struct type_arguments arguments, const char *expected)
{
	const struct module *module = module_find(fixture->runtime, fixture->fake->module);
	REQUIRE(module);
	REQUIRE(module->metadata);
	struct text text = { 0 };
	signature_type_name(fixture->runtime, module, (const uint8_t *)bytes, (uint32_t)size,
			    arguments, &text);
	ASSERT_TEXT(text.bytes, expected);
	text_deinit(&text);
}

#define CHECK(bytes, expected) \
	check_signature(&fixture, bytes, sizeof(bytes) - 1, arguments, expected)

/* TypeDefOrRef as it stands in a signature: row and tag; all of ours take one byte. */
#define LIST_DEF   "\x14" /* TypeDef 5 */
#define PAIR_DEF   "\x18" /* TypeDef 6 */
#define DEEP_DEF   "\x24" /* TypeDef 9 */
#define INNER_REF  "\x09" /* TypeRef 2 */
#define ARRAY_SPEC "\x06" /* TypeSpec 1 */
#define SELF_SPEC  "\x0a" /* TypeSpec 2 */

TEST(test_signatures)
{
	struct fixture fixture = set_up();
	struct fake_clr *fake = fixture.fake;
	struct type_arguments arguments = { 0 };
	CHECK("\x02", "System.Boolean");
	CHECK("\x18", "System.IntPtr");
	CHECK("\x1c", "System.Object");
	CHECK("\x1d\x1d\x0e", "System.String[][]");
	CHECK("\x0f\x0f\x01", "System.Void**");
	CHECK("\x10\x08", "System.Int32&");
	CHECK("\x12\x08", "System.Object");
	CHECK("\x14\x08\x02\x00\x00", "System.Int32[,]");
	CHECK("\x14\x08\x01\x00\x00", "System.Int32[*]");
	CHECK("\x14\x1d\x08\x03\x01\x02\x01\x00", "System.Int32[][,,]");
	CHECK("\x15\x12" LIST_DEF "\x01\x08", "System.Collections.Generic.List<System.Int32>");
	CHECK("\x1d\x15\x11" PAIR_DEF "\x02\x1d\x08\x15\x12" LIST_DEF "\x01\x0e",
	      "Ns.Pair<System.Int32[], System.Collections.Generic.List<System.String>>[]");
	CHECK("\x15\x12" DEEP_DEF "\x03\x02\x03\x04",
	      "Ns.Outer<System.Boolean, System.Char>+Inner+Deep<System.SByte>");
	CHECK("\x15\x12" INNER_REF "\x02\x02\x03", "Far.Outer<System.Boolean>+Inner<System.Char>");
	/* more arguments than the names ask for: read, not shown */
	CHECK("\x14\x15\x12" LIST_DEF "\x02\x08\x1d\x0e\x02\x00\x00",
	      "System.Collections.Generic.List<System.Int32>[,]");
	CHECK("\x13\x00", "!0");
	CHECK("\x1e\x01", "!!1");
	/* modifiers: modreq, modopt, pinned */
	CHECK("\x1f\x08\x20\x09\x45\x06", "System.Int16");
	CHECK("\x12" ARRAY_SPEC, "System.Int32[]");
	/* a function pointer in a two-dimensional array: its signature is read over */
	CHECK("\x14\x1b\x00\x02\x01\x08\x15\x12" LIST_DEF "\x01\x08\x02\x00\x00", "fnptr[,]");
	CHECK("\x1b\x10\x01\x00\x1e\x00", "fnptr");
	uint64_t types[] = { fake->string_type, fake->object_array_type };
	arguments.count = 2;
	arguments.address = fake_alloc(&fake->memory, sizeof(types));
	fake_poke(&fake->memory, arguments.address, types, sizeof(types));
	CHECK("\x13\x00", "System.String");
	CHECK("\x15\x11" PAIR_DEF "\x02\x13\x01\x1d\x13\x00",
	      "Ns.Pair<System.Object[], System.String[]>");
	CHECK("\x13\x02", "!2");
	/* a TypeHandle of the runtime in a signature made at run time */
	char internal[9] = { 0x21 };
	memcpy(internal + 1, &types[1], 8);
	check_signature(&fixture, internal, sizeof(internal), arguments, "System.Object[]");
	fake_clr_destroy(fake);
}

TEST(test_bad_signatures)
{
	struct fixture fixture = set_up();
	struct type_arguments arguments = { 0 };
	CHECK("", "?");
	CHECK("\x1d", "?[]");
	CHECK("\x12", "?");
	CHECK("\x12\x03", "?");
	CHECK("\x12\x00", "?");
	CHECK("\x15\x08", "?");
	CHECK("\x15\x12\x14\x05\x08", "System.Collections.Generic.List<System.Int32>");
	CHECK("\x14\x08\x21\x00\x00", "System.Int32?");
	CHECK("\x7f", "?");
	CHECK("\x1b\x00\x7f\x01", "fnptr?");
	CHECK("\x12" SELF_SPEC, "?");
	/* as deep as it is long */
	char deep[4096];
	memset(deep, 0x1d, sizeof(deep));
	const struct module *module = module_find(fixture.runtime, fixture.fake->module);
	REQUIRE(module);
	struct text text = { 0 };
	signature_type_name(fixture.runtime, module, (const uint8_t *)deep, sizeof(deep), arguments,
			    &text);
	ASSERT_UINT(text.size, 1 + 2 * (NAME_DEPTH_MAX + 1));
	text_deinit(&text);
	fake_clr_destroy(fixture.fake);
}

TEST(test_no_memory)
{
	bool failed = true;
	for (uint64_t nth = 1; failed; nth++) {
		struct fixture fixture = set_up();
		const struct type *type =
			type_find(fixture.runtime, fixture.fake->object_array_type);
		REQUIRE(type);
		alloc_fail_at(nth);
		const char *name = type_name(fixture.runtime, type, NULL);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		if (!failed)
			ASSERT_TEXT(name, "System.Object[]");
		REQUIRE(name);
		fake_clr_destroy(fixture.fake);
	}
}

SUITE(.name = "type_name")
