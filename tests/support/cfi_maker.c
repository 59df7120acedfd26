/* SPDX-License-Identifier: MIT */
#include "support/cfi_maker.h"

#include <elf.h>

#include "arch/x86_64/frame_registers.h"
#include "support/assert_more.h"

/* CFA = rsp + 8, rip at CFA - 8: after a call. */
static const char after_call[] = "\x0c\x07\x08\x90\x01";

#define LSDA_POINTERS (PCREL | SDATA4)

static void put(struct cfi_world *world, uint64_t *at, const void *bytes, size_t size)
{
	fake_poke(&world->fake, *at, bytes, size);
	*at += size;
}

void cfi_world_put(struct cfi_world *world, uint64_t *at, uint64_t value, size_t size)
{
	put(world, at, &value, size);
}

static size_t width_of(uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case UDATA2:
		return 2;
	case UDATA4:
	case SDATA4:
		return 4;
	default:
		return 8;
	}
}

static void put_pointer(struct cfi_world *world, uint64_t *at, uint8_t encoding, uint64_t value)
{
	if ((encoding & 0x70) == PCREL)
		value -= *at;
	if ((encoding & 0x70) == DATAREL)
		value -= BASE + HEADER;
	cfi_world_put(world, at, value, width_of(encoding));
}

static void put_elf_header(struct cfi_world *world, const struct cfi_spec *spec)
{
	Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = spec->type ? spec->type : ET_DYN,
		.e_machine = EM_X86_64,
		.e_phoff = sizeof(head),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	};
	uint64_t own = spec->type == ET_EXEC ? BASE : 0;
	const Elf64_Phdr rows[] = {
		{ .p_type = PT_LOAD, .p_vaddr = own, .p_memsz = CFI_IMAGE_SIZE },
		{ .p_type = PT_GNU_EH_FRAME, .p_vaddr = own + HEADER, .p_memsz = 0x100 },
	};
	uint64_t at = BASE;
	put(world, &at, &head, sizeof(head));
	put(world, &at, rows, sizeof(rows));
}

/* Begin a record; finish_record() writes its length. */
static uint64_t begin_record(struct cfi_world *world, const struct cfi_spec *spec, uint64_t *at)
{
	uint64_t begin = *at;
	cfi_world_put(world, at, UINT32_MAX, 4);
	if (spec->with_length_64)
		*at += 8;
	return begin;
}

static void finish_record(struct cfi_world *world, const struct cfi_spec *spec, uint64_t begin,
			  uint64_t at)
{
	uint64_t place = begin + (spec->with_length_64 ? 4 : 0);
	size_t size = spec->with_length_64 ? 8 : 4;
	cfi_world_put(world, &place, at - place - size, size);
}

/* A CIE, then the FDE of the function. */
static uint64_t put_frames(struct cfi_world *world, const struct cfi_spec *spec, uint8_t pointers)
{
	const char *augmentation = spec->augmentation ? spec->augmentation : "zR";
	uint8_t version = spec->version ? spec->version : 1;
	uint64_t at = BASE + FRAMES, cie = begin_record(world, spec, &at);
	cfi_world_put(world, &at, 0, 4);
	cfi_world_put(world, &at, version, 1);
	put(world, &at, augmentation, strlen(augmentation) + 1);
	if (version == 4)
		cfi_world_put(world, &at, 8, 2);
	put(world, &at, "\x01\x78\x10", 3); /* 1, -8, 16 */
	if (augmentation[0] == 'z') {
		uint64_t size = at++;
		for (const char *letter = augmentation + 1; *letter; letter++) {
			if (*letter == 'R')
				cfi_world_put(world, &at, pointers, 1);
			if (*letter == 'L')
				cfi_world_put(world, &at, spec->lsda ? LSDA_POINTERS : OMIT, 1);
			if (*letter == 'P')
				put(world, &at, "\x9b\1\2\3\4", 5);
			if (*letter == 'X')
				put(world, &at, "\1\2\3", 3);
		}
		cfi_world_put(world, &size, at - size - 1, 1);
	}
	put(world, &at, spec->cie ? spec->cie : after_call,
	    spec->cie ? spec->cie_size : sizeof(after_call) - 1);
	finish_record(world, spec, cie, at);
	uint64_t fde = begin_record(world, spec, &at);
	cfi_world_put(world, &at, at - cie, 4);
	put_pointer(world, &at, pointers, BASE + FUNCTION);
	cfi_world_put(world, &at, 0x100, width_of(pointers));
	if (augmentation[0] == 'z') {
		cfi_world_put(world, &at, spec->lsda ? width_of(LSDA_POINTERS) : 0, 1);
		if (spec->lsda)
			put_pointer(world, &at, LSDA_POINTERS, spec->lsda);
	}
	put(world, &at, spec->fde, spec->fde_size);
	finish_record(world, spec, fde, at);
	return fde;
}

