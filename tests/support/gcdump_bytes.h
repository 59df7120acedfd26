/* SPDX-License-Identifier: MIT */
#pragma once

#include "util/text.h"

/* A .gcdump as it is expected, put together by hand. */

/** A number of @p size bytes, little-endian. */
void put(struct text *text, uint64_t value, size_t size);
/** Bytes that are written in hexadecimal, with blanks anywhere between them. */
void put_hex(struct text *text, const char *hex);
/** A string after its length; NULL is a null string. */
void put_string(struct text *text, const char *string);
/** The tags and the type that an object begins with. */
void put_type(struct text *text, const char *name, uint32_t version, uint32_t min_reader);

/** The header up to MemoryGraph's fields. */
void put_head(struct text *text, uint32_t graph_min_reader);
/** A type of the table. */
void put_row(struct text *text, const char *name, uint32_t size, const char *module);
/** Write what follows the last object, and the table of forward references. */
void put_end(struct text *text, const uint32_t *forwards, uint32_t count);
