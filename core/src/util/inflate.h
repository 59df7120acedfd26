/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** No byte of deflate becomes more bytes than this (RFC 1951: 258 bytes take two bits). */
#define INFLATE_FACTOR_MAX 1032u

/**
 * Unpack @p size bytes of raw deflate (RFC 1951), which must become exactly @p ret_size bytes.
 *
 * @return false when they are damaged, become more or fewer bytes, or memory is exhausted; @p ret
 * holds any bytes then
 */
bool inflate_raw(const uint8_t *bytes, size_t size, uint8_t *ret, size_t ret_size);
