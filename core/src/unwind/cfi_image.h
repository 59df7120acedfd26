/* SPDX-License-Identifier: MIT */
#pragma once

#include "targets/target.h"

/** The binary search table of an ELF image's .eh_frame_hdr; it is not copied. */
struct cfi_image {
	uint64_t begin, end;   /**< bounds of its PT_LOADs */
	uint64_t header;       /**< address of .eh_frame_hdr */
	uint64_t table, count; /**< its rows; none: the image has no such table, or one of an
			        * unknown form */
	uint8_t encoding;      /**< encoding of the two pointers in a row */
	uint8_t width;         /**< bytes of each of them */
};

/** Zero-initialised is empty. */
struct cfi_images {
	struct cfi_image *rows;
	size_t rows_count, rows_capacity;
	size_t last; /**< index of the image that was found last */
};

void cfi_images_deinit(struct cfi_images *images);

/**
 * The image that holds @p address; NULL: none, or memory is exhausted.  Valid until the next call.
 */
const struct cfi_image *cfi_images_find(struct cfi_images *images, const struct target *target,
					uint64_t address);

/** Where the function number @p index of the table begins; false: there is none, or it cannot be read. */
bool cfi_image_begin(struct memory *memory, const struct cfi_image *image, uint64_t index,
		     uint64_t *ret);

/** Address of the FDE that the table has for @p pc; false: none. */
bool cfi_image_fde(struct memory *memory, const struct cfi_image *image, uint64_t pc,
		   uint64_t *ret);
