/* SPDX-License-Identifier: MIT */
/*
 * Structures of the public headers that begin with struct_size, as a caller fills them in who may
 * have been built with an older or a newer version of the header (doc/abi.md 3).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** The library does not read or clear more of a caller's structure than this. */
#define CALLER_STRUCT_MAX ((size_t)4096)

/** Bytes of a structure up to the end of a member: its size in the release in which that was the last one. */
#define SIZE_TO(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/**
 * Copy a structure of the caller's.  Members that the caller does not have become zero.
 *
 * @param[out] to Filled on success, with @p size as its struct_size; else untouched.
 * @param size Bytes of the structure here.
 * @param first Bytes that it had in the first release: a caller never has fewer.
 * @param[in] from NULL is allowed.
 * @return false: it is NULL, has an impossible struct_size, or has a member that is not known here
 * and that the caller has set.
 */
bool caller_struct_read(void *to, size_t size, size_t first, const void *from);

/**
 * Fill a structure of the caller's, as far as the caller has it.  Members that only the caller has
 * become zero; its struct_size stays.
 *
 * @param[out] to NULL is allowed.  Untouched on failure.
 * @param[in] from The structure, of @p size bytes.
 * @param first As in caller_struct_read().
 * @return false: it is NULL, or has an impossible struct_size.
 */
bool caller_struct_write(void *to, const void *from, size_t size, size_t first);
