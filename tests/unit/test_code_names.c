/* SPDX-License-Identifier: MIT */
/*
 * The names in the IL of a method: the IL is in a blob of the metadata, so that it lies in the
 * image.
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/coreclr/code/code_names.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/code/method_list.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layout_access.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"

/* Bits that the search has for the names. */
#define FIELD_BIT   1u
#define METHOD_BIT  2u
#define CONSOLE_BIT 8u

/* ldsfld Ns.Mailer.Outbox; ldstr; call System.Console.WriteLine; an unknown token; ret (ECMA-335 III). */
static const uint8_t il[] = { 22 << 2 | 2, /* tiny: 22 bytes (II.25.4.2) */
			      0x7e,        1, 0, 0,    0x04, 0x72, 1, 0, 0,    0x70, 0x28,
			      1,           0, 0, 0x0a, 0x28, 99,   0, 0, 0x06, 0x26, 0x2a };

enum {
	METHOD_SEND = 1,
	METHOD_ABSTRACT,
	METHOD_WILD,
	METHOD_MOVE_NEXT
};

struct fixture {
	struct fake_clr *fake;
	struct runtime *runtime;
	uint64_t type, image;
	uint32_t rva;
};

static void fill(struct metadata_maker *maker, uint32_t rva)
{
	static const uint8_t field[] = { 0x06, 0x08 }, method[] = { 0x00, 0, 0x01 };
	maker_init(maker);
	maker_type(maker, "", "<Module>");
	maker_type(maker, "Ns", "Mailer");
	MAKER_ROW(maker, MD_FIELD, 0x10, maker_string(maker, "Outbox"),
		  maker_blob(maker, field, sizeof(field)));
	static const char *const names[] = { "Send", "Abstract", "Wild", "MoveNext" };
	const uint32_t places[] = { rva, 0, 0x7fff0000, rva };
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		MAKER_ROW(maker, MD_METHOD, places[i], 0, 0, maker_string(maker, names[i]),
			  maker_blob(maker, method, sizeof(method)), 1);
	}
	/* A state machine of Mailer.Post, inside of that class. */
	maker_type(maker, "", "<Post>d__1");
	MAKER_ROW(maker, MD_METHOD, rva, 0, 0, maker_string(maker, "MoveNext"),
		  maker_blob(maker, method, sizeof(method)), 1);
	MAKER_ROW(maker, MD_NESTED_CLASS, 3, 2);
	uint32_t console = maker_type_ref(maker, "System", "Console");
	MAKER_ROW(maker, MD_MEMBER_REF, console << 3 | 1, maker_string(maker, "WriteLine"), 0);
	(void)maker_blob(maker, il, sizeof(il));
}

/* The RVA of the IL: where it is in a mapped image. */
static uint32_t find_rva(const struct image_kind *kind)
{
	struct metadata_maker maker;
	uint32_t size, image_size, found = 0;
	fill(&maker, 0);
	uint8_t *metadata = maker_finish(&maker, &size);
	uint8_t *image = maker_image(kind, metadata, size, &image_size);
	for (uint32_t at = 0; at + sizeof(il) <= image_size && !found; at++)
		found = memcmp(image + at, il, sizeof(il)) == 0 ? at : 0;
	free(image);
	free(metadata);
	maker_deinit(&maker);
	return found;
}

static struct fixture set_up_release(unsigned int release)
{
	static const struct image_kind kind = { .is_mapped = true };
	const struct fake_options options = { .release = release };
	struct fixture fixture = { .fake = fake_clr_create(&options), .rva = find_rva(&kind) };
	struct metadata_maker maker;
	CU_ASSERT_NOT_EQUAL(fixture.rva, 0);
	fill(&maker, fixture.rva);
	fixture.image = fake_image(fixture.fake, fixture.fake->module, &maker, &kind, NULL);
	maker_deinit(&maker);
	fixture.type = fake_type(fixture.fake, &(struct fake_type){ .base_size = 24, .token = 2 });
	fixture.runtime = fake_runtime(fixture.fake);
	return fixture;
}

static struct fixture set_up(void)
{
	return set_up_release(10);
}

static uint64_t match_name(const void *arg, const char *name)
{
	++*(unsigned int *)(uintptr_t)arg;
	return strcmp(name, "Ns.Mailer.Outbox") == 0           ? FIELD_BIT
	       : strncmp(name, "Ns.Mailer.", 10) == 0          ? METHOD_BIT
	       : strcmp(name, "System.Console.WriteLine") == 0 ? CONSOLE_BIT
							       : 0;
}

static uint64_t names_of_method(struct fixture *fixture, uint64_t method_desc,
				unsigned int *ret_asked)
{
	const struct code_search search = { match_name, ret_asked };
	*ret_asked = 0;
	return code_names_of_method(fixture->runtime, method_desc, &search);
}

