/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/stack/ref_map.h"

#include "mem/memory.h"
#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/layout_access.h"
#include "runtime/coreclr/layouts/ready_to_run.h"

/* Most bytes of a map; arguments that a map can describe are below this position. */
#define MAP_BYTES_MAX 4096u
#define POSITION_MAX  4096u
#define MORE_BYTES    0x80u
#define ESCAPE        3u

/* The map of the cell that lies @p rva behind @p base; the table of maps is in its section. */
static uint64_t find_ref_map(const struct runtime *runtime, uint64_t base, uint64_t imports,
			     uint32_t size, uint32_t rva)
{
	for (uint32_t i = 0; i < size / R2R_IMPORT_SIZE && i < R2R_IMPORTS_MAX; i++) {
		uint8_t section[R2R_IMPORT_SIZE];
		if (!memory_read(runtime_memory(runtime), imports + R2R_IMPORT_SIZE * (uint64_t)i,
				 section, sizeof(section)))
			return 0;
		uint32_t begin = load_u32(section), maps = load_u32(section + R2R_IMPORT_MAPS);
		uint8_t entry_size = section[R2R_IMPORT_ENTRY_SIZE];
		if (rva < begin || rva - begin >= load_u32(section + R2R_IMPORT_BYTES) || !maps ||
		    !entry_size)
			continue;
		uint32_t index = (rva - begin) / entry_size, offset = 0;
		uint64_t table = base + maps;
		if (!memory_u32(runtime_memory(runtime),
				table + 4 * (uint64_t)(index / R2R_MAP_STRIDE), &offset))
			return 0;
		uint64_t map = table + offset;
		/* Each map ends with a byte below 0x80. */
		uint32_t skipped = 0;
		for (uint32_t left = index % R2R_MAP_STRIDE; left; map++) {
			uint8_t byte = 0;
			if (!memory_u8(runtime_memory(runtime), map, &byte) ||
			    ++skipped > R2R_MAP_STRIDE * MAP_BYTES_MAX)
				return 0;
			left -= byte < 0x80;
		}
		return map;
	}
	return 0;
}

bool ref_map_open(const struct runtime *runtime, const uint64_t words[3], struct ref_map *ret)
{
	uint64_t map = words[2], info = 0, header = 0, base = 0;
	uint32_t imports = 0, size = 0;
	if (!map && words[0] && coreclr_pointer(runtime, words[0], L_MODULE_R2R, &info) && info &&
	    coreclr_pointer(runtime, info, L_R2R_HEADER, &header) &&
	    coreclr_pointer(runtime, words[0], L_MODULE_BASE, &base) &&
	    coreclr_r2r_section(runtime, header, R2R_IMPORTS, &imports, &size) && words[1] > base &&
	    words[1] - base <= UINT32_MAX) {
		map = find_ref_map(runtime, base, base + imports, size,
				   (uint32_t)(words[1] - base));
	}
	if (!map)
		return false;
	*ret = (struct ref_map){ .memory = runtime_memory(runtime),
				 .next = map,
				 .pending = MORE_BYTES };
	return true;
}

/* Each byte has seven bits; the eighth says whether another byte follows. */
static uint32_t next_bit(struct ref_map *map)
{
	if (map->pending & MORE_BYTES) {
		uint8_t byte = 0;
		map->failed |= map->bytes++ == MAP_BYTES_MAX ||
			       !memory_u8(map->memory, map->next++, &byte);
		map->pending = map->failed ? 0 : byte | (uint32_t)(byte & MORE_BYTES) << 7;
	}
	uint32_t bit = map->pending & 1;
	map->pending >>= 1;
	return bit;
}

/* Three bits at a time; the fourth says whether more follow. */
static uint32_t next_map_number(struct ref_map *map)
{
	uint32_t number = 0;
	for (unsigned int shift = 0; shift < 30; shift += 3) {
		for (unsigned int i = 0; i < 3; i++)
			number |= next_bit(map) << (shift + i);
		if (!next_bit(map))
			return number;
	}
	map->failed = true;
	return 0;
}

bool ref_map_next(struct ref_map *map, struct ref_map_token *ret)
{
	if (map->pending == 0 || map->failed || map->position > POSITION_MAX)
		return false;
	uint32_t kind = next_bit(map);
	kind |= next_bit(map) << 1;
	ret->position = map->position;
	ret->kind = kind;
	if (kind == ESCAPE) {
		uint32_t number = next_map_number(map);
		/* Odd: a kind, 3 or higher; even: this many more words without references. */
		ret->kind = number & 1 ? (number >> 1) + ESCAPE : REF_MAP_SKIP;
		map->position += number & 1 ? 0 : (number >> 1) + ESCAPE;
	}
	map->position++;
	return !map->failed;
}
