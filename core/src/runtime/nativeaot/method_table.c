/* SPDX-License-Identifier: MIT */
/*
 * MethodTables of NativeAOT, and their checks (doc/nativeaot.md 3; src/coreclr/nativeaot/Runtime/inc/
 * MethodTable.h).
 */
#include "runtime/nativeaot/method_table.h"

#include "arch/arch.h"
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/native_format.h"
#include "runtime/type.h"
#include "targets/target.h"

#define HAS_FINALIZER 0x00100000u
#define IS_DYNAMIC    0x00080000u
/* Fields of the tail, in this order after the TypeManager and the writable data. */
#define HAS_DISPATCH_MAP 0x00040000u
#define HAS_OPTIONALS_8  0x01000000u
#define HAS_SEALED_SLOTS 0x00400000u
#define IS_GENERIC       0x02000000u
/* A relative field with this bit leads to a word with the address. */
#define IS_INDIRECT 1u
/* Bits of the flags, which moved in 9. */
#define HAS_POINTERS_8 0x00200000u
#define HAS_POINTERS   0x01000000u

/* In the low 16 bits, since 9: bytes behind a struct in its box (ValueTypeFieldPaddingMask). */
#define PADDING_SHIFT 5u
#define PADDING_MASK  7u
/* The optional fields of 8: a tag and a number for each, and so many bytes in all at most. */
#define OPTIONAL_PADDING 1u
#define OPTIONAL_IS_LAST 0x80u
#define OPTIONAL_HIGH    0xffffff00u
#define OPTIONALS_SIZE   32u
/* A box has a header and a MethodTable around the value. */
#define BOX_SIZE 16u

#define KIND_SHIFT 16u
#define KIND_MASK  3u

/* EETypeElementType, in bits 26 to 30 (MethodTable.h). */
#define ELEMENT_MASK 31u

uint32_t aot_element_type(const struct aot_method_table *table)
{
	return table->flags >> AOT_ELEMENT_SHIFT & ELEMENT_MASK;
}

static enum type_category category_of(const struct aot_method_table *table)
{
	uint32_t element = aot_element_type(table);
	if (element >= AOT_ELEMENT_BOOLEAN && element <= AOT_ELEMENT_DOUBLE)
		return CATEGORY_TRUE_PRIMITIVE;
	switch (element) {
	case AOT_ELEMENT_VALUE:
		return CATEGORY_VALUE;
	case AOT_ELEMENT_NULLABLE:
		return CATEGORY_NULLABLE;
	case AOT_ELEMENT_INTERFACE:
		return CATEGORY_INTERFACE;
	case AOT_ELEMENT_ARRAY:
		return CATEGORY_MD_ARRAY;
	case AOT_ELEMENT_SZ_ARRAY:
		return CATEGORY_SZ_ARRAY;
	default:
		return CATEGORY_CLASS;
	}
}

bool aot_method_table_read(struct memory *memory, uint64_t address, struct aot_method_table *ret)
{
	uint8_t bytes[AOT_METHOD_TABLE_SIZE];
	if (address % 8 || !memory_read(memory, address, bytes, sizeof(bytes)))
		return false;
	uint32_t slots = load_u16(bytes + 16), interfaces = load_u16(bytes + 18);
	*ret = (struct aot_method_table){
		.flags = load_u32(bytes),
		.base_size = load_u32(bytes + 4),
		.related = load_u64(bytes + 8),
		.slots = (uint16_t)slots,
		.interfaces = (uint16_t)interfaces,
		.tail = address + AOT_METHOD_TABLE_SIZE + 8 * ((uint64_t)slots + interfaces),
	};
	ret->kind = (enum aot_kind)(ret->flags >> KIND_SHIFT & KIND_MASK);
	ret->is_dynamic = (ret->flags & IS_DYNAMIC) != 0;
	return true;
}

bool aot_method_table_manager(struct memory *memory, const struct aot_method_table *table,
			      uint64_t *ret)
{
	int32_t distance = 0;
	if (table->is_dynamic)
		return memory_u64(memory, table->tail, ret);
	if (!memory_i32(memory, table->tail, &distance))
		return false;
	*ret = table->tail + (uint64_t)(int64_t)distance;
	return true;
}

