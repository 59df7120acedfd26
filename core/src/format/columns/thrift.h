/* SPDX-License-Identifier: MIT */
/* Thrift's compact protocol, as the headers and the footer of a Parquet file have it: doc/formats.md 11.1. */
#pragma once

#include "util/text.h"

/** Types of values. */
enum thrift_type {
	THRIFT_TRUE = 1,
	THRIFT_FALSE = 2,
	THRIFT_I8 = 3,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12,
};

#define THRIFT_DEPTH 8u

/** The text that is written to, and the last field of each struct that is open. */
struct thrift {
	struct text *to;
	int last[THRIFT_DEPTH]; /**< [0]: of the outermost struct */
	unsigned int depth;
};

/** A number of 7 bits a byte, the lowest first. */
void thrift_varint(struct text *to, uint64_t value);
/** A number with a sign: those near 0 are short. */
void thrift_zigzag(struct text *to, int64_t value);
void thrift_i32(struct thrift *thrift, int field, int32_t value);
void thrift_i64(struct thrift *thrift, int field, int64_t value);
void thrift_i8(struct thrift *thrift, int field, int8_t value);
void thrift_bool(struct thrift *thrift, int field, bool value);
void thrift_binary(struct thrift *thrift, int field, const char *bytes, size_t size);

/** Begin a list; its elements follow. */
void thrift_list(struct thrift *thrift, int field, enum thrift_type type, size_t count);
/** Elements of a list. */
void thrift_list_i32(struct thrift *thrift, int32_t value);
void thrift_list_binary(struct thrift *thrift, const char *bytes, size_t size);

/** Begin a struct that is a field, or for field 0 an element of a list. */
void thrift_struct(struct thrift *thrift, int field);
/** End the struct that was begun last, or the outermost one. */
void thrift_end(struct thrift *thrift);
