/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/names.h"

#include <inttypes.h>
#include <stdio.h>

#include "runtime/nativeaot/method_map.h"
#include "runtime/nativeaot/type_map.h"
#include "runtime/nativeaot/type_name.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/findings.h"
#include "util/text.h"

/* The tables are there, but not whole: names may be missing. */
static void report_cut(const struct runtime *runtime, const char *things)
{
	findings_add(&runtime->target->findings, FINDING_MISSING_SYMBOLS,
		     target_advice(runtime->target, aot_of(runtime)->image.address,
				   "take a full dump, or give the folder with the program by "
				   "--sysroot"),
		     "the names of %s in %s cannot be read to their end: some have none", things,
		     runtime->path ? runtime->path : "the program");
}

/* Did the compiler leave the names of methods out, or all rows of their table? */
static bool has_no_methods(const struct runtime *runtime)
{
	const struct ready_to_run *image = &aot_of(runtime)->image;
	uint64_t begin = 0, size = 0;
	uint32_t rows = 0;
	return image->address &&
	       (!ready_to_run_section(image, READY_TO_RUN_STACK_TRACE_MAP, &begin, &size) ||
		(memory_u32(runtime->memory, begin, &rows) && rows == 0));
}

static void report_nameless(const struct runtime *runtime)
{
	const struct nativeaot *aot = aot_of(runtime);
	struct findings *findings = &runtime->target->findings;
	if (aot->image.address && !aot->types->is_cut && !aot->types->rows_count) {
		findings_add(findings, FINDING_MISSING_SYMBOLS,
			     "compile it without IlcDisableReflection",
			     "%s has no names of types: each is shown by the address of its "
			     "MethodTable, and what is known of types by their names is not known",
			     runtime_path(runtime));
	}
	if (has_no_methods(runtime)) {
		findings_add(findings, FINDING_MISSING_SYMBOLS,
			     "compile it without StackTraceSupport=false",
			     "%s has no table of the names of its methods: most frames are shown "
			     "by address, and what threads do is not known",
			     runtime_path(runtime));
	}
}

enum hd_status aot_names_read(struct runtime *runtime, struct hd_error *err)
{
	struct nativeaot *aot = aot_of(runtime);
	aot->types = mem_calloc(1, sizeof(*aot->types));
	TRY_MEMORY(aot->types, err);
	TRY(type_map_read(runtime->memory, &aot->image, aot->types, err));
	if (aot->types->is_cut)
		report_cut(runtime, "types");
	runtime->tables.object = aot_known_type(runtime, AOT_TYPE_OBJECT);
	runtime->tables.exception = aot_known_type(runtime, AOT_TYPE_EXCEPTION);
	aot->globals.continuation = aot_known_type(runtime, AOT_TYPE_CONTINUATION);
	aot->methods = mem_calloc(1, sizeof(*aot->methods));
	TRY_MEMORY(aot->methods, err);
	TRY(method_map_read(runtime->memory, &aot->image, aot->types, aot->methods, err));
	if (aot->methods->is_cut)
		report_cut(runtime, "methods");
	report_nameless(runtime);
	return HD_OK;
}

void aot_names_destroy(struct runtime *runtime)
{
	struct nativeaot *aot = aot_of(runtime);
	if (aot->types)
		type_map_deinit(aot->types);
	mem_free(aot->types);
	if (aot->methods)
		method_map_deinit(aot->methods);
	mem_free(aot->methods);
	aot->types = NULL;
	aot->methods = NULL;
}

uint64_t aot_known_type(const struct runtime *runtime, enum aot_known type)
{
	static const char *const names[AOT_KNOWN_TYPES] = {
		[AOT_TYPE_OBJECT] = "System.Object",
		[AOT_TYPE_EXCEPTION] = "System.Exception",
		[AOT_TYPE_THREAD] = "System.Threading.Thread",
		[AOT_TYPE_CONTINUATION] = "System.Runtime.CompilerServices.Continuation",
	};
	const struct nativeaot *aot = aot_of(runtime);
	return aot->types ? type_map_find(aot->types, names[type]) : 0;
}

void aot_type_name(struct runtime *runtime, uint64_t method_table, struct text *text)
{
	aot_table_name(aot_of(runtime), method_table, text);
}

bool aot_name_method(struct runtime *runtime, uint64_t method, char *buf, size_t size,
		     uint32_t *ret_token)
{
	struct nativeaot *aot = aot_of(runtime);
	HD_CLEANUP(text) struct text text = { 0 };
	const struct method_row *row = method_map_find(aot->methods, method);
	if (!row)
		return false;
	aot_method_name(aot, row, &text);
	if (text.failed || !text.bytes)
		return false;
	(void)snprintf(buf, size, "%s", text.bytes);
	if (ret_token)
		*ret_token = 0;
	return true;
}

void aot_sign_method(struct runtime *runtime, uint64_t method, struct text *text)
{
	struct nativeaot *aot = aot_of(runtime);
	const struct method_row *row = method_map_find(aot->methods, method);
	if (row) {
		aot_method_signature(aot, row, text);
	} else {
		text_printf(text, "<unknown method %" PRIx64 ">", method);
	}
}
