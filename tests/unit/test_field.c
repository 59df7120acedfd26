/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"
#include "util/alloc.h"

#define INSTANTIATED 0x10u
#define SHARED       0x20u
#define HAS_STATICS  0x2u
#define CLASS_OF     40u
#define AUXILIARY_OF 32u

/* FieldDesc's words: RID and flags; offset and element type. */
#define DESC(rid, flags, offset, element)                             \
	{                                                             \
		(rid) | (flags), (offset) | (uint32_t)(element) << 27 \
	}
#define STATIC     0x01000000u
#define THREAD     0x02000000u
#define RVA        0x04000000u
#define NOT_PLACED 0x07fffff5u

enum {
	DEF_MODULE = 1,
	DEF_OBJECT,
	DEF_STRING,
	DEF_INT,
	DEF_BASE,
	DEF_DERIVED,
	DEF_BOX,
	DEF_POINT,
	DEF_CANON,
	DEF_CELL,
	DEF_HOLDER
};

/* Fields in the order of the metadata. */
enum {
	FIELD_COUNT = 1,
	FIELD_SHARED_NAME,
	FIELD_CACHE,
	FIELD_PER_THREAD,
	FIELD_TABLE,
	FIELD_NEXT,
	FIELD_WHERE,
	FIELD_ITEM,
	FIELD_X,
	FIELD_CELL_ITEM,
	FIELD_TEXTS,
	FIELD_POINTS
};

static void fill(struct metadata_maker *maker)
{
	maker_type(maker, "", "<Module>");
	maker_type(maker, "System", "Object");
	maker_type(maker, "System", "String");
	maker_type(maker, "System", "Int32");
	maker_type(maker, "Ns", "Base");
	maker_field(maker, 0, "count", "\x08", 1);
	maker_field(maker, 0, "name", "\x0e", 1);
	maker_field(maker, 0x10, "cache", "\x1d\x0e", 2);
	maker_field(maker, 0x10, "perThread", "\x08", 1);
	maker_field(maker, 0x10, "table", "\x05", 1);
	maker_type(maker, "Ns", "Derived");
	maker_field(maker, 0, "next", "\x12\x14", 2);  /* TypeDef 5: Base */
	maker_field(maker, 0, "where", "\x11\x20", 2); /* TypeDef 8: Point */
	maker_type(maker, "Ns", "Box`1");
	maker_field(maker, 0, "item", "\x13\x00", 2);
	maker_type(maker, "Ns", "Point");
	maker_field(maker, 0, "x", "\x08", 1);
	maker_type(maker, "System", "__Canon");
	maker_type(maker, "Ns", "Cell`2");
	maker_field(maker, 0, "item", "\x13\x00", 2);
	maker_type(maker, "Ns", "Holder");
	/* GENERICINST VALUETYPE, TypeDef 10, of two: STRING or VALUETYPE Point, and Point */
	maker_field(maker, 0, "texts", "\x15\x11\x28\x02\x0e\x11\x20", 7);
	maker_field(maker, 0, "points", "\x15\x11\x28\x02\x11\x20\x11\x20", 8);
}

struct fixture {
	struct fake_clr *fake;
	struct runtime *runtime;
	uint64_t base, derived, point, integer;
};

/* Space for DynamicStaticsInfo before the auxiliary data: bases of both kinds. */
static void set_statics(struct fake_clr *fake, uint64_t method_table, uint64_t gc, uint64_t non_gc)
{
	uint64_t info = fake_alloc(&fake->memory, 24 + 32);
	fake_poke_u64(&fake->memory, info, gc);
	fake_poke_u64(&fake->memory, info + 8, non_gc);
	fake_poke_u64(&fake->memory, info + 16, method_table);
	fake_poke_u64(&fake->memory, method_table + AUXILIARY_OF, info + 24);
	uint64_t flags = fake_peek_u64(&fake->memory, method_table + 8);
	fake_poke_u64(&fake->memory, method_table + 8, flags | HAS_STATICS);
}

