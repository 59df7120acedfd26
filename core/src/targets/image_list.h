/* SPDX-License-Identifier: MIT */
#pragma once

#include "targets/target.h"

/** A native or managed image that is mapped from a file. */
struct mapped_image {
	uint64_t begin, end; /**< the lowest and the highest address of its mappings */
	const char *path;    /**< borrowed; "" is not known: the executable, or no file */
	const struct target_module
		*module; /**< in the dynamic linker's list; NULL: it is not ELF */
	bool is_managed; /**< a PE image */
	/** How often its file is mapped as an image: of a PE file that the runtime also reads flat, 2. */
	uint32_t times;
};

/** The images of a target, ascending by begin. */
struct image_list {
	struct mapped_image *rows;
	size_t rows_count, rows_capacity;
};

/**
 * All ELF images of the dynamic linker's list, and all other mapped files that are PE images: by
 * their first bytes, or where these are missing by the name (.dll, .exe).  A PE file that is mapped several times
 * has one row, for the largest range: the one that is laid out as the image says.
 *
 * @param[out] ret To be given to image_list_deinit(), also on failure.
 * Cost: sorts the mappings.
 */
HD_NODISCARD enum hd_status image_list_read(const struct target *target, struct image_list *ret,
					    struct hd_error *err);
void image_list_deinit(struct image_list *list);
