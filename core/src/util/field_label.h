/* SPDX-License-Identifier: MIT */
/*
 * Names of fields as the program's code has them.  Compilers make names of their own (Roslyn: GeneratedNames): of the field
 * behind a property, of a variable that a lambda or an async method keeps.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct text;

/**
 * The name of the property, parameter or variable that a field is made for: Items of "<Items>k__BackingField", order of
 * "<order>5__2", this of "<>4__this"; of any other field its own name.
 *
 * @param[out] ret_size Length of the result, which is static or lies in @p name.
 */
const char *field_label(const char *name, size_t size, size_t *ret_size);

/** Does only the compiler know the field, such as "<>u__1" or "CS$<>8__locals1"?  No name of the code says what it is. */
bool field_is_made(const char *name, size_t size);

/** The length of the first name in ".name.other[3]", after its dot; names have dots between "<" and ">". */
size_t field_name_size(const char *name);

/** Append a link of a path, such as ".field", "[3].field" or " (dependent handle)", with the labels of its fields. */
void field_labels_append(struct text *text, const char *link, size_t size);
