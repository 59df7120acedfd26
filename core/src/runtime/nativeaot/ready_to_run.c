/* SPDX-License-Identifier: MIT */
/* ReadyToRunHeader of NativeAOT (src/coreclr/nativeaot/Runtime/inc/ModuleHeaders.h of .NET 8 to 11). */
#include "runtime/nativeaot/ready_to_run.h"

#include "mem/memory.h"

#define HEADER_MAGIC 0x00525452u /* "RTR\0" */
#define HEADER_SIZE  16u
/* A row {i32 id, i32 flags, start, end}, and since 11 {u32 id, u32 size, start}. */
#define ROW_WITH_END  24u
#define ROW_WITH_SIZE 16u
#define FLAG_HAS_END  1u

static bool take_row(const uint8_t *row, uint8_t row_size, struct ready_to_run_section *ret)
{
	*ret = (struct ready_to_run_section){ .id = load_u32(row), .begin = load_u64(row + 8) };
	if (row_size == ROW_WITH_SIZE) {
		ret->size = load_u32(row + 4);
	} else if (load_u32(row + 4) & FLAG_HAS_END && load_u64(row + 16) > ret->begin) {
		ret->size = load_u64(row + 16) - ret->begin;
	} else {
		ret->size = sizeof(uint64_t);
	}
	return ret->begin && ret->size && ret->begin <= UINT64_MAX - ret->size;
}

bool ready_to_run_read(struct memory *memory, uint64_t address, struct ready_to_run *ret)
{
	uint8_t head[HEADER_SIZE], row[ROW_WITH_END];
	if (address == 0 || !memory_read(memory, address, head, sizeof(head)) ||
	    load_u32(head) != HEADER_MAGIC)
		return false;
	uint16_t count = load_u16(head + 12);
	uint8_t row_size = head[14];
	if ((row_size != ROW_WITH_END && row_size != ROW_WITH_SIZE) ||
	    count > READY_TO_RUN_SECTIONS_MAX)
		return false;
	struct ready_to_run image = { .address = address, .major = load_u16(head + 4) };
	for (uint16_t i = 0; i < count; i++) {
		if (!memory_read(memory, address + HEADER_SIZE + (uint64_t)row_size * i, row,
				 row_size))
			return false;
		image.count += take_row(row, row_size, &image.sections[image.count]);
	}
	*ret = image;
	return true;
}

bool ready_to_run_section(const struct ready_to_run *image, enum ready_to_run_id id,
			  uint64_t *ret_begin, uint64_t *ret_size)
{
	for (uint32_t i = 0; i < image->count; i++) {
		if (image->sections[i].id == (uint32_t)id) {
			*ret_begin = image->sections[i].begin;
			*ret_size = image->sections[i].size;
			return true;
		}
	}
	return false;
}
