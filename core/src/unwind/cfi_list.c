/* SPDX-License-Identifier: MIT */
/* All functions that an image has call frame information about. */
#include "unwind/cfi.h"
#include "unwind/cfi_description.h"
#include "unwind/cfi_rows.h"

uint64_t cfi_functions_count(struct cfi *cfi, uint64_t address)
{
	const struct cfi_image *image = cfi_images_find(&cfi->images, cfi->target, address);
	return image ? image->count : 0;
}

bool cfi_function_begin(struct cfi *cfi, uint64_t address, uint64_t index, uint64_t *ret)
{
	const struct cfi_image *image = cfi_images_find(&cfi->images, cfi->target, address);
	return image && cfi_image_begin(cfi->target->memory, image, index, ret);
}

bool cfi_rows(struct cfi *cfi, uint64_t pc, struct text *ret)
{
	struct cfi_description description;
	size_t begin = ret->size;
	unsigned int depth = 0;
	if (!cfi_describe(cfi, pc, &description) || description.is_signal ||
	    description.data_align != -(int64_t)sizeof(uint64_t))
		return false;
	/* In the FDE, DW_CFA_restore leads back to the rules of the CIE: these are rules of ours, too. */
	if (cfi_rows_copy(description.cie_code, description.code_align, &depth, ret) &&
	    cfi_rows_copy(description.fde_code, description.code_align, &depth, ret))
		return true;
	ret->size = ret->failed ? ret->size : begin;
	return false;
}
