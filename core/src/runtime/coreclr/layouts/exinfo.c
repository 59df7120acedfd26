/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/layouts/exinfo.h"

#include "mem/memory.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"

#define FLAG_UNWIND_STARTED 4u

bool exinfo_has_parts(const struct runtime *runtime)
{
	static const enum layout_field parts[] = { L_EXCEPTION_HANDLER, L_EXCEPTION_CLAUSE,
						   L_EXCEPTION_FLAGS,   L_EXCEPTION_LOW,
						   L_EXCEPTION_HIGH,    L_EXCEPTION_PASS };
	bool has = coreclr_has(runtime, CORECLR_DIRECT_EXCEPTION) ||
		   coreclr_has_field(runtime, L_EXCEPTION_REFERENCE);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		has = has && coreclr_has_field(runtime, parts[i]);
	return has;
}

bool exinfo_is_certain(const struct runtime *runtime)
{
	return exinfo_has_parts(runtime) && layout_build_find(runtime->build_id);
}

bool exinfo_thrown(const struct runtime *runtime, uint64_t address, uint64_t *ret)
{
	if (!coreclr_has(runtime, CORECLR_DIRECT_EXCEPTION))
		return coreclr_pointer(runtime, address, L_EXCEPTION_THROWN, ret);
	if (!coreclr_has_field(runtime, L_EXCEPTION_THROWN))
		return false;
	*ret = address + coreclr_offset(runtime, L_EXCEPTION_THROWN);
	return true;
}

bool exinfo_read(const struct runtime *runtime, uint64_t address, struct exinfo *ret)
{
	struct exinfo info = { 0 };
	uint32_t flags;
	enum layout_field reference = coreclr_has(runtime, CORECLR_DIRECT_EXCEPTION)
					      ? L_EXCEPTION_THROWN
					      : L_EXCEPTION_REFERENCE;
	if (!exinfo_has_parts(runtime) ||
	    !coreclr_pointer(runtime, address, reference, &info.object) ||
	    !coreclr_pointer(runtime, address, L_EXCEPTION_HANDLER, &info.handler) ||
	    !coreclr_field_u32(runtime, address, L_EXCEPTION_CLAUSE, &info.clause) ||
	    !coreclr_field_u32(runtime, address, L_EXCEPTION_FLAGS, &flags) ||
	    !coreclr_pointer(runtime, address, L_EXCEPTION_LOW, &info.low) ||
	    !coreclr_pointer(runtime, address, L_EXCEPTION_HIGH, &info.high) ||
	    !memory_read(runtime->memory, address + coreclr_offset(runtime, L_EXCEPTION_PASS),
			 &info.pass, 1))
		return false;
	info.slot = address + coreclr_offset(runtime, reference);
	info.is_unwinding = flags & FLAG_UNWIND_STARTED;
	*ret = info;
	return true;
}
