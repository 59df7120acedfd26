/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

/** See framed_rows_write(): push rbp; mov rbp, rsp; and pushes of others. */
bool x86_64_framed_rows(const uint8_t *code, size_t size, struct text *ret);
/** See framed_function_ends(). */
bool x86_64_ends_function(const uint8_t *code, size_t at);
