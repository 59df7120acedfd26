/* SPDX-License-Identifier: MIT */
/* CoreCLR's MethodTables: what they say, and their checks (src/coreclr/vm/methodtable.h). */
#include "runtime/coreclr/types/method_table.h"

#include "arch/arch.h"
#include "mem/memory.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/types/continuation.h"

#define COLLECTIBLE_9     0x00200000u
#define COLLECTIBLE_8     0x10000000u
#define CATEGORY_SHIFT    16
#define CATEGORY_IS_ARRAY 0x8u /* with mask 0xc */
#define CATEGORY_IS_SZ    0x2u

static enum type_category category_of(uint32_t flags)
{
	uint32_t bits = (flags & MT_CATEGORY_MASK) >> CATEGORY_SHIFT;
	if ((bits & 0xcu) == CATEGORY_IS_ARRAY)
		return bits & CATEGORY_IS_SZ ? CATEGORY_SZ_ARRAY : CATEGORY_MD_ARRAY;
	switch (bits) {
	case 0x4:
		return CATEGORY_VALUE;
	case 0x5:
		return CATEGORY_NULLABLE;
	case 0x6:
		return CATEGORY_PRIMITIVE;
	case 0x7:
		return CATEGORY_TRUE_PRIMITIVE;
	case 0xc:
		return CATEGORY_INTERFACE;
	default:
		return CATEGORY_CLASS;
	}
}

static bool sizes_are_sound(const struct type *type)
{
	if (type->is_free)
		return type->base_size == 24 && type->component_size == 1;
	if (type->category == CATEGORY_INTERFACE && type->base_size == 0)
		return true;
	if (type->base_size == 22)
		return type->component_size == 2;
	return type->base_size >= 24 && type->base_size % 8 == 0;
}

/*
 * EEClass and canonical MethodTable point to each other; only the Free type has no EEClass, and
 * continuation types share that of one of them.
 */
static bool round_trip(const struct runtime *runtime, struct type *type)
{
	uint64_t value, back;
	type->links.canonical = type->method_table;
	if (!coreclr_pointer(runtime, type->method_table, L_MT_CLASS, &value))
		return false;
	if (type->is_free)
		return true;
	if (value & 1) {
		type->links.canonical = value & ~(uint64_t)1;
		if (type->links.canonical % 8 ||
		    type->links.canonical < runtime_arch(runtime)->space.user_begin ||
		    !coreclr_pointer(runtime, type->links.canonical, L_MT_CLASS, &value))
			return false;
	}
	type->links.ee_class = value;
	return value % 8 == 0 && value >= runtime_arch(runtime)->space.user_begin &&
	       coreclr_pointer(runtime, value, L_CLASS_METHOD_TABLE, &back) &&
	       (back == type->links.canonical || continuation_is(runtime, type, value, back));
}

bool type_may_be_missing(const struct runtime *runtime, uint64_t method_table)
{
	uint64_t class = 0;
	uint8_t byte;
	if (method_table < runtime_arch(runtime)->space.user_begin ||
	    method_table >= runtime_arch(runtime)->space.user_end)
		return false;
	return !coreclr_pointer(runtime, method_table, L_MT_CLASS, &class) ||
	       (class && !memory_u8(runtime->memory, class & ~(uint64_t)1, &byte));
}

/*
 * The MethodTable of Free (methodtable.h: 64 bytes and a few more in .NET 8 to 10), and what
 * precedes it.
 */
#define FREE_TABLE_SIZE 128u
#define FREE_DESC_SIZE  16u

void type_touch_free(const struct runtime *runtime)
{
	uint8_t bytes[FREE_TABLE_SIZE + FREE_DESC_SIZE];
	uint64_t at = runtime->tables.free;
	if (at > FREE_DESC_SIZE)
		(void)memory_read(runtime->memory, at - FREE_DESC_SIZE, bytes, sizeof(bytes));
}

static bool read_type_word(const struct runtime *runtime, uint64_t base, enum layout_field field,
			   uint32_t *ret)
{
	return layout_has(&coreclr_of(runtime)->layout, field) &&
	       memory_u32(runtime->memory, base + coreclr_offset(runtime, field), ret);
}

