/* SPDX-License-Identifier: MIT */
/* The code as sections: debuggers look up an address in them first. */
#include <stdio.h>

#include "managed_elf/making.h"
#include "util/alloc.h"
#include "util/sort.h"

/*
 * Functions that are nearer to each other share a section, unless another file has code between them: LLDB looks for an
 * address only in the section that begins nearest in front of it.  Between the heaps of the JIT there is nothing that has symbols
 * of its own; two files of code that are mapped are never as near as this.
 */
#define GAP_MAX UINT64_C(4096)

/*
 * GDB steps on through a section of this name until it leaves it, and then stops in the function where it is (infrun.c,
 * in_solib_dynsym_resolve_code): so "step" goes through the stub of a method into the method.
 */
#define STUBS_NAME ".plt"

/* Room for the sections that have data. */
#define STRETCHES_MAX (ELF_SECTIONS_MAX - 64u)

static bool find_stretches(struct making *making)
{
	struct code_functions *functions = making->functions;
	struct code_stretch *last = NULL;
	size_t i = 0;
	for (; i < functions->rows_count; i++) {
		const struct code_function *function = &functions->rows[i];
		bool is_stubs = function->part == CODE_STUBS;
		if (last && !is_stubs && !last->is_stubs && !function->is_apart &&
		    last->is_native == function->is_native &&
		    function->begin - last->end < GAP_MAX) {
			last->end = function->end;
			continue;
		}
		if (making->stretches_count == STRETCHES_MAX)
			break;
		if (!PAGES_RESERVE(making, stretches))
			return false;
		last = &making->stretches[making->stretches_count++];
		*last = (struct code_stretch){ function->begin, function->end, is_stubs,
					       function->is_native };
	}
	functions->left_out += functions->rows_count - i;
	functions->rows_count = i;
	return true;
}

enum hd_status making_stretches(struct making *making)
{
	TRY_MEMORY(elf_section_add(&making->sections, "", SHT_NULL, 0), making->err);
	TRY_MEMORY(find_stretches(making), making->err);
	for (size_t i = 0; i < making->stretches_count; i++) {
		const struct code_stretch *stretch = &making->stretches[i];
		char name[32] = ".text";
		if (stretch->is_stubs) {
			(void)snprintf(name, sizeof(name), "%s", STUBS_NAME);
		} else if (i) {
			(void)snprintf(name, sizeof(name), ".text%zu", i);
		}
		struct elf_section *section = elf_section_add(&making->sections, name, SHT_NOBITS,
							      SHF_ALLOC | SHF_EXECINSTR);
		TRY_MEMORY(section, making->err);
		section->header.sh_addr = stretch->begin;
		section->header.sh_size = stretch->end - stretch->begin;
	}
	return HD_OK;
}

uint16_t making_section_of(const struct making *making, uint64_t address)
{
	return (uint16_t)(ROW_OF(making->stretches, making->stretches_count, begin, address) + 1);
}
