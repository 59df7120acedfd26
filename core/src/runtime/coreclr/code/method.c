/* SPDX-License-Identifier: MIT */
/* MethodDescs and their names (doc/coreclr.md 12.10; method.hpp). */
#include "runtime/coreclr/code/method.h"

#include <string.h>

#include "mem/memory.h"
#include "runtime/coreclr/internal.h"

#define DESC_ALIGNMENT 8u
#define TOKEN_LOW_BITS 12u
#define TOKEN_LOW_MASK 0x0fffu
/* DynamicMethodDesc, after a MethodDesc: signature, u32 its size, u32 flags; MethodName. */
#define DYNAMIC_NAME 16u

/* Append what fits. */
static void append_what_fits(char *buf, size_t size, size_t *length, const char *string,
			     size_t string_size)
{
	if (*length + string_size >= size)
		string_size = size - 1 - *length;
	memcpy(buf + *length, string, string_size);
	*length += string_size;
	buf[*length] = '\0';
}

/* The MethodTable that a MethodDesc belongs to, and its token's RID. */
static bool read_owner(struct runtime *runtime, uint64_t address, uint64_t *ret_method_table,
		       uint32_t *ret_rid)
{
	static const enum layout_field needed[] = { L_METHOD_TOKEN, L_METHOD_CHUNK_INDEX,
						    L_METHOD_CHUNK_SIZE, L_METHOD_CHUNK_TOKEN };
	uint8_t index;
	uint16_t low, high;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (!layout_has(&coreclr_of(runtime)->layout, needed[i]))
			return false;
	}
	if (address % DESC_ALIGNMENT ||
	    !memory_u8(runtime->memory, address + coreclr_offset(runtime, L_METHOD_CHUNK_INDEX),
		       &index) ||
	    !memory_u16(runtime->memory, address + coreclr_offset(runtime, L_METHOD_TOKEN), &low))
		return false;
	uint64_t chunk = address - DESC_ALIGNMENT * (uint64_t)index -
			 coreclr_offset(runtime, L_METHOD_CHUNK_SIZE);
	if (!coreclr_pointer(runtime, chunk, L_METHOD_CHUNK_TABLE, ret_method_table) ||
	    !memory_u16(runtime->memory, chunk + coreclr_offset(runtime, L_METHOD_CHUNK_TOKEN),
			&high))
		return false;
	*ret_rid = (uint32_t)(high & TOKEN_LOW_MASK) << TOKEN_LOW_BITS | (low & TOKEN_LOW_MASK);
	return true;
}

/* A method made at run time: a dynamic method of the program, or a stub of the runtime. */
static bool read_dynamic_name(struct runtime *runtime, struct method *method)
{
	uint64_t string;
	if (!memory_u64(runtime->memory, method->address + method_desc_size(runtime) + DYNAMIC_NAME,
			&string) ||
	    memory_string(runtime->memory, string, method->dynamic_name, DYNAMIC_NAME_SIZE) <= 0)
		return false;
	for (const char *p = method->dynamic_name; *p; p++) {
		if ((unsigned char)*p < ' ')
			return false;
	}
	return true;
}

/*
 * The module whose tokens are in the signature of a stub.  Its MethodTable does not belong to a
 * type; it has only an EEClass and that module (ILStubCache: CreateMinimalMethodTable).
 */
static const struct module *stub_module(struct runtime *runtime, uint64_t table)
{
	uint64_t ee_class, back, module;
	if (!coreclr_pointer(runtime, table, L_MT_CLASS, &ee_class) ||
	    !coreclr_pointer(runtime, ee_class, L_CLASS_METHOD_TABLE, &back) || back != table ||
	    !coreclr_pointer(runtime, table, L_MT_MODULE, &module) || !module)
		return NULL;
	return module_find(runtime, module);
}

bool method_read(struct runtime *runtime, uint64_t address, struct method *ret)
{
	uint64_t method_table;
	struct method method = { .address = address, .name = "" };
	if (!read_owner(runtime, address, &method_table, &method.rid) ||
	    !memory_u16(runtime->memory, address + METHOD_DESC_FLAGS, &method.flags))
		return false;
	bool is_dynamic = !method.rid &&
			  (method.flags & METHOD_CLASSIFICATION_MASK) == METHOD_DYNAMIC &&
			  read_dynamic_name(runtime, &method);
	method.type = type_find(runtime, method_table);
	if (!is_dynamic && (!method.type || !method.rid))
		return false;
	method.module = method.type ? module_find(runtime, type_home_module(runtime, method.type))
				    : stub_module(runtime, method_table);
	const struct metadata *metadata = method.module ? method.module->metadata : NULL;
	if (!is_dynamic) {
		/* A method of another type: this is not a MethodDesc. */
		if (!metadata || metadata_owner(metadata, MD_METHOD, method.rid) !=
					 (method.type->token & 0xffffff))
			return false;
		method.name = metadata_string(metadata,
					      metadata_column(metadata, MD_METHOD, method.rid, 3));
		if (!*method.name)
			return false;
	}
	*ret = method;
	return true;
}

const char *method_owner_name(struct runtime *runtime, const struct method *method,
			      size_t *ret_size)
{
	if (method->rid)
		return type_name(runtime, method->type, ret_size);
	const char *owner =
		strncmp(method->dynamic_name, "IL_STUB", 7) == 0 ? "ILStubClass" : "DynamicClass";
	*ret_size = strlen(owner);
	return owner;
}

bool coreclr_method_name(struct runtime *runtime, uint64_t method_desc, char *buf, size_t size,
			 uint32_t *ret_token)
{
	struct method method;
	size_t owner_size, length = 0;
	if (!size || !method_read(runtime, method_desc, &method))
		return false;
	const char *owner = method_owner_name(runtime, &method, &owner_size);
	const char *name = method.rid ? method.name : method.dynamic_name;
	append_what_fits(buf, size, &length, owner, owner_size);
	append_what_fits(buf, size, &length, ".", 1);
	append_what_fits(buf, size, &length, name, strlen(name));
	if (ret_token)
		*ret_token = 0x06000000 | method.rid;
	return true;
}
