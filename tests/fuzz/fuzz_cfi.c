/* SPDX-License-Identifier: MIT */
/*
 * covers: core/src/unwind/cfi.c core/src/unwind/cfi_image.c core/src/unwind/cfi_list.c core/src/unwind/cfi_rows.c
 * core/src/unwind/dwarf_expr.c core/src/unwind/dwarf_reader.c
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/x86_64/frame_registers.h"
#include "unwind/cfi.h"
#include "unwind/dwarf_expr.h"
#include "util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE       ((uint64_t)0x7f1200000000)
#define IMAGE_SIZE ((uint64_t)0x4000)
#define HEADER     ((uint64_t)0x400)
#define FRAMES     ((uint64_t)0x1000)
#define FUNCTION   ((uint64_t)0x3000)
#define STACK      ((uint64_t)0x7ffe00000000)
#define STACK_SIZE ((uint64_t)0x1000)
#define STEPS_MAX  64u

/* The first byte of the input says which of these the others are. */
enum {
	INPUT_IMAGE,  /* an ELF image */
	INPUT_HEADER, /* .eh_frame_hdr */
	INPUT_FRAMES, /* .eh_frame; the second byte: where in it the FDE is */
	INPUT_EXPRESSION,
	INPUT_KINDS
};

/* An image, and a stack that is full of addresses of both. */
struct space {
	struct memory memory;
	uint8_t image[IMAGE_SIZE];
	uint64_t stack[STACK_SIZE / 8];
};

static size_t copy_part(uint64_t start, const void *bytes, uint64_t length, uint64_t address,
			void *buf, size_t size)
{
	if (address < start || address - start >= length)
		return 0;
	uint64_t left = length - (address - start);
	size = size < left ? size : (size_t)left;
	memcpy(buf, (const uint8_t *)bytes + (address - start), size);
	return size;
}

static size_t read_space(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	const struct space *space = (const struct space *)memory;
	size_t got = copy_part(BASE, space->image, IMAGE_SIZE, address, buf, size);
	return got ? got : copy_part(STACK, space->stack, STACK_SIZE, address, buf, size);
}

static void put_image(struct space *space, uint8_t fde)
{
	const Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_phoff = sizeof(head),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	};
	const Elf64_Phdr rows[] = {
		{ .p_type = PT_LOAD, .p_memsz = IMAGE_SIZE },
		{ .p_type = PT_GNU_EH_FRAME, .p_vaddr = HEADER, .p_memsz = 0xc00 },
	};
	/* One row, relative to this. */
	const int32_t table[] = { 1, (int32_t)(FUNCTION - HEADER),
				  (int32_t)(FRAMES - HEADER) + fde };
	memcpy(space->image, &head, sizeof(head));
	memcpy(space->image + sizeof(head), rows, sizeof(rows));
	memcpy(space->image + HEADER, "\x01\x1b\x03\x3b\0\0\0\0", 8);
	memcpy(space->image + HEADER + 8, table, sizeof(table));
}

static void make_space(struct space *space, unsigned int kind, const uint8_t *data, size_t size)
{
	static const struct memory_ops ops = { .read = read_space };
	memset(space, 0, sizeof(*space));
	space->memory.ops = &ops;
	for (uint64_t i = 0; i < STACK_SIZE / 8; i++)
		space->stack[i] = i % 3 ? BASE + FUNCTION + i % 64 : STACK + 8 * i + 64;
	uint8_t fde = 0;
	if (kind == INPUT_FRAMES && size) {
		fde = *data++;
		size--;
	}
	if (kind != INPUT_IMAGE)
		put_image(space, fde);
	uint64_t place = kind == INPUT_HEADER ? HEADER : kind == INPUT_FRAMES ? FRAMES : 0;
	uint64_t room = IMAGE_SIZE - place;
	memcpy(space->image + place, data, size < room ? size : (size_t)room);
}

/* Rows that are written anew have no more than the bytes of their function say. */
static void list(struct cfi *cfi, uint64_t ip)
{
	struct text rows = { 0 };
	uint64_t count = cfi_functions_count(cfi, ip), begin;
	for (uint64_t i = 0; i < count && i < STEPS_MAX; i++) {
		struct cfi_function function;
		size_t before = rows.size;
		if (!cfi_function_begin(cfi, ip, i, &begin) ||
		    !cfi_function_at(cfi, begin, &function))
			continue;
		bool is_written = cfi_rows(cfi, begin, &rows);
		if (!is_written && rows.size != before)
			abort();
		if (rows.size - before > 5 * function.record)
			abort();
	}
	text_deinit(&rows);
}

static void walk(struct space *space, uint64_t ip, bool has_mapping)
{
	char path[] = "/x";
	struct target_mapping mapping = { .start = BASE, .end = BASE + IMAGE_SIZE, .path = path };
	struct target target = { .arch = &arch_x86_64,
				 .memory = &space->memory,
				 .map.mappings = &mapping,
				 .map.mapping_count = has_mapping };
	struct registers registers = { .arch = &arch_x86_64 };
	for (unsigned int i = 0; i < REG_ROWS; i++)
		registers.values[i] = STACK + 256 + 8 * (uint64_t)i;
	registers.values[REG_RSP] = STACK + 64;
	registers.values[REG_RIP] = ip;
	struct cfi *cfi = cfi_create(&target);
	bool is_exact = true;
	for (unsigned int i = 0; cfi && i < STEPS_MAX; i++) {
		struct registers before = registers;
		enum cfi_result result = cfi_step(cfi, is_exact, &registers);
		bool is_caller = result == CFI_FRAME || result == CFI_SIGNAL;
		if (!is_caller && memcmp(&before, &registers, sizeof(before)) != 0)
			abort();
		if (result == CFI_FRAME && registers.values[REG_RSP] <= before.values[REG_RSP])
			abort();
		if (!is_caller)
			break;
		is_exact = result == CFI_SIGNAL;
	}
	if (cfi)
		list(cfi, ip);
	cfi_destroy(cfi);
}

static void run_expression(struct space *space, const uint8_t *data, size_t size)
{
	struct registers registers = { .arch = &arch_x86_64 };
	for (unsigned int i = 0; i < REG_ROWS; i++)
		registers.values[i] = STACK + 8 * (uint64_t)i;
	uint64_t first = STACK, value;
	(void)dwarf_expr_run(&space->memory, &registers, data, size, &first, &value);
}

/* Any bytes as call frame information: no crash, no hang, nothing out of bounds. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct space space;
	if (!size)
		return 0;
	unsigned int kind = *data++ % INPUT_KINDS;
	size--;
	make_space(&space, kind, data, kind == INPUT_EXPRESSION ? 0 : size);
	if (kind == INPUT_EXPRESSION) {
		run_expression(&space, data, size);
		return 0;
	}
	walk(&space, BASE + FUNCTION, true);
	walk(&space, BASE + FUNCTION + 16, kind != INPUT_IMAGE);
	walk(&space, STACK, false);
	return 0;
}