static bool sizes_are_sound(const struct type *type)
{
	if (type->is_string)
		return type->component_size == 2;
	if (type->category == CATEGORY_INTERFACE && type->base_size == 0)
		return true;
	return type->base_size >= 24 && type->base_size % 8 == 0;
}

static uint32_t pointers_flag(const struct runtime *runtime)
{
	return aot_of(runtime)->major == 8 ? HAS_POINTERS_8 : HAS_POINTERS;
}

/* All MethodTables of a module lead to the same word. */
static bool leads_to_manager(const struct runtime *runtime, const struct aot_method_table *table)
{
	uint64_t manager = 0, known = aot_of(runtime)->type_manager;
	return aot_method_table_manager(runtime->memory, table, &manager) &&
	       (!known || manager == known);
}

/*
 * Types that only the compiler knows have a size and a base class, and nothing after that
 * (DataOnlyEETypeNode.cs).
 */
static bool is_data_only(const struct runtime *runtime, const struct aot_method_table *table,
			 struct aot_method_table *ret_base)
{
	return (table->flags & ~pointers_flag(runtime)) == 0 && table->related &&
	       aot_method_table_read(runtime->memory, table->related, ret_base) &&
	       leads_to_manager(runtime, ret_base);
}

/* Objects with static fields derive from System.Object, which has no base class. */
bool aot_holds_statics(const struct runtime *runtime, const struct aot_method_table *table)
{
	struct aot_method_table base;
	return is_data_only(runtime, table, &base) && base.related == 0;
}

bool aot_is_continuation(const struct runtime *runtime, const struct aot_method_table *table)
{
	struct aot_method_table base;
	uint64_t known = aot_of(runtime)->globals.continuation;
	return known && table->related == known && is_data_only(runtime, table, &base);
}

bool aot_describe_type(const struct runtime *runtime, uint64_t method_table, struct type *ret)
{
	struct aot_method_table table;
	*ret = (struct type){ .method_table = method_table };
	if (method_table < runtime->target->arch->space.user_begin ||
	    !aot_method_table_read(runtime->memory, method_table, &table))
		return false;
	bool is_free = method_table == runtime->tables.free;
	uint32_t flags = table.flags;
	ret->flags = flags;
	ret->base_size = table.base_size;
	ret->is_free = is_free;
	if (flags & AOT_HAS_COMPONENTS)
		ret->component_size = (uint16_t)flags;
	if (is_free)
		return ret->base_size == 24 && ret->component_size == 1;
	ret->category = (uint8_t)category_of(&table);
	ret->is_string = ret->base_size == 22;
	if (table.kind == AOT_DEFINITION || !sizes_are_sound(ret) ||
	    !(aot_holds_statics(runtime, &table) || aot_is_continuation(runtime, &table) ||
	      leads_to_manager(runtime, &table)))
		return false;
	ret->has_pointers = (flags & pointers_flag(runtime)) != 0;
	ret->has_finalizer = (flags & HAS_FINALIZER) != 0;
	if (table.kind == AOT_PARAMETERIZED) {
		ret->links.per_inst = table.related;
	} else {
		ret->parent = table.related;
	}
	return true;
}

/* The list of interfaces is between the vtable and the tail. */
uint64_t aot_interface(const struct runtime *runtime, const struct type *type, uint32_t index)
{
	struct aot_method_table table;
	uint64_t address = 0;
	if (!aot_method_table_read(runtime->memory, type->method_table, &table) ||
	    index >= table.interfaces ||
	    !memory_u64(runtime->memory, table.tail - 8 * (uint64_t)(table.interfaces - index),
			&address))
		return 0;
	if (address & IS_INDIRECT && !memory_u64(runtime->memory, address - IS_INDIRECT, &address))
		return 0;
	return address;
}

bool aot_is_instance(const struct aot_method_table *table)
{
	return table->kind == AOT_CANONICAL && table->flags & IS_GENERIC &&
	       !(table->flags & AOT_HAS_COMPONENTS);
}

/* The address in the field at @p at; 0: it cannot be read. */
static uint64_t tail_address(struct memory *memory, uint64_t at, bool is_dynamic)
{
	uint64_t address = 0;
	int32_t distance = 0;
	if (is_dynamic) {
		(void)memory_u64(memory, at, &address);
	} else if (memory_i32(memory, at, &distance)) {
		address = at + (uint64_t)(int64_t)distance;
	}
	if (address & IS_INDIRECT && !memory_u64(memory, address - IS_INDIRECT, &address))
		address = 0;
	return address;
}

