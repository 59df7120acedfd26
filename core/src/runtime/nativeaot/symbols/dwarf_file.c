/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/symbols/dwarf_file.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>

#include "mem/memory.h"
#include "targets/elf_file.h"
#include "targets/target.h"

/*
 * Linked files have some 50 sections.  libdw looks at the whole table of names for each of them.
 */
#define SECTIONS_MAX      1024u
#define SECTION_NAMES_MAX 65536u
/* zlib makes at most this of a byte. */
#define ZLIB_RATIO 1032u
/* The compiler's object file is the first that is linked, but for those of the C library. */
#define UNITS_MAX 16u
/*
 * Kinds of entries of one unit, and attributes of each kind: compilers have some 100, numbered from 1, with at most
 * 20.  libdw keeps them in a hash table, and looks at all attributes of an entry to find one, or the next entry.
 */
#define KINDS_MAX      4096u
#define ATTRIBUTES_MAX 64u

#define UNIT_HEADER_MAX 12u

#define PRODUCER "NetRuntime"

static bool begins_with(const char *name, const char *begin)
{
	return strncmp(name, begin, strlen(begin)) == 0;
}

/* The bytes that one section needs when it is unpacked; UINT64_MAX: it is not read. */
static uint64_t unpacked_size(Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
	GElf_Chdr packed;
	if (begins_with(name, ".zdebug"))
		return UINT64_MAX;
	if (!(header->sh_flags & SHF_COMPRESSED))
		return 0;
	if (!begins_with(name, ".debug_") || !gelf_getchdr(section, &packed) ||
	    packed.ch_type != ELFCOMPRESS_ZLIB || packed.ch_size / ZLIB_RATIO > header->sh_size)
		return UINT64_MAX;
	return packed.ch_size;
}

static const char *name_of(const Elf_Data *names, const GElf_Shdr *header)
{
	const char *bytes = names->d_buf;
	if (header->sh_name >= names->d_size)
		return NULL;
	const char *name = bytes + header->sh_name;
	return memchr(name, 0, names->d_size - header->sh_name) ? name : NULL;
}

static const Elf_Data *section_names(Elf *elf)
{
	GElf_Shdr header;
	size_t index = 0;
	Elf_Scn *section = elf_getshdrstrndx(elf, &index) == 0 ? elf_getscn(elf, index) : NULL;
	if (!section || !gelf_getshdr(section, &header) || header.sh_flags & SHF_COMPRESSED ||
	    header.sh_type == SHT_NOBITS || header.sh_size > SECTION_NAMES_MAX)
		return NULL;
	const Elf_Data *names = elf_getdata(section, NULL);
	return names && names->d_buf ? names : NULL;
}

/* May libdw see the sections of this file? */
static bool sections_are_good(struct target *target, Elf *elf, const char **ret_why)
{
	GElf_Ehdr header;
	size_t count = 0;
	uint64_t total = 0;
	*ret_why = "has sections that cannot be read";
	const Elf_Data *names = section_names(elf);
	if (!gelf_getehdr(elf, &header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type == ET_REL || !names ||
	    elf_getshdrnum(elf, &count) != 0 || count > SECTIONS_MAX)
		return false;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr row;
		const char *name = gelf_getshdr(section, &row) ? name_of(names, &row) : NULL;
		if (!name)
			return false;
		uint64_t size = unpacked_size(section, &row, name);
		if (size == UINT64_MAX) {
			*ret_why =
				"has sections that are packed in a way that is not read: objcopy "
				"--decompress-debug-sections unpacks them";
			return false;
		}
		total += size;
	}
	*ret_why = "needs too much memory";
	return target_reserve(target, total, 1, NULL) == HD_OK;
}

const Elf_Data *dwarf_file_section(const struct dwarf_file *file, const char *name)
{
	const Elf_Data *names = section_names(file->elf);
	for (Elf_Scn *section = NULL; names && (section = elf_nextscn(file->elf, section));) {
		GElf_Shdr header;
		const char *at = gelf_getshdr(section, &header) ? name_of(names, &header) : NULL;
		if (at && strcmp(at, name) == 0 && header.sh_type != SHT_NOBITS) {
			const Elf_Data *data = elf_getdata(section, NULL);
			return data && data->d_buf ? data : NULL;
		}
	}
	return NULL;
}

struct uleb_reader {
	const uint8_t *at, *end;
	bool is_over;
};

