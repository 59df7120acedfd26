/* SPDX-License-Identifier: MIT */
/* The section .eh_frame (Linux Standard Base, Exception Frames; DWARF 5, 6.4). */
#include "arch/arch.h"
#include "managed_elf/making.h"
#include "runtime/runtime.h"
#include "util/leb.h"

/* Offsets in it have 32 bits. */
#define FRAMES_SIZE_MAX ((size_t)1 << 31)

/* Not an address of code: the section has to be somewhere, and its pointers do not depend on where. */
#define FRAMES_ADDRESS UINT64_C(0x10000)

#define WORD 8u

/* Nothing, until the record is as long as a number of words. */
static void finish_record(struct text *text, size_t begin)
{
	while (!text->failed && (text->size - begin) % WORD)
		text_fixed(text, 0, 1);
	if (text->failed)
		return;
	uint32_t size = (uint32_t)(text->size - begin - sizeof(size));
	memcpy(text->bytes + begin, &size, sizeof(size));
}

/* The part that all functions have in common: addresses as they are, and where the caller's registers are at the first instruction. */
static void write_common(struct text *text, const struct arch *arch)
{
	text_fixed(text, 0, 4);
	text_fixed(text, 0, 4);
	text_fixed(text, 1, 1);
	text_append(text, "zR", 3);
	text_uleb(text, 1);
	text_sleb(text, -(int64_t)WORD);
	text_uleb(text, arch->return_column);
	text_uleb(text, 1);
	text_fixed(text, 0, 1); /* DW_EH_PE_absptr */
	text_append(text, (const char *)arch->entry_rows.bytes, arch->entry_rows.size);
	finish_record(text, 0);
}

/* One function; false: it cannot be described. */
static bool write_function(struct making *making, struct text *text,
			   const struct code_function *function)
{
	size_t begin = text->size;
	text_fixed(text, 0, 4);
	text_fixed(text, begin + 4, 4); /* back to the beginning of the section */
	text_fixed(text, function->begin, WORD);
	text_fixed(text, function->end - function->begin, WORD);
	text_uleb(text, 0);
	if (text->failed || !code_function_rows(making->runtime, function, text)) {
		text->size = text->failed ? text->size : begin;
		return false;
	}
	finish_record(text, begin);
	return true;
}

enum hd_status making_frames(struct making *making)
{
	const struct arch *arch = runtime_arch(making->runtime);
	struct elf_section *section =
		elf_section_add(&making->sections, ".eh_frame", SHT_PROGBITS, SHF_ALLOC);
	TRY_MEMORY(section, making->err);
	section->header.sh_addr = FRAMES_ADDRESS;
	section->header.sh_addralign = WORD;
	write_common(&section->data, arch);
	for (size_t i = 0; i < making->functions->rows_count; i++) {
		const struct code_function *function = &making->functions->rows[i];
		bool is_function = function->part != CODE_STUBS;
		bool is_written = section->data.size < FRAMES_SIZE_MAX &&
				  write_function(making, &section->data, function);
		TRY_MEMORY(!section->data.failed, making->err);
		making->counts.functions += is_function;
		making->counts.frames += is_written && is_function;
		making->counts.left_out += !is_written;
		TRY(job_check(making->job, 1, making->err));
	}
	text_fixed(&section->data, 0, 4);
	return HD_OK;
}