/* The field with the generic definition. */
static uint64_t generic_field(const struct runtime *runtime, const struct aot_method_table *table,
			      uint64_t width)
{
	bool has_optionals = aot_of(runtime)->major == 8 && table->flags & HAS_OPTIONALS_8;
	unsigned int fields = 2;
	fields += (table->flags & HAS_DISPATCH_MAP) != 0;
	fields += (table->flags & HAS_FINALIZER) != 0;
	fields += has_optionals;
	fields += (table->flags & HAS_SEALED_SLOTS) != 0;
	return table->tail + fields * width;
}

/* How many type parameters the generic definition has. */
static uint32_t arity_of(const struct runtime *runtime, uint64_t definition)
{
	struct aot_method_table table;
	if (!aot_method_table_read(runtime->memory, definition, &table) ||
	    table.kind != AOT_DEFINITION)
		return 0;
	return aot_of(runtime)->major == 8 ? table.flags & 0xffff : table.base_size;
}

size_t aot_generic_arguments(const struct runtime *runtime, const struct aot_method_table *table,
			     uint64_t *ret_definition, uint64_t *ret, size_t capacity)
{
	struct memory *memory = runtime->memory;
	uint64_t width = table->is_dynamic ? 8 : 4, at = generic_field(runtime, table, width);
	uint64_t composition = tail_address(memory, at + width, table->is_dynamic);
	*ret_definition = tail_address(memory, at, table->is_dynamic);
	uint32_t arity = arity_of(runtime, *ret_definition);
	for (uint32_t i = 0; i < arity && i < capacity; i++) {
		ret[i] = arity == 1
				 ? composition
				 : tail_address(memory, composition + i * width, table->is_dynamic);
	}
	return arity < capacity ? arity : capacity;
}

bool aot_has_references(const struct runtime *runtime, const struct aot_method_table *table)
{
	return (table->flags & pointers_flag(runtime)) != 0;
}

bool aot_is_never_boxed(const struct runtime *runtime, const struct type *type)
{
	struct aot_method_table table;
	return (type->category == CATEGORY_VALUE || type->category == CATEGORY_NULLABLE) &&
	       aot_method_table_read(runtime->memory, type->method_table, &table) && !table.slots;
}

/*
 * 8 has the padding among the optional fields, which only few types have (doc/nativeaot.md 3): pairs of a tag and a
 * number, of which the last has OPTIONAL_IS_LAST in its tag.  false: they cannot be read.
 */
static bool read_padding_8(const struct runtime *runtime, const struct aot_method_table *table,
			   uint32_t *ret)
{
	unsigned int fields = 2;
	*ret = 0;
	if (!(table->flags & HAS_OPTIONALS_8))
		return true;
	fields += (table->flags & HAS_DISPATCH_MAP) != 0;
	fields += (table->flags & HAS_FINALIZER) != 0;
	uint64_t width = table->is_dynamic ? 8 : 4;
	uint64_t address =
		tail_address(runtime->memory, table->tail + fields * width, table->is_dynamic);
	uint8_t bytes[OPTIONALS_SIZE];
	struct native_blob blob = { .bytes = bytes,
				    .size = memory_prefix(runtime->memory, address, bytes,
							  sizeof(bytes)) };
	struct native_cursor cursor = native_cursor_at(&blob, 0);
	uint8_t tag = 0;
	do {
		tag = native_u8(&cursor);
		uint32_t value = native_unsigned(&cursor);
		if ((tag & ~OPTIONAL_IS_LAST) == OPTIONAL_PADDING)
			*ret = (value & PADDING_MASK) | (value & OPTIONAL_HIGH) >> PADDING_SHIFT;
	} while (!(tag & OPTIONAL_IS_LAST) && !cursor.is_bad);
	return !cursor.is_bad;
}

uint32_t aot_struct_size(const struct runtime *runtime, const struct aot_method_table *table)
{
	uint32_t padding = table->flags >> PADDING_SHIFT & PADDING_MASK;
	if (aot_of(runtime)->major == 8 && !read_padding_8(runtime, table, &padding))
		return 0;
	if (padding >= table->base_size || table->base_size - padding <= BOX_SIZE)
		return 0;
	return table->base_size - BOX_SIZE - padding;
}
