/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UNWIND_CFI_IMAGE_H
#define HEAPDUMP_SRC_UNWIND_CFI_IMAGE_H

#include "targets/target.h"

/** The binary search table of an ELF image's .eh_frame_hdr, which stays where it is. */
struct cfi_image {
	uint64_t begin, end;   /**< of its PT_LOADs */
	uint64_t header;       /**< address of .eh_frame_hdr */
	uint64_t table, count; /**< its rows; none: it has no such table, or one not known here */
	uint8_t encoding;      /**< of the rows' two pointers */
	uint8_t width;         /**< of each */
};

/** Zero-initialised is empty. */
struct cfi_images {
	struct cfi_image *rows;
	size_t rows_count, rows_capacity;
	size_t last; /**< index of the one found last */
};

void cfi_images_deinit(struct cfi_images *images);

/** The image that holds @p address; NULL: none, or memory is exhausted.  Good until the next call. */
const struct cfi_image *cfi_images_find(struct cfi_images *images, const struct target *target,
					uint64_t address);

/** Address of the FDE that the table has for @p pc; false: none. */
bool cfi_image_fde(struct memory *memory, const struct cfi_image *image, uint64_t pc,
		   uint64_t *ret);

#endif
