/* SPDX-License-Identifier: MIT */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/elf_image.h"

/*
 * ELF files, which libelf reads: of any class and byte order.
 *
 * libelf reads some fields twice, and trusts that they stay the same.  A mapped file can change in
 * between, or shrink.  So libelf gets bytes that were copied before, or a descriptor, from which it
 * copies them itself.
 */

/**
 * Read the ELF header in the first bytes of a file.
 *
 * @return false: these bytes have none, or the file ends within it
 */
bool elf_header_read(const uint8_t *bytes, uint64_t size, GElf_Ehdr *ret);

/**
 * The ELF file in @p bytes, which nobody else changes, and which stay until elf_end(); NULL: it is
 * not one, or memory is exhausted.
 */
Elf *elf_of_bytes(uint8_t *bytes, size_t size);

/** An ELF file that is open. */
struct elf_file {
	Elf *elf;
	int fd; /**< borrowed */
};

/**
 * Open the ELF file behind @p fd, which stays the caller's and must stay open.
 *
 * @param[out] ret To be given to elf_file_close(); untouched on failure.
 * @return false: it is not an ELF file, or memory is exhausted
 */
bool elf_file_open(int fd, struct elf_file *ret);
void elf_file_close(struct elf_file *file);

/** The first ELF_IMAGE_NOTES of the PT_NOTE; their addresses are as in the file, without a bias. */
unsigned int elf_file_notes(const struct elf_file *file,
			    struct elf_image_note ret[ELF_IMAGE_NOTES]);

/**
 * The content of the first section with that name, if it has at most @p most bytes; NULL: there is
 * none, or it cannot be read.  Belongs to @p file.
 */
const Elf_Data *elf_file_section(const struct elf_file *file, const char *name, uint64_t most);

/** Has it a section with that name, and bytes for it? */
bool elf_file_has_section(const struct elf_file *file, const char *name);

/** The build-id: its bytes go to @p buf, at most BUILD_ID_MAX; @return how many; 0: it has none. */
size_t elf_file_build_id(const struct elf_file *file, uint8_t *buf);