static void make_fields(struct fixture *fixture)
{
	static const uint32_t base[][2] = {
		DESC(FIELD_COUNT, 0, 8, ELEMENT_I4),
		DESC(FIELD_SHARED_NAME, 0, 0, ELEMENT_CLASS),
		DESC(FIELD_CACHE, STATIC, 0x40, ELEMENT_CLASS),
		DESC(FIELD_PER_THREAD, STATIC | THREAD, 0x10, ELEMENT_I4),
		DESC(FIELD_TABLE, STATIC | RVA, 0x2004, ELEMENT_U1),
	};
	static const uint32_t derived[][2] = {
		DESC(FIELD_NEXT, 0, 16, ELEMENT_CLASS), DESC(FIELD_WHERE, 0, 24, ELEMENT_VALUE),
		DESC(FIELD_X, 0, NOT_PLACED, ELEMENT_I4), /* left out */
	};
	static const uint32_t point[][2] = { DESC(FIELD_X, 0, 0, ELEMENT_I4) };
	struct fake_clr *fake = fixture->fake;
	fake_field_descs(fake, fixture->base, 2, 3, base, 5);
	fake_field_descs(fake, fixture->derived, 5, 0, derived, 3);
	fake_field_descs(fake, fixture->point, 1, 0, point, 1);
}

static struct fixture set_up(void)
{
	struct fixture fixture = { .fake = fake_clr_create(NULL) };
	struct fake_clr *fake = fixture.fake;
	struct metadata_maker maker;
	maker_init(&maker);
	fill(&maker);
	fake_metadata(fake, fake->module, &maker);
	maker_deinit(&maker);
	fixture.integer = fake_type(fake, &(struct fake_type){ .base_size = 24, .token = DEF_INT });
	fixture.base = fake_type(fake, &(struct fake_type){ .base_size = 32, .token = DEF_BASE });
	fixture.derived = fake_type(fake, &(struct fake_type){ .base_size = 48,
							       .token = DEF_DERIVED,
							       .parent = fixture.base });
	fixture.point = fake_type(
		fake,
		&(struct fake_type){ .base_size = 24, .token = DEF_POINT, .flags = 0x00040000 });
	make_fields(&fixture);
	const uint64_t types[] = { 0,
				   0,
				   fake->object_type,
				   fake->string_type,
				   fixture.integer,
				   fixture.base,
				   fixture.derived,
				   0,
				   fixture.point };
	fake_lookup_map(fake, fake->module + FAKE_MODULE_TYPE_DEFS, types,
			sizeof(types) / sizeof(types[0]));
	fixture.runtime = fake_runtime(fake);
	fake_domain(fake, &fake->module, 1);
	return fixture;
}

static struct field_list read_fields(struct fixture *fixture, uint64_t method_table)
{
	struct field_list list = { 0 };
	struct hd_error err = { 0 };
	const struct type *type = type_find(fixture->runtime, method_table);
	REQUIRE(type);
	if (field_list_read(fixture->runtime, type, &list, &err) != HD_OK)
		(void)fprintf(stderr, "%s\n", err.message);
	return list;
}

static void check_field(const struct field *field, const char *name, const char *type_name,
			uint32_t offset, uint8_t element)
{
	ASSERT_TEXT(field->name, name);
	ASSERT_TEXT(field->type_name, type_name);
	ASSERT_UINT(field->offset, offset);
	ASSERT_UINT(field->element_type, element);
}

