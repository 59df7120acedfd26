/* SPDX-License-Identifier: MIT */
#pragma once

#include <gelf.h>

#include "targets/core/core_headers.h"

/**
 * The notes of a core, copied out of the file one segment after the other, for libelf: one piece,
 * because libelf keeps a list of all pieces that it was asked for, and searches it each time.
 */
struct note_copy {
	uint8_t *bytes; /**< an ELF header, then the segments */
	size_t size;
	Elf *elf;
	Elf_Data *data; /**< all of bytes */
	size_t begin;   /**< of the segment that is read, in bytes */
	size_t next;    /**< where the segment after it begins */
};

/** One note of a copy. */
struct note_place {
	GElf_Nhdr header;
	const uint8_t *name, *bytes; /**< header.n_namesz and header.n_descsz bytes */
};

/**
 * Copy the segments of @p headers, which do not overlap.
 *
 * @param target The memory counts against its options.max_mem.
 * @param[out] ret To be given to note_copy_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status note_copy_make(struct target *target, const struct mapped_file *file,
					   const struct core_headers *headers,
					   struct note_copy *ret, struct hd_error *err);
void note_copy_deinit(struct note_copy *copy);

/** Go on to the next segment, which has @p size bytes: they come in the order of the list. */
void note_copy_turn(struct note_copy *copy, uint64_t size);

/**
 * Read the note at @p offset of the segment, which has @p size bytes.
 *
 * @return where the next one begins; 0: the note is larger than the rest of the segment
 */
uint64_t note_copy_read(const struct note_copy *copy, uint64_t size, uint64_t offset,
			struct note_place *ret);
