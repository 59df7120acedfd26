/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/features.h"
#include "runtime/coreclr/modules/module.h"
#include "runtime/type.h"

#define DYNAMIC_NAME_SIZE 256u

/** A MethodDesc that passed its checks. */
struct method {
	uint64_t address;
	uint16_t flags;          /**< classification in the lowest three bits */
	const struct type *type; /**< the type that it belongs to; dynamic: may be NULL */
	const struct module
		*module;  /**< the module whose metadata has its signature; dynamic: may be NULL */
	uint32_t rid;     /**< row of its MethodDef; 0: dynamic */
	const char *name; /**< borrowed from the metadata; dynamic: "" */
	char dynamic_name[DYNAMIC_NAME_SIZE];
};

/**
 * MethodDesc: u16 flags, with the classification in the lowest three bits; the same in 8, 9 and 10.
 */
#define METHOD_DESC_FLAGS          6u
#define METHOD_CLASSIFICATION_MASK 0x7u
#define METHOD_INSTANTIATED        5u
#define METHOD_DYNAMIC             7u

/** Read the MethodDesc at @p address; false when there is none. */
bool method_read(struct runtime *runtime, uint64_t address, struct method *ret);

/** runtime_ops.method_name of CoreCLR. */
bool coreclr_method_name(struct runtime *runtime, uint64_t method_desc, char *buf, size_t size,
			 uint32_t *ret_token);

/** Name of its type; "DynamicClass" or "ILStubClass" for methods without one.  Borrowed. */
const char *method_owner_name(struct runtime *runtime, const struct method *method,
			      size_t *ret_size);

/** Bytes of the class MethodDesc itself, without those that each kind of method adds. */
static inline uint64_t method_desc_size(const struct runtime *runtime)
{
	return coreclr_has(runtime, CORECLR_SMALL_METHOD_DESCS) ? 8 : 16;
}

/** The table of the methods that are functions of the runtime, by its shape; 0: not found. */
uint64_t fcall_table_find(const struct runtime *runtime);
/**
 * The method whose code is the runtime's function at @p code.
 *
 * @param[out] ret_method_desc Untouched on failure; it was not checked.  @return false when the
 * code is not such a function, or the table cannot be read
 */
bool coreclr_fcall_method(const struct runtime *runtime, uint64_t code, uint64_t *ret_method_desc);

/**
 * The method that the code at @p code belongs to: compiled by the JIT, ReadyToRun code, a function
 * of the runtime, or the stub that is in the place of a method before it is compiled.
 *
 * @param[out] ret_method_desc Untouched on failure.
 * @return false when it is none of these, or when the tables that tell this cannot be read
 */
bool runtime_method_at(struct runtime *runtime, uint64_t code, uint64_t *ret_method_desc);

/**
 * The method whose calls go through @p cell, a word of the data of its precode: also where it leads to code that is
 * of no method, such as a stub that counts calls.
 *
 * @param[out] ret_method_desc Untouched on failure.
 */
bool runtime_method_of_cell(struct runtime *runtime, uint64_t cell, uint64_t *ret_method_desc);

/**
 * The virtual method in slot @p slot of the MethodTable at @p table.
 *
 * @param[out] ret_method_desc Untouched on failure.
 * @return false when there is none, or its code does not belong to a known method
 */
bool runtime_method_in_slot(struct runtime *runtime, uint64_t table, uint32_t slot,
			    uint64_t *ret_method_desc);
