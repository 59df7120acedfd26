/* SPDX-License-Identifier: MIT */
/* The sections of an ELF file, and the file that they make. */
#pragma once

#include <elf.h>

#include "managed_elf/managed_elf.h"
#include "util/text.h"

/** Most sections of a file; numbers from SHN_LORESERVE on have other meanings. */
#define ELF_SECTIONS_MAX 0x8000u

struct elf_section {
	Elf64_Shdr header; /**< its name and offset are set when the file is written */
	char name[32];
	struct text data; /**< empty for SHT_NOBITS, whose size is in the header */
};

struct elf_sections {
	struct elf_section *rows; /**< row 0 is the section that does not exist */
	size_t rows_count, rows_capacity;
};
void elf_sections_deinit(struct elf_sections *sections);

/** Append one; NULL when memory is exhausted.  Valid until the next is appended. */
struct elf_section *elf_section_add(struct elf_sections *sections, const char *name, uint32_t type,
				    uint64_t flags);

/**
 * Write the file: the header, the segments if they are wanted, the data of the sections, the table of the sections.  The
 * table of their names is appended as the last section.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED the output took no more
 */
HD_NODISCARD enum hd_status elf_sections_write(struct elf_sections *sections, uint16_t machine,
					       const struct managed_elf_output *output,
					       struct hd_error *err);
