/* SPDX-License-Identifier: MIT */
#include "unwind/dwarf_reader.h"

static uint64_t leb128(struct dwarf_reader *reader, bool is_signed)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;
	do {
		byte = (uint8_t)dwarf_number(reader, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= UINT64_MAX << shift;
	return value;
}

uint64_t dwarf_uleb(struct dwarf_reader *reader)
{
	return leb128(reader, false);
}

int64_t dwarf_sleb(struct dwarf_reader *reader)
{
	return (int64_t)leb128(reader, true);
}

static uint64_t plain_pointer(struct dwarf_reader *reader, unsigned int format)
{
	switch (format) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return dwarf_number(reader, 8);
	case PE_UDATA4:
		return dwarf_number(reader, 4);
	case PE_SDATA4:
		return (uint64_t)dwarf_signed(reader, 4);
	case PE_UDATA2:
		return dwarf_number(reader, 2);
	case PE_SDATA2:
		return (uint64_t)dwarf_signed(reader, 2);
	case PE_ULEB128:
		return dwarf_uleb(reader);
	case PE_SLEB128:
		return (uint64_t)dwarf_sleb(reader);
	default:
		dwarf_fail(reader);
		return 0;
	}
}

uint64_t dwarf_pointer(struct dwarf_reader *reader, unsigned int encoding, uint64_t data)
{
	uint64_t place = dwarf_address(reader);
	switch (encoding & ~PE_FORMAT) {
	case 0:
		return plain_pointer(reader, encoding & PE_FORMAT);
	case PE_PCREL:
		return place + plain_pointer(reader, encoding & PE_FORMAT);
	case PE_DATAREL:
		return data + plain_pointer(reader, encoding & PE_FORMAT);
	case PE_ALIGNED:
		(void)dwarf_skip(reader, -place & 7);
		return dwarf_number(reader, 8);
	default:
		dwarf_fail(reader);
		return 0;
	}
}
