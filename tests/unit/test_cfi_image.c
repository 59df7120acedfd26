/* SPDX-License-Identifier: MIT */
#include <elf.h>

#include "arch/x86_64/frame_registers.h"
#include "support/assert_more.h"
#include "support/cfi_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

/* Pushes rbp at 1, later it is the CFA's register. */
#define FUNCTION_CODE "\x41\x0e\x10\x86\x02\x43\x0d\x06\x0a\x0b"

TEST(encodings)
{
	static const struct cfi_spec specs[] = {
		{ FDE_CODE("") },
		{ .pointers = PCREL | UDATA4, FDE_CODE("") },
		{ .pointers = PCREL | SDATA8, FDE_CODE("") },
		{ .pointers = UDATA8, FDE_CODE("") },
		{ .is_absolute = true, FDE_CODE("") },
		{ .table = DATAREL | SDATA8, FDE_CODE("") },
		{ .table = DATAREL | UDATA4, FDE_CODE(""), .augmentation = "zR" },
		{ .table = PCREL | SDATA4, FDE_CODE("") },
		{ .table = UDATA8, FDE_CODE("") },
		{ .augmentation = "zPLR", FDE_CODE("") },
		{ .augmentation = "zRX", FDE_CODE("") },
		{ .augmentation = "", .pointers = UDATA8, FDE_CODE("") },
		{ .version = 3, FDE_CODE("") },
		{ .version = 4, FDE_CODE("") },
		{ .with_length_64 = true, FDE_CODE("") },
	};
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct cfi_world world;
		struct registers registers;
		cfi_world_init(&world, &specs[i]);
		/* Four bytes without a sign cannot reach back from the header. */
		bool can_reach = (specs[i].table & 0x0f) != UDATA4;
		ASSERT_UINT(cfi_world_step_at(&world, 16, &registers),
			    can_reach ? CFI_FRAME : CFI_NONE);
		if (can_reach)
			ASSERT_UINT(registers.slots[REG_RIP], SP);
		cfi_world_deinit(&world);
	}
}

TEST(encodings_that_are_not_known)
{
	static const struct cfi_spec specs[] = {
		{ .augmentation = "eh", FDE_CODE("") },
		{ .version = 2, FDE_CODE("") },
		{ .pointers = DATAREL | SDATA4, FDE_CODE("") },
		{ .pointers = 0x80 | PCREL | SDATA4, FDE_CODE("") },
		{ .pointers = 0x40, FDE_CODE("") },
		{ .pointers = 0x05, FDE_CODE("") },
		{ .table = OMIT, FDE_CODE("") },
		{ .table = 0x01, FDE_CODE("") },
		{ .table = 0x20 | SDATA4, FDE_CODE("") },
	};
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct cfi_world world;
		struct registers registers;
		cfi_world_init(&world, &specs[i]);
		ASSERT_UINT(cfi_world_step_at(&world, 16, &registers), CFI_NONE);
		cfi_world_deinit(&world);
	}
}

TEST(images_of_a_target)
{
	struct cfi_world world;
	struct registers registers;
	cfi_world_init(&world, &(struct cfi_spec){ FDE_CODE("") });
	/* In parts, and once more as a whole, for its data. */
	char path[] = "/lib/libx.so", other[] = "/lib/liby.so";
	const struct target_mapping parts[] = {
		{ .start = BASE - 0x10000, .end = BASE - 0x8000, .path = path },
		{ .start = BASE, .end = BASE + 0x1000, .path = path },
		{ .start = BASE + 0x1000, .end = BASE + 0x2000, .offset = 0x1000, .path = other },
		{ .start = BASE + 0x2000,
		  .end = BASE + CFI_IMAGE_SIZE,
		  .offset = 0x2000,
		  .path = path },
	};
	memcpy(world.mappings, parts, sizeof(parts));
	world.target.map.mapping_count = 4;
	ASSERT_UINT(cfi_world_step_at(&world, 0, &registers), CFI_FRAME);
	world.target.map.mappings = world.mappings + 2;
	world.target.map.mapping_count = 2;
	ASSERT_UINT(cfi_world_step_at(&world, 0, &registers), CFI_NONE);
	/* No file at all, as the vdso. */
	world.target.map.mapping_count = 0;
	ASSERT_UINT(cfi_world_step_at(&world, 0, &registers), CFI_FRAME);
	cfi_world_deinit(&world);
}

