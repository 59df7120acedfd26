/* SPDX-License-Identifier: MIT */
/* The functions of CoreCLR, as others ask for them. */
#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/code/function_list.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/find.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/statics/static.h"
#include "runtime/coreclr/threads/sync_block.h"
#include "runtime/coreclr/threads/thread.h"
#include "runtime/coreclr/types/method_table.h"

static const struct sync_ops sync = { coreclr_sync_table, coreclr_sync_block };
static const struct static_ops statics = { .read = coreclr_statics, .name = coreclr_static_name };
static const struct function_ops functions = { .read = coreclr_functions };

const struct runtime_ops coreclr_ops = {
	.name = "CoreCLR",
	.capabilities = RUNTIME_METADATA | RUNTIME_LOADER,
	.open = coreclr_open,
	.close = coreclr_close,
	.read_gc = coreclr_read_gc,
	.threads = thread_list_read,
	.describe_type = coreclr_describe_type,
	.type_name = type_handle_name,
	.type_interface = coreclr_interface,
	.fields = coreclr_fields,
	.code_at = coreclr_code_at,
	.functions = &functions,
	.method_name = coreclr_method_name,
	.method_signature = coreclr_method_signature,
	.sync = &sync,
	.statics = &statics,
	.thread_locals = coreclr_thread_locals,
	.modules = coreclr_modules,
	.stack = &coreclr_stack_ops,
};
