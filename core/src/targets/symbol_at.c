/* SPDX-License-Identifier: MIT */
/* Exported functions by their addresses. */
#include <elf.h>

#include "mem/memory.h"
#include "targets/elf_image.h"
#include "targets/target_modules.h"

/* Most buckets and symbols that are read of a module, and how many at a time. */
#define BUCKETS_MAX  (1u << 20)
#define SYMBOLS_MAX  (1u << 20)
#define CHUNK        64u
#define GNU_HEADER   16u
#define SYSTEM_V_MIN 8u

static bool spend(uint64_t *budget, uint64_t bytes)
{
	bool ok = *budget >= bytes;
	*budget -= ok ? bytes : *budget;
	return ok;
}

/* The number after the last symbol of a DT_GNU_HASH: that of the last chain's end. */
static bool count_gnu(struct memory *memory, uint64_t table, uint64_t *budget, uint64_t *ret)
{
	uint32_t header[4], buckets[CHUNK], last = 0, entry = 0;
	if (!memory_read(memory, table, header, sizeof(header)) || header[0] > BUCKETS_MAX ||
	    !spend(budget, 4 * (uint64_t)header[0]))
		return false;
	uint64_t at = table + GNU_HEADER + 8 * (uint64_t)header[2];
	for (uint32_t i = 0; i < header[0]; i += CHUNK) {
		uint32_t count = header[0] - i < CHUNK ? header[0] - i : CHUNK;
		if (!memory_read(memory, at + 4 * (uint64_t)i, buckets, 4 * (size_t)count))
			return false;
		for (uint32_t k = 0; k < count; k++)
			last = buckets[k] > last ? buckets[k] : last;
	}
	if (last < header[1])
		return false;
	at += 4 * (uint64_t)header[0];
	for (; !(entry & 1); last++) {
		if (last > SYMBOLS_MAX || !spend(budget, 4) ||
		    !memory_u32(memory, at + 4 * (uint64_t)(last - header[1]), &entry))
			return false;
	}
	*ret = last;
	return true;
}

static bool count_symbols(struct memory *memory, const struct elf_dynamic *dynamic,
			  uint64_t *budget, uint64_t *ret)
{
	uint32_t counts[2];
	if (dynamic->gnu_hash)
		return count_gnu(memory, dynamic->gnu_hash, budget, ret);
	if (!dynamic->hash || !memory_read(memory, dynamic->hash, counts, sizeof(counts)))
		return false;
	*ret = counts[1];
	return true;
}

/* The function that contains @p place; of several, the one that begins last. */
static bool find_function_symbol(struct memory *memory, const struct elf_dynamic *dynamic,
				 uint64_t count, uint64_t place, Elf64_Sym *ret)
{
	Elf64_Sym symbols[CHUNK];
	bool is_found = false;
	for (uint64_t i = 0; i < count; i += CHUNK) {
		size_t size = count - i < CHUNK ? (size_t)(count - i) : CHUNK;
		if (!memory_read(memory, dynamic->symbols + i * sizeof(symbols[0]), symbols,
				 size * sizeof(symbols[0])))
			return false;
		for (size_t k = 0; k < size; k++) {
			const Elf64_Sym *symbol = &symbols[k];
			unsigned char type = ELF64_ST_TYPE(symbol->st_info);
			if ((type != STT_FUNC && type != STT_GNU_IFUNC) ||
			    symbol->st_shndx == SHN_UNDEF || place < symbol->st_value ||
			    place - symbol->st_value >= symbol->st_size ||
			    (is_found && symbol->st_value <= ret->st_value))
				continue;
			*ret = *symbol;
			is_found = true;
		}
	}
	return is_found;
}

bool target_symbol_at(const struct target *target, const struct target_module *module,
		      uint64_t address, uint64_t *budget, char ret_name[SYMBOL_NAME_MAX + 1],
		      uint64_t *ret_address)
{
	struct elf_dynamic dynamic;
	Elf64_Sym symbol;
	uint64_t count;
	char name[SYMBOL_NAME_MAX + 1];
	if (!elf_dynamic_read(target->memory, module->base, module->dynamic, &dynamic) ||
	    !dynamic.symbols || !dynamic.strings ||
	    !count_symbols(target->memory, &dynamic, budget, &count) || count > SYMBOLS_MAX ||
	    !spend(budget, count * sizeof(symbol)) ||
	    !find_function_symbol(target->memory, &dynamic, count, address - module->base,
				  &symbol) ||
	    memory_string(target->memory, dynamic.strings + symbol.st_name, name, sizeof(name)) <=
		    0)
		return false;
	memcpy(ret_name, name, sizeof(name));
	*ret_address = module->base + symbol.st_value;
	return true;
}