TEST(test_order)
{
	struct fixture fixture = set_up();
	struct field_list list = read_fields(&fixture, fixture.derived);
	ASSERT_UINT_FATAL(list.count, 7);
	check_field(&list.rows[0], "count", "System.Int32", 8, ELEMENT_I4);
	check_field(&list.rows[1], "name", "System.String", 0, ELEMENT_CLASS);
	check_field(&list.rows[2], "cache", "System.String[]", 0x40, ELEMENT_CLASS);
	check_field(&list.rows[3], "perThread", "System.Int32", 0x10, ELEMENT_I4);
	check_field(&list.rows[4], "table", "System.Byte", 0x2004, ELEMENT_U1);
	check_field(&list.rows[5], "next", "Ns.Base", 16, ELEMENT_CLASS);
	check_field(&list.rows[6], "where", "Ns.Point", 24, ELEMENT_VALUE);
	ASSERT_UINT(list.rows[0].token, 0x04000001);
	CU_ASSERT(!list.rows[0].is_static && list.rows[2].is_static && !list.rows[2].is_rva);
	CU_ASSERT(!list.rows[2].is_thread_static && list.rows[3].is_thread_static);
	CU_ASSERT(list.rows[4].is_rva && list.rows[4].is_static);
	ASSERT_UINT(list.rows[0].declaring->method_table, fixture.base);
	ASSERT_UINT(list.rows[6].declaring->method_table, fixture.derived);
	REQUIRE(list.rows[0].type);
	ASSERT_UINT(list.rows[0].type->method_table, fixture.integer);
	REQUIRE(list.rows[5].type);
	ASSERT_UINT(list.rows[5].type->method_table, fixture.base);
	REQUIRE(list.rows[6].type);
	ASSERT_UINT(list.rows[6].type->method_table, fixture.point);
	CU_ASSERT(!list.rows[2].type); /* no such array is loaded */
	field_list_deinit(&list);
	ASSERT_UINT(list.count, 0);
	list = read_fields(&fixture, fixture.fake->object_array_type);
	ASSERT_UINT(list.count, 0);
	list = read_fields(&fixture, fixture.fake->free_type);
	ASSERT_UINT(list.count, 0);
	fake_clr_destroy(fixture.fake);
}

/* FieldDescs belong to the shared EEClass; the type comes from the exact MethodTable. */
TEST(test_generic)
{
	struct fixture fixture = set_up();
	struct fake_clr *fake = fixture.fake;
	static const uint32_t fields[][2] = { DESC(FIELD_ITEM, 0, 0, ELEMENT_CLASS) };
	struct fake_type how = { .base_size = 24, .token = DEF_BOX, .flags = SHARED };
	uint64_t shared = fake_type(fake, &how);
	fake_field_descs(fake, shared, 1, 0, fields, 1);
	how.flags = INSTANTIATED;
	uint64_t exact = fake_type(fake, &how);
	fake_arguments(fake, exact, &fake->string_type, 1);
	fake_poke_u64(&fake->memory, exact + CLASS_OF, shared | 1);
	struct field_list list = read_fields(&fixture, exact);
	ASSERT_UINT_FATAL(list.count, 1);
	check_field(&list.rows[0], "item", "System.String", 0, ELEMENT_CLASS);
	ASSERT_UINT(list.rows[0].declaring->method_table, exact);
	REQUIRE(list.rows[0].type);
	ASSERT_UINT(list.rows[0].type->method_table, fake->string_type);
	field_list_deinit(&list);
	fake_clr_destroy(fake);
}

/* There is no MethodTable of Cell<String, Point>, but shared code for all references. */
TEST(test_shared_struct)
{
	struct fixture fixture = set_up();
	struct fake_clr *fake = fixture.fake;
	static const uint32_t fields[][2] = { DESC(FIELD_TEXTS, 0, 0, ELEMENT_VALUE),
					      DESC(FIELD_POINTS, 0, 8, ELEMENT_VALUE) };
	const struct fake_type plain = { .base_size = 24, .token = DEF_CANON };
	const struct fake_type how = { .base_size = 24,
				       .token = DEF_CELL,
				       .flags = SHARED | 0x00040000 };
	const struct fake_type of = { .base_size = 32, .token = DEF_HOLDER };
	const uint64_t arguments[] = { fake_type(fake, &plain), fixture.point };
	const uint64_t shared = fake_type(fake, &how), holder = fake_type(fake, &of);
	fake_arguments(fake, shared, arguments, 2);
	fake_field_descs(fake, holder, 2, 0, fields, 2);
	fake_type_params(fake, fake->module, &shared, 1);
	struct field_list list = read_fields(&fixture, holder);
	ASSERT_UINT_FATAL(list.count, 2);
	check_field(&list.rows[0], "texts", "Ns.Cell<System.String, Ns.Point>", 0, ELEMENT_VALUE);
	REQUIRE(list.rows[0].type);
	ASSERT_UINT(list.rows[0].type->method_table, shared);
	check_field(&list.rows[1], "points", "Ns.Cell<Ns.Point, Ns.Point>", 8, ELEMENT_VALUE);
	CU_ASSERT(!list.rows[1].type); /* a struct has a layout of its own */
	field_list_deinit(&list);
	fake_clr_destroy(fake);
}