TEST(all_members_that_a_method_names_are_found)
{
	struct fixture fixture = set_up();
	unsigned int asked;
	uint64_t send = fake_method_desc(fixture.fake, fixture.type, METHOD_SEND);
	/* The string is not in #US, and nothing has the last token. */
	ASSERT_UINT(names_of_method(&fixture, send, &asked), FIELD_BIT | CONSOLE_BIT);
	ASSERT_UINT(asked, 2);
	fake_clr_destroy(fixture.fake);
}

/* It may name anything: all bits are set, and nobody is asked. */
TEST(a_method_whose_code_is_not_there_may_name_anything)
{
	struct fixture fixture = set_up();
	unsigned int asked;
	uint64_t descs[] = { fake_method_desc(fixture.fake, fixture.type, METHOD_ABSTRACT),
			     fake_method_desc(fixture.fake, fixture.type, METHOD_WILD),
			     fake_method_desc(fixture.fake, 0x1238, METHOD_SEND), 0, 0x1001 };
	for (size_t i = 0; i < sizeof(descs) / sizeof(descs[0]); i++) {
		ASSERT_UINT(names_of_method(&fixture, descs[i], &asked), UINT64_MAX);
		ASSERT_UINT(asked, 0);
	}
	fake_clr_destroy(fixture.fake);
}

/* The header says a length, and the bytes are cut, or are no header. */
TEST(a_body_that_is_damaged_may_name_anything)
{
	struct fixture fixture = set_up();
	unsigned int asked;
	uint64_t send = fake_method_desc(fixture.fake, fixture.type, METHOD_SEND);
	static const uint8_t huge[] = { 0x13, 0x30, 1, 0, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0 };
	fake_poke(&fixture.fake->memory, fixture.image + fixture.rva, huge, sizeof(huge));
	ASSERT_UINT(names_of_method(&fixture, send, &asked), UINT64_MAX);
	fake_poke(&fixture.fake->memory, fixture.image + fixture.rva, "\x01", 1);
	ASSERT_UINT(names_of_method(&fixture, send, &asked), UINT64_MAX);
	ASSERT_UINT(asked, 0);
	fake_clr_destroy(fixture.fake);
}

/* The last two bytes of the code are a br.s, to its begin or behind itself (ECMA-335 III.3.15). */
TEST(code_that_branches_back_has_a_loop)
{
	struct fixture fixture = set_up();
	uint64_t send = fake_method_desc(fixture.fake, fixture.type, METHOD_SEND);
	uint64_t last = fixture.image + fixture.rva + sizeof(il) - 2;
	CU_ASSERT_FALSE(code_has_loop(fixture.runtime, send));
	fake_poke(&fixture.fake->memory, last, "\x2b\xea", 2);
	CU_ASSERT_TRUE(code_has_loop(fixture.runtime, send));
	fake_poke(&fixture.fake->memory, last, "\x2b", 2);
	CU_ASSERT_FALSE(code_has_loop(fixture.runtime, send));
	CU_ASSERT_FALSE(code_has_loop(
		fixture.runtime, fake_method_desc(fixture.fake, fixture.type, METHOD_ABSTRACT)));
	fake_clr_destroy(fixture.fake);
}

/* A chunk with the one method of a type (method.hpp): MethodDescs begin 24 bytes after it. */
static void make_chunk(struct fixture *fixture, const struct type *type, uint16_t rid)
{
	struct fake_memory *memory = &fixture->fake->memory;
	uint64_t chunk = fake_alloc(memory, 64);
	fake_poke_u64(memory, chunk, fixture->type);
	fake_poke(memory, chunk + coreclr_offset(fixture->runtime, L_METHOD_CHUNK_SIZE), &rid, 2);
	fake_poke_u64(memory,
		      type->links.ee_class + coreclr_offset(fixture->runtime, L_CLASS_CHUNKS),
		      chunk);
}

TEST(a_state_machine_has_its_code_in_move_next)
{
	struct fixture fixture = set_up();
	unsigned int asked = 0;
	const struct code_search search = { match_name, &asked };
	const struct type *type = type_find(fixture.runtime, fixture.type);
	REQUIRE(type);
	make_chunk(&fixture, type, METHOD_MOVE_NEXT);
	ASSERT_UINT(code_names_of_machine(fixture.runtime, type, &search), FIELD_BIT | CONSOLE_BIT);
	ASSERT_UINT(asked, 2);
	make_chunk(&fixture, type, METHOD_SEND);
	ASSERT_UINT(code_names_of_machine(fixture.runtime, type, &search), UINT64_MAX);
	fake_clr_destroy(fixture.fake);
}

