/* SPDX-License-Identifier: MIT */
#include "targets/elf_image.h"

#define HEADERS_MAX       512u
#define IMAGE_DYNAMIC_MAX 512u
#define NOTES_SIZE_MAX    65536u
#define NOTES_COUNT_MAX   256u

bool elf_image_read_program(struct memory *memory, uint64_t address, uint64_t count,
			    uint64_t header, struct elf_image *ret)
{
	if (!count || count > HEADERS_MAX)
		return false;
	struct elf_image image = { 0 };
	uint64_t first_vaddr = 0, dynamic = 0, phdr = 0;
	bool has_first = false, has_phdr = false, has_dynamic = false;
	for (uint64_t i = 0; i < count; i++) {
		Elf64_Phdr segment;
		if (!memory_read(memory, address + i * sizeof(segment), &segment, sizeof(segment)))
			return false;
		if (segment.p_type == PT_LOAD && !segment.p_offset && !has_first) {
			has_first = true;
			first_vaddr = segment.p_vaddr;
		} else if (segment.p_type == PT_PHDR) {
			has_phdr = true;
			phdr = segment.p_vaddr;
		} else if (segment.p_type == PT_DYNAMIC) {
			has_dynamic = true;
			dynamic = segment.p_vaddr;
		} else if (segment.p_type == PT_NOTE && image.note_count < ELF_IMAGE_NOTES) {
			image.notes[image.note_count++] =
				(struct elf_image_note){ .address = segment.p_vaddr,
							 .offset = segment.p_offset,
							 .size = segment.p_filesz };
		}
	}
	if (!header && has_phdr) {
		image.bias = address - phdr;
	} else if (has_first) {
		image.bias = (header ? header : address - sizeof(Elf64_Ehdr)) - first_vaddr;
	}
	image.dynamic = has_dynamic ? image.bias + dynamic : 0;
	for (unsigned int i = 0; i < image.note_count; i++)
		image.notes[i].address += image.bias;
	*ret = image;
	return true;
}

static bool read_image_header(struct memory *memory, uint64_t address, Elf64_Ehdr *header)
{
	return memory_read(memory, address, header, sizeof(*header)) &&
	       memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_phentsize == sizeof(Elf64_Phdr);
}

size_t elf_image_programs(struct memory *memory, uint64_t address,
			  Elf64_Phdr ret[ELF_IMAGE_PROGRAMS])
{
	Elf64_Ehdr header;
	if (!read_image_header(memory, address, &header))
		return 0;
	size_t count = header.e_phnum < ELF_IMAGE_PROGRAMS ? header.e_phnum : ELF_IMAGE_PROGRAMS;
	return memory_prefix(memory, address + header.e_phoff, ret, count * sizeof(*ret)) /
	       sizeof(*ret);
}

bool elf_image_read(struct memory *memory, uint64_t address, struct elf_image *ret)
{
	Elf64_Ehdr header;
	if (!read_image_header(memory, address, &header) ||
	    (header.e_type != ET_DYN && header.e_type != ET_EXEC))
		return false;
	return elf_image_read_program(memory, address + header.e_phoff, header.e_phnum, address,
				      ret);
}

/*
 * ld.so of glibc relocates these in place; musl's does not, and the file's own bytes are not
 * relocated.
 */
static uint64_t relocated(uint64_t bias, uint64_t value)
{
	return value && value < bias ? bias + value : value;
}

bool elf_dynamic_read(struct memory *memory, uint64_t bias, uint64_t address,
		      struct elf_dynamic *ret)
{
	struct elf_dynamic dynamic = { 0 };
	for (unsigned int i = 0; i < IMAGE_DYNAMIC_MAX; i++) {
		Elf64_Dyn entry;
		if (!memory_read(memory, address + i * sizeof(entry), &entry, sizeof(entry)))
			return false;
		uint64_t value = entry.d_un.d_val;
		switch (entry.d_tag) {
		case DT_NULL:
			*ret = dynamic;
			return true;
		case DT_SYMTAB:
			dynamic.symbols = relocated(bias, value);
			break;
		case DT_STRTAB:
			dynamic.strings = relocated(bias, value);
			break;
		case DT_STRSZ:
			dynamic.strings_size = value;
			break;
		case DT_GNU_HASH:
			dynamic.gnu_hash = relocated(bias, value);
			break;
		case DT_HASH:
			dynamic.hash = relocated(bias, value);
			break;
		case DT_RELA:
			dynamic.rela = relocated(bias, value);
			break;
		case DT_RELASZ:
			dynamic.rela_size = value;
			break;
		case DT_RELR:
			dynamic.relr = relocated(bias, value);
			break;
		case DT_RELRSZ:
			dynamic.relr_size = value;
			break;
		case DT_DEBUG:
			dynamic.debug = value;
			break;
		case DT_SONAME:
			dynamic.soname = value;
			break;
		default:
			break;
		}
	}
	return false;
}

/* NT_GNU_BUILD_ID among the notes of one PT_NOTE. */
static size_t build_id_of_notes(struct memory *memory, uint64_t address, uint64_t size,
				uint8_t *buf)
{
	uint64_t offset = 0;
	for (unsigned int i = 0; i < NOTES_COUNT_MAX; i++) {
		Elf64_Nhdr note;
		if (size > NOTES_SIZE_MAX || offset > size || size - offset < sizeof(note) ||
		    !memory_read(memory, address + offset, &note, sizeof(note)))
			return 0;
		offset += sizeof(note);
		uint64_t name = ((uint64_t)note.n_namesz + 3) & ~(uint64_t)3;
		uint64_t bytes = ((uint64_t)note.n_descsz + 3) & ~(uint64_t)3;
		char owner[4];
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(owner) &&
		    memory_read(memory, address + offset, owner, sizeof(owner)) &&
		    memcmp(owner, "GNU", sizeof(owner)) == 0) {
			if (!note.n_descsz || note.n_descsz > BUILD_ID_MAX ||
			    !memory_read(memory, address + offset + name, buf, note.n_descsz))
				return 0;
			return note.n_descsz;
		}
		offset += name + bytes;
	}
	return 0;
}

size_t elf_image_build_id(struct memory *memory, const struct elf_image *image, uint8_t *buf)
{
	for (unsigned int i = 0; i < image->note_count; i++) {
		const struct elf_image_note *note = &image->notes[i];
		size_t size = build_id_of_notes(memory, note->address, note->size, buf);
		if (size)
			return size;
	}
	return 0;
}