TEST(test_without_metadata)
{
	struct fixture fixture = set_up();
	fake_poke_u64(&fixture.fake->memory, fixture.fake->module + FAKE_MODULE_DYNAMIC_METADATA,
		      0);
	struct field_list list = read_fields(&fixture, fixture.derived);
	ASSERT_UINT_FATAL(list.count, 7);
	check_field(&list.rows[0], "<field 04000001>", "", 8, ELEMENT_I4);
	CU_ASSERT(!list.rows[0].type);
	field_list_deinit(&list);
	fake_clr_destroy(fixture.fake);
}

TEST(test_statics)
{
	struct fixture fixture = set_up();
	struct fake_clr *fake = fixture.fake;
	const struct image_kind flat = { .is_mapped = false };
	struct metadata_maker maker;
	maker_init(&maker);
	fill(&maker);
	fake_poke_u64(&fake->memory, fake->module + FAKE_MODULE_DYNAMIC_METADATA, 0);
	uint64_t image = fake_image(fake, fake->module, &maker, &flat, NULL);
	maker_deinit(&maker);
	set_statics(fake, fixture.base, 0x5000, 0x6001);
	struct field_list list = read_fields(&fixture, fixture.base);
	ASSERT_UINT_FATAL(list.count, 5);
	bool initialised = false;
	ASSERT_UINT(field_static_address(fixture.runtime, &list.rows[2], &initialised), 0x5040);
	CU_ASSERT(initialised);
	/* a number: the other base, whose class constructor has not run */
	list.rows[2].element_type = ELEMENT_I4;
	ASSERT_UINT(field_static_address(fixture.runtime, &list.rows[2], &initialised), 0x6040);
	CU_ASSERT(!initialised);
	ASSERT_UINT(field_static_address(fixture.runtime, &list.rows[2], NULL), 0x6040);
	/* not allocated before the class is used */
	fake_poke_u64(&fake->memory, list.rows[2].declaring->links.auxiliary - 24 + 8, 1);
	initialised = true;
	ASSERT_UINT(field_static_address(fixture.runtime, &list.rows[2], &initialised), 0);
	CU_ASSERT(!initialised);
	/* one of a thread has no address of its own; nor has an instance field */
	ASSERT_UINT(field_static_address(fixture.runtime, &list.rows[3], NULL), 0);
	ASSERT_UINT(field_static_address(fixture.runtime, &list.rows[0], NULL), 0);
	/* in the image, whose one section lies at 0x400 of the file and 0x2000 of memory */
	ASSERT_UINT(field_static_address(fixture.runtime, &list.rows[4], NULL), image + 0x404);
	field_list_deinit(&list);
	fake_clr_destroy(fake);
}

TEST(test_statics_without_base)
{
	struct fixture fixture = set_up();
	struct fake_clr *fake = fixture.fake;
	struct field_list list = read_fields(&fixture, fixture.base);
	ASSERT_UINT_FATAL(list.count, 5);
	ASSERT_UINT(field_static_address(fixture.runtime, &list.rows[2], NULL), 0);
	field_list_deinit(&list);
	set_statics(fake, fixture.derived, 1, 1); /* not allocated */
	list = read_fields(&fixture, fixture.derived);
	list.rows[6].is_static = true;
	ASSERT_UINT(field_static_address(fixture.runtime, &list.rows[6], NULL), 0);
	field_list_deinit(&list);
	fake_clr_destroy(fake);
}

static enum hd_status try_fields(struct fixture *fixture, uint64_t method_table,
				 struct hd_error *err)
{
	struct field_list list = { 0 };
	const struct type *type = type_find(fixture->runtime, method_table);
	REQUIRE(type);
	enum hd_status status = field_list_read(fixture->runtime, type, &list, err);
	field_list_deinit(&list);
	return status;
}

