/* SPDX-License-Identifier: MIT */
#include "clr/layouts/exinfo.h"

#include "clr/features.h"
#include "clr/internal.h"
#include "mem/memory.h"

#define FLAG_UNWIND_STARTED 4u

bool exinfo_has_parts(const struct clr *clr)
{
	static const enum layout_field parts[] = { L_EXCEPTION_HANDLER, L_EXCEPTION_CLAUSE,
						   L_EXCEPTION_FLAGS,   L_EXCEPTION_LOW,
						   L_EXCEPTION_HIGH,    L_EXCEPTION_PASS };
	bool has = clr_has(clr, CLR_DIRECT_EXCEPTION) || clr_has_field(clr, L_EXCEPTION_REFERENCE);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		has = has && clr_has_field(clr, parts[i]);
	return has;
}

bool exinfo_is_certain(const struct clr *clr)
{
	return exinfo_has_parts(clr) && layout_build_find(clr->build_id);
}

bool exinfo_thrown(const struct clr *clr, uint64_t address, uint64_t *ret)
{
	if (!clr_has(clr, CLR_DIRECT_EXCEPTION))
		return clr_pointer(clr, address, L_EXCEPTION_THROWN, ret);
	if (!clr_has_field(clr, L_EXCEPTION_THROWN))
		return false;
	*ret = address + clr_offset(clr, L_EXCEPTION_THROWN);
	return true;
}

bool exinfo_read(const struct clr *clr, uint64_t address, struct exinfo *ret)
{
	struct exinfo info = { 0 };
	uint32_t flags;
	enum layout_field reference =
		clr_has(clr, CLR_DIRECT_EXCEPTION) ? L_EXCEPTION_THROWN : L_EXCEPTION_REFERENCE;
	if (!exinfo_has_parts(clr) || !clr_pointer(clr, address, reference, &info.object) ||
	    !clr_pointer(clr, address, L_EXCEPTION_HANDLER, &info.handler) ||
	    !clr_field_u32(clr, address, L_EXCEPTION_CLAUSE, &info.clause) ||
	    !clr_field_u32(clr, address, L_EXCEPTION_FLAGS, &flags) ||
	    !clr_pointer(clr, address, L_EXCEPTION_LOW, &info.low) ||
	    !clr_pointer(clr, address, L_EXCEPTION_HIGH, &info.high) ||
	    !memory_read(clr->memory, address + clr_offset(clr, L_EXCEPTION_PASS), &info.pass, 1))
		return false;
	info.slot = address + clr_offset(clr, reference);
	info.is_unwinding = flags & FLAG_UNWIND_STARTED;
	*ret = info;
	return true;
}
