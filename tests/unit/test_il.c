/* SPDX-License-Identifier: MIT */
#include "metadata/il.h"
#include "runtime/coreclr/modules/token_name.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"

static void check(const uint8_t *code, uint32_t size, const char *name, uint32_t length,
		  int64_t number)
{
	struct il_instruction instruction;
	CU_ASSERT(il_next(code, size, 0, &instruction));
	REQUIRE(instruction.opcode);
	ASSERT_TEXT(instruction.opcode->name, name);
	ASSERT_UINT(instruction.size, length);
	CU_ASSERT_EQUAL(instruction.number, number);
	/* Cut anywhere, there is none. */
	for (uint32_t cut = 0; cut < length; cut++)
		CU_ASSERT(!il_next(code, cut, 0, &instruction));
}

#define CHECK(name, length, number, ...)                                                          \
	check((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), (name), \
	      (length), (number))

/* ECMA-335 III. */
TEST(instructions_have_the_operands_of_the_standard)
{
	CHECK("nop", 1, 0, 0x00);
	CHECK("ldarg.s", 2, 200, 0x0e, 200);
	CHECK("ldc.i4.s", 2, -2, 0x1f, 0xfe);
	CHECK("ldc.i4", 5, -1, 0x20, 0xff, 0xff, 0xff, 0xff);
	CHECK("ldc.i8", 9, 0x0807060504030201, 0x21, 1, 2, 3, 4, 5, 6, 7, 8);
	CHECK("br.s", 2, 0, 0x2b, 0xfe);
	CHECK("br", 5, 0x105, 0x38, 0, 1, 0, 0);
	CHECK("call", 5, 0x06000001, 0x28, 1, 0, 0, 6);
	CHECK("ldloc", 4, 0x1234, 0xfe, 0x0c, 0x34, 0x12);
	CHECK("no.", 3, 7, 0xfe, 0x19, 7);
	CHECK("readonly.", 2, 0, 0xfe, 0x1e);
}

TEST(a_switch_has_its_targets)
{
	static const uint8_t code[] = { 0x45, 2, 0, 0, 0, 1, 0, 0, 0, 0xf3, 0xff, 0xff, 0xff, 0 };
	struct il_instruction instruction;
	CU_ASSERT(il_next(code, sizeof(code), 0, &instruction));
	ASSERT_UINT(instruction.count, 2);
	ASSERT_UINT(instruction.size, 13);
	CU_ASSERT_EQUAL(il_switch_target(&instruction, 0), 14);
	CU_ASSERT_EQUAL(il_switch_target(&instruction, 1), 0);
	CU_ASSERT(!il_next(code, 12, 0, &instruction));
	static const uint8_t huge[] = { 0x45, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0 };
	CU_ASSERT(!il_next(huge, sizeof(huge), 0, &instruction));
}

TEST(a_byte_that_is_not_an_instruction_is_passed_over)
{
	static const uint8_t code[] = { 0x24, 0xfe, 0x40, 0x2a };
	struct il_instruction instruction;
	CU_ASSERT(il_next(code, sizeof(code), 0, &instruction));
	CU_ASSERT_PTR_NULL(instruction.opcode);
	ASSERT_UINT(instruction.size, 1);
	CU_ASSERT(il_next(code, sizeof(code), 1, &instruction));
	CU_ASSERT_PTR_NULL(instruction.opcode);
	CU_ASSERT(il_next(code, sizeof(code), 3, &instruction));
	ASSERT_TEXT(instruction.opcode->name, "ret");
	CU_ASSERT(!il_next(code, sizeof(code), 4, &instruction));
	CU_ASSERT_PTR_NULL(il_opcode(0xffff));
	CU_ASSERT_PTR_NULL(il_opcode(0x100));
}