/* Fill everything that needs no allocation and no other type. */
static bool read_type_head(const struct runtime *runtime, uint64_t method_table, struct type *type)
{
	*type = (struct type){ .method_table = method_table };
	if (method_table % 8 || method_table < runtime_arch(runtime)->space.user_begin ||
	    !read_type_word(runtime, method_table, L_MT_FLAGS, &type->flags) ||
	    !read_type_word(runtime, method_table, L_MT_BASE_SIZE, &type->base_size))
		return false;
	uint32_t flags = type->flags;
	type->is_free = method_table == runtime->tables.free;
	if (flags & MT_HAS_COMPONENT_SIZE)
		type->component_size = (uint16_t)flags;
	type->category = (uint8_t)category_of(flags);
	if (!sizes_are_sound(type) || !round_trip(runtime, type))
		return false;
	type->has_pointers = !type->is_free && flags & MT_CONTAINS_GC_POINTERS;
	type->has_finalizer = flags & MT_FINALIZER;
	type->is_collectible =
		flags &
		(coreclr_has(runtime, CORECLR_COLLECTIBLE_BIT_28) ? COLLECTIBLE_8 : COLLECTIBLE_9);
	type->is_string = type->base_size == 22;
	(void)read_type_word(runtime, method_table, L_MT_FLAGS2, &type->links.flags2);
	(void)coreclr_pointer(runtime, method_table, L_MT_PARENT, &type->parent);
	(void)coreclr_pointer(runtime, method_table, L_MT_MODULE, &type->module);
	(void)coreclr_pointer(runtime, method_table, L_MT_AUXILIARY, &type->links.auxiliary);
	(void)coreclr_pointer(runtime, method_table, L_MT_PER_INST, &type->links.per_inst);
	uint32_t rid = coreclr_has(runtime, CORECLR_SHORT_TOKENS) ? type->links.flags2 >> 16
								  : type->links.flags2 >> 8;
	if (rid && type->category != CATEGORY_SZ_ARRAY && type->category != CATEGORY_MD_ARRAY)
		type->token = 0x02000000u | rid;
	return true;
}

/*
 * The object that keeps a collectible type's assembly loaded: that of its loader module, in 8 that
 * of its own module.  Its type must be in CoreLib.
 */
static uint64_t find_loader_allocator(const struct runtime *runtime, const struct type *type)
{
	uint64_t module = type->module, allocator;
	if (layout_has(&coreclr_of(runtime)->layout, L_AUX_LOADER_MODULE) &&
	    !coreclr_pointer(runtime, type->links.auxiliary, L_AUX_LOADER_MODULE, &module))
		return 0;
	if (!coreclr_pointer(runtime, module, L_MODULE_LOADER_ALLOCATOR, &allocator) || !allocator)
		return 0;
	uint64_t object = coreclr_loader_object(runtime, allocator), word;
	struct type found, object_type;
	if (!object || object % 8 || !memory_u64(runtime->memory, object, &word) ||
	    !read_type_head(runtime, word & ~(uint64_t)7, &found) || found.base_size == 0 ||
	    found.component_size || found.is_collectible)
		return 0;
	if (runtime->tables.object &&
	    read_type_head(runtime, runtime->tables.object, &object_type) &&
	    found.module != object_type.module)
		return 0;
	return object;
}

bool coreclr_describe_type(const struct runtime *runtime, uint64_t method_table, struct type *ret)
{
	if (!read_type_head(runtime, method_table, ret))
		return false;
	if (ret->is_collectible)
		ret->loader_allocator = find_loader_allocator(runtime, ret);
	return true;
}

uint64_t coreclr_interface(const struct runtime *runtime, const struct type *type, uint32_t index)
{
	uint64_t map, interface;
	uint16_t count;
	return coreclr_field_u16(runtime, type->method_table, L_MT_NUM_INTERFACES, &count) && index < count && coreclr_pointer(runtime, type->method_table, L_MT_INTERFACES, &map) && memory_u64(runtime->memory, map + 8 * (uint64_t)index, &interface) ? interface : 0;
}

const struct type *type_of_class(struct runtime *runtime, uint64_t ee_class)
{
	uint64_t method_table;
	const struct type *type =
		coreclr_pointer(runtime, ee_class, L_CLASS_METHOD_TABLE, &method_table)
			? type_find(runtime, method_table)
			: NULL;
	return type && type->links.ee_class == ee_class ? type : NULL;
}
