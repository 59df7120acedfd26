/* SPDX-License-Identifier: MIT */
/* The lines of source of an async method, by the PDB inside of its module. */
#include <stdlib.h>

#include "metadata/metadata.h"
#include "runtime/coreclr/code/source.h"
#include "runtime/coreclr/internal.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"

#define PACKED_MAX 4096u

enum {
	METHOD_FIRST = 1,
	METHOD_MOVE_NEXT,
};

/*
 * Sequence points (Portable PDB format): no locals; IL 0 at 10:5; from IL 0x10 on hidden; IL 0x1c at 42:9.
 * Each has the distance in IL, lines, columns (with a sign after lines), and the distance of its line and
 * column: these have a sign from the second visible one on, whose lowest bit it is (ECMA-335 II.23.2).
 */
static const uint8_t points[] = { 0,    0, 0,    4,       10,    5, /**/ 0x10, 0, 0, /**/
				  0x0c, 1, 0x7d, 32 << 1, 4 << 1 };
/* Where it awaits: after the catch handler, yield, resume, and the method, for each of two awaits. */
static const uint8_t awaits[] = { 0xff,      0xff, 0xff, 0xff,
				  /**/ 0x1c, 0,    0,    0,    0x20, 0, 0, 0, METHOD_MOVE_NEXT,
				  /**/ 0x14, 0,    0,    0,    0x18, 0, 0, 0, METHOD_MOVE_NEXT };
/* AsyncMethodSteppingInformation: {54FD2AC5-E925-401A-9C2A-F94F171072F8}. */
static const uint8_t stepping[16] = { 0xc5, 0x2a, 0xfd, 0x54, 0x25, 0xe9, 0x1a, 0x40,
				      0x9c, 0x2a, 0xf9, 0x4f, 0x17, 0x10, 0x72, 0xf8 };

static struct fake_clr *fake;
static struct runtime *runtime;
static const struct type *machine;

static uint8_t *make_pdb(uint32_t *ret_size)
{
	struct metadata_maker maker;
	maker_init(&maker);
	maker.is_pdb = true;
	uint32_t src = maker_blob(&maker, "src", 3), file = maker_blob(&maker, "Worker.cs", 9);
	const uint8_t name[] = { '/', 0, (uint8_t)src, (uint8_t)file };
	MAKER_ROW(&maker, MD_DOCUMENT, maker_blob(&maker, name, sizeof(name)), 0, 0, 0);
	MAKER_ROW(&maker, MD_METHOD_DEBUG, 1, 0);
	MAKER_ROW(&maker, MD_METHOD_DEBUG, 1, maker_blob(&maker, points, sizeof(points)));
	uint32_t kind = maker_guid(&maker, 0);
	memcpy(maker.guids.bytes + 16 * (size_t)(kind - 1), stepping, sizeof(stepping));
	MAKER_ROW(&maker, MD_CUSTOM_DEBUG, METHOD_MOVE_NEXT << 5, kind,
		  maker_blob(&maker, awaits, sizeof(awaits)));
	maker.referenced[MD_METHOD] = METHOD_MOVE_NEXT;
	uint8_t *bytes = maker_finish(&maker, ret_size);
	maker_deinit(&maker);
	return bytes;
}

/* "MPDB", the size, and one block that is stored (RFC 1951 3.2.4). */
static uint32_t pack(uint8_t *packed, const uint8_t *bytes, uint32_t size)
{
	const uint16_t length = (uint16_t)size, other = (uint16_t)~length;
	REQUIRE(size + 13 <= PACKED_MAX ? packed : NULL);
	memcpy(packed, "MPDB", 4);
	memcpy(packed + 4, &size, 4);
	packed[8] = 1;
	memcpy(packed + 9, &length, 2);
	memcpy(packed + 11, &other, 2);
	memcpy(packed + 13, bytes, size);
	return size + 13;
}

