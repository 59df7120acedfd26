/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How a pointer is encoded (Linux Standard Base, Exception Frames; DW_EH_PE_*). */
#define PE_OMIT        0xffu
#define PE_FORMAT      0x0fu
#define PE_ABSPTR      0x00u
#define PE_ULEB128     0x01u
#define PE_UDATA2      0x02u
#define PE_UDATA4      0x03u
#define PE_UDATA8      0x04u
#define PE_SLEB128     0x09u
#define PE_SDATA2      0x0au
#define PE_SDATA4      0x0bu
#define PE_SDATA8      0x0cu
#define PE_APPLICATION 0x70u
#define PE_PCREL       0x10u
#define PE_DATAREL     0x30u
#define PE_ALIGNED     0x50u
#define PE_INDIRECT    0x80u

/** A cursor over the bytes of DWARF; after the end it reads zeros, and bad is set. */
struct dwarf_reader {
	const uint8_t *begin, *at, *end;
	uint64_t address; /**< address of begin in the target */
	bool is_bad;
};

static inline struct dwarf_reader dwarf_reader(const uint8_t *bytes, size_t size, uint64_t address)
{
	return (struct dwarf_reader){ bytes, bytes, bytes + size, address, false };
}

static inline size_t dwarf_left(const struct dwarf_reader *reader)
{
	return (size_t)(reader->end - reader->at);
}

/** The address of the next byte in the target. */
static inline uint64_t dwarf_address(const struct dwarf_reader *reader)
{
	return reader->address + (uint64_t)(reader->at - reader->begin);
}

static inline void dwarf_fail(struct dwarf_reader *reader)
{
	reader->is_bad = true;
	reader->at = reader->end;
}

/** Skip @p size bytes; @return a pointer to them, or NULL. */
static inline const uint8_t *dwarf_skip(struct dwarf_reader *reader, uint64_t size)
{
	if (size > dwarf_left(reader)) {
		dwarf_fail(reader);
		return NULL;
	}
	const uint8_t *bytes = reader->at;
	reader->at += size;
	return bytes;
}

/** A little-endian number of @p size bytes, at most 8. */
static inline uint64_t dwarf_number(struct dwarf_reader *reader, size_t size)
{
	uint64_t value = 0;
	const uint8_t *bytes = dwarf_skip(reader, size);
	if (bytes)
		memcpy(&value, bytes, size);
	return value;
}

/** The same with a sign. */
static inline int64_t dwarf_signed(struct dwarf_reader *reader, size_t size)
{
	unsigned int unused = 64 - 8 * (unsigned int)size;
	return (int64_t)(dwarf_number(reader, size) << unused) >> unused;
}

/** LEB128; bits beyond 64 are lost. */
uint64_t dwarf_uleb(struct dwarf_reader *reader);
int64_t dwarf_sleb(struct dwarf_reader *reader);

/**
 * A pointer with the encoding @p encoding; an unknown encoding sets bad.
 *
 * @param data The address that PE_DATAREL is relative to.
 */
uint64_t dwarf_pointer(struct dwarf_reader *reader, unsigned int encoding, uint64_t data);