TEST(test_damage)
{
	struct fixture fixture = set_up();
	struct fake_memory *memory = &fixture.fake->memory;
	struct hd_error err = { 0 };
	uint64_t ee_class = fake_peek_u64(memory, fixture.derived + CLASS_OF);
	/* fewer fields than its base class */
	uint16_t count = 1;
	fake_poke(memory, ee_class + 50, &count, 2);
	ASSERT_UINT(try_fields(&fixture, fixture.derived, &err), HD_ERR_FAULT);
	CU_ASSERT(strstr(err.message, "its EEClass counts 1 instance and 0 static fields") != NULL);
	/* more than there is memory */
	count = 0xffff;
	fake_poke(memory, ee_class + 50, &count, 2);
	ASSERT_UINT(try_fields(&fixture, fixture.derived, &err), HD_ERR_FAULT);
	CU_ASSERT(strstr(err.message, "cannot read the FieldDescs of method table") != NULL);
	/* a class that is its own base class */
	count = 5;
	fake_poke(memory, ee_class + 50, &count, 2);
	fake_poke_u64(memory, fixture.point + 16, fixture.point);
	(void)try_fields(&fixture, fixture.point, &err);
	fake_unmap(memory, fake_peek_u64(memory, fixture.base + CLASS_OF));
	ASSERT_UINT(try_fields(&fixture, fixture.derived, &err), HD_ERR_FAULT);
	CU_ASSERT(strstr(err.message, "cannot read the EEClass of method table") != NULL);
	fake_clr_destroy(fixture.fake);
}

/* The packed numbers of .NET 8's EEClass: 5 bits of length - 1, then the number. */
TEST(test_packed)
{
	struct fixture fixture = set_up();
	struct fake_memory *memory = &fixture.fake->memory;
	struct runtime *runtime = fixture.runtime;
	coreclr_of(runtime)->major = 8;
	layout_init(&coreclr_of(runtime)->layout);
	layout_fill(&coreclr_of(runtime)->layout, 8, ORIGIN_SERIES);
	/* 1 instance field (1 bit: 00000 1), 9 methods (4 bits: 00011 1001), 0 statics (00000 0) */
	uint64_t bits = 0x20u | (uint64_t)(3 | 9 << 5) << 6;
	uint64_t ee_class = fake_peek_u64(memory, fixture.point + CLASS_OF);
	uint8_t packed[2] = { 1, 72 };
	fake_poke(memory, ee_class + 49, packed, 2);
	fake_poke_u64(memory, ee_class + 72, bits);
	uint64_t parent = fake_peek_u64(memory, fixture.fake->object_type + CLASS_OF);
	uint8_t plain[2] = { 0, 72 };
	fake_poke(memory, parent + 49, plain, 2);
	struct field_list list = read_fields(&fixture, fixture.point);
	ASSERT_UINT(list.count, 1);
	ASSERT_UINT(list.rows ? list.rows[0].token : 0, 0x04000000 | FIELD_X);
	field_list_deinit(&list);
	fake_clr_destroy(fixture.fake);
}

TEST(test_no_memory)
{
	bool failed = true;
	for (uint64_t nth = 1; failed && nth < 1000; nth++) {
		struct fixture fixture = set_up();
		const struct type *type = type_find(fixture.runtime, fixture.derived);
		REQUIRE(type);
		struct field_list list = { 0 };
		alloc_fail_at(nth);
		enum hd_status status = field_list_read(fixture.runtime, type, &list, NULL);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || (failed && status == HD_ERR_NOMEM));
		if (!failed)
			ASSERT_UINT(list.count, 7);
		field_list_deinit(&list);
		fake_clr_destroy(fixture.fake);
	}
	CU_ASSERT(!failed);
}

TEST(test_sizes)
{
	ASSERT_UINT(element_size(ELEMENT_BOOLEAN), 1);
	ASSERT_UINT(element_size(ELEMENT_CHAR), 2);
	ASSERT_UINT(element_size(ELEMENT_R4), 4);
	ASSERT_UINT(element_size(ELEMENT_R8), 8);
	ASSERT_UINT(element_size(ELEMENT_CLASS), 8);
	ASSERT_UINT(element_size(ELEMENT_U), 8);
	ASSERT_UINT(element_size(ELEMENT_FUNCTION_POINTER), 8);
	ASSERT_UINT(element_size(ELEMENT_VALUE), 0);
	ASSERT_UINT(element_size(0x77), 0);
}

SUITE(.name = "field")
