/* SPDX-License-Identifier: MIT */
/*
 * Records of the metadata that a NativeAOT program has (doc/nativeaot.md 4.3;
 * src/coreclr/tools/Common/Internal/Metadata/NativeFormat/NativeFormatReaderGen.cs).
 */
#include "runtime/nativeaot/native_metadata.h"

#include "util/text.h"

#define METADATA_MAGIC 0xdeaddffdu
#define HANDLE_BITS    32u

bool native_metadata_is_sound(const struct native_metadata *metadata)
{
	struct native_cursor cursor = native_cursor_at(&metadata->blob, 0);
	return native_u32(&cursor) == METADATA_MAGIC;
}

struct native_handle native_handle_of(const struct native_metadata *metadata, uint32_t value)
{
	unsigned int bits = metadata->kind_bits;
	return (struct native_handle){ value & (((uint32_t)1 << bits) - 1), value >> bits };
}

struct native_handle native_token_of(const struct native_metadata *metadata, uint32_t token)
{
	unsigned int bits = HANDLE_BITS - metadata->kind_bits;
	return (struct native_handle){ token >> bits, token & (((uint32_t)1 << bits) - 1) };
}

/* Where a name that is too long is cut: not inside of a character. */
static size_t cut_at(const uint8_t *bytes, size_t size)
{
	if (size <= NATIVE_STRING_MAX)
		return size;
	size = NATIVE_STRING_MAX;
	while (size && utf8_continues((char)bytes[size]))
		size--;
	return size;
}

struct native_string native_string_at(const struct native_metadata *metadata, uint32_t offset)
{
	struct native_string none = { "", 0 };
	struct native_cursor cursor = native_cursor_at(&metadata->blob, offset);
	if (!offset)
		return none;
	size_t size = native_unsigned(&cursor);
	const uint8_t *bytes = native_skip(&cursor, size);
	if (!bytes)
		return none;
	return (struct native_string){ (const char *)bytes, cut_at(bytes, size) };
}

/* Turn @p count strings around. */
static void reverse(struct native_string *strings, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct native_string string = strings[i];
		strings[i] = strings[count - 1 - i];
		strings[count - 1 - i] = string;
	}
}

/* NamespaceDefinition and NamespaceReference: the one around it (or a scope), and its name. */
static bool read_namespaces(const struct native_metadata *metadata, struct native_handle space,
			    struct native_chain *chain)
{
	while (space.offset &&
	       (space.kind == NATIVE_NAMESPACE || space.kind == NATIVE_NAMESPACE_REFERENCE)) {
		struct native_cursor cursor = native_cursor_at(&metadata->blob, space.offset);
		space = native_handle_of(metadata, native_unsigned(&cursor));
		struct native_string name = native_string_at(metadata, native_unsigned(&cursor));
		if (cursor.is_bad || chain->namespaces_count == NATIVE_NAMESPACES_MAX)
			return false;
		if (name.size)
			chain->namespaces[chain->namespaces_count++] = name;
	}
	return true;
}

/* The record of a type: its name, and the type or namespace that it is in. */
static bool read_level(const struct native_metadata *metadata, struct native_handle type,
		       struct native_string *ret_name, struct native_handle *ret_parent)
{
	struct native_cursor cursor = native_cursor_at(&metadata->blob, type.offset);
	uint32_t name;
	if (type.kind == NATIVE_TYPE_REFERENCE) {
		*ret_parent = native_handle_of(metadata, native_unsigned(&cursor));
		name = native_unsigned(&cursor);
	} else {
		(void)native_unsigned(&cursor); /* flags */
		(void)native_unsigned(&cursor); /* base class */
		*ret_parent = (struct native_handle){ NATIVE_NAMESPACE, native_unsigned(&cursor) };
		name = native_unsigned(&cursor);
		(void)native_unsigned(&cursor); /* size */
		(void)native_unsigned(&cursor); /* packing */
		uint32_t enclosing = native_unsigned(&cursor);
		if (enclosing)
			*ret_parent = (struct native_handle){ NATIVE_TYPE, enclosing };
	}
	*ret_name = native_string_at(metadata, name);
	return !cursor.is_bad && ret_name->size;
}

bool native_chain_read(const struct native_metadata *metadata, struct native_handle type,
		       struct native_chain *ret)
{
	struct native_chain chain = { .types_count = 0 };
	while (type.kind == NATIVE_TYPE || type.kind == NATIVE_TYPE_REFERENCE) {
		if (!type.offset || chain.types_count == NATIVE_NESTING_MAX ||
		    !read_level(metadata, type, &chain.types[chain.types_count++], &type))
			return false;
	}
	if (!chain.types_count || !read_namespaces(metadata, type, &chain))
		return false;
	reverse(chain.types, chain.types_count);
	reverse(chain.namespaces, chain.namespaces_count);
	*ret = chain;
	return true;
}

bool native_signature_read(const struct native_metadata *metadata, uint32_t offset,
			   struct native_signature *ret)
{
	struct native_cursor cursor = native_cursor_at(&metadata->blob, offset);
	(void)native_unsigned(&cursor); /* calling convention */
	int32_t generics = native_signed(&cursor);
	(void)native_unsigned(&cursor); /* type that it returns */
	uint32_t parameters = native_unsigned(&cursor);
	/* Each parameter takes a byte or more. */
	if (!offset || cursor.is_bad || generics < 0 || parameters > native_left(&cursor))
		return false;
	*ret = (struct native_signature){ (uint32_t)generics, parameters, cursor };
	return true;
}
