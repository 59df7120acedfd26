/* SPDX-License-Identifier: MIT */
#pragma once

#include "arch/arch.h"
#include "targets/target.h"
#include "util/text.h"

/*
 * ELF cores and images built in code.
 *
 *	struct elf_maker maker;
 *	elf_maker_init(&maker);
 *	elf_maker_load(&maker, 0x10000, bytes, size, size, PF_R | PF_W);
 *	elf_maker_thread(&maker, 42, NULL, 11);
 *	struct target *target = elf_maker_open(&maker, NULL);
 *	...
 *	target_destroy(target);
 *	elf_maker_deinit(&maker);
 *
 * Nothing is checked: lies are what it is for.  What the functions cannot do is patched into the
 * bytes of elf_maker_build(): program header 0 is the PT_NOTE (if there are notes), then the loads
 * follow in the order in which they were added.
 */

#define MAKER_EHDR    64u
#define MAKER_PHDR(i) (MAKER_EHDR + 56u * (i))

struct maker_load {
	uint64_t vaddr, filesz, memsz;
	uint32_t flags;
	uint8_t *bytes;  /**< filesz, or NULL: only its header */
	uint64_t offset; /**< in the file; filled by elf_maker_build() */
};

struct maker_file {
	uint64_t start, end, offset;
	char *path;
};

struct elf_maker {
	const struct arch *arch; /**< of its threads and file: x86-64 */
	uint16_t type, machine;  /**< ET_CORE; 0: that of arch */
	uint8_t class, data;     /**< ELFCLASS64, ELFDATA2LSB */
	uint64_t align;          /**< of segments in the file: 4096 */
	uint64_t skew;           /**< and what is added to that: 0; as gcore: not 0 */
	bool with_xnum;          /**< PN_XNUM, the number in section header 0 at the end */
	bool notes_last;         /**< as gcore does: after the loads */
	struct maker_load *loads;
	size_t load_count;
	struct maker_file *files; /**< become NT_FILE */
	size_t file_count;
	uint64_t file_unit;                /**< of offsets in NT_FILE: 1 */
	struct text notes;                 /**< the others, as bytes */
	uint64_t notes_offset, notes_size; /**< in the file; filled by elf_maker_build() */
};

void elf_maker_init(struct elf_maker *maker);
void elf_maker_deinit(struct elf_maker *maker);

/** A PT_LOAD.  @p bytes are copied; NULL: a header whose bytes are not in the file. */
void elf_maker_load(struct elf_maker *maker, uint64_t vaddr, const void *bytes, uint64_t filesz,
		    uint64_t memsz, uint32_t flags);

void elf_maker_note(struct elf_maker *maker, const char *name, uint32_t type, const void *desc,
		    size_t size);
/** NT_PRSTATUS; @p registers (the kernel's words) may be NULL: zeros. */
void elf_maker_thread(struct elf_maker *maker, int32_t tid, const uint64_t *registers, int signal);
/** NT_PRPSINFO. */
void elf_maker_process(struct elf_maker *maker, int32_t pid, const char *name,
		       const char *arguments);
/** NT_AUXV of @p count pairs. */
void elf_maker_auxv(struct elf_maker *maker, const uint64_t (*pairs)[2], size_t count);
/** A row of NT_FILE. */
void elf_maker_file(struct elf_maker *maker, uint64_t start, uint64_t end, uint64_t offset,
		    const char *path);

/** The core's bytes; to be given to text_deinit(). */
struct text elf_maker_build(struct elf_maker *maker);

/** Open a core of these bytes, or of what elf_maker_build() gives; a failure fails the test. */
enum hd_status core_open_bytes(const void *bytes, size_t size, const struct target_options *options,
			       struct target **ret, struct hd_error *err);
struct target *elf_maker_open(struct elf_maker *maker, const struct target_options *options);

/** Write a file; false when it cannot be. */
bool write_file(const char *path, const void *bytes, size_t size);

/* Images: the bytes of a shared library, whose offsets in the file are its addresses. */

/** Where images have their .dynamic and their PT_NOTE. */
#define IMAGE_DYNAMIC 0x400u
#define IMAGE_NOTE    0x300u

struct image_symbol {
	const char *name;
	uint64_t value, size; /**< value: without the base */
};

struct image_pointer {
	uint64_t offset, addend; /**< RELATIVE: at base + offset stands base + addend */
};

struct image_spec {
	uint64_t base; /**< where it is loaded */
	const char *soname;
	const char *build_id; /**< up to 20 bytes of text; NULL: none */
	const struct image_symbol *symbols;
	size_t symbol_count;
	bool are_functions;  /**< else objects */
	bool with_sysv_hash; /**< DT_HASH in place of DT_GNU_HASH */
	const struct image_pointer *rela;
	size_t rela_count;
	const uint64_t *relr; /**< words of the DT_RELR table */
	size_t relr_count;
	uint64_t debug;   /**< DT_DEBUG; 0: none */
	uint64_t data_at; /**< offset of data; at least IMAGE_TABLES_END */
	const void *data; /**< as in the file, before relocation */
	size_t data_size;
};

/** Tables of some dozens of symbols end here. */
#define IMAGE_TABLES_END 0x3000u

/**
 * The image's bytes, a multiple of 4096.
 *
 * @param is_loaded As glibc's ld.so leaves it: .dynamic and RELATIVE pointers with the base added.
 */
struct text image_make(const struct image_spec *spec, bool is_loaded);

struct link_row {
	uint64_t base, dynamic;
	const char *path;
};

/**
 * struct r_debug at @p address (what DT_DEBUG is to be), struct link_map of each row after it.
 *
 * @param last_next l_next of the last: 0, or the address of one (link_row_address()) for a cycle
 */
void elf_maker_link_map(struct elf_maker *maker, uint64_t address, const struct link_row *rows,
			size_t count, uint64_t last_next);
/** Where elf_maker_link_map() puts row @p index. */
uint64_t link_row_address(uint64_t address, size_t index);
