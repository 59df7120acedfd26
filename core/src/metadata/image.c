/* SPDX-License-Identifier: MIT */
#include "metadata/image.h"

#include <string.h>

#include "mem/pe_headers.h"

/* Parts of a PE image (PE/COFF specification; ECMA-335 II.25). */
#define SECTION_SIZE     40u
#define DEBUG_DIRECTORY  6u
#define CLI_DIRECTORY    14u
#define CLI_METADATA     8u /* of the CLI header: RVA, size */
#define CLI_ENTRY_POINT  20u
#define PE32_DIRECTORIES 96u
#define PE64_DIRECTORIES 112u

/* IMAGE_DEBUG_DIRECTORY, and what one of CodeView leads to: "RSDS", GUID, age, path. */
#define DEBUG_ENTRY_SIZE  28u
#define DEBUG_ENTRIES_MAX 64u
#define DEBUG_CODE_VIEW   2u
#define CODE_VIEW_RSDS    0x53445352u
#define CODE_VIEW_SIZE    24u
/* Longest path that is read; minor version of an entry about a portable PDB; a PDB inside. */
#define CODE_VIEW_PATH_MAX 4096u
#define MINOR_PORTABLE     0x504du
#define DEBUG_EMBEDDED     17u
#define EMBEDDED_MPDB      0x4244504du
#define EMBEDDED_HEAD      8u

struct headers {
	struct memory *memory;
	uint64_t base;
	uint64_t sections; /* address of the section table */
	unsigned int section_count;
	bool is_mapped;
	uint32_t image_size;
};

/* Address of [rva, rva + size). */
static bool locate(const struct headers *headers, uint32_t rva, uint32_t size, uint64_t *ret)
{
	if (headers->is_mapped) {
		*ret = headers->base + rva;
		return rva <= headers->image_size && size <= headers->image_size - rva;
	}
	for (unsigned int i = 0; i < headers->section_count; i++) {
		uint8_t row[SECTION_SIZE];
		if (!memory_read(headers->memory, headers->sections + (uint64_t)i * SECTION_SIZE,
				 row, sizeof(row)))
			return false;
		uint32_t start = load_u32(row + 12), raw_size = load_u32(row + 16);
		if (rva < start || rva - start >= raw_size)
			continue;
		*ret = headers->base + load_u32(row + 20) + (rva - start);
		return size <= raw_size - (rva - start);
	}
	return false;
}

/* Read the headers; @p ret_directory gets the address of the CLI header's data directory. */
static bool read_headers(struct headers *headers, struct image *image, uint64_t *ret_directory)
{
	struct memory *memory = headers->memory;
	struct pe_headers pe;
	uint32_t directory_count;
	if (!pe_headers_read(memory, headers->base, &pe) ||
	    (pe.magic != PE_MAGIC_32 && pe.magic != PE_MAGIC_64))
		return false;
	image->timestamp = pe.timestamp;
	image->image_size = headers->image_size = pe.image_size;
	headers->section_count = pe.section_count;
	headers->sections = pe.sections;
	uint64_t directory =
		pe.optional + (pe.magic == PE_MAGIC_64 ? PE64_DIRECTORIES : PE32_DIRECTORIES);
	*ret_directory = directory + (uint64_t)CLI_DIRECTORY * 8;
	return memory_u32(memory, directory - 4, &directory_count) &&
	       directory_count > CLI_DIRECTORY;
}

bool image_find_metadata(struct memory *memory, uint64_t base, bool is_mapped, struct image *ret)
{
	struct headers headers = { .memory = memory, .base = base, .is_mapped = is_mapped };
	struct image image = { .is_mapped = is_mapped };
	uint64_t directory, cli;
	uint32_t cli_rva, rva;
	if (!read_headers(&headers, &image, &directory) ||
	    !memory_u32(memory, directory, &cli_rva) || !cli_rva ||
	    !locate(&headers, cli_rva, CLI_METADATA + 8, &cli) ||
	    !memory_u32(memory, cli + CLI_METADATA, &rva) ||
	    !memory_u32(memory, cli + CLI_METADATA + 4, &image.metadata_size) ||
	    !locate(&headers, rva, image.metadata_size, &image.metadata))
		return false;
	if (!memory_u32(memory, cli + CLI_ENTRY_POINT, &image.entry_point))
		image.entry_point = 0;
	*ret = image;
	return true;
}

bool image_locate(struct memory *memory, uint64_t base, bool is_mapped, uint32_t rva, uint32_t size,
		  uint64_t *ret)
{
	struct headers headers = { .memory = memory, .base = base, .is_mapped = is_mapped };
	struct image image = { 0 };
	uint64_t directory;
	return read_headers(&headers, &image, &directory) && locate(&headers, rva, size, ret);
}

/* Does an entry of the debug directory name that PDB? */
static bool is_code_view(const struct headers *headers, const uint8_t *entry, const uint8_t *guid,
			 uint32_t age)
{
	uint8_t bytes[CODE_VIEW_SIZE];
	uint64_t address;
	return load_u32(entry + 12) == DEBUG_CODE_VIEW && load_u32(entry + 16) >= CODE_VIEW_SIZE &&
	       locate(headers, load_u32(entry + 20), CODE_VIEW_SIZE, &address) &&
	       memory_read(headers->memory, address, bytes, sizeof(bytes)) &&
	       load_u32(bytes) == CODE_VIEW_RSDS && memcmp(bytes + 4, guid, IMAGE_GUID_SIZE) == 0 &&
	       load_u32(bytes + 4 + IMAGE_GUID_SIZE) == age;
}

