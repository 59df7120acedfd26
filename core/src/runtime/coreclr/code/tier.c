/* SPDX-License-Identifier: MIT */
/* The versions of a method's code, and their tiers (doc/coreclr.md 12.16; codeversion.h, method.hpp). */
#include "runtime/coreclr/code/tier.h"

#include "mem/memory.h"
#include "runtime/coreclr/internal.h"

/* Most versions of one method. */
#define VERSIONS_MAX 4096u

/* MethodDesc: may the runtime replace the code?  A bit of the word at 0; in 8 of the byte at 3. */
#define FLAGS_TIERED   0x8000u
#define FLAGS_8        3u
#define FLAGS_8_TIERED 0x20u

/* Module::m_dwTransientFlags: DEBUGGER_ALLOW_JIT_OPTS_PRIV (ceeload.h). */
#define MODULE_OPTIMIZES 0x800u

/* Column of MethodDef, and MethodImplAttributes.NoOptimization (ECMA-335 II.23.1.11). */
#define METHOD_IMPL_FLAGS 1u
#define NO_OPTIMIZATION   0x40u

/* In place of a number of a tier: as it is at first (OptimizationTierUnknown). */
#define TIER_NOT_SET 0xffffffffu

const char *code_tier_name(enum code_tier tier)
{
	static const char *const names[] = {
		[TIER_UNKNOWN] = NULL,
		[TIER_0] = "QuickJitted",
		[TIER_1] = "OptimizedTier1",
		[TIER_1_OSR] = "OptimizedTier1OSR",
		[TIER_OPTIMIZED] = "Optimized",
		[TIER_0_INSTRUMENTED] = "QuickJittedInstrumented",
		[TIER_1_INSTRUMENTED] = "OptimizedTier1Instrumented",
		[TIER_MIN_OPT] = "MinOptJitted",
		[TIER_READY_TO_RUN] = "ReadyToRun",
	};
	return names[tier];
}

/* A number of NativeCodeVersion::OptimizationTier. */
static enum code_tier tier_of(uint32_t number)
{
	return number <= TIER_1_INSTRUMENTED - TIER_0 ? (enum code_tier)(TIER_0 + number)
						      : TIER_UNKNOWN;
}

/* May the runtime replace the code of the method?  false: it is not known */
static bool read_is_tiered(struct runtime *runtime, const struct method *method, bool *ret)
{
	uint16_t flags;
	uint8_t flags_8;
	if (coreclr_has(runtime, CORECLR_SMALL_METHOD_DESCS)) {
		if (!memory_u8(runtime->memory, method->address + FLAGS_8, &flags_8))
			return false;
		*ret = flags_8 & FLAGS_8_TIERED;
		return true;
	}
	if (!coreclr_field_u16(runtime, method->address, L_METHOD_TOKEN, &flags))
		return false;
	*ret = flags & FLAGS_TIERED;
	return true;
}

/* The tier of code that is made once. */
static enum code_tier tier_of_untiered(struct runtime *runtime, const struct method *method)
{
	uint32_t flags;
	const struct metadata *metadata = method->module ? method->module->metadata : NULL;
	if (!method->rid)
		return TIER_OPTIMIZED;
	if (!metadata ||
	    !coreclr_field_u32(runtime, method->module->address, L_MODULE_FLAGS, &flags))
		return TIER_UNKNOWN;
	uint32_t attributes = metadata_column(metadata, MD_METHOD, method->rid, METHOD_IMPL_FLAGS);
	return flags & MODULE_OPTIMIZES && !(attributes & NO_OPTIMIZATION) ? TIER_OPTIMIZED
									   : TIER_MIN_OPT;
}

/* The tier that a version of the list has; false: @p start is not in the list, or it cannot be read. */
static bool find_version(struct runtime *runtime, const struct method *method, uint64_t data,
			 uint64_t start, enum code_tier *ret, bool *ret_is_broken)
{
	uint64_t versions, at;
	*ret_is_broken = true;
	if (!coreclr_pointer(runtime, data, L_CODE_DATA_VERSIONS, &versions))
		return false;
	if (!versions) {
		*ret_is_broken = false;
		return false;
	}
	if (!coreclr_pointer(runtime, versions, L_VERSIONS_FIRST, &at))
		return false;
	for (uint32_t i = 0; at && i < VERSIONS_MAX; i++) {
		uint64_t code, owner;
		uint32_t tier;
		if (!coreclr_pointer(runtime, at, L_VERSION_CODE, &code) ||
		    !coreclr_pointer(runtime, at, L_VERSION_METHOD, &owner) ||
		    owner != method->address ||
		    !coreclr_field_u32(runtime, at, L_VERSION_TIER, &tier))
			return false;
		if (code == start) {
			*ret = tier_of(tier);
			return true;
		}
		if (!coreclr_pointer(runtime, at, L_VERSION_NEXT, &at))
			return false;
	}
	*ret_is_broken = at != 0;
	return false;
}

enum code_tier method_tier(struct runtime *runtime, const struct method *method, uint64_t start,
			   bool is_precompiled)
{
	bool is_tiered, is_broken;
	uint64_t data;
	uint32_t number;
	enum code_tier tier;
	if (is_precompiled)
		return TIER_READY_TO_RUN;
	if (!coreclr_is(runtime) || !read_is_tiered(runtime, method, &is_tiered))
		return TIER_UNKNOWN;
	if (!is_tiered)
		return tier_of_untiered(runtime, method);
	if (!layout_has(&coreclr_of(runtime)->layout, L_VERSION_TIER) ||
	    !coreclr_pointer(runtime, method->address, L_METHOD_CODE_DATA, &data))
		return TIER_UNKNOWN;
	if (!data)
		return TIER_0;
	if (find_version(runtime, method, data, start, &tier, &is_broken))
		return tier;
	if (is_broken)
		return TIER_UNKNOWN;
	/* The first version has no row of its own; where it did not become tier 0, 11 says so. */
	if (!layout_has(&coreclr_of(runtime)->layout, L_CODE_DATA_TIER))
		return TIER_0;
	if (!coreclr_field_u32(runtime, data, L_CODE_DATA_TIER, &number))
		return TIER_UNKNOWN;
	return number == TIER_NOT_SET ? TIER_0 : tier_of(number);
}
