/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/text.h"

/*
 * Names of types in .gcdump files.  A type's objects of more than 1,000 bytes have a type of their
 * own there, for each power of ten one: "System.Byte[] (Bytes > 10K)" (doc/formats.md 3).
 */

/** How many classes of sizes there are: objects of up to 1,000 bytes are class 0. */
#define GCDUMP_SIZE_CLASSES 7u

/** The class of an object's size. */
unsigned int gcdump_size_class(uint64_t size);

/** The end of the name of a type of that class, which is not 0. */
const char *gcdump_class_suffix(unsigned int size_class);

/** The class that a name ends in; 0: none. */
unsigned int gcdump_named_class(const char *name, size_t size);

/**
 * Append the name of a type as the heap's types are named: "Dictionary<A,B[]> (Bytes > 1K)" becomes
 * "Dictionary<A, B[]>", "[]c" "<>c".
 */
void gcdump_type_name(struct text *text, const char *name, size_t size);
