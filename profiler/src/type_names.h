/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TYPE_NAME_UNITS 1000u

/** A BulkType event's description of a type (doc/formats.md 6). */
struct type_about {
	uint64_t module;
	uint32_t token;
	uint32_t flags;
	uint16_t name[TYPE_NAME_UNITS]; /**< UTF-16, NUL-terminated, cut */
};

/** Ask the runtime about a type; what it does not tell is 0. */
void type_names_ask(uintptr_t type, struct type_about *ret);
