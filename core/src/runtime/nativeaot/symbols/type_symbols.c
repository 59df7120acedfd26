/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/symbols/type_symbols.h"

#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/nativeaot/symbols/dwarf_types.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/sort.h"

/* Behind an underscore. */
#define METHOD_TABLE  "ZTV"
#define BOXED         "Boxed_"
#define THREAD_INDEX  "__TypeThreadStaticIndex"
#define SAME_HASH_MAX 8u

/* The class of a symbol _ZTV<size><class> or _ZTV<size>Boxed_<struct>; NULL: it is another one. */
static const char *class_of(const char *symbol)
{
	size_t size = 0;
	if (*symbol != '_' || strncmp(symbol + 1, METHOD_TABLE, strlen(METHOD_TABLE)) != 0)
		return NULL;
	const char *at = symbol + 1 + strlen(METHOD_TABLE);
	for (; *at >= '0' && *at <= '9' && size <= DWARF_NAME_MAX; at++)
		size = size * 10 + (size_t)(*at - '0');
	if (!size || strlen(at) != size)
		return NULL;
	return strncmp(at, BOXED, strlen(BOXED)) == 0 ? at + strlen(BOXED) : at;
}

struct symbol_table {
	Elf_Data *symbols;
	const Elf_Data *strings;
	int count;
};

static bool find_table(const struct dwarf_file *file, struct symbol_table *ret)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
		GElf_Shdr header, strings;
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB ||
		    header.sh_flags & SHF_COMPRESSED)
			continue;
		Elf_Scn *names = elf_getscn(file->elf, header.sh_link);
		if (!names || !gelf_getshdr(names, &strings) || strings.sh_type != SHT_STRTAB ||
		    strings.sh_flags & SHF_COMPRESSED)
			return false;
		ret->symbols = elf_getdata(section, NULL);
		ret->strings = elf_getdata(names, NULL);
		if (!ret->symbols || !ret->symbols->d_buf || !ret->strings ||
		    !ret->strings->d_buf || ret->symbols->d_size / sizeof(Elf64_Sym) > INT_MAX)
			return false;
		ret->count = (int)(ret->symbols->d_size / sizeof(Elf64_Sym));
		return true;
	}
	return false;
}

/* The class whose words about thread statics a symbol is; NULL: it is another one. */
static const char *thread_class_of(const char *symbol)
{
	size_t size = strlen(THREAD_INDEX);
	return strncmp(symbol, THREAD_INDEX, size) == 0 && symbol[size] ? symbol + size : NULL;
}

typedef const char *class_of_symbol(const char *symbol);

/* Symbol number @p i, if it is of the kind that @p kind knows. */
static bool read_symbol(const struct symbol_table *table, int i, class_of_symbol *kind,
			struct type_symbol *ret)
{
	GElf_Sym symbol;
	if (!gelf_getsym(table->symbols, i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
	    symbol.st_name >= table->strings->d_size)
		return false;
	const char *name = (const char *)table->strings->d_buf + symbol.st_name;
	size_t left = table->strings->d_size - symbol.st_name;
	size_t most = left < DWARF_NAME_MAX ? left : DWARF_NAME_MAX;
	if (strnlen(name, most) == most)
		return false;
	ret->address = symbol.st_value;
	ret->name = kind(name);
	return ret->name != NULL;
}

static bool sort_by_name(struct symbol_list *list)
{
	list->hashes = mem_alloc(list->count + 1, sizeof(*list->hashes));
	list->order = mem_alloc(list->count + 1, sizeof(*list->order));
	if (!list->hashes || !list->order)
		return false;
	for (size_t i = 0; i < list->count; i++)
		list->hashes[i] = dwarf_name_hash(list->rows[i].name);
	return !list->count || sort_keys(list->hashes, list->order, (uint32_t)list->count);
}

static int compare_symbols(const void *a, const void *b)
{
	const struct type_symbol *left = a, *right = b;
	return (left->address > right->address) - (left->address < right->address);
}

static void list_deinit(struct symbol_list *list)
{
	mem_free(list->rows);
	mem_free(list->hashes);
	mem_free(list->order);
	*list = (struct symbol_list){ 0 };
}

void type_symbols_deinit(struct type_symbols *symbols)
{
	list_deinit(&symbols->tables);
	list_deinit(&symbols->threads);
}

static enum hd_status read_list(struct target *target, const struct symbol_table *table,
				class_of_symbol *kind, struct symbol_list *ret,
				struct hd_error *err)
{
	struct symbol_list list = { 0 };
	struct type_symbol row;
	size_t count = 0;
	for (int i = 0; i < table->count; i++)
		count += read_symbol(table, i, kind, &row);
	TRY(target_reserve(target, count, sizeof(row) + sizeof(*list.hashes) + sizeof(*list.order),
			   err));
	list.rows = mem_alloc(count + 1, sizeof(*list.rows));
	for (int i = 0; list.rows && i < table->count; i++) {
		if (read_symbol(table, i, kind, &row))
			list.rows[list.count++] = row;
	}
	if (list.count)
		qsort(list.rows, list.count, sizeof(*list.rows), compare_symbols);
	if (!list.rows || !sort_by_name(&list)) {
		list_deinit(&list);
		return fail_nomem(err);
	}
	*ret = list;
	return HD_OK;
}

enum hd_status type_symbols_read(struct target *target, const struct dwarf_file *file,
				 struct type_symbols *ret, struct hd_error *err)
{
	struct symbol_table table;
	struct type_symbols symbols = { 0 };
	*ret = symbols;
	if (!find_table(file, &table))
		return HD_OK;
	TRY(read_list(target, &table, class_of, &symbols.tables, err));
	enum hd_status status = read_list(target, &table, thread_class_of, &symbols.threads, err);
	if (status != HD_OK) {
		type_symbols_deinit(&symbols);
		return status;
	}
	*ret = symbols;
	return HD_OK;
}

const char *type_symbol_at(const struct type_symbols *symbols, uint64_t address)
{
	const struct symbol_list *list = &symbols->tables;
	size_t at = ROWS_FROM(list->rows, list->count, address, address);
	return at < list->count && list->rows[at].address == address ? list->rows[at].name : NULL;
}

uint64_t symbol_by_name(const struct symbol_list *list, const char *name)
{
	uint64_t hash = dwarf_name_hash(name);
	size_t low = 0, high = list->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (list->hashes[middle] < hash) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	for (size_t i = low; i < list->count && i - low < SAME_HASH_MAX; i++) {
		const struct type_symbol *symbol = &list->rows[list->order[i]];
		if (list->hashes[i] != hash)
			break;
		if (strcmp(symbol->name, name) == 0)
			return symbol->address;
	}
	return 0;
}
