/* SPDX-License-Identifier: MIT */
/* The records of an HPROF file of anybody, one after the other: doc/formats.md 10.1. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "format/hprof/hprof.h"

enum hprof_item_kind {
	ITEM_END, /**< there are no more */
	ITEM_BAD, /**< a record is impossible: at is where; the walk goes on after its segment */
	ITEM_STRING,
	ITEM_LOAD_CLASS,
	ITEM_FRAME,
	ITEM_TRACE,
	ITEM_ROOT,
	ITEM_CLASS,
	ITEM_INSTANCE,
	ITEM_OBJECTS, /**< an array of references */
	ITEM_NUMBERS, /**< an array of numbers */
};

/** One record; offsets are from the file's begin, and what they lead to is in the file. */
struct hprof_item {
	uint8_t kind; /**< enum hprof_item_kind */
	uint8_t tag;  /**< of a root */
	uint8_t type; /**< of numbers: enum hprof_type */
	uint64_t at;
	uint64_t id;
	uint64_t of; /**< class of an object; name of a loaded class or of a frame's method */
	uint64_t
		data; /**< offset of fields, elements, characters, frames; of a class, of its super class */
	uint64_t size;   /**< bytes there */
	uint32_t count;  /**< elements */
	uint32_t serial; /**< of a class, trace, or thread */
	uint32_t number; /**< of a root: frame or trace; of a frame: the class's serial */
	uint32_t instance_size;
	uint16_t static_count, field_count; /**< of a class */
	uint64_t statics, fields;           /**< offsets of them */
};

struct hprof_file {
	const uint8_t *bytes;
	uint64_t size;
	uint64_t first; /**< offset of the first record */
	uint64_t time;  /**< milliseconds since 1970 */
	unsigned int id_size;
};

/** The walk over all records. */
struct hprof_walk {
	const struct hprof_file *file;
	uint64_t at;
	uint64_t end; /**< of the record that at is in */
	bool is_heap; /**< in a heap dump or a segment */
	bool is_cut;  /**< the file ends in the middle of a record */
};

/** Read the head; false: it is not one of this format, or its ids are not of 4 or 8 bytes. */
bool hprof_open(const uint8_t *bytes, uint64_t size, struct hprof_file *ret);

void hprof_begin(struct hprof_walk *walk, const struct hprof_file *file);

/** The next record that somebody needs; others are left out. */
void hprof_next(struct hprof_walk *walk, struct hprof_item *ret);

/** A number of @p size bytes (1, 2, 4, 8) at an offset that is in the file. */
static inline uint64_t hprof_number(const struct hprof_file *file, uint64_t at, unsigned int size)
{
	uint64_t value = 0;
	for (unsigned int i = 0; i < size; i++)
		value = value << 8 | file->bytes[at + i];
	return value;
}

/** The same of an id. */
static inline uint64_t hprof_id(const struct hprof_file *file, uint64_t at)
{
	return hprof_number(file, at, file->id_size);
}