/* The debug directory, and how many entries of it are read; 0: there is none. */
static uint32_t find_debug_entries(struct headers *headers, uint64_t *ret)
{
	struct image image = { 0 };
	uint64_t directory;
	uint32_t rva, size;
	if (!read_headers(headers, &image, &directory))
		return 0;
	directory -= (uint64_t)(CLI_DIRECTORY - DEBUG_DIRECTORY) * 8;
	if (!memory_u32(headers->memory, directory, &rva) ||
	    !memory_u32(headers->memory, directory + 4, &size) || !rva ||
	    !locate(headers, rva, size, ret))
		return 0;
	uint32_t count = size / DEBUG_ENTRY_SIZE;
	return count < DEBUG_ENTRIES_MAX ? count : DEBUG_ENTRIES_MAX;
}

static bool read_debug_entry(const struct headers *headers, uint64_t entries, uint32_t index,
			     uint8_t entry[DEBUG_ENTRY_SIZE])
{
	return memory_read(headers->memory, entries + (uint64_t)index * DEBUG_ENTRY_SIZE, entry,
			   DEBUG_ENTRY_SIZE);
}

bool image_has_pdb(struct memory *memory, uint64_t base, bool is_mapped, const uint8_t *guid,
		   uint32_t age)
{
	struct headers headers = { .memory = memory, .base = base, .is_mapped = is_mapped };
	uint64_t entries;
	uint32_t count = find_debug_entries(&headers, &entries);
	for (uint32_t i = 0; i < count; i++) {
		uint8_t entry[DEBUG_ENTRY_SIZE];
		if (read_debug_entry(&headers, entries, i, entry) &&
		    is_code_view(&headers, entry, guid, age))
			return true;
	}
	return false;
}

/* The last part of a path, which may have slashes of both kinds; false when it is not a name. */
static bool take_file_name(const char *path, size_t size, char ret[IMAGE_PDB_NAME_SIZE])
{
	size_t length = strnlen(path, size), begin = length;
	while (begin && path[begin - 1] != '/' && path[begin - 1] != '\\')
		begin--;
	const char *name = path + begin;
	if (length == size || length - begin >= IMAGE_PDB_NAME_SIZE || !*name ||
	    strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return false;
	memcpy(ret, name, length - begin + 1);
	return true;
}

/* Take the id and name from an entry of CodeView that is about a portable PDB. */
static bool take_portable(const struct headers *headers, const uint8_t *entry,
			  struct image_pdb *ret)
{
	char bytes[CODE_VIEW_SIZE + CODE_VIEW_PATH_MAX];
	uint32_t size = load_u32(entry + 16);
	uint64_t address;
	if (load_u32(entry + 12) != DEBUG_CODE_VIEW || load_u16(entry + 10) != MINOR_PORTABLE ||
	    size <= CODE_VIEW_SIZE || !locate(headers, load_u32(entry + 20), size, &address))
		return false;
	size = size < sizeof(bytes) ? size : (uint32_t)sizeof(bytes);
	if (!memory_read(headers->memory, address, bytes, size) ||
	    load_u32((const uint8_t *)bytes) != CODE_VIEW_RSDS ||
	    !take_file_name(bytes + CODE_VIEW_SIZE, size - CODE_VIEW_SIZE, ret->name))
		return false;
	memcpy(ret->id, bytes + 4, IMAGE_GUID_SIZE);
	memcpy(ret->id + IMAGE_GUID_SIZE, entry + 4, IMAGE_PDB_ID_SIZE - IMAGE_GUID_SIZE);
	return true;
}

/* "MPDB", u32 bytes of the PDB, then those bytes as raw deflate. */
static void take_embedded(const struct headers *headers, const uint8_t *entry,
			  struct image_pdb *ret)
{
	uint32_t size = load_u32(entry + 16), magic;
	uint64_t address;
	if (load_u32(entry + 12) != DEBUG_EMBEDDED)
		return;
	ret->is_embedded = true;
	if (ret->packed || size <= EMBEDDED_HEAD ||
	    !locate(headers, load_u32(entry + 20), size, &address) ||
	    !memory_u32(headers->memory, address, &magic) || magic != EMBEDDED_MPDB ||
	    !memory_u32(headers->memory, address + 4, &ret->unpacked_size))
		return;
	ret->packed = address + EMBEDDED_HEAD;
	ret->packed_size = size - EMBEDDED_HEAD;
}

bool image_find_pdb(struct memory *memory, uint64_t base, bool is_mapped, struct image_pdb *ret)
{
	struct headers headers = { .memory = memory, .base = base, .is_mapped = is_mapped };
	struct image_pdb found = { 0 };
	uint64_t entries;
	uint32_t count = find_debug_entries(&headers, &entries);
	for (uint32_t i = 0; i < count; i++) {
		uint8_t entry[DEBUG_ENTRY_SIZE];
		if (!read_debug_entry(&headers, entries, i, entry))
			continue;
		take_embedded(&headers, entry, &found);
		found.is_portable = found.is_portable || take_portable(&headers, entry, &found);
	}
	if (!found.is_portable && !found.is_embedded)
		return false;
	*ret = found;
	return true;
}
