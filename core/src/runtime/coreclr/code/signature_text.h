/* SPDX-License-Identifier: MIT */
/* Signatures (ECMA-335 II.23.2) in the words of SOS's dumpsig. */
#pragma once

#include "runtime/coreclr/code/method_types.h"
#include "runtime/coreclr/modules/module.h"
#include "util/text.h"

/** The part of a signature that comes before its types. */
struct signature_head {
	uint8_t first;   /**< the first byte: its kind and flags */
	bool has_return; /**< the first type is what a method returns, or the type of a property */
	uint32_t generics; /**< generic parameters of a method; 0: it is not generic */
	uint32_t types;    /**< types that it says follow, the returned one included */
};

/** Read it and move on; false when it is cut, or its first byte is none of a signature. */
bool signature_head_read(struct signature *signature, struct signature_head *ret);

/** Append the words for it: "[DEFAULT] [hasThis] ". */
void signature_head_text(const struct signature_head *head, struct text *text);

/**
 * Append the next type of @p signature, "Class System.String", "SZArray I4", and move past it.  What
 * its tokens name comes from the metadata of @p module; if there are none, the tokens are written.
 *
 * @return false when it is cut, invalid or nests too deep: what is sound before that is appended
 */
bool signature_type_text(struct runtime *runtime, const struct module *module,
			 struct signature *signature, struct text *text);
