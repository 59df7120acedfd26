/* SPDX-License-Identifier: MIT */
/* The sections .symtab and .strtab. */
#include <string.h>

#include "managed_elf/making.h"
#include "managed_elf/names.h"
#include "runtime/code.h"
#include "runtime/coreclr/code/r2r_methods.h"
#include "util/alloc.h"

/* Offsets of names have 32 bits. */
#define NAMES_SIZE_MAX ((size_t)1 << 31)

/* After so many functions the bytes are counted: the sections of code may be many. */
#define CHECKED_EACH 1024u

static const char *part_name(uint8_t part)
{
	static const char *const names[] = { [CODE_METHOD] = "",
					     [CODE_CATCH] = " [catch]",
					     [CODE_FINALLY] = " [finally]",
					     [CODE_FILTER] = " [filter]",
					     [CODE_FAULT] = " [fault]",
					     [CODE_HANDLER] = " [handler]" };
	return names[part];
}

void function_name_append(struct runtime *runtime, const struct code_function *function,
			  struct text *ret)
{
	HD_CLEANUP(text) struct text name = { 0 };
	if (function->method_desc) {
		runtime_method_signature(runtime, function->method_desc, &name);
	} else {
		method_row_signature(runtime, function->module, function->rid, &name);
	}
	elf_name_append(ret, name.bytes, name.size);
	text_puts(ret, part_name(function->part));
	ret->failed |= name.failed;
}

static void write_symbol(const struct making *making, const struct code_function *function,
			 uint32_t name, struct text *symbols)
{
	const Elf64_Sym symbol = {
		.st_name = name,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = making_section_of(making, function->begin),
		.st_value = function->begin,
		.st_size = function->end - function->begin,
	};
	text_append(symbols, (const char *)&symbol, sizeof(symbol));
}

/* One more name for an instance of something generic, whose own is @p name: users set breakpoints in all instances by it. */
static void write_bare_symbol(const struct making *making, const struct code_function *function,
			      uint32_t name, struct text *names, struct text *symbols)
{
	HD_CLEANUP(text) struct text bare = { 0 };
	const char *own = names->bytes + name;
	if (bare_name_append(&bare, own, managed_elf_name_size(own, strlen(own)))) {
		write_symbol(making, function, (uint32_t)names->size, symbols);
		text_append(names, bare.bytes, bare.size);
		text_append(names, "", 1);
	}
	names->failed |= bare.failed;
}

enum hd_status making_symbols(struct making *making)
{
	struct text symbols = { 0 }, names = { 0 };
	const Elf64_Sym none = { 0 };
	enum hd_status status = HD_OK;
	making->names = mem_calloc(making->functions->rows_count + 1, sizeof(*making->names));
	TRY_MEMORY(making->names, making->err);
	text_append(&symbols, (const char *)&none, sizeof(none));
	text_append(&names, "", 1);
	job_begin(making->job, "names", making->functions->rows_count);
	for (size_t i = 0; status == HD_OK && i < making->functions->rows_count; i++) {
		const struct code_function *function = &making->functions->rows[i];
		status = job_check(making->job, 1, making->err);
		if ((!function->method_desc && !function->rid) || names.size >= NAMES_SIZE_MAX)
			continue;
		uint32_t name = (uint32_t)names.size;
		function_name_append(making->runtime, function, &names);
		text_append(&names, "", 1);
		write_symbol(making, function, name, &symbols);
		if (function->method_desc && function->part == CODE_METHOD && !names.failed)
			write_bare_symbol(making, function, name, &names, &symbols);
		if (function->method_desc) {
			making->names[i] = name;
			making->counts.methods += function->part == CODE_METHOD;
		}
		if (symbols.failed || names.failed)
			status = fail_nomem(making->err);
		if (status == HD_OK && i % CHECKED_EACH == 0)
			status = making_check_memory(making, symbols.size + names.size);
	}
	job_end(making->job);
	uint32_t number = (uint32_t)making->sections.rows_count;
	struct elf_section *section =
		status == HD_OK ? elf_section_add(&making->sections, ".symtab", SHT_SYMTAB, 0)
				: NULL;
	if (section) {
		section->header.sh_link = number + 1;
		section->header.sh_info = 1; /* the first that is global */
		section->header.sh_entsize = sizeof(Elf64_Sym);
		section->header.sh_addralign = 8;
		section->data = symbols;
		symbols = (struct text){ 0 };
		making->strings = number + 1;
		section = elf_section_add(&making->sections, ".strtab", SHT_STRTAB, 0);
	}
	if (section) {
		section->data = names;
		names = (struct text){ 0 };
	}
	text_deinit(&symbols);
	text_deinit(&names);
	return status != HD_OK ? status : section ? HD_OK : fail_nomem(making->err);
}
