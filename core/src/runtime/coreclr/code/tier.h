/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/code/method.h"

/** How far the JIT has optimised a body of a method (codeversion.h: NativeCodeVersion::OptimizationTier). */
enum code_tier {
	TIER_UNKNOWN,
	TIER_0,              /**< quickly, to be replaced when it was called often */
	TIER_1,              /**< fully, with what was learned of tier 0 */
	TIER_1_OSR,          /**< the same, for a loop that runs */
	TIER_OPTIMIZED,      /**< fully, at once */
	TIER_0_INSTRUMENTED, /**< tier 0, which counts what happens, for tier 1 */
	TIER_1_INSTRUMENTED, /**< the same, optimised, in place of ReadyToRun code */
	TIER_MIN_OPT,        /**< not, for the program was made for debugging */
	TIER_READY_TO_RUN,
};

/** The name that SOS has for it; NULL: it is not known. */
const char *code_tier_name(enum code_tier tier);

/**
 * The tier of the body at @p start of @p method (doc/coreclr.md 12.16).
 *
 * @return TIER_UNKNOWN also where the runtime does not tell it: in .NET 8 for code that may be replaced
 */
enum code_tier method_tier(struct runtime *runtime, const struct method *method, uint64_t start,
			   bool is_precompiled);
