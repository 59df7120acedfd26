/* SPDX-License-Identifier: MIT */
/* The fields of CoreCLR's structures, and the globals that others ask for. */
#include "mem/memory.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layout_access.h"
#include "targets/target.h"

const struct coreclr coreclr_none;

struct alloc_layout coreclr_alloc_layout(const struct runtime *runtime)
{
	return (struct alloc_layout){ (uint32_t)coreclr_offset(runtime, L_ALLOC_POINTER),
				      (uint32_t)coreclr_offset(runtime, L_ALLOC_LIMIT) };
}

bool coreclr_has_descriptor(const struct runtime *runtime)
{
	return coreclr_of(runtime)->descriptor.is_read;
}

const struct layout *coreclr_layout(const struct runtime *runtime)
{
	return &coreclr_of(runtime)->layout;
}

bool coreclr_has_field(const struct runtime *runtime, enum layout_field field)
{
	return layout_has(&coreclr_of(runtime)->layout, field);
}

uint64_t coreclr_offset(const struct runtime *runtime, enum layout_field field)
{
	return (uint64_t)coreclr_of(runtime)->layout.offsets[field];
}

bool coreclr_pointer(const struct runtime *runtime, uint64_t base, enum layout_field field,
		     uint64_t *ret)
{
	return coreclr_has_field(runtime, field) &&
	       memory_u64(runtime->memory, base + coreclr_offset(runtime, field), ret);
}

bool coreclr_field_u32(const struct runtime *runtime, uint64_t base, enum layout_field field,
		       uint32_t *ret)
{
	return coreclr_has_field(runtime, field) &&
	       memory_u32(runtime->memory, base + coreclr_offset(runtime, field), ret);
}

bool coreclr_field_u16(const struct runtime *runtime, uint64_t base, enum layout_field field,
		       uint16_t *ret)
{
	return coreclr_has_field(runtime, field) &&
	       memory_u16(runtime->memory, base + coreclr_offset(runtime, field), ret);
}

uint64_t coreclr_app_domain(const struct runtime *runtime)
{
	return coreclr_of(runtime)->globals.app_domain;
}

uint64_t coreclr_system_domain(const struct runtime *runtime)
{
	return coreclr_of(runtime)->globals.system_domain;
}
