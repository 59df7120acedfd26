/* SPDX-License-Identifier: MIT */
#include "mem/pe_headers.h"

#define PE_OFFSET_MAX 0x10000000u

/* Beginning at the PE header: "PE\0\0", the COFF header, the optional header. */
#define SECTION_COUNT   6u
#define TIMESTAMP       8u
#define OPTIONAL_SIZE   20u
#define OPTIONAL_HEADER 24u
#define IMAGE_SIZE      (OPTIONAL_HEADER + 56u)
#define HEADERS_SIZE    (OPTIONAL_HEADER + 60u)
#define FIXED_SIZE      (OPTIONAL_HEADER + 64u)

bool pe_headers_read(struct memory *memory, uint64_t base, struct pe_headers *ret)
{
	uint8_t bytes[FIXED_SIZE];
	uint16_t signature;
	uint32_t offset;
	if (!memory_u16(memory, base, &signature) || signature != PE_DOS_SIGNATURE ||
	    !memory_u32(memory, base + PE_OFFSET_AT, &offset) || offset > PE_OFFSET_MAX ||
	    !memory_read(memory, base + offset, bytes, sizeof(bytes)) ||
	    load_u32(bytes) != PE_SIGNATURE)
		return false;
	const uint64_t optional = base + offset + OPTIONAL_HEADER;
	*ret = (struct pe_headers){
		.offset = offset,
		.end = offset + FIXED_SIZE,
		.timestamp = load_u32(bytes + TIMESTAMP),
		.image_size = load_u32(bytes + IMAGE_SIZE),
		.headers_size = load_u32(bytes + HEADERS_SIZE),
		.magic = load_u16(bytes + OPTIONAL_HEADER),
		.section_count = load_u16(bytes + SECTION_COUNT),
		.optional = optional,
		.sections = optional + load_u16(bytes + OPTIONAL_SIZE),
	};
	return true;
}
