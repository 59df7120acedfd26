/* SPDX-License-Identifier: MIT */
#include "support/fake_core.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "arch/x86_64/register_table.h"
#include "gc/handles.h"
#include "runtime/coreclr/types/method_table.h"
#include "support/elf_maker.h"
#include "support/fake_descriptor.h"
#include "support/fake_export.h"
#include "support/fake_handles.h"
#include "support/fake_stack.h"
#include "support/fake_statics.h"
#include "util/alloc.h"

#define TYPES 13u /* internal types of handles in .NET 10 */
#define PATH  "/usr/share/dotnet/shared/Microsoft.NETCore.App/%u.0.3/libcoreclr.so"
/** The module takes so much memory (fake_export.c). */
#define MODULE_SIZE 0xa000u
#define STACK_TOP   (FAKE_STACK + FAKE_STACK_SIZE - 0x2000)

enum {
	BLOCK_STRONG,
	BLOCK_PINNED,
	BLOCK_WEAK,
	BLOCK_DEPENDENT,
	BLOCK_DATA
};

static void make_handles(const struct fake_statics *statics)
{
	struct fake_clr *fake = statics->fake;
	uint64_t table = fake_handle_table(fake, TYPES);
	uint64_t segment = fake_handle_segment(fake, table, TYPES);
	fake_handle_bucket(fake, &table, 1);
	fake_handle_block(fake, segment, BLOCK_STRONG, HANDLE_STRONG);
	fake_handle_block(fake, segment, BLOCK_PINNED, HANDLE_PINNED);
	fake_handle_block(fake, segment, BLOCK_WEAK, HANDLE_WEAK_LONG);
	fake_handle_block(fake, segment, BLOCK_DEPENDENT, HANDLE_DEPENDENT);
	fake_handle_user_data(fake, segment, BLOCK_DEPENDENT, BLOCK_DATA, TYPES);
	for (uint32_t block = BLOCK_STRONG; block <= BLOCK_DATA; block++)
		(void)fake_handle(fake, segment, block, 0, statics->objects[block]);
}

/* Objects of each shape, which refer to each other. */
static void make_objects(const struct fake_statics *statics, struct fake_core *core)
{
	struct fake_clr *fake = statics->fake;
	struct fake_memory *memory = &fake->memory;
	const struct gc_series two = { .size = -16, .offset = 8 };
	uint64_t link = fake_type(
		fake, &(struct fake_type){ .base_size = 32, .series = &two, .series_count = 1 });
	const struct gc_run run = { .pointers = 1, .skip = 8 };
	uint64_t pairs = fake_type(fake, &(struct fake_type){ .base_size = 24,
							      .component_size = 16,
							      .flags = 0x000a0000u,
							      .per_inst = link,
							      .runs = &run,
							      .run_count = 1,
							      .runs_offset = 16 });
	fake_segment(fake, 0, GENERATION_2, 0x2000);
	uint64_t before = statics->objects[0];
	for (unsigned int i = 0; i < 40; i++) {
		uint64_t object = fake_object(fake, link, 0);
		fake_poke_u64(memory, object + 8, before);
		fake_poke_u64(memory, object + 16, i % 7 ? statics->objects[i % 8] : object);
		before = object;
	}
	core->object = before;
	core->type = link;
	core->module = fake->module;
	core->array = fake_object(fake, fake->object_array_type, 16);
	uint64_t values = fake_object(fake, pairs, 6);
	for (unsigned int i = 0; i < 16; i++)
		fake_poke_u64(memory, fake_element(core->array, i), i % 3 ? before : values);
	for (unsigned int i = 0; i < 6; i++)
		fake_poke_u64(memory, values + 16 + 16 * (uint64_t)i, core->array);
	core->string = fake_string(fake, "a text of the fake core");
	(void)fake_string(fake, "a text of the fake core");
	(void)fake_free(fake, 64);
	fake_header(fake, core->object, 1); /* a thin lock of thread 1 */
	(void)fake_sync_block(fake, core->array);
	fake_poke_u64(memory, fake_element(statics->holder_array, 0), core->object);
	fake_poke_u64(memory, fake_element(statics->holder_array, 3), core->array);
	fake_poke_u64(memory, fake_element(statics->statics[0], 0), core->string);
}

/* One thread in managed code, under it native code, a Frame, and managed code again. */
static void make_stack(struct fake_stack *stack, struct fake_core *core)
{
	uint64_t main = fake_method(stack, &(struct fake_method){ .slots = 2 });
	core->code = fake_call(main, 1);
	uint64_t work = fake_method(stack, &(struct fake_method){ .slots = 1, .saves_rbx = true });
	(void)fake_method(stack, &(struct fake_method){ .has_funclet = true, .filter = true });
	uint64_t sp = STACK_TOP;
	for (unsigned int i = 0; i < 6; i++) {
		fake_poke_u64(stack->memory, sp, core->object);
		fake_poke_u64(stack->memory, sp + 8, core->array);
		sp = fake_frame(stack, sp, fake_rbp(sp + FAKE_FRAME_SIZE),
				i == 5 ? FAKE_NATIVE : fake_call(i % 2 ? main : work, 3));
	}
	uint64_t later = sp + 0x400;
	fake_inlined_call(stack, sp + 0x100, fake_call(main, 2), later, fake_rbp(later));
	(void)fake_frame(stack, later, 0, FAKE_NATIVE);
	fake_stop_at(stack, fake_call(main, 1), STACK_TOP, fake_rbp(STACK_TOP));
}

