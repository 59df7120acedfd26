/* SPDX-License-Identifier: MIT */
#include "support/native_maker.h"

#include <CUnit/CUnit.h>
#include <string.h>

#define ADDRESS ((uint64_t)0x7f6000001003)

void native_put_u8(struct native_maker *maker, uint8_t value)
{
	if (maker->size < sizeof(maker->bytes)) {
		maker->bytes[maker->size++] = value;
	} else {
		CU_FAIL("a table of a test is too large");
	}
}

void native_put_u32(struct native_maker *maker, uint32_t value)
{
	for (unsigned int i = 0; i < 4; i++)
		native_put_u8(maker, (uint8_t)(value >> 8 * i));
}

/* As many bytes as @p bits need. */
static void put_bits(struct native_maker *maker, uint32_t value, unsigned int bits)
{
	unsigned int size = (bits + 6) / 7;
	if (bits > 28) {
		native_put_u8(maker, 0x0f);
		native_put_u32(maker, value);
		return;
	}
	uint32_t word = value << size | ((1u << (size - 1)) - 1);
	for (unsigned int i = 0; i < size; i++)
		native_put_u8(maker, (uint8_t)(word >> 8 * i));
}

void native_put(struct native_maker *maker, uint32_t value)
{
	unsigned int bits = 1;
	while (bits < 32 && value >> bits)
		bits++;
	put_bits(maker, value, bits);
}

void native_put_signed(struct native_maker *maker, int32_t value)
{
	unsigned int bits = 1;
	while (bits < 32 && (value >= 1 << (bits - 1) || value < -(1 << (bits - 1))))
		bits++;
	bits = (bits + 6) / 7 * 7;
	put_bits(maker, bits < 32 ? (uint32_t)value & ((1u << bits) - 1) : (uint32_t)value, bits);
}

void native_begin(struct native_maker *maker, unsigned int kind_bits)
{
	*maker = (struct native_maker){ .kind_bits = kind_bits };
	native_put_u32(maker, 0xdeaddffd);
}

uint32_t native_value(const struct native_maker *maker, struct native_handle handle)
{
	return handle.offset << maker->kind_bits | handle.kind;
}

uint32_t native_token(const struct native_maker *maker, struct native_handle handle)
{
	return handle.kind << (32 - maker->kind_bits) | handle.offset;
}

uint32_t native_string(struct native_maker *maker, const char *text)
{
	uint32_t offset = (uint32_t)maker->size;
	native_put(maker, (uint32_t)strlen(text));
	for (; *text; text++)
		native_put_u8(maker, (uint8_t)*text);
	return offset;
}

uint32_t native_namespace(struct native_maker *maker, struct native_handle parent, const char *name)
{
	uint32_t string = native_string(maker, name), offset = (uint32_t)maker->size;
	native_put(maker, native_value(maker, parent));
	native_put(maker, string);
	return offset;
}

uint32_t native_type_reference(struct native_maker *maker, struct native_handle parent,
			       const char *name)
{
	return native_namespace(maker, parent, name);
}

uint32_t native_type(struct native_maker *maker, uint32_t space, uint32_t enclosing,
		     const char *name)
{
	uint32_t string = native_string(maker, name), offset = (uint32_t)maker->size;
	native_put(maker, 1); /* flags */
	native_put(maker, 0); /* base class */
	native_put(maker, space);
	native_put(maker, string);
	native_put(maker, 0); /* size */
	native_put(maker, 0); /* packing */
	native_put(maker, enclosing);
	return offset;
}

uint32_t native_inner(struct native_maker *maker, struct native_handle inner)
{
	uint32_t offset = (uint32_t)maker->size;
	native_put(maker, native_value(maker, inner));
	return offset;
}

uint32_t native_instance(struct native_maker *maker, struct native_handle type,
			 const struct native_handle *arguments, size_t count)
{
	uint32_t offset = native_inner(maker, type);
	native_put(maker, (uint32_t)count);
	for (size_t i = 0; i < count; i++)
		native_put(maker, native_value(maker, arguments[i]));
	return offset;
}

void native_hash_entry(struct native_hash_maker *hash)
{
	hash->offsets[hash->count++] = hash->entries.size;
}

void native_hash_make(const struct native_hash_maker *hash, struct native_maker *ret)
{
	/* A byte of the hash, and a distance of two bytes for each entry. */
	size_t bucket = 4, end = bucket + 3 * hash->count;
	*ret = (struct native_maker){ .size = 0 };
	native_put_u8(ret, 1); /* one bucket, offsets of two bytes */
	native_put_u8(ret, (uint8_t)bucket);
	native_put_u8(ret, (uint8_t)(bucket >> 8));
	native_put_u8(ret, (uint8_t)end);
	native_put_u8(ret, (uint8_t)(end >> 8));
	for (size_t i = 0; i < hash->count; i++) {
		native_put_u8(ret, (uint8_t)i);
		int32_t distance = (int32_t)(1 + end + hash->offsets[i]) - (int32_t)ret->size;
		put_bits(ret, (uint32_t)distance & 0x3fff, 14);
	}
	for (size_t i = 0; i < hash->entries.size; i++)
		native_put_u8(ret, hash->entries.bytes[i]);
}

void native_map(const struct native_maker *maker, struct fake_memory *memory, uint64_t address)
{
	fake_map(memory, address, maker->size);
	fake_poke(memory, address, maker->bytes, maker->size);
}

struct native_blob native_blob_of(const struct native_maker *maker)
{
	struct fake_memory memory;
	struct native_blob blob = { .size = 0 };
	struct hd_error err;
	fake_memory_init(&memory);
	native_map(maker, &memory, ADDRESS);
	CU_ASSERT_EQUAL_FATAL(native_blob_read(&memory.memory, ADDRESS, maker->size, &blob, &err),
			      HD_OK);
	fake_memory_deinit(&memory);
	return blob;
}
