/* SPDX-License-Identifier: MIT */
#pragma once

#include "targets/target.h"

/**
 * Refuse a release of .NET that is older than those whose heaps are read, and say what to do instead.
 *
 * @param version its version ("6.0.36")
 * @param length  its bytes; 0: it is only known to be older than .NET 5
 */
HD_NODISCARD enum hd_status fail_old_release(const struct target *target, const char *version,
					     size_t length, struct hd_error *err);

/**
 * The module by which a program of Mono is known; NULL: there is none.
 *
 * @param clr a libcoreclr.so without CoreCLR's symbols; NULL: there is none
 */
const struct target_module *find_mono(const struct target *target, const struct target_module *clr);

/** Refuse a program that Mono runs, of which @p module is known, and say what to do instead. */
HD_NODISCARD enum hd_status fail_mono(const struct target_module *module, struct hd_error *err);