static void add_piece(struct fake_core *core, uint64_t address, uint64_t size)
{
	core->pieces = realloc(core->pieces, (core->count + 1) * sizeof(*core->pieces));
	if (!core->pieces)
		abort();
	core->pieces[core->count++] = (struct fake_piece_place){ .address = address, .size = size };
}

static void add_notes(struct elf_maker *maker, const struct fake_clr *fake,
		      const struct fake_stack *stack)
{
	elf_maker_process(maker, 4711, "fake", "");
	elf_maker_file(maker, FAKE_MODULE_BASE, FAKE_MODULE_BASE + MODULE_SIZE, 0,
		       fake->target.modules[0].path);
	elf_maker_thread(maker, stack->registers.tid, stack->registers.registers, 6);
	uint64_t registers[ARCH_WORDS_MAX] = { 0 };
	for (size_t i = 0; i < fake->thread_count; i++) {
		if ((int32_t)fake->threads[i].os_id != stack->registers.tid)
			elf_maker_thread(maker, (int32_t)fake->threads[i].os_id, registers, 0);
	}
}

/* All of the memory as loads; what is larger than a structure is zeros mostly, and cut short. */
static void add_loads(struct elf_maker *maker, struct fake_core *core, struct memory *memory)
{
	uint64_t address = memory_next(memory, 0), size = 0;
	for (; address != UINT64_MAX; address = memory_next(memory, address + size)) {
		const uint8_t *bytes = memory_run(memory, address, &size);
		uint64_t begin = address, end = address + size;
		if (begin == FAKE_STACK) {
			begin = STACK_TOP - 0x800;
			bytes += begin - FAKE_STACK;
		} else if (begin == FAKE_CODE) {
			end = FAKE_CODE + FAKE_CODE_SIZE + 0x1000;
		}
		uint32_t flags = begin == FAKE_CODE ? PF_R | PF_X : PF_R | PF_W;
		elf_maker_load(maker, begin, bytes, end - begin, end - begin, flags);
		add_piece(core, begin, end - begin);
	}
}

/* Where everything lies, once the file is built. */
static void place_pieces(const struct elf_maker *maker, struct fake_core *core)
{
	for (size_t i = 0; i < core->count; i++)
		core->pieces[i].offset = maker->loads[i].offset;
	add_piece(core, 0, MAKER_PHDR(maker->load_count + 1));
	add_piece(core, 0, maker->notes_size);
	core->pieces[core->count - 1].offset = maker->notes_offset;
}

/* The module, with a descriptor where the release has a whole one. */
static void export_fake(struct fake_clr *fake, const char *const *without)
{
	struct fake_descriptor descriptor = { .pointer_count = 0 };
	char path[128];
	(void)snprintf(path, sizeof(path), PATH, fake->options.release);
	if (fake_is_from(fake, 11))
		descriptor = fake_descriptor_make(fake, without);
	fake_export(fake, &(struct fake_export){ .path = path,
						 .json = descriptor.json.bytes,
						 .pointers = descriptor.pointers,
						 .pointer_count = descriptor.pointer_count });
	fake_descriptor_free(&descriptor);
}

struct fake_core fake_core_make(void)
{
	return fake_core_of(&(struct fake_core_options){ .release = 10 });
}

struct fake_core fake_core_of(const struct fake_core_options *options)
{
	struct fake_core core = { .count = 0 };
	struct fake_statics statics = fake_statics_of(&(struct fake_options){
		.release = options->release, .layout = options->layout, .arch = options->arch });
	struct fake_clr *fake = statics.fake;
	const size_t counts[7] = { 0, 0, 1, 0, 0, 1, 1 };
	make_handles(&statics);
	uint64_t flags = fake_at(fake, statics.node, L_MT_FLAGS);
	fake_poke_u32(&fake->memory, flags, MT_FINALIZER);
	(void)fake_finalizer_queue(fake, 0, counts, &statics.objects[4]);
	make_objects(&statics, &core);
	struct fake_stack *stack = fake_stack_create(fake);
	make_stack(stack, &core);
	uint64_t map = fake_peek_u64(&fake->memory, coreclr_of(stack->runtime)->globals.dac_table);
	export_fake(fake, options->without);
	fake_poke_u64(&fake->memory, FAKE_MODULE_BASE + FAKE_PLACE_DAC_TABLE, map);
	struct elf_maker maker;
	elf_maker_init(&maker);
	maker.align = 8;
	maker.arch = fake->target.arch;
	add_notes(&maker, fake, stack);
	add_loads(&maker, &core, &fake->memory.memory);
	core.bytes = elf_maker_build(&maker);
	place_pieces(&maker, &core);
	elf_maker_deinit(&maker);
	mem_free(fake->target.threads.rows);
	fake_stack_destroy(stack);
	fake_statics_destroy(&statics);
	return core;
}

void fake_core_free(struct fake_core *core)
{
	text_deinit(&core->bytes);
	free(core->pieces);
	*core = (struct fake_core){ .count = 0 };
}
