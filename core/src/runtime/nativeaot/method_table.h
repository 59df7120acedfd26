/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory;
struct runtime;
struct type;

/** The flag of a MethodTable whose objects have a length: the low 16 bits are the size of a component. */
#define AOT_HAS_COMPONENTS 0x80000000u

/** Where the flags have the kind of value. */
#define AOT_ELEMENT_SHIFT 26u

/** Bytes of a MethodTable before its vtable. */
#define AOT_METHOD_TABLE_SIZE 24u

enum aot_kind {
	AOT_CANONICAL = 0,     /**< also an instance of a generic type */
	AOT_PARAMETERIZED = 2, /**< an array or a pointer */
	AOT_DEFINITION = 3,    /**< a generic type without arguments: no object has it */
};

/** The kind of value that a MethodTable is about (EETypeElementType, MethodTable.h). */
enum aot_element {
	AOT_ELEMENT_BOOLEAN = 2, /**< from here on to double, as EETypeElementType has them */
	AOT_ELEMENT_DOUBLE = 15,
	AOT_ELEMENT_VALUE = 16,
	AOT_ELEMENT_NULLABLE = 18,
	AOT_ELEMENT_CLASS = 20,
	AOT_ELEMENT_INTERFACE = 21,
	AOT_ELEMENT_ARRAY = 23,
	AOT_ELEMENT_SZ_ARRAY = 24,
	AOT_ELEMENT_BY_REFERENCE = 25,
	AOT_ELEMENT_POINTER = 26,
};

/** The fixed part of a MethodTable (doc/nativeaot.md 3). */
struct aot_method_table {
	uint32_t flags, base_size;
	enum aot_kind kind;
	bool is_dynamic;  /**< made at run time: the fields of its tail are addresses */
	uint64_t related; /**< MethodTable of its base class, or of an array's elements; 0: none */
	uint64_t tail;    /**< address of the fields after vtable and interfaces */
	uint16_t
		slots; /**< of the vtable; 0: there is no object of the type (doc/nativeaot.md 3) */
	uint16_t interfaces; /**< so many; their MethodTables are in front of the tail */
};

/** Read the MethodTable at @p address; false: it cannot be read, or is not aligned. */
bool aot_method_table_read(struct memory *memory, uint64_t address, struct aot_method_table *ret);

/** The address of the word with the TypeManager that a MethodTable leads to; false: it cannot be read. */
bool aot_method_table_manager(struct memory *memory, const struct aot_method_table *table,
			      uint64_t *ret);

/** The kind of value: an enum aot_element, or another number. */
uint32_t aot_element_type(const struct aot_method_table *table);
/** Is it a generic type with arguments? */
bool aot_is_instance(const struct aot_method_table *table);
/**
 * The arguments of a generic type: their MethodTables, 0 for one that cannot be read.
 *
 * @param[out] ret_definition MethodTable of the type without arguments; 0: it cannot be read
 * @return how many it has, of which the first @p capacity are in @p ret
 */
size_t aot_generic_arguments(const struct runtime *runtime, const struct aot_method_table *table,
			     uint64_t *ret_definition, uint64_t *ret, size_t capacity);
/** Is it the type of an object that holds static fields? */
bool aot_holds_statics(const struct runtime *runtime, const struct aot_method_table *table);
/** Is it the type of what a method of runtime async keeps while it is suspended? */
bool aot_is_continuation(const struct runtime *runtime, const struct aot_method_table *table);
/** Do its objects have references? */
bool aot_has_references(const struct runtime *runtime, const struct aot_method_table *table);
/** Is it a struct that the program never boxes? Then it has no GCDesc, whatever its flags say. */
bool aot_is_never_boxed(const struct runtime *runtime, const struct type *type);
/** Bytes of a value of a struct, without what is behind it in a box; 0: they are not known. */
uint32_t aot_struct_size(const struct runtime *runtime, const struct aot_method_table *table);
