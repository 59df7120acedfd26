/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <string.h>

#include "targets/elf_image.h"
#include "targets/target.h"
#include "targets/target_modules.h"

/** Most symbols in one bucket; with more, the table counts as broken. */
#define CHAIN_MAX 65536u

struct lookup {
	struct memory *memory;
	const struct elf_dynamic *dynamic;
	const char *name;
	size_t name_size; /**< with the NUL */
	Elf64_Sym found;
};

/* Is symbol @p index the one, and defined? */
static bool is_symbol(struct lookup *lookup, uint64_t index)
{
	Elf64_Sym symbol;
	char name[SYMBOL_NAME_MAX + 1];
	const struct elf_dynamic *dynamic = lookup->dynamic;
	if (!memory_read(lookup->memory, dynamic->symbols + index * sizeof(symbol), &symbol,
			 sizeof(symbol)) ||
	    symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) == STT_TLS ||
	    (dynamic->strings_size && symbol.st_name >= dynamic->strings_size) ||
	    !memory_read(lookup->memory, dynamic->strings + symbol.st_name, name,
			 lookup->name_size) ||
	    memcmp(name, lookup->name, lookup->name_size) != 0)
		return false;
	lookup->found = symbol;
	return true;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;
	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

/* DT_GNU_HASH: header, bloom filter of u64, buckets, chains whose last hash has bit 0 set. */
static bool find_gnu(struct lookup *lookup)
{
	struct {
		uint32_t buckets, first, bloom, shift;
	} header;
	uint64_t table = lookup->dynamic->gnu_hash, word;
	if (!memory_read(lookup->memory, table, &header, sizeof(header)) || !header.buckets ||
	    !header.bloom)
		return false;
	uint32_t hash = gnu_hash(lookup->name);
	uint64_t bloom = table + sizeof(header);
	if (!memory_u64(lookup->memory, bloom + 8 * (uint64_t)((hash / 64) % header.bloom), &word))
		return false;
	if (!(word >> (hash % 64) & 1) || !(word >> ((hash >> (header.shift % 32)) % 64) & 1))
		return false;
	uint64_t buckets = bloom + 8 * (uint64_t)header.bloom;
	uint64_t chains = buckets + 4 * (uint64_t)header.buckets;
	uint32_t index;
	if (!memory_u32(lookup->memory, buckets + 4 * (uint64_t)(hash % header.buckets), &index) ||
	    index < header.first)
		return false;
	for (unsigned int i = 0; i < CHAIN_MAX; i++) {
		uint32_t entry;
		uint64_t place = (uint64_t)index + i;
		if (!memory_u32(lookup->memory, chains + 4 * (place - header.first), &entry))
			return false;
		if ((entry | 1) == (hash | 1) && is_symbol(lookup, place))
			return true;
		if (entry & 1)
			return false;
	}
	return false;
}

static uint32_t system_v_hash(const char *name)
{
	uint32_t hash = 0;
	for (; *name; name++) {
		hash = (hash << 4) + (uint8_t)*name;
		uint32_t high = hash & 0xf0000000;
		hash = (hash ^ (high >> 24)) & ~high;
	}
	return hash;
}

/* DT_HASH: number of buckets and symbols, buckets, chains of symbol numbers; 0 ends one. */
static bool find_system_v(struct lookup *lookup)
{
	uint32_t counts[2], index;
	uint64_t table = lookup->dynamic->hash;
	if (!memory_read(lookup->memory, table, counts, sizeof(counts)) || !counts[0])
		return false;
	uint64_t buckets = table + sizeof(counts), chains = buckets + 4 * (uint64_t)counts[0];
	uint64_t place = buckets + 4 * (uint64_t)(system_v_hash(lookup->name) % counts[0]);
	for (unsigned int i = 0; i < CHAIN_MAX; i++) {
		if (!memory_u32(lookup->memory, place, &index) || !index || index >= counts[1])
			return false;
		if (is_symbol(lookup, index))
			return true;
		place = chains + 4 * (uint64_t)index;
	}
	return false;
}

bool target_symbol(const struct target *target, const struct target_module *module,
		   const char *name, uint64_t *ret_address, uint64_t *ret_size)
{
	struct elf_dynamic dynamic;
	struct lookup lookup = { .memory = target->memory,
				 .dynamic = &dynamic,
				 .name = name,
				 .name_size = strlen(name) + 1 };
	if (lookup.name_size > SYMBOL_NAME_MAX + 1 ||
	    !elf_dynamic_read(target->memory, module->base, module->dynamic, &dynamic) ||
	    !dynamic.symbols || !dynamic.strings)
		return false;
	if (dynamic.gnu_hash ? !find_gnu(&lookup) : !dynamic.hash || !find_system_v(&lookup))
		return false;
	*ret_address = module->base + lookup.found.st_value;
	if (ret_size)
		*ret_size = lookup.found.st_size;
	return true;
}

/* Where the ELF header of @p module is. */
static bool read_symbol_image(const struct target *target, const struct target_module *module,
			      struct elf_image *ret)
{
	if (elf_image_read(target->memory, module->base, ret) && ret->dynamic == module->dynamic)
		return true;
	/*
	 * An image that is linked to a fixed address has bias 0: use the first mapping of its file.
	 */
	const struct target_mapping *mapping = target_mapping_at(&target->map, module->dynamic);
	size_t index = mapping ? (size_t)(mapping - target->map.mappings) + 1 : 0;
	while (index-- && strcmp(target->map.mappings[index].path, mapping->path) == 0) {
		const struct target_mapping *part = &target->map.mappings[index];
		if (!part->offset && elf_image_read(target->memory, part->start, ret) &&
		    ret->dynamic == module->dynamic)
			return true;
	}
	return target->auxv.phdr &&
	       elf_image_read_program(target->memory, target->auxv.phdr, target->auxv.phnum, 0,
				      ret) &&
	       ret->dynamic == module->dynamic;
}

bool target_build_id(const struct target *target, const struct target_module *module, char *buf,
		     size_t size)
{
	static const char digits[] = "0123456789abcdef";
	struct elf_image image;
	uint8_t id[BUILD_ID_MAX];
	if (!read_symbol_image(target, module, &image))
		return false;
	size_t count = elf_image_build_id(target->memory, &image, id);
	if (!count || size < count * 2 + 1)
		return false;
	for (size_t i = 0; i < count; i++) {
		buf[i * 2] = digits[id[i] >> 4];
		buf[i * 2 + 1] = digits[id[i] & 15];
	}
	buf[count * 2] = '\0';
	return true;
}

const struct target_module *target_musl(const struct target *target)
{
	for (size_t i = 0; i < target->module_count; i++) {
		if (strstr(target->modules[i].path, "/ld-musl-"))
			return &target->modules[i];
	}
	return NULL;
}
