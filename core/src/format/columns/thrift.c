/* SPDX-License-Identifier: MIT */
#include "format/columns/thrift.h"

void thrift_varint(struct text *to, uint64_t value)
{
	char bytes[10];
	size_t size = 0;
	for (; value > 0x7f; value >>= 7)
		bytes[size++] = (char)(value | 0x80);
	bytes[size++] = (char)value;
	text_append(to, bytes, size);
}

void thrift_zigzag(struct text *to, int64_t value)
{
	thrift_varint(to, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_binary(struct text *to, const char *bytes, size_t size)
{
	thrift_varint(to, size);
	text_append(to, bytes, size);
}

static void put_byte(struct text *to, unsigned int byte)
{
	char c = (char)byte;
	text_append(to, &c, 1);
}

/* Fields come in ascending order, each with the distance from the one before. */
static void begin_field(struct thrift *thrift, int field, enum thrift_type type)
{
	int *last = &thrift->last[thrift->depth];
	put_byte(thrift->to, (unsigned int)(field - *last) << 4 | type);
	*last = field;
}

void thrift_i32(struct thrift *thrift, int field, int32_t value)
{
	begin_field(thrift, field, THRIFT_I32);
	thrift_zigzag(thrift->to, value);
}

void thrift_i64(struct thrift *thrift, int field, int64_t value)
{
	begin_field(thrift, field, THRIFT_I64);
	thrift_zigzag(thrift->to, value);
}

void thrift_i8(struct thrift *thrift, int field, int8_t value)
{
	begin_field(thrift, field, THRIFT_I8);
	put_byte(thrift->to, (uint8_t)value);
}

void thrift_bool(struct thrift *thrift, int field, bool value)
{
	begin_field(thrift, field, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_binary(struct thrift *thrift, int field, const char *bytes, size_t size)
{
	begin_field(thrift, field, THRIFT_BINARY);
	put_binary(thrift->to, bytes, size);
}

void thrift_list(struct thrift *thrift, int field, enum thrift_type type, size_t count)
{
	begin_field(thrift, field, THRIFT_LIST);
	if (count < 15) {
		put_byte(thrift->to, (unsigned int)count << 4 | type);
	} else {
		put_byte(thrift->to, 0xf0u | type);
		thrift_varint(thrift->to, count);
	}
}

void thrift_list_i32(struct thrift *thrift, int32_t value)
{
	thrift_zigzag(thrift->to, value);
}

void thrift_list_binary(struct thrift *thrift, const char *bytes, size_t size)
{
	put_binary(thrift->to, bytes, size);
}

void thrift_struct(struct thrift *thrift, int field)
{
	if (field)
		begin_field(thrift, field, THRIFT_STRUCT);
	thrift->last[++thrift->depth] = 0;
}

void thrift_end(struct thrift *thrift)
{
	put_byte(thrift->to, 0);
	if (thrift->depth)
		thrift->depth--;
}
