/* SPDX-License-Identifier: MIT */
/* HPROF, the heap dump of Java: doc/formats.md 10. */
#pragma once

#include <stdint.h>

/** Records of a file. */
enum hprof_tag {
	HPROF_STRING = 0x01,
	HPROF_LOAD_CLASS = 0x02,
	HPROF_FRAME = 0x04,
	HPROF_TRACE = 0x05,
	HPROF_HEAP_DUMP = 0x0c,
	HPROF_SEGMENT = 0x1c,
	HPROF_END = 0x2c,
};

/** Records in a heap dump or a segment of one. */
enum hprof_sub {
	HPROF_ROOT_JNI_GLOBAL = 0x01,
	HPROF_ROOT_JNI_LOCAL = 0x02,
	HPROF_ROOT_JAVA_FRAME = 0x03,
	HPROF_ROOT_NATIVE_STACK = 0x04,
	HPROF_ROOT_STICKY_CLASS = 0x05,
	HPROF_ROOT_THREAD_BLOCK = 0x06,
	HPROF_ROOT_MONITOR = 0x07,
	HPROF_ROOT_THREAD = 0x08,
	HPROF_CLASS_DUMP = 0x20,
	HPROF_INSTANCE = 0x21,
	HPROF_OBJECT_ARRAY = 0x22,
	HPROF_PRIMITIVE_ARRAY = 0x23,
	HPROF_ROOT_UNKNOWN = 0xff,
	/* of Android: */
	HPROF_ROOT_INTERNED = 0x89,
	HPROF_ROOT_FINALIZING = 0x8a,
	HPROF_ROOT_DEBUGGER = 0x8b,
	HPROF_ROOT_REFERENCE_CLEANUP = 0x8c,
	HPROF_ROOT_VM_INTERNAL = 0x8d,
	HPROF_ROOT_JNI_MONITOR = 0x8e,
	HPROF_UNREACHABLE = 0x90,
	HPROF_PRIMITIVE_ARRAY_WITHOUT_DATA = 0xc3,
	HPROF_HEAP_INFO = 0xfe,
};

/** Types of values. */
enum hprof_type {
	HPROF_OBJECT = 2,
	HPROF_BOOLEAN = 4,
	HPROF_CHAR,
	HPROF_FLOAT,
	HPROF_DOUBLE,
	HPROF_BYTE,
	HPROF_SHORT,
	HPROF_INT,
	HPROF_LONG,
};

/** Bytes of a value of @p type (enum hprof_type) in a file whose ids have @p id_size bytes; 0: no such type. */
static inline unsigned int hprof_type_size(unsigned int type, unsigned int id_size)
{
	switch (type) {
	case HPROF_OBJECT:
		return id_size;
	case HPROF_BOOLEAN:
	case HPROF_BYTE:
		return 1;
	case HPROF_CHAR:
	case HPROF_SHORT:
		return 2;
	case HPROF_FLOAT:
	case HPROF_INT:
		return 4;
	case HPROF_DOUBLE:
	case HPROF_LONG:
		return 8;
	default:
		return 0;
	}
}
