/* SPDX-License-Identifier: MIT */
#include "clr/layouts/exinfo.h"

#include "clr/features.h"
#include "clr/internal.h"
#include "mem/memory.h"

/* ExInfo of 10.0. */
#define EXINFO_HANDLER   0x20u
#define EXINFO_CLAUSE    0x38u
#define EXINFO_FLAGS     0x40u
#define EXINFO_LOW       0x80u
#define EXINFO_HIGH      0x88u
#define EXINFO_EXCEPTION 0xb0u
#define EXINFO_PASS      0xb9u
#define EXINFO_SIZE      0xc0u

#define FLAG_UNWIND_STARTED 4u

bool exinfo_has_parts(const struct clr *clr)
{
	return clr_has(clr, CLR_EXINFO_PARTS);
}

bool exinfo_is_certain(const struct clr *clr)
{
	return exinfo_has_parts(clr) && layout_build_find(clr->build_id);
}

bool exinfo_read(const struct clr *clr, uint64_t address, struct exinfo *ret)
{
	uint8_t bytes[EXINFO_SIZE];
	if (!exinfo_has_parts(clr) || !memory_read(clr->memory, address, bytes, sizeof(bytes)))
		return false;
	*ret = (struct exinfo){
		.slot = address + EXINFO_EXCEPTION,
		.object = load_u64(bytes + EXINFO_EXCEPTION),
		.handler = load_u64(bytes + EXINFO_HANDLER),
		.clause = load_u32(bytes + EXINFO_CLAUSE),
		.low = load_u64(bytes + EXINFO_LOW),
		.high = load_u64(bytes + EXINFO_HIGH),
		.pass = bytes[EXINFO_PASS],
		.is_unwinding = load_u32(bytes + EXINFO_FLAGS) & FLAG_UNWIND_STARTED,
	};
	return true;
}
