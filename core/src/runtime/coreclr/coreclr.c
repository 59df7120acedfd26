/* SPDX-License-Identifier: MIT */
/* CoreCLR as a runtime_ops. */
#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/types/field.h"
#include "runtime/coreclr/types/type.h"
#include "runtime/coreclr/types/type_name.h"

const struct runtime_ops coreclr_ops = {
	.name = "CoreCLR",
	.capabilities = RUNTIME_METADATA | RUNTIME_MODULES | RUNTIME_LOADER,
	.open = coreclr_open,
	.close = coreclr_close,
	.describe_type = coreclr_describe_type,
	.type_name = type_handle_name,
	.fields = coreclr_fields,
	.code_at = coreclr_code_at,
	.stack = &coreclr_stack_ops,
};