/* A state machine in a module with that PDB, or without one. */
static void begin(bool has_pdb)
{
	static uint8_t packed[PACKED_MAX];
	uint32_t size;
	uint8_t *bytes = make_pdb(&size);
	struct metadata_maker maker;
	const struct image_kind kind = { .is_mapped = true,
					 .pdb = has_pdb ? 0x5a : 0,
					 .is_embedded = has_pdb,
					 .packed = packed,
					 .packed_size = pack(packed, bytes, size) };
	free(bytes);
	fake = fake_clr_create(NULL);
	maker_init(&maker);
	MAKER_ROW(&maker, MD_MODULE, 0, maker_string(&maker, "shop.dll"), 0, 0, 0);
	maker_type(&maker, "", "<Module>");
	maker_type(&maker, "System", "Object");
	maker_type(&maker, "System", "String");
	uint32_t token = maker_type(&maker, "Shop", "Worker+<Run>d__1");
	maker_method(&maker, "SetStateMachine");
	maker_method(&maker, "MoveNext");
	uint32_t other = maker_type(&maker, "Shop", "Other");
	uint64_t type = fake_type(fake, &(struct fake_type){ .base_size = 24, .token = token });
	(void)fake_type(fake, &(struct fake_type){ .base_size = 24, .token = other });
	fake_image(fake, fake->module, &maker, &kind, NULL);
	maker_deinit(&maker);
	runtime = fake_runtime(fake);
	machine = type_find(runtime, type);
	REQUIRE(machine);
}

static void end(void)
{
	findings_deinit(&fake->target.findings);
	fake_clr_destroy(fake);
}

static void check(uint32_t state, uint32_t line, uint32_t column)
{
	struct source_line found = { 0 };
	CU_ASSERT_FATAL(runtime_await_line(runtime, machine, state, &found));
	ASSERT_TEXT(found.file, "/src/Worker.cs");
	ASSERT_UINT(found.line, line);
	ASSERT_UINT(found.column, column);
}

TEST(an_await_has_the_line_of_its_point)
{
	begin(true);
	check(0, 42, 9);
	/* It is remembered, until another folder is asked for. */
	check(0, 42, 9);
	runtime_symbols_set(runtime, "/nowhere");
	check(0, 42, 9);
	runtime_symbols_set(runtime, NULL);
	check(0, 42, 9);
	end();
}

TEST(a_hidden_point_has_the_line_of_the_last_visible_one)
{
	begin(true);
	check(1, 10, 5);
	end();
}

TEST(a_state_that_the_pdb_does_not_know_has_no_line)
{
	struct source_line line = { .line = 77 };
	begin(true);
	CU_ASSERT_FALSE(runtime_await_line(runtime, machine, 2, &line));
	CU_ASSERT_FALSE(runtime_await_line(runtime, machine, UINT32_MAX, &line));
	CU_ASSERT_FALSE(runtime_await_line(runtime, NULL, 0, &line));
	ASSERT_UINT(line.line, 77);
	check(0, 42, 9);
	end();
}

TEST(what_is_no_method_has_no_line)
{
	struct source_line line = { .line = 77 };
	begin(true);
	CU_ASSERT_FALSE(runtime_source_line(runtime, 0x1238, 0x1000, &line));
	CU_ASSERT_FALSE(runtime_source_line(runtime, 0x1238, 0, &line));
	/* Code of a method that is nowhere. */
	uint64_t desc = fake_method_desc(fake, machine->method_table, METHOD_MOVE_NEXT);
	CU_ASSERT_FALSE(runtime_source_line(runtime, desc, 0x1000, &line));
	ASSERT_UINT(line.line, 77);
	end();
}

TEST(a_module_without_a_pdb_has_no_lines)
{
	struct source_line line = { .line = 77 };
	begin(false);
	CU_ASSERT_FALSE(runtime_await_line(runtime, machine, 0, &line));
	ASSERT_UINT(line.line, 77);
	end();
}

SUITE(.name = "source")
