/* SPDX-License-Identifier: MIT */
/* ReadyToRunHeader of NativeAOT (src/coreclr/nativeaot/Runtime/inc/ModuleHeaders.h of .NET 8 to 11). */
#include "runtime/nativeaot/ready_to_run.h"

#include "targets/target_modules.h"

#define HEADER_MAGIC 0x00525452u /* "RTR\0" */
#define HEADER_SIZE  16u
/* A row {i32 id, i32 flags, start, end}, and since 11 {u32 id, u32 size, start}. */
#define ROW_WITH_END  24u
#define ROW_WITH_SIZE 16u
#define FLAG_HAS_END  1u

/* Pointers are relocated where only the program's file has them. */
static bool read_row(const struct target *target, const struct target_module *module,
		     uint64_t address, uint8_t row_size, struct ready_to_run_section *ret)
{
	uint8_t head[8];
	uint64_t end = 0;
	if (!memory_read(target->memory, address, head, sizeof(head)) ||
	    !target_module_pointer(target, module, address + 8, &ret->begin))
		return false;
	ret->id = load_u32(head);
	ret->size = sizeof(uint64_t);
	if (row_size == ROW_WITH_SIZE) {
		ret->size = load_u32(head + 4);
	} else if (load_u32(head + 4) & FLAG_HAS_END &&
		   target_module_pointer(target, module, address + 16, &end) && end > ret->begin) {
		ret->size = end - ret->begin;
	}
	return true;
}

bool ready_to_run_read(const struct target *target, const struct target_module *module,
		       uint64_t address, struct ready_to_run *ret)
{
	uint8_t head[HEADER_SIZE];
	if (address == 0 || !memory_read(target->memory, address, head, sizeof(head)) ||
	    load_u32(head) != HEADER_MAGIC)
		return false;
	uint16_t count = load_u16(head + 12);
	uint8_t row_size = head[14];
	if ((row_size != ROW_WITH_END && row_size != ROW_WITH_SIZE) ||
	    count > READY_TO_RUN_SECTIONS_MAX)
		return false;
	struct ready_to_run image = { .address = address, .major = load_u16(head + 4) };
	for (uint16_t i = 0; i < count; i++) {
		struct ready_to_run_section *section = &image.sections[image.count];
		if (!read_row(target, module, address + HEADER_SIZE + (uint64_t)row_size * i,
			      row_size, section))
			return false;
		image.count += section->begin && section->size &&
			       section->begin <= UINT64_MAX - section->size;
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
