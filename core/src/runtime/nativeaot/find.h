/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/nativeaot/debug_header.h"

/** How a NativeAOT runtime was found in a target: by one of the two. */
struct aot_place {
	const struct target_module *module;
	struct debug_header header;    /**< .NET 8 to 10; header.types is 0: none */
	struct descriptor *descriptor; /**< .NET 11; owned; NULL: none */
};

/**
 * Look for a NativeAOT runtime among the modules of @p target: the program or a shared library that exports
 * DotNetRuntimeDebugHeader, or a contract descriptor with the flavor NativeAot; else for the header
 * in the data of the program (DebuggerSupport=false).  A target with a libcoreclr.so has none: CoreCLR comes first.
 *
 * @param[out] ret Its descriptor is to be given to descriptor_destroy(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED there is none
 * @retval HD_ERR_FAULT there is one, but bytes that lead to everything else are missing
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status aot_find(const struct target *target, struct aot_place *ret,
				     struct hd_error *err);
