/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/code/code.h"
#include "runtime/function_list.h"

/** function_ops.read of CoreCLR. */
HD_NODISCARD enum hd_status coreclr_functions(struct runtime *runtime, struct job *job,
					      struct code_functions *ret, struct hd_error *err);
