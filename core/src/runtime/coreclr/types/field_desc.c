/* SPDX-License-Identifier: MIT */
/* FieldDescs, and how many a class has (coreclr: field.h, class.h). */
#include "runtime/coreclr/types/field_desc.h"

#include <string.h>

#include "mem/memory.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/types/field.h"

/*
 * FieldDesc: the enclosing MethodTable; u32: Field RID and flags; u32: offset and element type.
 */
#define FIELD_DESC_STATIC 0x01000000u
#define FIELD_DESC_THREAD 0x02000000u
#define FIELD_RVA         0x04000000u
#define FIELD_OFFSET_MASK 0x07ffffffu
#define FIELD_TYPE_SHIFT  27
/* Larger offsets mean that the field has no place (yet): FIELD_OFFSET_LAST_REAL_OFFSET. */
#define FIELD_OFFSET_NONE 0x07fffff0u

/* EEClass of 8 (class.h): where its packed counts begin, and their order. */
#define CLASS_8_IS_PACKED  49u
#define CLASS_8_FIXED_SIZE 50u
#define PACKED_INSTANCE    0u
#define PACKED_STATIC      2u

/* The byte with the part of BaseSize that is not fields: in 8, and in front of NumInstanceFields since 9. */
#define CLASS_8_PADDING 51u

bool field_desc_decode(const uint8_t *bytes, struct field_desc *ret)
{
	uint32_t head = load_u32(bytes + 8), tail = load_u32(bytes + 12);
	*ret = (struct field_desc){
		.token = 0x04000000u | (head & FIELD_RID_MASK),
		.offset = tail & FIELD_OFFSET_MASK,
		.element_type = (uint8_t)(tail >> FIELD_TYPE_SHIFT),
		.is_static = head & FIELD_DESC_STATIC,
		.is_thread_static = (head & FIELD_DESC_STATIC) && head & FIELD_DESC_THREAD,
		.is_rva = (head & FIELD_DESC_STATIC) && head & FIELD_RVA,
	};
	return head & FIELD_RID_MASK && ret->offset < FIELD_OFFSET_NONE;
}

/*
 * Number @p index of the packed fields at @p address: each has 5 bits for its length - 1, then its
 * bits.
 */
static bool unpack_count(struct runtime *runtime, uint64_t address, unsigned int index,
			 uint32_t *ret)
{
	uint8_t bytes[48]; /* 7 numbers of at most 37 bits, and what is read after them */
	size_t size = memory_prefix(runtime->memory, address, bytes, sizeof(bytes));
	memset(bytes + size, 0, sizeof(bytes) - size);
	uint32_t bit = 0, value = 0;
	for (unsigned int i = 0; i <= index; i++) {
		unsigned int length =
			(unsigned int)(load_u64(bytes + bit / 8) >> bit % 8 & 0x1f) + 1;
		bit += 5;
		uint64_t word = load_u64(bytes + bit / 8) >> bit % 8;
		value = (uint32_t)(word & (((uint64_t)1 << length) - 1));
		bit += length;
		if (bit > 8 * (uint32_t)size)
			return false;
	}
	*ret = value;
	return true;
}

static bool read_counts_8(struct runtime *runtime, uint64_t ee_class, struct field_counts *ret)
{
	uint8_t is_packed, size;
	if (!memory_u8(runtime->memory, ee_class + CLASS_8_IS_PACKED, &is_packed) ||
	    !memory_u8(runtime->memory, ee_class + CLASS_8_FIXED_SIZE, &size))
		return false;
	uint64_t block = ee_class + size;
	if (is_packed) {
		return unpack_count(runtime, block, PACKED_INSTANCE, &ret->instance) &&
		       unpack_count(runtime, block, PACKED_STATIC, &ret->statics);
	}
	return memory_u32(runtime->memory, block + (uint64_t)PACKED_INSTANCE * 4, &ret->instance) &&
	       memory_u32(runtime->memory, block + (uint64_t)PACKED_STATIC * 4, &ret->statics);
}

bool field_counts_read(struct runtime *runtime, uint64_t ee_class, struct field_counts *ret)
{
	uint16_t instance, statics;
	if (coreclr_has(runtime, CORECLR_PACKED_FIELD_COUNTS))
		return read_counts_8(runtime, ee_class, ret);
	if (!layout_has(&coreclr_of(runtime)->layout, L_CLASS_NUM_INSTANCE) ||
	    !layout_has(&coreclr_of(runtime)->layout, L_CLASS_NUM_STATIC) ||
	    !memory_u16(runtime->memory, ee_class + coreclr_offset(runtime, L_CLASS_NUM_INSTANCE),
			&instance) ||
	    !memory_u16(runtime->memory, ee_class + coreclr_offset(runtime, L_CLASS_NUM_STATIC),
			&statics))
		return false;
	ret->instance = instance;
	ret->statics = statics;
	return true;
}

bool type_fields_size(struct runtime *runtime, const struct type *type, uint32_t *ret)
{
	uint8_t padding;
	bool is_old = coreclr_has(runtime, CORECLR_PACKED_FIELD_COUNTS);
	if (!coreclr_is(runtime) || !type->links.ee_class ||
	    (!is_old && !layout_has(&coreclr_of(runtime)->layout, L_CLASS_NUM_INSTANCE)))
		return false;
	uint64_t at = is_old ? CLASS_8_PADDING : coreclr_offset(runtime, L_CLASS_NUM_INSTANCE) - 1;
	/* The header and the MethodTable of an object are not fields. */
	if (!memory_u8(runtime->memory, type->links.ee_class + at, &padding) || padding < 16 ||
	    padding > type->base_size)
		return false;
	*ret = type->base_size - padding;
	return true;
}
