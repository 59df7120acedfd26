/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/fake_clr.h"
#include "util/text.h"

/*
 * The contract descriptor of a fake runtime, as releases write it since 11: it has all that
 * fake->layout has, and the variables of fake_export().
 */
#define FAKE_POINTERS 32u

struct fake_descriptor {
	struct text json;
	uint64_t pointers[FAKE_POINTERS];
	uint32_t pointer_count;
};

/** Leave out the fields ("Thread.Id") and the globals ("ThreadStore") of @p without; NULL ends it. */
struct fake_descriptor fake_descriptor_make(const struct fake_clr *fake,
					    const char *const *without);
void fake_descriptor_free(struct fake_descriptor *descriptor);