static void put_table(struct cfi_world *world, uint64_t fde, uint8_t encoding)
{
	uint64_t at = BASE + HEADER;
	const uint8_t head[] = { 1, PCREL | SDATA4, UDATA4, encoding };
	put(world, &at, head, sizeof(head));
	put_pointer(world, &at, PCREL | SDATA4, BASE + FRAMES);
	cfi_world_put(world, &at, 3, 4);
	/* Functions before and after, which have no FDE that can be read. */
	put_pointer(world, &at, encoding, BASE + FUNCTION - 0x100);
	put_pointer(world, &at, encoding, BASE + 8);
	put_pointer(world, &at, encoding, BASE + FUNCTION);
	put_pointer(world, &at, encoding, fde);
	put_pointer(world, &at, encoding, BASE + FUNCTION + 0x800);
	put_pointer(world, &at, encoding, BASE + 8);
}

void cfi_world_init(struct cfi_world *world, const struct cfi_spec *spec)
{
	*world = (struct cfi_world){ 0 };
	fake_memory_init(&world->fake);
	fake_map(&world->fake, BASE, CFI_IMAGE_SIZE);
	fake_map(&world->fake, STACK, STACK_SIZE);
	uint8_t pointers = spec->pointers || spec->is_absolute ? spec->pointers : PCREL | SDATA4;
	uint8_t table = spec->table || spec->is_absolute ? spec->table : DATAREL | SDATA4;
	put_elf_header(world, spec);
	put_table(world, put_frames(world, spec, pointers), table);
	for (uint64_t i = 0; i < STACK_SIZE; i += 8)
		fake_poke_u64(&world->fake, STACK + i, 0x1000000 + i);
	static char path[] = "/lib/libx.so";
	world->mappings[0] = (struct target_mapping){ .start = BASE,
						      .end = BASE + CFI_IMAGE_SIZE,
						      .path = path };
	world->target = (struct target){
		.arch = &arch_x86_64,
		.memory = &world->fake.memory,
		.map.mappings = world->mappings,
		.map.mapping_count = 1,
		.modules = world->modules,
	};
}

void cfi_world_deinit(struct cfi_world *world)
{
	fake_memory_deinit(&world->fake);
}

/* Each register has a value of its own. */
struct registers cfi_world_registers(uint64_t ip)
{
	struct registers registers = { .arch = &arch_x86_64 };
	for (unsigned int i = 0; i < REG_ROWS; i++) {
		registers.values[i] = 0xa0 + i;
		registers.slots[i] = 0;
	}
	registers.values[REG_RIP] = ip;
	registers.values[REG_RSP] = SP;
	return registers;
}

enum cfi_result cfi_world_step(struct cfi_world *world, bool is_exact, struct registers *registers)
{
	struct cfi *cfi = cfi_create(&world->target);
	REQUIRE(cfi);
	struct registers before = *registers;
	enum cfi_result result = cfi_step(cfi, is_exact, registers);
	if (result == CFI_END || result == CFI_NONE)
		ASSERT_UINT((uint64_t)memcmp(&before, registers, sizeof(before)), 0);
	cfi_destroy(cfi);
	return result;
}

/* A step at @p offset in the function, interrupted there. */
enum cfi_result cfi_world_step_at(struct cfi_world *world, uint64_t offset, struct registers *ret)
{
	*ret = cfi_world_registers(BASE + FUNCTION + offset);
	return cfi_world_step(world, true, ret);
}

/* The word that cfi_world_init() left at @p address of the stack. */
uint64_t cfi_world_word(uint64_t address)
{
	return 0x1000000 + address - STACK;
}
