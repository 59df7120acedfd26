/* SPDX-License-Identifier: MIT */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mem/memory.h"

#define ELF_IMAGE_NOTES 8u
/** Most program headers that elf_image_programs() reads. */
#define ELF_IMAGE_PROGRAMS 64u
/** So many bytes of a build-id cannot be guessed: linkers make 8, 16 or 20. */
#define BUILD_ID_MIN 8u
/** Most bytes of a build-id. */
#define BUILD_ID_MAX 64u

/** The program headers of a 64-bit ELF image, as far as they are used. */
struct elf_image {
	uint64_t bias;    /**< added to its own addresses (p_vaddr) */
	uint64_t dynamic; /**< address of .dynamic; 0 = none */
	struct elf_image_note {
		uint64_t address, offset; /**< in memory; in the file */
		uint64_t size;
	} notes[ELF_IMAGE_NOTES]; /**< PT_NOTE */
	unsigned int note_count;
};

/** The places of things that .dynamic names: addresses, 0 = absent. */
struct elf_dynamic {
	uint64_t symbols, strings, strings_size;
	uint64_t gnu_hash, hash;
	uint64_t rela, rela_size, relr, relr_size;
	uint64_t debug;  /**< DT_DEBUG: struct r_debug */
	uint64_t soname; /**< offset in strings */
};

/** Read the headers of the image whose ELF header is at @p address; false: there is none. */
bool elf_image_read(struct memory *memory, uint64_t address, struct elf_image *ret);

/**
 * The program headers of the image whose ELF header is at @p address.
 *
 * @return how many are in @p ret: those up to the first that cannot be read; 0: there is no image
 */
size_t elf_image_programs(struct memory *memory, uint64_t address,
			  Elf64_Phdr ret[ELF_IMAGE_PROGRAMS]);

/**
 * Read @p count program headers at @p address.
 *
 * @param header Address of the ELF header; 0 = unknown: taken from PT_PHDR, else just before them.
 */
bool elf_image_read_program(struct memory *memory, uint64_t address, uint64_t count,
			    uint64_t header, struct elf_image *ret);

/** Read .dynamic at @p address of a module with load bias @p bias. */
bool elf_dynamic_read(struct memory *memory, uint64_t bias, uint64_t address,
		      struct elf_dynamic *ret);

/**
 * The build-id of the image, read from memory.
 *
 * @return its bytes, at most BUILD_ID_MAX; 0: none can be read
 */
size_t elf_image_build_id(struct memory *memory, const struct elf_image *image, uint8_t *buf);
