/* SPDX-License-Identifier: MIT */
#include "targets/function_names.h"

#include <limits.h>
#include <stdlib.h>

#include "targets/target_modules.h"
#include "util/alloc.h"
#include "util/sort.h"

/* Find the section of @p type. */
static bool find_section(const struct elf_file *file, GElf_Word type, Elf_Scn **ret,
			 GElf_Shdr *ret_header)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
		if (!gelf_getshdr(section, ret_header))
			return false;
		/* No linker packs the symbols, and an unpacked size would have to be believed. */
		if (ret_header->sh_type == type && !(ret_header->sh_flags & SHF_COMPRESSED)) {
			*ret = section;
			return true;
		}
	}
	return false;
}

static bool is_function(const GElf_Sym *symbol)
{
	unsigned char type = GELF_ST_TYPE(symbol->st_info);
	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_size && symbol->st_size <= UINT64_MAX - symbol->st_value;
}

static int compare_rows(const void *a, const void *b)
{
	const struct function_row *left = a, *right = b;
	if (left->begin != right->begin)
		return left->begin < right->begin ? -1 : 1;
	/* Rows are searched from the end: of two names for one place the first one is found. */
	return left->index > right->index ? -1 : left->index < right->index;
}

/* Copy the functions of a symbol table. */
static bool copy_rows(Elf_Data *symbols, int count, size_t functions, struct function_names *ret)
{
	ret->rows = mem_alloc(functions, sizeof(*ret->rows));
	if (!ret->rows)
		return false;
	for (int i = 0; i < count && ret->count < functions; i++) {
		GElf_Sym symbol;
		if (!gelf_getsym(symbols, i, &symbol) || !is_function(&symbol))
			continue;
		ret->rows[ret->count++] =
			(struct function_row){ .begin = symbol.st_value,
					       .end = symbol.st_value + symbol.st_size,
					       .name = symbol.st_name,
					       .index = (uint32_t)i };
	}
	qsort(ret->rows, ret->count, sizeof(*ret->rows), compare_rows);
	uint64_t reach = 0;
	for (size_t i = 0; i < ret->count; i++) {
		reach = ret->rows[i].end > reach ? ret->rows[i].end : reach;
		ret->rows[i].reach = reach;
	}
	return true;
}

static bool copy_names(Elf_Data *strings, struct function_names *ret)
{
	ret->names = mem_alloc(strings->d_size + 1, 1);
	if (!ret->names)
		return false;
	memcpy(ret->names, strings->d_buf, strings->d_size);
	ret->names[strings->d_size] = '\0';
	ret->names_size = strings->d_size;
	return true;
}

/* Copy a symbol table and its names. */
static enum hd_status copy_table(struct target *target, Elf_Data *symbols, Elf_Data *strings,
				 int count, struct function_names *ret)
{
	size_t functions = 0;
	for (int i = 0; i < count; i++) {
		GElf_Sym symbol;
		functions += gelf_getsym(symbols, i, &symbol) && is_function(&symbol);
	}
	if (!functions)
		return HD_ERR_NOTFOUND;
	TRY(target_reserve(target, functions, sizeof(*ret->rows), NULL));
	struct function_names names = { 0 };
	if (!copy_rows(symbols, count, functions, &names) || !copy_names(strings, &names)) {
		function_names_deinit(&names);
		return HD_ERR_NOMEM;
	}
	*ret = names;
	return HD_OK;
}

enum hd_status function_names_read(struct target *target, const struct elf_file *file,
				   uint64_t *budget, struct function_names *ret)
{
	Elf_Scn *section = NULL, *names = NULL;
	GElf_Shdr header, names_header;
	bool is_whole = find_section(file, SHT_SYMTAB, &section, &header);
	if (!is_whole && !find_section(file, SHT_DYNSYM, &section, &header))
		return HD_ERR_NOTFOUND;
	size_t row = gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);
	names = elf_getscn(file->elf, header.sh_link);
	if (!row || header.sh_size / row > INT_MAX || !names ||
	    !gelf_getshdr(names, &names_header) || names_header.sh_type != SHT_STRTAB ||
	    names_header.sh_flags & SHF_COMPRESSED || names_header.sh_size > UINT32_MAX)
		return HD_ERR_FORMAT;
	/* libelf has both once, and the names are copied. */
	uint64_t size = header.sh_size + names_header.sh_size;
	if (size > *budget)
		return HD_ERR_NOMEM;
	*budget -= size;
	TRY(target_reserve(target, size + names_header.sh_size, 1, NULL));
	Elf_Data *symbols = elf_getdata(section, NULL), *strings = elf_getdata(names, NULL);
	if (!symbols || !symbols->d_buf || !strings || !strings->d_buf)
		return HD_ERR_FORMAT;
	TRY(copy_table(target, symbols, strings, (int)(symbols->d_size / row), ret));
	ret->is_whole = is_whole;
	return HD_OK;
}

void function_names_deinit(struct function_names *names)
{
	mem_free(names->rows);
	mem_free(names->names);
	*names = (struct function_names){ 0 };
}

static bool is_name(const struct function_names *names, uint32_t offset)
{
	size_t size = offset < names->names_size
			      ? strnlen(names->names + offset, SYMBOL_NAME_MAX + 1)
			      : 0;
	return size && size <= SYMBOL_NAME_MAX;
}

const struct function_row *function_names_at(const struct function_names *names, uint64_t place,
					     uint64_t *budget)
{
	size_t i = ROWS_ABOVE(names->rows, names->count, begin, place);
	while (i && names->rows[i - 1].reach > place && *budget >= sizeof(*names->rows)) {
		const struct function_row *row = &names->rows[--i];
		*budget -= sizeof(*row);
		if (row->end > place && is_name(names, row->name))
			return row;
	}
	return NULL;
}
