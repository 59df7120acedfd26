/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/memory.h"

/*
 * The first bytes of an image, and the place where the offset of its PE header is (PE/COFF
 * specification).
 */
#define PE_DOS_SIGNATURE 0x5a4du /**< "MZ" */
#define PE_SIGNATURE     0x00004550u
#define PE_OFFSET_AT     60u

/** OptionalHeader.Magic of images of 32 and 64 bits. */
#define PE_MAGIC_32 0x10bu
#define PE_MAGIC_64 0x20bu

/** The headers that all PE images have; none of these values is checked. */
struct pe_headers {
	uint32_t offset; /**< offset of the PE header, from the image's base */
	uint32_t end;    /**< end of what was read, also from the image's base */
	uint32_t timestamp;
	uint32_t image_size;   /**< OptionalHeader.SizeOfImage */
	uint32_t headers_size; /**< OptionalHeader.SizeOfHeaders: from the base, including the
			       * section table */
	uint16_t magic;
	uint16_t section_count;
	uint64_t optional; /**< address of the optional header */
	uint64_t sections; /**< address of the section table */
};

/** Read the headers of the image at @p base; false: there is none, or they cannot be read. */
bool pe_headers_read(struct memory *memory, uint64_t base, struct pe_headers *ret);