/* II.25.4: tiny, fat, and clauses of both kinds. */
TEST(bodies_and_clauses)
{
	static const uint8_t tiny[] = { 0x0a, 0, 0x2a },
			     fat[] = { 0x1b, 0x30, 2, 0, 2, 0, 0, 0, 3, 0, 0,  0x11, 0, 0x2a,
				       0,    0, /* to a multiple of 4 */
				       0x81, 16,   0, 0, 0, 0, 1, 0, 2, 3, 0,  4,    5, 0,
				       0,    1, /* */
				       0x41, 28,   0, 0, 1, 0, 0, 0, 6, 0, 0,  0,    7, 0,
				       0,    0,    8, 0, 0, 0, 9, 0, 0, 0, 10, 0,    0, 0 };
	struct fake_memory memory;
	struct il_body body;
	struct il_clauses clauses;
	struct il_clause clause;
	fake_memory_init(&memory);
	uint64_t at = fake_alloc(&memory, 16), other = fake_alloc(&memory, sizeof(fat));
	fake_poke(&memory, at, tiny, sizeof(tiny));
	fake_poke(&memory, other, fat, sizeof(fat));
	CU_ASSERT(il_body_read(&memory.memory, at, &body));
	ASSERT_UINT(body.code, at + 1);
	ASSERT_UINT(body.code_size, 2);
	ASSERT_UINT(body.max_stack, 8);
	il_clauses_begin(&clauses, &memory.memory, &body);
	CU_ASSERT(!il_clauses_next(&clauses, &clause) && !clauses.is_broken);
	CU_ASSERT(il_body_read(&memory.memory, other, &body));
	ASSERT_UINT(body.code, other + 12);
	ASSERT_UINT(body.code_size, 2);
	ASSERT_UINT(body.max_stack, 2);
	ASSERT_UINT(body.locals, 0x11000003);
	CU_ASSERT(body.has_init && body.has_sections);
	il_clauses_begin(&clauses, &memory.memory, &body);
	CU_ASSERT(il_clauses_next(&clauses, &clause));
	ASSERT_UINT(clause.kind, IL_CATCH);
	ASSERT_UINT(clause.try_begin, 1);
	ASSERT_UINT(clause.try_size, 2);
	ASSERT_UINT(clause.handler_begin, 3);
	ASSERT_UINT(clause.handler_size, 4);
	ASSERT_UINT(clause.token, 0x01000005);
	CU_ASSERT(il_clauses_next(&clauses, &clause));
	ASSERT_UINT(clause.kind, IL_FILTER);
	ASSERT_UINT(clause.try_begin, 6);
	ASSERT_UINT(clause.handler_size, 9);
	ASSERT_UINT(clause.token, 10);
	CU_ASSERT(!il_clauses_next(&clauses, &clause) && !clauses.is_broken);
	fake_poke(&memory, other + 16, "\x02", 1); /* not a section of clauses */
	il_clauses_begin(&clauses, &memory.memory, &body);
	CU_ASSERT(!il_clauses_next(&clauses, &clause) && clauses.is_broken);
	CU_ASSERT(!il_body_read(&memory.memory, other + 1, &body));
	fake_memory_deinit(&memory);
}

static void check_token(struct runtime *runtime, const struct module *module, uint32_t token,
			const char *name)
{
	struct text text = { 0 };
	bool is_there = token_name(runtime, module, token, &text);
	CU_ASSERT_EQUAL(is_there, name != NULL);
	ASSERT_TEXT(text.bytes ? text.bytes : "", name ? name : "");
	text_deinit(&text);
}

/* In a stream #- the lists of a type may lead through tables of pointers. */
static void check_names_of_tokens(bool has_pointers)
{
	static const struct image_kind kind = { .is_mapped = true };
	struct fake_clr *fake = fake_clr_create(NULL);
	struct metadata_maker maker;
	maker_init(&maker);
	maker.is_uncompressed = has_pointers;
	if (has_pointers) {
		MAKER_ROW(&maker, MD_FIELD_PTR, 1);
		MAKER_ROW(&maker, MD_METHOD_PTR, 1);
	}
	maker_type(&maker, "", "<Module>");
	maker_type(&maker, "Ns", "Outer");
	maker_field(&maker, 0, "field", "\x08", 1);
	maker_method(&maker, "Method");
	uint32_t ref = maker_type_ref(&maker, "System", "Console");
	uint32_t member = MAKER_ROW(&maker, MD_MEMBER_REF, ref << 3 | 1,
				    maker_string(&maker, "WriteLine"), 0);
	MAKER_ROW(&maker, MD_METHOD_SPEC, 1 << 1, 0);
	MAKER_ROW(&maker, MD_METHOD_SPEC, member << 1 | 1, 0);
	MAKER_ROW(&maker, MD_TYPE_SPEC, maker_blob(&maker, "\x1d\x08", 2));
	fake_image(fake, fake->module, &maker, &kind, NULL);
	struct runtime *runtime = fake_runtime(fake);
	const struct module *module = module_find(runtime, fake->module);
	REQUIRE(module);
	check_token(runtime, module, 0x02000002, "Ns.Outer");
	check_token(runtime, module, 0x01000001, "System.Console");
	check_token(runtime, module, 0x04000001, "Ns.Outer.field");
	check_token(runtime, module, 0x06000001, "Ns.Outer.Method");
	check_token(runtime, module, 0x0a000001, "System.Console.WriteLine");
	check_token(runtime, module, 0x2b000001, "Ns.Outer.Method");
	check_token(runtime, module, 0x2b000002, "System.Console.WriteLine");
	check_token(runtime, module, 0x1b000001, "System.Int32[]");
	check_token(runtime, module, 0x02000000, NULL);
	check_token(runtime, module, 0x02000003, NULL);
	check_token(runtime, module, 0x11000001, NULL);
	check_token(runtime, module, 0x70000001, NULL);
	check_token(runtime, module, 0xff000001, NULL);
	maker_deinit(&maker);
	fake_clr_destroy(fake);
}

TEST(tokens_are_named)
{
	check_names_of_tokens(false);
	check_names_of_tokens(true);
}

SUITE(.name = "il")