/* A type without a method MoveNext is not a state machine. */
TEST(a_type_without_the_method_of_a_state_machine_may_name_anything)
{
	struct fixture fixture = set_up();
	unsigned int asked = 0;
	const struct code_search search = { match_name, &asked };
	const struct type *type = type_find(fixture.runtime, fixture.type);
	REQUIRE(type);
	ASSERT_UINT(code_names_of_machine(fixture.runtime, type, &search), UINT64_MAX);
	ASSERT_UINT(asked, 0);
	fake_clr_destroy(fixture.fake);
}

/* The flags of a MethodDesc: a slot for native code, and AsyncMethodData behind it. */
#define NATIVE_AND_ASYNC 0x0060u
#define NATIVE_ALONE     0x0020u
#define IS_THUNK         0x10u

/* A MethodDesc @p unit units behind the chunk's head. */
static uint64_t put_desc(struct fixture *fixture, uint64_t chunk, uint8_t unit, uint16_t rid,
			 uint16_t flags)
{
	struct fake_memory *memory = &fixture->fake->memory;
	uint64_t desc = chunk + (uint64_t)coreclr_offset(fixture->runtime, L_METHOD_CHUNK_SIZE) +
			8 * (uint64_t)unit;
	fake_poke(memory, desc, &rid, 2);
	fake_poke(memory, desc + coreclr_offset(fixture->runtime, L_METHOD_CHUNK_INDEX), &unit, 1);
	fake_poke(memory, desc + METHOD_DESC_FLAGS, &flags, 2);
	return desc;
}

/* An async method has two MethodDescs, and the first has no code of its own. */
TEST(async_methods_of_net_11_are_longer_and_come_twice)
{
	struct fixture fixture = set_up_release(11);
	struct fake_memory *memory = &fixture.fake->memory;
	const struct type *type = type_find(fixture.runtime, fixture.type);
	REQUIRE(type);
	uint64_t chunk = fake_alloc(memory, 256);
	const uint8_t units = 6 + 6 + 3 - 1, count = 3 - 1;
	fake_poke_u64(memory, chunk, fixture.type);
	fake_poke(memory, chunk + coreclr_offset(fixture.runtime, L_METHOD_CHUNK_UNITS), &units, 1);
	fake_poke(memory, chunk + coreclr_offset(fixture.runtime, L_METHOD_CHUNK_COUNT), &count, 1);
	fake_poke_u64(memory,
		      type->links.ee_class + coreclr_offset(fixture.runtime, L_CLASS_CHUNKS),
		      chunk);
	uint64_t thunk = put_desc(&fixture, chunk, 0, METHOD_SEND, NATIVE_AND_ASYNC);
	uint64_t body = put_desc(&fixture, chunk, 6, METHOD_SEND, NATIVE_AND_ASYNC);
	uint64_t last = put_desc(&fixture, chunk, 12, METHOD_WILD, NATIVE_ALONE);
	fake_poke_u64(memory, thunk + 24, IS_THUNK | 2);
	fake_poke_u64(memory, body + 24, 5);
	struct method_list list;
	struct method method;
	uint64_t found[4] = { 0 };
	size_t rows = 0;
	method_list_begin(&list, fixture.runtime, type);
	while (rows < 4 && method_list_next(&list, &method))
		found[rows++] = method.address;
	CU_ASSERT_FALSE(list.is_broken);
	ASSERT_UINT(rows, 3);
	ASSERT_UINT(found[0], thunk);
	ASSERT_UINT(found[1], body);
	ASSERT_UINT(found[2], last);
	ASSERT_UINT(method_of_token(fixture.runtime, type, METHOD_SEND), body);
	fake_clr_destroy(fixture.fake);
}

/* All that the code of a module names, as "Send:Ns.Mailer.Outbox " for each. */
static char uses_text[512];

static void note_use(void *arg, const struct code_use *use)
{
	size_t size = strlen(uses_text);
	++*(unsigned int *)arg;
	ASSERT_UINT(use->class_row, 2);
	(void)snprintf(uses_text + size, sizeof(uses_text) - size, "%s:%s ", use->method,
		       use->member);
}

TEST(the_code_of_a_module_is_told_by_class_and_method)
{
	struct fixture fixture = set_up();
	unsigned int count = 0;
	struct code_uses uses = { .visit = note_use, .arg = &count };
	const struct module *module = module_find(fixture.runtime, fixture.fake->module);
	REQUIRE(module);
	uses_text[0] = '\0';
	ASSERT_UINT(code_uses_visit(fixture.runtime, module, &uses, NULL, NULL), HD_OK);
	ASSERT_TEXT(uses_text, "Send:Ns.Mailer.Outbox Send:System.Console.WriteLine "
			       "MoveNext:Ns.Mailer.Outbox MoveNext:System.Console.WriteLine "
			       "Post:Ns.Mailer.Outbox Post:System.Console.WriteLine ");
	ASSERT_UINT(count, 6);
	/* One method has no code that can be read. */
	CU_ASSERT_TRUE(uses.is_cut);
	fake_clr_destroy(fixture.fake);
}

SUITE(.name = "code_names")
