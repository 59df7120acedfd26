/* SPDX-License-Identifier: MIT */
/* Files that are no heap dumps, or dumps of other systems: what they are, and what reads them. */
#ifndef HD_FORMAT_OTHER_FORMATS_H
#define HD_FORMAT_OTHER_FORMATS_H

#include <stddef.h>

/**
 * Say what a file is that no format here reads.
 *
 * @param path   its path; an extension decides where the first bytes of a kind of file are not always the same
 * @param head   its first bytes
 * @param size   how many they are; 512 are enough for every kind
 * @return a text that follows "PATH: ", what it is and what to do with it; NULL: it is not known
 */
const char *other_format_of(const char *path, const char *head, size_t size);

#endif
