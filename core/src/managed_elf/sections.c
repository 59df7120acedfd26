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
static uint64_t place_sections(struct elf_sections *sections, size_t segments)
{
	uint64_t at = sizeof(Elf64_Ehdr) + segments * sizeof(Elf64_Phdr);
	for (size_t i = 1; i < sections->rows_count; i++) {
		struct elf_section *section = &sections->rows[i];
		if (section->data.failed)
			return 0;
		if (section->header.sh_type == SHT_NOBITS)
			continue;
		at = aligned(at);
		section->header.sh_offset = at;
		section->header.sh_size = section->data.size;
		at += section->data.size;
	}
	/* Sections without bytes are where no segment has some. */
	at = aligned(at);
	for (size_t i = 1; i < sections->rows_count; i++) {
		if (sections->rows[i].header.sh_type == SHT_NOBITS)
			sections->rows[i].header.sh_offset = at;
	}
	return at;
}

static bool has_segment(const struct elf_section *section)
{
	return section->header.sh_flags & SHF_ALLOC;
}

static size_t count_segments(const struct elf_sections *sections)
{
	size_t count = 0;
	for (size_t i = 1; i < sections->rows_count; i++)
		count += has_segment(&sections->rows[i]);
	return count;
}

/* The output, and how much was written. */
struct elf_output {
	const struct managed_elf_output *output;
	uint64_t size;
};

static bool put(struct elf_output *output, const void *bytes, size_t size)
{
	output->size += size;
	return !size || output->output->write(output->output->arg, bytes, size);
}

static bool pad(struct elf_output *output, uint64_t offset)
{
	static const char zeros[ALIGNMENT] = { 0 };
	return put(output, zeros, (size_t)(offset - output->size));
}

static bool put_segment(const Elf64_Shdr *header, struct elf_output *output)
{
	const bool is_code = header->sh_flags & SHF_EXECINSTR;
	const Elf64_Phdr segment = {
		.p_type = PT_LOAD,
		.p_flags = is_code ? PF_R | PF_X : PF_R,
		.p_offset = header->sh_offset,
		.p_vaddr = header->sh_addr,
		.p_paddr = header->sh_addr,
		.p_filesz = is_code ? 0 : header->sh_size,
		.p_memsz = header->sh_size,
		.p_align = 1,
	};
	return put(output, &segment, sizeof(segment));
}

/* A segment for each section with an address, ascending: .eh_frame, which is below all code, and the code, of which the file has no bytes. */
static bool put_segments(const struct elf_sections *sections, struct elf_output *output)
{
	bool is_good = true;
	for (int is_code = 0; is_code < 2; is_code++) {
		for (size_t i = 1; is_good && i < sections->rows_count; i++) {
			const struct elf_section *section = &sections->rows[i];
			const bool has_code = section->header.sh_flags & SHF_EXECINSTR;
			if (has_segment(section) && has_code == (is_code != 0))
				is_good = put_segment(&section->header, output);
		}
	}
	return is_good;
}

static bool put_file(const struct elf_sections *sections, const Elf64_Ehdr *header,
		     struct elf_output *output)
{
	bool is_good = put(output, header, sizeof(*header)) &&
		       (!header->e_phnum || put_segments(sections, output));
	for (size_t i = 1; is_good && i < sections->rows_count; i++) {
		const struct elf_section *section = &sections->rows[i];
		if (section->header.sh_type == SHT_NOBITS)
			continue;
		is_good = pad(output, section->header.sh_offset) &&
			  put(output, section->data.bytes, section->data.size);
	}
	is_good = is_good && pad(output, header->e_shoff);
	for (size_t i = 0; is_good && i < sections->rows_count; i++)
		is_good = put(output, &sections->rows[i].header, sizeof(Elf64_Shdr));
	return is_good;
}

enum hd_status elf_sections_write(struct elf_sections *sections, uint16_t machine,
				  const struct managed_elf_output *output, struct hd_error *err)
{
	struct elf_output written = { .output = output };
	TRY_MEMORY(name_sections(sections), err);
	/* There are at most ELF_SECTIONS_MAX. */
	size_t segments = output->has_segments ? count_segments(sections) : 0;
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_phoff = segments ? sizeof(Elf64_Ehdr) : 0,
		.e_phnum = (uint16_t)segments,
		.e_shoff = place_sections(sections, segments),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (uint16_t)sections->rows_count,
		.e_shstrndx = (uint16_t)(sections->rows_count - 1),
	};
	TRY_MEMORY(header.e_shoff, err);
	return put_file(sections, &header, &written) ? HD_OK : fail_cancelled(err);
}
