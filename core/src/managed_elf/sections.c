/* SPDX-License-Identifier: MIT */
#include "managed_elf/sections.h"

#include <stdio.h>

#include "util/alloc.h"
#include "util/job.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "the structures of elf.h are the bytes of the file");

#define ALIGNMENT 8u

void elf_sections_deinit(struct elf_sections *sections)
{
	for (size_t i = 0; i < sections->rows_count; i++)
		text_deinit(&sections->rows[i].data);
	pages_free(sections->rows, sections->rows_capacity, sizeof(*sections->rows));
	*sections = (struct elf_sections){ 0 };
}

struct elf_section *elf_section_add(struct elf_sections *sections, const char *name, uint32_t type,
				    uint64_t flags)
{
	if (!PAGES_RESERVE(sections, rows))
		return NULL;
	struct elf_section *section = &sections->rows[sections->rows_count++];
	*section = (struct elf_section){
		.header = { .sh_type = type, .sh_flags = flags, .sh_addralign = type ? 1 : 0 }
	};
	(void)snprintf(section->name, sizeof(section->name), "%s", name);
	return section;
}

static uint64_t aligned(uint64_t offset)
{
	return (offset + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

/* Give each section its name; false when memory is exhausted. */
static bool name_sections(struct elf_sections *sections)
{
	struct elf_section *names = elf_section_add(sections, ".shstrtab", SHT_STRTAB, 0);
	if (!names)
		return false;
	text_append(&names->data, "", 1);
	for (size_t i = 1; i < sections->rows_count; i++) {
		struct elf_section *section = &sections->rows[i];
		section->header.sh_name = (uint32_t)names->data.size;
		text_append(&names->data, section->name, strlen(section->name) + 1);
	}
	return !names->data.failed;
}

/* Give each section its offset; @return where the table of the sections begins; 0: memory was exhausted. */
static uint64_t place_sections(struct elf_sections *sections)
{
	uint64_t at = sizeof(Elf64_Ehdr);
	for (size_t i = 1; i < sections->rows_count; i++) {
		struct elf_section *section = &sections->rows[i];
		if (section->data.failed)
			return 0;
		at = aligned(at);
		section->header.sh_offset = at;
		if (section->header.sh_type != SHT_NOBITS)
			section->header.sh_size = section->data.size;
		at += section->data.size;
	}
	return aligned(at);
}

/* The output, and how much was written. */
struct elf_output {
	managed_elf_write_fn write;
	void *arg;
	uint64_t size;
};

static bool put(struct elf_output *output, const void *bytes, size_t size)
{
	output->size += size;
	return !size || output->write(output->arg, bytes, size);
}

static bool pad(struct elf_output *output, uint64_t offset)
{
	static const char zeros[ALIGNMENT] = { 0 };
	return put(output, zeros, (size_t)(offset - output->size));
}

static bool put_file(const struct elf_sections *sections, const Elf64_Ehdr *header,
		     struct elf_output *output)
{
	bool is_good = put(output, header, sizeof(*header));
	for (size_t i = 1; is_good && i < sections->rows_count; i++) {
		const struct elf_section *section = &sections->rows[i];
		is_good = pad(output, section->header.sh_offset) &&
			  put(output, section->data.bytes, section->data.size);
	}
	is_good = is_good && pad(output, header->e_shoff);
	for (size_t i = 0; is_good && i < sections->rows_count; i++)
		is_good = put(output, &sections->rows[i].header, sizeof(Elf64_Shdr));
	return is_good;
}

enum hd_status elf_sections_write(struct elf_sections *sections, uint16_t machine,
				  managed_elf_write_fn write, void *arg, struct hd_error *err)
{
	struct elf_output output = { .write = write, .arg = arg };
	TRY_MEMORY(name_sections(sections), err);
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_shoff = place_sections(sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (uint16_t)sections->rows_count,
		.e_shstrndx = (uint16_t)(sections->rows_count - 1),
	};
	TRY_MEMORY(header.e_shoff, err);
	return put_file(sections, &header, &output) ? HD_OK : fail_cancelled(err);
}