static uint64_t read_uleb(struct uleb_reader *reader)
{
	uint64_t value = 0;
	for (unsigned int shift = 0; reader->at < reader->end && shift < 63; shift += 7) {
		uint8_t byte = *reader->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	reader->is_over = true;
	return 0;
}

/* Are there as few kinds of entries and attributes as compilers make? */
static bool kinds_are_few(const struct dwarf_file *file, uint64_t offset)
{
	const Elf_Data *data = dwarf_file_section(file, ".debug_abbrev");
	if (!data || offset >= data->d_size)
		return false;
	const uint8_t *bytes = data->d_buf;
	struct uleb_reader reader = { bytes + offset, bytes + data->d_size, false };
	for (unsigned int count = 0; count < KINDS_MAX; count++) {
		uint64_t code = read_uleb(&reader), name, form;
		unsigned int attributes = 0;
		if (!code || code > KINDS_MAX)
			return !code && !reader.is_over;
		(void)read_uleb(&reader);
		reader.at += reader.at < reader.end;
		do {
			name = read_uleb(&reader);
			form = read_uleb(&reader);
			if (form == DW_FORM_implicit_const)
				(void)read_uleb(&reader);
			if (reader.is_over || ++attributes > ATTRIBUTES_MAX)
				return false;
		} while (name || form);
	}
	return false;
}

static bool is_compilers(Dwarf_Die *unit)
{
	const char *producer = dwarf_string_of(unit, DW_AT_producer);
	return dwarf_tag(unit) == DW_TAG_compile_unit && producer &&
	       strcmp(producer, PRODUCER) == 0;
}

/*
 * The header of the unit at @p at of .debug_info: u32 length, u16 version, then u32 offset in .debug_abbrev and u8 bytes of an
 * address, since version 5 u8 kind of unit, u8 bytes of an address, and the offset (DWARF 4, 7.5.1.1; DWARF 5, 7.5.1).
 */
struct unit_header {
	uint64_t size, next; /* of the header; where the next unit begins */
	uint32_t kinds;      /* offset in .debug_abbrev */
};

/* false: there is none, or it is of a kind that is not read. */
static bool read_header(const Elf_Data *info, uint64_t at, struct unit_header *ret)
{
	const uint8_t *bytes = (const uint8_t *)info->d_buf + at;
	if (info->d_size > UINT32_MAX || at >= info->d_size || info->d_size - at < UNIT_HEADER_MAX)
		return false;
	uint32_t length = load_u32(bytes);
	uint16_t version = load_u16(bytes + 4);
	bool is_new = version >= 5;
	uint8_t kind = is_new ? bytes[6] : DW_UT_compile;
	uint8_t address = is_new ? bytes[7] : bytes[10];
	*ret = (struct unit_header){ .size = is_new ? 12 : 11,
				     .next = at + 4 + length,
				     .kinds = load_u32(bytes + (is_new ? 8 : 6)) };
	return version >= 2 && version <= 5 && kind == DW_UT_compile && address == 8 &&
	       length <= info->d_size - at - 4;
}

static bool find_unit(struct dwarf_file *file)
{
	const Elf_Data *info = dwarf_file_section(file, ".debug_info");
	struct unit_header header;
	uint64_t at = 0;
	for (unsigned int i = 0; info && i < UNITS_MAX && read_header(info, at, &header); i++) {
		if (kinds_are_few(file, header.kinds) &&
		    dwarf_offdie(file->dwarf, at + header.size, &file->unit) &&
		    is_compilers(&file->unit))
			return true;
		at = header.next;
	}
	return false;
}

void dwarf_file_close(struct dwarf_file *file)
{
	if (file->dwarf)
		(void)dwarf_end(file->dwarf);
	if (file->elf)
		(void)elf_end(file->elf);
	debug_bytes_deinit(&file->debug);
	*file = (struct dwarf_file){ 0 };
}

bool dwarf_file_open(struct target *target, struct debug_bytes *debug, struct dwarf_file *ret,
		     const char **ret_why)
{
	struct dwarf_file file = { 0 };
	file.elf = elf_of_bytes(debug->bytes, debug->size);
	bool is_open = file.elf && sections_are_good(target, file.elf, ret_why);
	if (is_open) {
		*ret_why = "has DWARF that cannot be read";
		file.dwarf = dwarf_begin_elf(file.elf, DWARF_C_READ, NULL);
		is_open = file.dwarf != NULL;
	}
	if (is_open) {
		*ret_why = "has no DWARF of the .NET compiler";
		is_open = find_unit(&file);
	}
	if (!is_open) {
		dwarf_file_close(&file);
		return false;
	}
	file.debug = *debug;
	*debug = (struct debug_bytes){ 0 };
	*ret = file;
	return true;
}

const char *dwarf_string_of(Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Attribute value;
	if (!dwarf_attr(die, attribute, &value))
		return NULL;
	/* Other forms are in other files, which libdw would open. */
	unsigned int form = dwarf_whatform(&value);
	if (form != DW_FORM_string && form != DW_FORM_strp && form != DW_FORM_line_strp)
		return NULL;
	const char *text = dwarf_formstring(&value);
	return text && strnlen(text, DWARF_NAME_MAX + 1) <= DWARF_NAME_MAX ? text : NULL;
}

bool dwarf_number_of(Dwarf_Die *die, unsigned int attribute, uint64_t *ret)
{
	Dwarf_Attribute value;
	Dwarf_Word word = 0;
	if (!dwarf_attr(die, attribute, &value) || dwarf_formudata(&value, &word) != 0)
		return false;
	*ret = word;
	return true;
}

uint32_t dwarf_reference_of(Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Attribute value;
	Dwarf_Die to;
	if (!dwarf_attr(die, attribute, &value))
		return 0;
	unsigned int form = dwarf_whatform(&value);
	if (form != DW_FORM_ref1 && form != DW_FORM_ref2 && form != DW_FORM_ref4 &&
	    form != DW_FORM_ref8 && form != DW_FORM_ref_udata)
		return 0;
	return dwarf_formref_die(&value, &to) ? (uint32_t)dwarf_dieoffset(&to) : 0;
}
