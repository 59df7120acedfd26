/* SPDX-License-Identifier: MIT */
/* Where static fields lie (coreclr.md 10 and 10a.5; coreclr: methodtable.h, appdomain.hpp). */
#include "clr/field.h"
#include "clr/module.h"

/* MTFlags & 0x30: who owns slots is an exact type, neither shared code nor an open definition. */
#define GENERICS_MASK   0x30u
#define GENERICS_SHARED 0x20u

/* MTFlags2 of 9 and 10: a DynamicStaticsInfo lies before the auxiliary data. */
#define HAS_DYNAMIC_STATICS 0x2u
/* Bit 0 of its pointers: the class constructor has not run to its end. */
#define NOT_INITIALISED 0x1u

/* 8: DomainLocalModule: DynamicClassTable, its length, GC statics; a row of that table. */
#define LOCAL_DYNAMIC_TABLE 8u
#define LOCAL_DYNAMIC_COUNT 16u
#define LOCAL_GC_STATICS    32u
#define DYNAMIC_ROW_SIZE    16u
/* 8: MethodTable's fixed part; 8 vtable slots behind one pointer; optional members after them. */
#define METHOD_TABLE_SIZE 64u
#define OPTIONAL_MEMBERS  6u

static bool is_gc(const struct field *field)
{
	return field->element_type == ELEMENT_CLASS || field->element_type == ELEMENT_VALUE;
}

/* Does @p type own the slots of its static fields? */
static bool has_slots(const struct type *type)
{
	if (type->category == CATEGORY_SZ_ARRAY || type->category == CATEGORY_MD_ARRAY)
		return false;
	/* Those bits are a part of the component size of strings. */
	return type->flags & MT_HAS_COMPONENT_SIZE ||
	       (type->flags & GENERICS_MASK) < GENERICS_SHARED;
}

static uint64_t base_9(struct clr *clr, const struct field *field, bool *ret_initialised)
{
	const struct type *type = field->declaring;
	const struct layout *layout = &clr->layout;
	uint64_t value;
	if (!(type->flags2 & HAS_DYNAMIC_STATICS) || !layout_has(layout, L_STATICS_INFO_SIZE) ||
	    !clr_pointer(clr, type->auxiliary - clr_offset(clr, L_STATICS_INFO_SIZE),
			 is_gc(field) ? L_STATICS_GC : L_STATICS_NON_GC, &value))
		return 0;
	*ret_initialised = !(value & NOT_INITIALISED);
	return value & ~(uint64_t)NOT_INITIALISED;
}

/*
 * 8, an exact instantiation: behind the pointers to vtable chunks and optional members stands
 * {list of FieldDescs, id}; the FieldDescs name their type.  The id is a row of the module's table
 * of dynamic classes.
 */
static uint64_t generic_base_8(struct clr *clr, const struct field *field, uint64_t local,
			       bool *ret_initialised)
{
	const struct type *type = field->declaring;
	uint16_t virtuals;
	if (!memory_u16(clr->memory, type->method_table + clr_offset(clr, L_MT_NUM_VIRTUALS),
			&virtuals))
		return 0;
	uint64_t at = type->method_table + METHOD_TABLE_SIZE + 8 * (uint64_t)((virtuals + 7) / 8);
	uint64_t list, owner, id, count, table, row, gc;
	for (unsigned int i = 0; i < OPTIONAL_MEMBERS; i++, at += 8) {
		if (!memory_u64(clr->memory, at, &list) || !list || list % 8 ||
		    !memory_u64(clr->memory, list, &owner) || owner != type->method_table)
			continue;
		if (!memory_u64(clr->memory, at + 8, &id) ||
		    !memory_u64(clr->memory, local + LOCAL_DYNAMIC_COUNT, &count) || id >= count ||
		    !memory_u64(clr->memory, local + LOCAL_DYNAMIC_TABLE, &table) ||
		    !memory_u64(clr->memory, table + DYNAMIC_ROW_SIZE * id, &row))
			return 0;
		if (row && !is_gc(field))
			return row;
		if (row && !memory_u64(clr->memory, row, &gc))
			return 0;
		*ret_initialised = row && gc;
		return row ? gc : 0;
	}
	return 0;
}

/* Collectible types of 8 keep their statics elsewhere: not decoded. */
static uint64_t base_8(struct clr *clr, const struct field *field, bool *ret_initialised)
{
	const struct type *type = field->declaring;
	uint64_t local, gc;
	if (type->is_collectible || !clr_pointer(clr, type->module, L_MODULE_STATICS, &local) ||
	    !local)
		return 0;
	if (!(type->flags & MT_HAS_COMPONENT_SIZE) && type->flags & GENERICS_MASK)
		return generic_base_8(clr, field, local, ret_initialised);
	if (!is_gc(field))
		return local;
	if (!memory_u64(clr->memory, local + LOCAL_GC_STATICS, &gc))
		return 0;
	*ret_initialised = gc != 0;
	return gc;
}

uint64_t field_static_address(struct clr *clr, const struct field *field, bool *ret_initialised)
{
	bool initialised = true;
	uint64_t address = 0;
	if (field->is_static && !field->is_thread_static && field->is_rva) {
		const struct module *module = module_find(clr, field->declaring->module);
		address = module ? module_rva(clr, module, field->offset) : 0;
	} else if (field->is_static && !field->is_thread_static && has_slots(field->declaring)) {
		address = clr->major == 8 ? base_8(clr, field, &initialised)
					  : base_9(clr, field, &initialised);
		address = address ? address + field->offset : 0;
	}
	if (ret_initialised)
		*ret_initialised = initialised;
	return address;
}
