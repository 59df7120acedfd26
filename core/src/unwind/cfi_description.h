/* SPDX-License-Identifier: MIT */
/* Shared by cfi.c and cfi_list.c. */
#pragma once

#include "unwind/cfi.h"
#include "unwind/cfi_image.h"
#include "unwind/dwarf_reader.h"

/* Most bytes of a CIE or FDE: real ones have some thousand. */
#define CFI_RECORD_MAX ((uint64_t)1 << 16)

/** A CIE or an FDE. */
struct cfi_record {
	uint64_t address; /**< address of the first byte after the length */
	size_t size;
	uint8_t bytes[CFI_RECORD_MAX];
};

struct cfi {
	const struct target *target;
	struct cfi_images images;
	struct cfi_record cie, fde;
};

/** The contents of an FDE and its CIE. */
struct cfi_description {
	unsigned int pointers;      /**< encoding of addresses */
	unsigned int lsda_pointers; /**< of the address of its language's data */
	bool has_augmentation;      /**< its data has a size before it */
	bool is_signal;
	uint64_t code_align;
	int64_t data_align;
	struct cfi_function function;
	struct dwarf_reader cie_code; /**< instructions */
	struct dwarf_reader fde_code;
};

/** Find and read what describes the function at @p pc. */
bool cfi_describe(struct cfi *cfi, uint64_t pc, struct cfi_description *ret);
