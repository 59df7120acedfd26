/* SPDX-License-Identifier: MIT */
/* Names of methods (coreclr.md 12.6; coreclr: method.hpp, the same layout in 8, 9 and 10). */
#include "clr/method.h"

#include <string.h>

#include "clr/module.h"
#include "clr/type.h"

/* MethodDesc: u16 low bits of the token; u16 flags, the classification in the lowest three. */
#define DESC_TOKEN             0u
#define DESC_FLAGS             6u
#define DESC_ALIGNMENT         8u
#define CLASSIFICATION_MASK    0x7u
#define CLASSIFICATION_DYNAMIC 7u
#define TOKEN_LOW_BITS         12u
#define TOKEN_LOW_MASK         0x0fffu
/* MethodDescChunk: MethodTable; u16 flags and high bits of the tokens. */
#define CHUNK_METHOD_TABLE 0u
#define CHUNK_TOKEN_RANGE  18u
/* DynamicMethodDesc.MethodName; MethodDesc had no field for its code in 8. */
#define DYNAMIC_NAME   32u
#define DYNAMIC_NAME_8 24u

/* Append what fits. */
static void append(char *buf, size_t size, size_t *length, const char *string, size_t string_size)
{
	if (*length + string_size >= size)
		string_size = size - 1 - *length;
	memcpy(buf + *length, string, string_size);
	*length += string_size;
	buf[*length] = '\0';
}

/* A method made at run time: a dynamic method of the program, or a stub of the runtime. */
static bool dynamic_name(struct clr *clr, uint64_t method_desc, char *buf, size_t size)
{
	uint16_t flags, token;
	uint64_t string;
	char name[256];
	size_t length = 0;
	if (method_desc % DESC_ALIGNMENT ||
	    !memory_u16(clr->memory, method_desc + DESC_FLAGS, &flags) ||
	    (flags & CLASSIFICATION_MASK) != CLASSIFICATION_DYNAMIC ||
	    !memory_u16(clr->memory, method_desc + DESC_TOKEN, &token) || token & TOKEN_LOW_MASK ||
	    !memory_u64(clr->memory,
			method_desc + (clr->major == 8 ? DYNAMIC_NAME_8 : DYNAMIC_NAME), &string) ||
	    memory_string(clr->memory, string, name, sizeof(name)) <= 0)
		return false;
	for (const char *p = name; *p; p++) {
		if ((unsigned char)*p < ' ')
			return false;
	}
	const char *owner = strncmp(name, "IL_STUB", 7) == 0 ? "ILStubClass." : "DynamicClass.";
	append(buf, size, &length, owner, strlen(owner));
	append(buf, size, &length, name, strlen(name));
	return true;
}

/* The type that a MethodDesc belongs to, and its token's RID. */
static const struct type *method_owner(struct clr *clr, uint64_t method_desc, uint32_t *ret_rid)
{
	uint8_t index;
	uint16_t low, high;
	uint64_t method_table;
	if (method_desc % DESC_ALIGNMENT || !layout_has(&clr->layout, L_METHOD_CHUNK_INDEX) ||
	    !layout_has(&clr->layout, L_METHOD_CHUNK_SIZE) ||
	    !memory_u8(clr->memory, method_desc + clr_offset(clr, L_METHOD_CHUNK_INDEX), &index))
		return NULL;
	uint64_t chunk = method_desc - DESC_ALIGNMENT * (uint64_t)index -
			 clr_offset(clr, L_METHOD_CHUNK_SIZE);
	if (!memory_u64(clr->memory, chunk + CHUNK_METHOD_TABLE, &method_table) ||
	    !memory_u16(clr->memory, chunk + CHUNK_TOKEN_RANGE, &high) ||
	    !memory_u16(clr->memory, method_desc + DESC_TOKEN, &low))
		return NULL;
	*ret_rid = (uint32_t)(high & TOKEN_LOW_MASK) << TOKEN_LOW_BITS | (low & TOKEN_LOW_MASK);
	return type_find(clr, method_table);
}

bool clr_method_name(struct clr *clr, uint64_t method_desc, char *buf, size_t size,
		     uint32_t *ret_token)
{
	uint32_t rid = 0;
	if (!size)
		return false;
	if (dynamic_name(clr, method_desc, buf, size)) {
		if (ret_token)
			*ret_token = 0x06000000;
		return true;
	}
	const struct type *type = method_owner(clr, method_desc, &rid);
	if (!type || !rid)
		return false;
	const struct module *module = module_find(clr, type_home_module(clr, type));
	const struct metadata *metadata = module ? module->metadata : NULL;
	/* A method of another type: this is no MethodDesc. */
	if (!metadata || metadata_owner(metadata, MD_METHOD, rid) != (type->token & 0xffffff))
		return false;
	const char *name = metadata_string(metadata, metadata_column(metadata, MD_METHOD, rid, 3));
	size_t type_size, length = 0;
	const char *owner = type_name(clr, type, &type_size);
	if (!*name)
		return false;
	append(buf, size, &length, owner, type_size);
	append(buf, size, &length, ".", 1);
	append(buf, size, &length, name, strlen(name));
	if (ret_token)
		*ret_token = 0x06000000 | rid;
	return true;
}