/* Functions so far after the header that it is not found without a list. */
TEST(images_of_a_debugger)
{
	struct cfi_world world;
	struct registers registers;
	for (unsigned int is_program = 0; is_program < 2; is_program++) {
		const struct cfi_spec spec = { .type = is_program ? ET_EXEC : 0, FDE_CODE("") };
		cfi_world_init(&world, &spec);
		world.target.map.mapping_count = 0;
		/* The code is 1 MB after. */
		uint64_t far = UINT64_C(1) << 20, at = BASE + 64 + 40;
		cfi_world_put(&world, &at, CFI_IMAGE_SIZE + far, 8);
		at = BASE + HEADER + 12 + 8;
		cfi_world_put(&world, &at, FUNCTION + far - HEADER, 4);
		at = BASE + FRAMES + 22 + 8;
		cfi_world_put(&world, &at, FUNCTION + far - (FRAMES + 30), 4);
		at = BASE + HEADER + 12 + 16;
		cfi_world_put(&world, &at, FUNCTION + far - HEADER + 0x800, 4);
		ASSERT_UINT(cfi_world_step_at(&world, far, &registers), CFI_NONE);
		world.modules[0].base = BASE - 0x100000;
		world.modules[1].base = is_program ? 0 : BASE;
		world.modules[2].base = BASE + 0x10000000;
		world.target.module_count = 3;
		world.target.auxv.phdr = is_program ? BASE + 64 : 0;
		ASSERT_UINT(cfi_world_step_at(&world, far, &registers), CFI_FRAME);
		cfi_world_deinit(&world);
	}
}

/* One struct cfi for many addresses. */
TEST(images_are_kept)
{
	struct cfi_world world;
	cfi_world_init(&world, &(struct cfi_spec){ FDE_CODE("") });
	struct cfi *cfi = cfi_create(&world.target);
	REQUIRE(cfi);
	for (unsigned int i = 0; i < 200; i++) {
		struct registers registers = cfi_world_registers(BASE + FUNCTION + i);
		ASSERT_UINT(cfi_step(cfi, true, &registers), CFI_FRAME);
		registers = cfi_world_registers(STACK + i);
		ASSERT_UINT(cfi_step(cfi, true, &registers), CFI_NONE);
	}
	cfi_destroy(cfi);
	cfi_destroy(NULL);
	cfi_world_deinit(&world);
}

/* Whatever its bytes are. */
TEST(damaged_images)
{
	static const uint64_t places[][2] = { { BASE, 0xb0 },
					      { BASE + FRAMES, 0x60 },
					      { BASE + HEADER, 0x30 } };
	static const uint8_t bytes[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	for (size_t part = 0; part < 3; part++) {
		for (uint64_t i = 0; i < places[part][1] * sizeof(bytes); i++) {
			struct cfi_world world;
			struct registers registers;
			cfi_world_init(&world, &(struct cfi_spec){ FDE_CODE(FUNCTION_CODE) });
			fake_poke(&world.fake, places[part][0] + i / sizeof(bytes),
				  &bytes[i % sizeof(bytes)], 1);
			enum cfi_result result = cfi_world_step_at(&world, 10, &registers);
			CU_ASSERT(result <= CFI_NONE);
			cfi_world_deinit(&world);
		}
	}
}

/* A length that lies, and bytes that are not there. */
TEST(records_that_lie)
{
	static const uint32_t lengths[] = { 0, 1, 4, 11, 0x10000, 0x10001, 0x100000, 0xfffffff0 };
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct cfi_world world;
		struct registers registers;
		cfi_world_init(&world, &(struct cfi_spec){ FDE_CODE(FUNCTION_CODE) });
		fake_poke_u32(&world.fake, BASE + FRAMES + 22, lengths[i]);
		ASSERT_UINT(cfi_world_step_at(&world, 10, &registers), CFI_NONE);
		fake_poke_u32(&world.fake, BASE + FRAMES, lengths[i]);
		ASSERT_UINT(cfi_world_step_at(&world, 10, &registers), CFI_NONE);
		/* A count of rows that cannot be. */
		fake_poke_u32(&world.fake, BASE + HEADER + 8, UINT32_MAX);
		ASSERT_UINT(cfi_world_step_at(&world, 10, &registers), CFI_NONE);
		cfi_world_deinit(&world);
	}
}

TEST(memory_may_be_exhausted)
{
	struct cfi_world world;
	cfi_world_init(&world, &(struct cfi_spec){ FDE_CODE(FUNCTION_CODE) });
	for (uint64_t nth = 1; nth < 4; nth++) {
		struct registers registers = cfi_world_registers(BASE + FUNCTION);
		enum cfi_result result = CFI_NONE;
		alloc_fail_at(nth);
		struct cfi *cfi = cfi_create(&world.target);
		if (cfi)
			result = cfi_step(cfi, true, &registers);
		alloc_fail_at(0);
		ASSERT_UINT(result, nth < 3 ? CFI_NONE : CFI_FRAME);
		cfi_destroy(cfi);
	}
	cfi_world_deinit(&world);
}

SUITE(.name = "cfi_image")
