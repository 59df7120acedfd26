/* SPDX-License-Identifier: MIT */
/* The types that the JIT makes for what suspended methods keep (doc/coreclr.md 7.3). */
#include "runtime/coreclr/types/continuation.h"
#include "runtime/coreclr/types/field.h"
#include "runtime/coreclr/types/type_name.h"
#include "support/assert_more.h"
#include "support/fake_types.h"
#include "support/suite.h"
#include "verify/verify.h"

struct fixture {
	struct fake_clr *fake;
	struct fake_types *types;
	uint64_t base, first, small, large; /* MethodTables */
	uint64_t object;                    /* one of the large type */
};

static void begin(struct fixture *fixture, unsigned int release)
{
	static const struct fake_field fields[] = {
		{ .name = "Next", .offset = 0, .element = ELEMENT_CLASS },
		{ .name = "ResumeInfo", .offset = 8, .element = ELEMENT_POINTER },
		{ .name = "State", .offset = 20, .element = ELEMENT_I4 },
		{ .name = NULL },
	};
	const struct gc_series next = { .size = 8 - 40, .offset = 8 };
	struct fake_clr *fake = fake_clr_create(&(struct fake_options){ .release = release });
	*fixture = (struct fixture){ .fake = fake, .types = fake_types_create(fake) };
	fixture->base = fake_class(
		fixture->types,
		&(struct fake_class){
			.space = "System.Runtime.CompilerServices",
			.name = "Continuation",
			.fields = fields,
			.type = { .base_size = 40, .series = &next, .series_count = 1 } });
	fake_types_attach(fixture->types);
	fixture->first = fake_continuation_type(fake, fixture->base, 0, 40);
	fixture->small = fake_continuation_type(fake, fixture->base, fixture->first, 48);
	fixture->large = fake_continuation_type(fake, fixture->base, fixture->first, 80);
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	uint64_t last = fake_object(fake, fixture->small, 0);
	fixture->object = fake_object(fake, fixture->large, 0);
	fake_poke_u64(&fake->memory, fixture->object + 8, last);
	fake_poke_u64(&fake->memory, fixture->object + 56, last);
}

static void end(struct fixture *fixture)
{
	fake_types_destroy(fixture->types);
	fake_clr_destroy(fixture->fake);
}

static size_t errors_of(struct fixture *fixture)
{
	struct verify_result result;
	ASSERT_UINT_FATAL(verify_heap(fake_heap(fixture->fake), NULL, NULL, &result, NULL), HD_OK);
	size_t count = result.count;
	verify_result_deinit(&result);
	return count;
}

static const char *name_of(struct fixture *fixture, uint64_t method_table)
{
	struct runtime *runtime = fake_runtime(fixture->fake);
	const struct type *type = type_find(runtime, method_table);
	return type ? type_name(runtime, type, NULL) : "no type";
}

TEST(types_that_share_the_class_of_the_first_one_are_sound)
{
	struct fixture fixture;
	begin(&fixture, 11);
	ASSERT_UINT(errors_of(&fixture), 0);
	ASSERT_TEXT(name_of(&fixture, fixture.small), "Continuation_8");
	ASSERT_TEXT(name_of(&fixture, fixture.large), "Continuation_40_0_2_24_1");
	ASSERT_TEXT(name_of(&fixture, fixture.base),
		    "System.Runtime.CompilerServices.Continuation");
	struct runtime *runtime = fake_runtime(fixture.fake);
	CU_ASSERT_TRUE(type_is_continuation(runtime, type_find(runtime, fixture.large)));
	CU_ASSERT_FALSE(type_is_continuation(runtime, type_find(runtime, fixture.base)));
	CU_ASSERT_FALSE(
		type_is_continuation(runtime, type_find(runtime, fixture.fake->object_type)));
	end(&fixture);
}

TEST(their_fields_are_those_of_the_base_class)
{
	struct fixture fixture;
	begin(&fixture, 11);
	struct runtime *runtime = fake_runtime(fixture.fake);
	struct field_list fields;
	ASSERT_UINT_FATAL(
		field_list_read(runtime, type_find(runtime, fixture.large), &fields, NULL), HD_OK);
	ASSERT_UINT_FATAL(fields.count, 3);
	ASSERT_TEXT(fields.rows[0].name, "Next");
	ASSERT_TEXT(fields.rows[2].name, "State");
	field_list_deinit(&fields);
	end(&fixture);
}

/* The two globals that the descriptor has must agree, where they are known. */
TEST(types_with_another_class_are_not)
{
	struct fixture fixture;
	begin(&fixture, 11);
	struct runtime *runtime = fake_runtime(fixture.fake);
	uint64_t shared = fake_peek_u64(&fixture.fake->memory, fixture.first + 40);
	coreclr_of(runtime)->globals.continuation_class = shared + 8;
	ASSERT_TEXT(name_of(&fixture, fixture.large), "no type");
	end(&fixture);

	begin(&fixture, 11);
	coreclr_of(fake_runtime(fixture.fake))->globals.continuation_class =
		fake_peek_u64(&fixture.fake->memory, fixture.first + 40);
	ASSERT_TEXT(name_of(&fixture, fixture.large), "Continuation_40_0_2_24_1");
	ASSERT_TEXT(name_of(&fixture, fixture.first), "Continuation_0");
	end(&fixture);
}

/* A type that has no metadata for another reason is not called a Continuation. */
TEST(other_types_without_a_token_are_not)
{
	struct fixture fixture;
	begin(&fixture, 11);
	uint64_t other = fake_type(fixture.fake, &(struct fake_type){ .base_size = 24 });
	struct runtime *runtime = fake_runtime(fixture.fake);
	CU_ASSERT_FALSE(type_is_continuation(runtime, type_find(runtime, other)));
	CU_ASSERT_PTR_NOT_NULL(strstr(name_of(&fixture, other), "<unknown type"));
	end(&fixture);
}

TEST(what_differs_from_the_first_one_is_damage)
{
	static const struct {
		uint64_t offset, value;
		bool is_of_first;
	} changes[] = { { 16, 0, false },     /* without a parent */
			{ 16, 0x1230, true }, /* of another one */
			{ 8, 0x100, false },  /* with a token */
			{ 8, 0x100, true },
			{ 40, 0x1230, true } };
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct fixture fixture;
		begin(&fixture, 11);
		uint64_t table = changes[i].is_of_first ? fixture.first : fixture.large;
		fake_poke_u64(&fixture.fake->memory, table + changes[i].offset, changes[i].value);
		ASSERT_TEXT(name_of(&fixture, fixture.large), "no type");
		CU_ASSERT_TRUE(errors_of(&fixture) > 0);
		end(&fixture);
	}
	/* Releases before do not have them. */
	struct fixture fixture;
	begin(&fixture, 10);
	ASSERT_TEXT(name_of(&fixture, fixture.large), "no type");
	end(&fixture);
}

SUITE(.name = "continuation")
